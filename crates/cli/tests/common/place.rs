//! A place where commands that work on trees run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory with a tree `from` of two files, and more.
pub(crate) struct Place(pub(crate) tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(place.path("from/sub")).unwrap();
        fs::write(place.path("from/a.js"), "new").unwrap();
        fs::write(place.path("from/sub/a.map"), "new").unwrap();
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_smallfry"));
        command.args(line.split(' ')).current_dir(self.0.path());
        command
    }

    pub(crate) fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// Runs a command that must do its work and say nothing.
    #[track_caller]
    pub(crate) fn done(&self, line: &str) {
        let output = self.run(line);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.success() && said.is_empty() && output.stdout.is_empty(),
            "{said}"
        );
    }
}

/// The paths below a directory, sorted.
pub(crate) fn list(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                directories.push(entry.path());
            }
            let path = entry.path();
            found.push(
                path.strip_prefix(root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned(),
            );
        }
    }
    found.sort();
    found
}
