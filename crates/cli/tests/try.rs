//! `smallfry try` as a user runs it, on small Node scripts and on other programs.
//!
//! An answer must be trustworthy. Wrong answers would be: a difference that is missed, or that is
//! blamed on smallfry although the command is never the same twice; "no gain" because smallfry was
//! not loaded at all; a comparison with the outputs of an earlier run; processes and files that
//! outlive a stopped trial. Most tests use a stand-in for the npm package, which does the one thing
//! that the test is about. The last ones use the real package, if it was built.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

#[cfg(target_os = "linux")]
use common::is_running;
use common::{assert_one_line, node_is_here, skip_unless};
use serde_json::Value;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::process::Stdio;
use std::process::{Command, Output};

/// A directory to work in, a stand-in for the package, and a directory for temporary files.
/// Dropping it removes them.
struct Place {
    root: tempfile::TempDir,
}

/// Loads like the real one, and reports that if asked.
const LOADED: &str = "\
const fs = require('node:fs'), path = require('node:path');
if (process.env.SMALLFRY_COUNT) {
  fs.writeFileSync(path.join(process.env.SMALLFRY_COUNT, `${process.pid}.json`), JSON.stringify({
    schema: 'smallfry-count/1', node: process.version, command: process.argv, native: true, reason: '', leftAlone: [],
    ended: true, threads: 1, functions: [{ name: 'readFile', form: 'sync', part: 'read whole', native: true, calls: 1234,
    failed: 0, nanoseconds: 5e6, bytes: 4096, handedOn: 34 }],
  }));
}
";

impl Place {
    fn new() -> Self {
        Self::with_package(LOADED)
    }

    fn with_package(register: &str) -> Self {
        let place = Self {
            root: tempfile::tempdir().unwrap(),
        };
        for directory in ["work", "temporary", "package/dist"] {
            std::fs::create_dir_all(place.root.path().join(directory)).unwrap();
        }
        std::fs::write(
            place.package().join("package.json"),
            r#"{"name":"smallfry"}"#,
        )
        .unwrap();
        std::fs::write(place.package().join("dist/register.js"), register).unwrap();
        place
    }

    fn package(&self) -> PathBuf {
        self.root.path().join("package")
    }

    fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    fn temporary(&self) -> PathBuf {
        self.root.path().join("temporary")
    }

    fn script(&self, text: &str) {
        std::fs::write(self.work().join("build.js"), text).unwrap();
    }

    /// `smallfry try --runs 2` in the directory of the script.
    fn attempt(&self) -> Command {
        self.attempt_with(&self.package())
    }

    fn attempt_with(&self, package: &Path) -> Command {
        self.attempt_pairs("2", package)
    }

    fn attempt_pairs(&self, runs: &str, package: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_smallfry"));
        command
            .args(["try", "--details", "--runs", runs, "--package"])
            .arg(package)
            .current_dir(self.work())
            .env("TMPDIR", self.temporary())
            .env_remove("NODE_OPTIONS")
            .env_remove("SMALLFRY_NODE_PACKAGE");
        command
    }

    /// Runs `smallfry try --runs 2 <options> -- node build.js` with this script.
    fn attempt_script(&self, text: &str, options: &[&str]) -> Answer {
        self.script(text);
        let mut command = self.attempt();
        command.args(options).args(["--", "node", "build.js"]);
        self.answer(&mut command)
    }

    fn answer(&self, command: &mut Command) -> Answer {
        let json = self.root.path().join("answer.json");
        let mut arguments = vec!["--json".into(), json.clone().into_os_string()];
        let mut with_json = Command::new(command.get_program());
        arguments.extend(command.get_args().skip(1).map(ToOwned::to_owned));
        with_json.arg("try").args(arguments);
        with_json.current_dir(command.get_current_dir().unwrap());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => with_json.env(name, value),
                None => with_json.env_remove(name),
            };
        }
        let output = with_json.output().unwrap();
        let left: Vec<_> = std::fs::read_dir(self.temporary()).unwrap().collect();
        assert!(left.is_empty(), "it leaves {left:?}");
        Answer {
            json: serde_json::from_slice(&std::fs::read(json).unwrap_or_default())
                .unwrap_or_default(),
            output,
        }
    }
}

struct Answer {
    output: Output,
    json: Value,
}

impl Answer {
    #[track_caller]
    fn assert(&self, status: i32, outcome: &str, parts: &[&str]) {
        let said = self.said();
        assert_eq!(self.output.status.code(), Some(status), "{said}");
        assert_eq!(self.json["outcome"], outcome, "{said}");
        for part in parts {
            assert!(said.contains(part), "{part:?} is not in {said}");
        }
    }

    #[track_caller]
    fn assert_not(&self, part: &str) {
        let said = self.said();
        assert!(!said.contains(part), "{part:?} is in {said}");
    }

    /// The output in one line, so that line breaks do not matter.
    fn said(&self) -> String {
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&self.output.stdout),
            String::from_utf8_lossy(&self.output.stderr)
        );
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn list(&self, name: &str) -> Vec<&str> {
        self.json[name]
            .as_array()
            .unwrap()
            .iter()
            .map(|text| text.as_str().unwrap())
            .collect()
    }
}

/// Makes two files in `dist` and a link, and prints a line.
const BUILD: &str = "\
const fs = require('node:fs');
fs.mkdirSync('dist/inner', { recursive: true });
fs.writeFileSync('dist/a.js', 'a'.repeat(1000));
fs.writeFileSync('dist/inner/b.js', 'b');
fs.symlinkSync('a.js', 'dist/link.js');
console.log('built in', performance.now(), 'ms');
";

const FRESH: [&str; 4] = ["--prepare", "rm -rf dist", "--outputs", "dist"];

#[test]
fn equal_outputs_are_reported_as_the_same() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let answer = place.attempt_script(BUILD, &FRESH);
    let parts = [
        "smallfry try: node build.js",
        "2 pairs of runs",
        "wall",
        "user + sys",
        "the same outputs: 2 output files (1001 B), compared byte for byte after each of 5 runs",
        "the same exit status, standard output (except for times), standard error",
        "read whole 1,234 - 1,200 4.00 KiB",
        "in 1 process (build.js), 1 thread",
        "smallfry did 1,200 of the 1,234 calls",
        "2 pairs: too few to tell",
    ];
    answer.assert(0, "same", &parts);
    assert_eq!(answer.json["schema"], "smallfry-try/1");
    let pairs = answer.json["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 2);
    for usage in pairs.iter().flat_map(|pair| pair.as_array().unwrap()) {
        assert!(usage["wall_ns"].as_u64().unwrap() > 0);
        assert!(!cfg!(unix) || usage["processor"]["user_ns"].as_u64().unwrap() > 0);
    }
    assert_eq!(answer.json["gain"], Value::Null);
}

/// Two runs of each side often differ by chance, and a verdict on them would mislead users.
#[test]
fn a_verdict_needs_six_pairs() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    place.script("");
    let attempt = |runs| {
        let mut command = place.attempt_pairs(runs, &place.package());
        place.answer(command.args(["--", "node", "build.js"]))
    };
    let few = attempt("5");
    few.assert(0, "same", &["5 pairs: too few to tell", "--runs 6"]);
    for verdict in [
        "No gain here",
        "A gain:",
        "A LOSS",
        "To adopt it",
        "processor time",
    ] {
        few.assert_not(verdict);
    }
    let enough = attempt("6");
    enough.assert(0, "same", &["6 pairs of runs", "as fast"]);
    enough.assert_not("too few");
    let gain = &enough.json["gain"];
    assert!(gain["low"].as_f64().unwrap() <= gain["high"].as_f64().unwrap());
}

/// `12 pages` instead of `13` may be the only sign of a file that was not read.
#[test]
fn another_printed_count_is_a_difference_and_another_time_is_not() {
    if !node_is_here() {
        return;
    }
    let script = "console.log(`${globalThis.pages ?? 13} pages in`, performance.now(), 'ms');";
    Place::new().attempt_script(script, &[]).assert(
        0,
        "same",
        &["standard output (except for times)"],
    );
    let answer =
        Place::with_package(&format!("{LOADED}globalThis.pages = 12;")).attempt_script(script, &[]);
    let parts = [
        "standard output has other numbers, in 2 of 2 runs",
        "without: 13 pages in",
        "with: 12 pages in",
    ];
    answer.assert(1, "different", &parts);
    // Where counts vary anyway, they prove nothing.
    let varying = "console.log(`port ${process.pid}${Math.random().toString().slice(2)}`);";
    Place::new().attempt_script(varying, &[]).assert(
        0,
        "same",
        &["standard output (except for numbers)"],
    );
}

#[test]
fn without_outputs_the_report_says_that_none_were_compared() {
    if !node_is_here() {
        return;
    }
    let answer = Place::new().attempt_script("", &[]);
    answer.assert(0, "same", &["outputs were not compared", "--outputs DIR"]);
}

#[test]
fn differences_are_reported_by_name() {
    if !node_is_here() {
        return;
    }
    let changes = "\
        const { writeFileSync } = fs;
        fs.writeFileSync = (path, data) => writeFileSync(path, path.endsWith('b.js') ? 'c' : data);
        const { symlinkSync } = fs;
        fs.symlinkSync = (target, path) => symlinkSync(`./${target}`, path);
        process.on('exit', () => { console.error('something else'); fs.chmodSync('dist/a.js', 0o755); fs.writeFileSync('dist/more', ''); });";
    let place = Place::with_package(&format!("{LOADED}{changes}"));
    let answer = place.attempt_script(BUILD, &FRESH);
    let parts = [
        "DIFFERENT with smallfry",
        "dist/a.js is executable, in 2 of 2 runs",
        "dist/inner/b.js has other bytes, in 2 of 2 runs",
        "dist/link.js points elsewhere",
        "dist/more is there only with smallfry",
        "standard error is different, in 2 of 2 runs without: with: something else",
        "Next: find the cause of the difference",
    ];
    answer.assert(1, "different", &parts);
    answer.assert_not("To adopt it");
    let expected = [
        "standard error",
        "dist/a.js",
        "dist/inner/b.js",
        "dist/link.js",
        "dist/more",
    ];
    assert_eq!(answer.list("differences"), expected);
    assert!(answer.list("varying").is_empty());
}

#[test]
fn a_file_that_is_missing_with_smallfry_is_a_difference() {
    if !node_is_here() {
        return;
    }
    let place = Place::with_package(&format!("{LOADED}fs.symlinkSync = () => {{}};"));
    let answer = place.attempt_script(BUILD, &FRESH);
    answer.assert(1, "different", &["dist/link.js is missing, in 2 of 2 runs"]);
    assert_eq!(answer.list("differences"), ["dist/link.js"]);
}

/// A source map with a time in it, and names with a random hash, are not smallfry's fault.
#[test]
fn varying_outputs_are_not_blamed_on_smallfry() {
    if !node_is_here() {
        return;
    }
    let varying = format!(
        "{BUILD}fs.writeFileSync('dist/a.map', String(Math.random()));
        fs.writeFileSync(`dist/chunk-${{String(Math.random()).slice(2)}}.js`, '');
        process.stderr.write(String.fromCharCode(97 + Math.random() * 26).repeat(1 + Math.random() * 9) + Math.random().toString(36));"
    );
    let place = Place::new();
    let answer = place.attempt_script(&varying, &FRESH);
    let parts = [
        "run to run without smallfry too, and cannot be compared",
        "dist/a.map",
        "standard error varies from run to run without smallfry too",
    ];
    answer.assert(0, "same", &parts);
    assert!(answer.list("varying").contains(&"dist/a.map"));
}

/// An incremental build writes nothing the second time, so the outputs of the other side would be
/// compared.
#[test]
fn unwritten_outputs_prove_nothing() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let script = "const fs = require('fs'); if (!fs.existsSync('dist')) { fs.mkdirSync('dist'); fs.writeFileSync('dist/a', ''); }";
    let answer = place.attempt_script(script, &["--outputs", "dist"]);
    answer.assert(
        0,
        "same",
        &["none of them was written by the compared runs", "--prepare"],
    );
}

#[test]
fn a_failing_command_is_shown_with_its_last_output() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let script = "for (let i = 0; i < 100; i++) console.log(`line ${i}.`); console.error('no such module'); process.exitCode = 3;";
    let answer = place.attempt_script(script, &[]);
    let parts = [
        "FAILED without smallfry (exit status: 3)",
        "| line 99.",
        "| no such module",
        "--allow-failure",
    ];
    answer.assert(1, "failed", &parts);
    answer.assert_not("line 84.");

    let answer = place.attempt_script(script, &["--allow-failure"]);
    answer.assert(
        0,
        "same",
        &["the same exit status, standard output, standard error"],
    );
}

#[test]
fn a_failure_only_with_smallfry_is_blamed_on_it() {
    if !node_is_here() {
        return;
    }
    for register in [
        "throw new Error('made to fail')".to_owned(),
        format!("{LOADED}process.exit(9)"),
    ] {
        let place = Place::with_package(&register);
        let answer = place.attempt_script("", &[]);
        let parts = [
            "FAILED with smallfry (exit status:",
            "1 of 1 runs without it succeeded",
            "please report it",
        ];
        answer.assert(1, "failed", &parts);
    }
    let place = Place::with_package(&format!("{LOADED}process.exitCode = 9;"));
    let answer = place.attempt_script("", &["--allow-failure"]);
    answer.assert(1, "different", &["exit status is another, in 2 of 2 runs"]);
}

/// The gain is still measured, and the report says that the counts are missing.
#[test]
fn a_command_that_fails_only_when_counted_is_measured_without_counts() {
    if !node_is_here() {
        return;
    }
    let place = Place::with_package("if (process.env.SMALLFRY_COUNT) process.exit(1);");
    let answer = place.attempt_script("", &[]);
    answer.assert(
        0,
        "same",
        &["is not known: the command fails when its calls are counted"],
    );
    assert_eq!(answer.json["counts"], Value::Null);
}

#[test]
fn an_occasional_failure_is_reported_with_the_successful_runs() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let script = "const fs = require('fs'); fs.appendFileSync('count', 'x'); if (fs.statSync('count').size > 2) process.exit(1);";
    let answer = place.attempt_script(script, &[]);
    answer.assert(1, "failed", &["FAILED with", "succeeded"]);
}

#[cfg(unix)]
#[test]
fn a_command_without_node_gets_no_verdict() {
    let place = Place::new();
    std::fs::write(place.work().join("file"), "text").unwrap();
    let answer = place.answer(place.attempt().args(["--", "cat", "file"]));
    answer.assert(
        1,
        "not loaded",
        &["Nothing to compare: no process loaded smallfry"],
    );
    if which_strace() {
        answer.assert(
            1,
            "not loaded",
            &["under strace", "look up", "openat", "read"],
        );
    } else {
        answer.assert(1, "not loaded", &["strace"]);
    }
    answer.assert_not("No gain here");
}

#[cfg(unix)]
fn which_strace() -> bool {
    let traces = Command::new("strace")
        .args(["-o", "/dev/null", "true"])
        .status()
        .is_ok_and(|status| status.success());
    skip_unless(traces, "strace is missing or may not trace");
    traces
}

#[cfg(unix)]
#[test]
fn without_strace_it_says_what_to_install() {
    let place = Place::new();
    place.script("");
    let mut command = place.attempt();
    command.env("PATH", "").args(["--", "/bin/cat", "build.js"]);
    let answer = place.answer(&mut command);
    answer.assert(1, "not loaded", &["is not known", "strace"]);
}

#[test]
fn a_node_without_node_options_is_detected() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    place.script("");
    let answer = place.answer(
        place
            .attempt()
            .args(["--", "env -u NODE_OPTIONS node build.js"]),
    );
    answer.assert(1, "not loaded", &["NODE_OPTIONS does not reach it"]);
}

#[test]
fn an_addon_that_does_not_load_is_reported() {
    if !node_is_here() {
        return;
    }
    let register = LOADED.replace(
        "native: true, reason: ''",
        "native: false, reason: 'there is no native addon'",
    );
    let answer = Place::with_package(&register).attempt_script("", &[]);
    answer.assert(
        1,
        "not native",
        &["left everything to node:fs, because there is no native addon"],
    );
}

#[test]
fn a_command_that_loads_smallfry_by_itself_is_not_compared_with_itself() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    place.script("");
    let answer = place.answer(place.attempt().args([
        "--",
        "node",
        "--require",
        "../package/dist/register.js",
        "build.js",
    ]));
    answer.assert(1, "already loaded", &["loads smallfry by itself"]);
}

/// Each word of the command arrives as it was given. The shell splits a single one.
#[test]
fn words_with_spaces_and_quotes_arrive_whole() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    std::fs::create_dir(place.work().join("a 'b'")).unwrap();
    std::fs::write(
        place.work().join("a 'b'/s c.js"),
        r#"if (process.argv[2] !== 'x "y" $HOME') throw new Error(process.argv[2]);"#,
    )
    .unwrap();
    let answer =
        place.answer(
            place
                .attempt()
                .args(["--", "node", "a 'b'/s c.js", r#"x "y" $HOME"#]),
        );
    answer.assert(0, "same", &[]);
    place.script("process.exit(process.argv[2] === 'a b' ? 0 : 1)");
    let answer = place.answer(place.attempt().args(["--", "true && node build.js 'a b'"]));
    answer.assert(0, "same", &["smallfry try: true && node build.js 'a b'"]);
}

/// `NODE_OPTIONS` has quoting rules of its own, and the user's options in it stay.
#[test]
fn a_package_in_a_directory_with_spaces_and_quotes_is_loaded_beside_the_users_own_options() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let directory = place.root.path().join(r#"a "b" c\d"#);
    std::fs::rename(place.package(), &directory).unwrap();
    place.script("if (process.execArgv.length || !globalThis.mine) process.exit(1);");
    let own = place.work().join("own.js");
    std::fs::write(&own, "globalThis.mine = true;").unwrap();
    let mut command = place.attempt_with(&directory);
    command
        .env("NODE_OPTIONS", format!("--require {}", own.display()))
        .args(["--", "node", "build.js"]);
    let answer = place.answer(&mut command);
    answer.assert(0, "same", &["in 1 process (build.js)"]);
}

/// Neither a server that the build leaves running nor an unanswered question may delay the end of a
/// run.
#[cfg(unix)]
#[test]
fn a_run_ends_with_the_command_and_has_nothing_to_read() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let script = "const { spawn } = require('child_process');
        const left = spawn('sleep', ['20'], { stdio: 'inherit', detached: true }); left.unref();
        require('fs').appendFileSync('left', `${left.pid} `);
        process.stdin.on('data', () => process.exit(1)).on('end', () => {});";
    let answer = place.attempt_script(script, &[]);
    let left = std::fs::read_to_string(place.work().join("left")).unwrap();
    for pid in left.split_whitespace() {
        assert!(
            Command::new("kill").arg(pid).status().unwrap().success(),
            "it did not outlive its run"
        );
    }
    answer.assert(0, "same", &[]);
}

/// A command that asks for a password on the terminal itself, instead of its standard input, would
/// be stopped and waited for without end.
#[cfg(target_os = "linux")]
#[test]
fn a_run_has_no_terminal_to_ask() {
    if !node_is_here() {
        return;
    }
    let script = "const fs = require('fs');
        const [state, parent, group, session] = fs.readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
        if (Number(session) !== process.pid) throw new Error(`session ${session} is not its own`);
        fs.openSync('/dev/tty');";
    let answer = Place::new().attempt_script(script, &[]);
    answer.assert(1, "failed", &["ENXIO", "/dev/tty"]);
}

#[cfg(unix)]
#[test]
fn processor_time_includes_grandchildren() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    // The inner loop keeps the time of asking small.
    place.script(
        "let sum = 0;
        while (process.cpuUsage().user < 300_000) for (let i = 0; i < 1e6; i++) sum += i;",
    );
    let answer = place.answer(
        place
            .attempt()
            .args(["--", "true; sh -c 'node build.js; true'; true"]),
    );
    answer.assert(0, "same", &[]);
    for usage in answer.json["pairs"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|pair| pair.as_array().unwrap())
    {
        assert!(
            usage["processor"]["user_ns"].as_u64().unwrap() >= 300_000_000,
            "{usage}"
        );
    }
}

#[test]
fn preparation_runs_before_each_run_and_its_failure_is_one_line() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let answer = place.attempt_script(
        "require('fs').unlinkSync('prepared')",
        &["--prepare", "echo x >> log && touch prepared"],
    );
    answer.assert(0, "same", &[]);
    let log = std::fs::read_to_string(place.work().join("log")).unwrap();
    assert_eq!(log.lines().count(), 6, "a warm-up pair and two others");

    place.script("");
    let output = place
        .attempt()
        .args(["--prepare", "exit 7", "--", "node", "build.js"])
        .output()
        .unwrap();
    assert_one_line(&output, &["exit 7", "exit status: 7"]);
}

#[test]
fn errors_are_one_line() {
    let place = Place::new();
    let output = place
        .attempt()
        .args(["--", "no-such-program"])
        .output()
        .unwrap();
    assert_one_line(&output, &["cannot find the program no-such-program"]);

    let output = place
        .attempt()
        .args(["--json", "missing/file.json", "--", "node"])
        .output()
        .unwrap();
    assert_one_line(&output, &["missing/file.json"]);

    std::fs::remove_file(place.package().join("dist/register.js")).unwrap();
    let output = place.attempt().args(["--", "node"]).output().unwrap();
    assert_one_line(&output, &["dist/register.js"]);

    for arguments in [
        &["--runs", "0", "--", "node"][..],
        &["--runs", "1"],
        &["--nope", "--", "node"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_smallfry"))
            .arg("try")
            .args(arguments)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn a_missing_output_is_an_error_of_one_line() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    place.script("");
    let output = place
        .attempt()
        .args(["--outputs", "dits", "--", "node", "build.js"])
        .output()
        .unwrap();
    assert_one_line(&output, &["cannot find the output dits"]);
}

/// The command leads a group of processes, one of which ignores the request to end.
#[cfg(target_os = "linux")]
#[test]
fn each_signal_leaves_no_files_and_no_processes() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let place = Place::new();
        let line = "(trap '' TERM; echo $$ > began; while :; do sleep 0.05; done) & echo $! > inner; sleep 60";
        let mut child = place
            .attempt()
            .args(["--json", "results.json", "--", line])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (began, inner) = (place.work().join("began"), place.work().join("inner"));
        wait_for(&began);
        wait_for(&inner);
        let processes = [read_number(&began), read_number(&inner)];
        Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status()
            .unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
        for process in processes {
            assert!(!is_running(process), "{signal}: {process} is still there");
        }
        assert!(
            std::fs::read_dir(place.temporary())
                .unwrap()
                .next()
                .is_none(),
            "{signal}"
        );
        assert!(!place.work().join("results.json").exists());
        assert_eq!(
            std::fs::read_dir(place.work()).unwrap().count(),
            2,
            "{signal}"
        );
    }
}

#[cfg(target_os = "linux")]
fn wait_for(file: &Path) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while std::fs::read_to_string(file)
        .unwrap_or_default()
        .trim()
        .is_empty()
    {
        assert!(
            std::time::Instant::now() < deadline,
            "{} does not come",
            file.display()
        );
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[cfg(target_os = "linux")]
fn read_number(file: &Path) -> u32 {
    std::fs::read_to_string(file)
        .unwrap()
        .trim()
        .parse()
        .unwrap()
}

/// The real package. `None`, after a line that says so, if it was not built.
fn real_package() -> Option<PathBuf> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bindings/node");
    let built = package.join("dist/counting.js").is_file()
        && std::fs::read_dir(&package).unwrap().any(|entry| {
            entry
                .unwrap()
                .path()
                .extension()
                .is_some_and(|ending| ending == "node")
        });
    skip_unless(built, "the npm package was not built (make node-package)");
    built.then_some(package)
}

/// The real package is loaded and native, and counts every call of a small program, of its child
/// process and of its worker.
#[test]
fn the_real_package_counts_what_a_program_does() {
    if !node_is_here() {
        return;
    }
    let Some(package) = real_package() else {
        return;
    };
    let place = Place::new();
    place.script(
        "const fs = require('node:fs'), { Worker, isMainThread } = require('node:worker_threads');
        // With options, even the first of these calls is not left to node:fs.
        for (let i = 0; i < 100; i++) fs.writeFileSync(`w${i}`, 'x'.repeat(10), {});
        if (isMainThread && !process.argv[2]) {
          new Worker(__filename);
          require('node:child_process').execFileSync(process.execPath, [__filename, 'again']);
        }",
    );
    let mut command = place.attempt_with(&package);
    command.args(["--", "node", "build.js"]);
    let answer = place.answer(&mut command);
    answer.assert(
        0,
        "same",
        &[
            "in 2 processes (2x build.js), 3 threads",
            "write whole 300 - 300 2.93 KiB",
            "to the start of a process of Node",
        ],
    );
}

/// If a script sets `NODE_OPTIONS` itself, only npm would be measured, and the report would say "No
/// gain here" although nothing was tried.
#[cfg(unix)]
#[test]
fn a_script_that_replaces_node_options_is_reported_and_not_measured() {
    if !node_is_here() {
        return;
    }
    let Some(package) = real_package() else {
        return;
    };
    let npm = Command::new("npm").arg("--version").output();
    let npm_is_here = npm.is_ok_and(|output| output.status.success());
    skip_unless(npm_is_here, "npm is not on PATH");
    if !npm_is_here {
        return;
    }
    let place = Place::new();
    place.script("");
    let project = |options: &str| {
        let text = format!(r#"{{"scripts":{{"build":"{options} node build.js"}}}}"#);
        std::fs::write(place.work().join("package.json"), text).unwrap();
        let mut command = place.attempt_with(&package);
        command.env("npm_config_update_notifier", "false");
        command.env("NODE_DISABLE_COMPILE_CACHE", "1");
        command.args(["--", "npm", "run", "build"]);
        place.answer(&mut command)
    };
    let replaced = project("NODE_OPTIONS=--max-old-space-size=512");
    let parts = [
        "! only npm loaded smallfry",
        "without smallfry, so not loading it: `NODE_OPTIONS=--max-old-space-size=512 node build.js`",
        "add to $NODE_OPTIONS",
    ];
    replaced.assert(1, "only launchers", &parts);
    replaced.assert_not("No gain here");
    let kept = project(r#"NODE_OPTIONS=\"$NODE_OPTIONS --max-old-space-size=512\""#);
    kept.assert(0, "same", &["in 2 processes"]);
    kept.assert_not("without smallfry, so");
}

#[test]
fn the_first_screen_has_the_answer_in_25_lines_of_100_columns() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    place.script(BUILD);
    let mut command = Command::new(env!("CARGO_BIN_EXE_smallfry"));
    command.args(["try", "--runs", "6", "--outputs", "dist"]);
    command.args(["--prepare", "rm -rf dist", "--package"]);
    command.arg(place.package()).current_dir(place.work());
    command.env_remove("NODE_OPTIONS");
    let output = command.args(["--", "node", "build.js"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let (_, screen) = printed.split_once("\n\n").unwrap();
    assert!(screen.lines().count() <= 25, "{screen}");
    assert!(
        screen.lines().all(|line| line.chars().count() <= 100),
        "{screen}"
    );
    for part in [
        "smallfry try - node build.js - 6 pairs in",
        "SAME",
        "2 outputs byte for byte, exit status",
        "Where calls waited",
        "read whole",
        "--details   --html FILE",
    ] {
        assert!(screen.contains(part), "{part:?} is not in {screen}");
    }
    let verdicts = ["GAIN", "LOSS", "EVEN"];
    assert!(verdicts.iter().any(|it| screen.contains(it)), "{screen}");
    assert!(
        !printed.contains("In words") && !printed.contains('#'),
        "{printed}"
    );
}

#[test]
fn a_difference_is_on_the_first_screen() {
    if !node_is_here() {
        return;
    }
    let place = Place::with_package(&format!("{LOADED}globalThis.pages = 12;"));
    place.script("console.log(`${globalThis.pages ?? 13} pages`);");
    let mut command = Command::new(env!("CARGO_BIN_EXE_smallfry"));
    command.args(["try", "--runs", "2", "--package"]);
    command.arg(place.package()).current_dir(place.work());
    command.env_remove("NODE_OPTIONS");
    let output = command.args(["--", "node", "build.js"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    for part in ["DIFFERENT", "without: 13 pages", "with:    12 pages"] {
        assert!(printed.contains(part), "{part:?} is not in {printed}");
    }
}

#[test]
fn times_are_written_in_the_form_of_hyperfine() {
    if !node_is_here() {
        return;
    }
    let place = Place::new();
    let file = place.root.path().join("hyperfine.json");
    let option = format!("--export-hyperfine={}", file.display());
    let answer = place.attempt_script("", &[&option]);
    answer.assert(0, "same", &[]);
    let export: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let results = export["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for result in results {
        assert_eq!(result["times"].as_array().unwrap().len(), 2);
        let [min, mean, max] = ["min", "mean", "max"].map(|name| result[name].as_f64().unwrap());
        assert!(0.0 < min && min <= mean && mean <= max, "{result}");
        assert!(
            result["command"]
                .as_str()
                .unwrap()
                .starts_with("node build.js")
        );
    }
}
