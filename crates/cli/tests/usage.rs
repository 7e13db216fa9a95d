//! The command line for shells and for `man`, and the list of scenarios.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::process::{Command, Output};

fn smallfry(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_smallfry"));
    command.args(arguments).output().unwrap()
}

fn printed(arguments: &[&str]) -> String {
    let output = smallfry(arguments);
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the commands that the help names.
fn commands() -> Vec<String> {
    let help = printed(&["--help"]);
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let (list, _) = list.split_once("\n\n").unwrap();
    let names = list
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    names
        .map(str::to_owned)
        .filter(|name| name != "help")
        .collect()
}

#[test]
fn every_command_is_completed_in_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = printed(&["completions", shell]);
        for command in commands() {
            assert!(script.contains(&command), "{command} in {shell}");
        }
    }
    assert!(!smallfry(&["completions", "cmd"]).status.success());
}

#[test]
fn every_command_has_a_manual_page_and_examples_at_the_end_of_its_help() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("man1");
    printed(&["man", place.to_str().unwrap()]);
    for command in commands() {
        let page = std::fs::read_to_string(place.join(format!("smallfry-{command}.1"))).unwrap();
        assert!(page.contains(".SH NAME"), "{command}");
        let help = printed(&[&command, "--help"]);
        assert!(help.contains("\nExample"), "{command}: {help}");
    }
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    let refused = smallfry(&["man", file.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        said.starts_with("smallfry man: cannot write the pages to"),
        "{said}"
    );
}

#[test]
fn the_scenarios_are_listed_on_a_line_each() {
    let list = printed(&["bench", "--list"]);
    for scenario in ["build", "fsync-many", "copy-tree"] {
        let mut lines = list.lines();
        assert!(
            lines.any(|line| line.trim_start().starts_with(scenario)),
            "{list}"
        );
    }
}
