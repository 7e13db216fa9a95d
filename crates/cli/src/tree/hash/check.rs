//! `--check`: compares digests with those in a file.

use super::super::names::in_json;
use super::{Run, lines, opened};
use smallfry::hash::Digest;
use std::io;
use std::path::{Path, PathBuf};

impl Run<'_> {
    /// Checks the files in each list.
    pub(super) fn check(&mut self) -> io::Result<()> {
        let arguments = self.arguments;
        let mut digests = Vec::new();
        let mut result = Ok(());
        for list in &arguments.paths {
            let Some(lines) = self.read(list) else {
                continue;
            };
            let (expected, paths): (Vec<_>, Vec<_>) = lines.into_iter().unzip();
            let mut expected = expected.into_iter();
            let (mut unread, mut different) = (0, 0);
            result = self.each(&paths, |run, path, hashed| {
                let (digest, expected) = (hashed.map(|it| it.digest), expected.next());
                let matches = digest.is_some() && digest == expected;
                let verdict = match digest {
                    None if run.is_stopped() => return Ok(()),
                    None => "FAILED open or read",
                    Some(_) if matches => "OK",
                    Some(_) => "FAILED",
                };
                unread += usize::from(digest.is_none());
                different += usize::from(digest.is_some() && !matches);
                if arguments.json {
                    let mut object = in_json(path);
                    object["digest"] = digest.map(|it| it.to_string()).into();
                    object["matches"] = matches.into();
                    digests.push(object);
                } else if !(matches && arguments.quiet) {
                    run.output.put(&lines::verdict(path, verdict))?;
                }
                Ok(())
            });
            let list = list.display();
            if different > 0 {
                let files = counted(different, "file does", "files do");
                self.total.fail(format!("{list}: {files} not match"));
            }
            if unread > 0 {
                let files = counted(unread, "file", "files");
                self.total
                    .fail(format!("{list}: {files} could not be read"));
            }
            if result.is_err() {
                break;
            }
        }
        self.describe(digests);
        result
    }

    /// Reads the lines of a list. `None` if that is impossible, which is noted.
    fn read(&mut self, list: &Path) -> Option<Vec<(Digest, PathBuf)>> {
        let contents = match smallfry::fs::read(opened(list)) {
            Ok(contents) => contents,
            Err(error) => {
                self.total.fail(error.to_string());
                return None;
            }
        };
        let algorithm = self.arguments.algorithm.into();
        let mut read = Vec::new();
        let mut unreadable = 0;
        for line in contents.split(|&byte| byte == b'\n') {
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            match lines::parse(line, algorithm) {
                Some(line) => read.push(line),
                None => unreadable += 1,
            }
        }
        let list = list.display();
        if read.is_empty() {
            self.total.fail(format!(
                "{list}: no line has a digest of this --algorithm and a name"
            ));
        } else if unreadable > 0 {
            let lines = counted(unreadable, "line has", "lines have");
            eprintln!("{}: warning: {list}: {lines} another format", super::NAME);
        }
        Some(read)
    }

    /// Returns true after Ctrl-C.
    fn is_stopped(&self) -> bool {
        self.output.is_stopped()
    }
}

fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}
