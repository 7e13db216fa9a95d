//! Counts what a row's process flushes, by strace: in a run of its own, which is not timed.

use crate::failure::Failure;
use crate::process::child::this_program;
use serde::Serialize;
use std::fs::{read_dir, read_to_string};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The time that strace has to write down the end of a process.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// With `-D` the row stays a child of the bench, which can end it. With `-ff` each thread has a
/// file of its own, in which no call is interrupted by another. With `--seccomp-bpf` only the
/// traced calls are slowed. See <https://man7.org/linux/man-pages/man1/strace.1.html>.
const OPTIONS: &str = "-D -ff --seccomp-bpf -q -y -ttt -T -e \
                       trace=fsync,fdatasync,syncfs,sync_file_range -e signal=none -o";

/// System calls that flush, failed ones included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Flushes {
    /// Calls on files.
    pub(crate) fsync: usize,
    /// Calls on directories.
    pub(crate) fsync_directory: usize,
    pub(crate) fdatasync: usize,
    pub(crate) syncfs: usize,
    /// The calls that had to be waited for one after the other: the longest chain of calls that
    /// each began when the one before had returned.
    pub(crate) in_turn: usize,
    /// Calls of `sync_file_range`, which makes nothing durable and is not counted above.
    pub(crate) sync_file_range: usize,
}

impl Flushes {
    /// Returns the number of calls that make something durable.
    pub(crate) fn all(&self) -> usize {
        self.fsync + self.fsync_directory + self.fdatasync + self.syncfs
    }

    /// Returns the names of the system calls that make something durable.
    pub(crate) fn names(&self) -> Vec<String> {
        let calls = [
            ("fsync", self.fsync + self.fsync_directory),
            ("fdatasync", self.fdatasync),
            ("syncfs", self.syncfs),
        ];
        let made = calls.into_iter().filter(|(_, count)| *count > 0);
        made.map(|(name, _)| name.to_owned()).collect()
    }
}

/// A strace that works.
#[derive(Clone, Debug)]
pub(crate) struct Strace(PathBuf);

impl Strace {
    /// Finds strace, or says why there is none.
    pub(crate) fn find() -> Result<Self, Failure> {
        if !cfg!(target_os = "linux") {
            return Err(Failure::said("this system has no strace"));
        }
        let why = "strace is not installed (apt install strace, dnf install strace)";
        let strace = Self(which::which("strace").map_err(|_| Failure::said(why))?);
        let mut version = Command::new(this_program()?);
        let tried = strace.trace()?.of(version.arg("--version")).output();
        let tried = tried.map_err(Failure::at("run", &strace.0))?;
        if tried.status.success() {
            return Ok(strace);
        }
        let said = String::from_utf8_lossy(&tried.stderr);
        let why = said.lines().next().unwrap_or("it does not say why");
        Err(Failure::said(format!("strace does not work here: {why}")))
    }

    /// Makes a directory for one trace.
    pub(crate) fn trace(&self) -> Result<Trace, Failure> {
        let directory = tempfile::Builder::new()
            .prefix("smallfry-bench-trace-")
            .tempdir()
            .map_err(Failure::at("make a directory in", &std::env::temp_dir()))?;
        Ok(Trace {
            strace: self.0.clone(),
            directory,
        })
    }
}

/// The files that strace writes about one process.
pub(crate) struct Trace {
    strace: PathBuf,
    directory: TempDir,
}

impl Trace {
    /// Returns the command under strace.
    pub(super) fn of(&self, command: &Command) -> Command {
        let mut traced = Command::new(&self.strace);
        traced.args(OPTIONS.split_whitespace());
        traced.arg(self.directory.path().join("thread")).arg("--");
        traced.arg(command.get_program()).args(command.get_args());
        for (name, _) in command.get_envs() {
            traced.env_remove(name);
        }
        traced
    }

    /// Counts the flushes, once the process has ended; `None` if strace has not seen that.
    pub(crate) fn flushes(&self, process: u32) -> Option<Flushes> {
        let first = self.directory.path().join(format!("thread.{process}"));
        let until = Instant::now() + END_TIMEOUT;
        while !read_to_string(&first).is_ok_and(|text| has_ended(&text)) {
            if Instant::now() >= until {
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let threads = read_dir(&self.directory).ok()?;
        let texts = threads.map(|thread| read_to_string(thread?.path()));
        let texts = texts.collect::<io::Result<Vec<String>>>().ok()?;
        Some(parse(&texts, Path::is_dir))
    }
}

/// Returns true if the last line is `1700000000.000000 +++ exited with 0 +++`. The first thread of
/// a process is the last to end.
fn has_ended(text: &str) -> bool {
    text.trim_end().ends_with("+++")
}

/// Counts the flushes in the lines of threads.
fn parse(threads: &[String], is_directory: impl Fn(&Path) -> bool) -> Flushes {
    let mut flushes = Flushes::default();
    let lines = threads.iter().flat_map(|text| text.lines());
    let waits = lines.filter_map(|line| count(&mut flushes, line, &is_directory));
    flushes.in_turn = longest_chain(waits.collect());
    flushes
}

/// Counts a line such as `1700000000.000000 fsync(3</a/b>) = 0 <0.000123>`. Returns when a call
/// that must be waited for began and ended.
fn count(
    flushes: &mut Flushes,
    line: &str,
    is_directory: impl Fn(&Path) -> bool,
) -> Option<(f64, f64)> {
    let (time, call) = line.split_once(' ')?;
    let (name, arguments) = call.split_once('(')?;
    let calls = match name {
        "fsync" if is_directory(path_in(arguments)) => &mut flushes.fsync_directory,
        "fsync" => &mut flushes.fsync,
        "fdatasync" => &mut flushes.fdatasync,
        "syncfs" => &mut flushes.syncfs,
        "sync_file_range" => &mut flushes.sync_file_range,
        _ => return None,
    };
    *calls += 1;
    let (_, took) = call.strip_suffix('>')?.rsplit_once('<')?;
    let (began, took): (f64, f64) = (time.parse().ok()?, took.parse().ok()?);
    (name != "sync_file_range").then_some((began, began + took))
}

/// Returns the path in `3</a/b>) = 0 <0.000123>`.
fn path_in(arguments: &str) -> &Path {
    let descriptor = arguments.rsplit_once(") = ").map_or("", |(it, _)| it);
    let path = descriptor.split_once('<').map_or("", |(_, path)| path);
    Path::new(path.strip_suffix('>').unwrap_or(path))
}

/// Returns how many of them can follow each other at most; the one that ends first is always among
/// them.
fn longest_chain(mut waits: Vec<(f64, f64)>) -> usize {
    waits.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut last = f64::NEG_INFINITY;
    let mut count = 0;
    for (began, ended) in waits {
        if began >= last {
            count += 1;
            last = ended;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of strace 6.1 about two threads.
    const TEXTS: [&str; 2] = [
        "\
100.000000 fdatasync(3</d/a>) = 0 <0.000500>
100.001000 fsync(3</d/b>) = 0 <0.001000>
100.002500 sync_file_range(3</d/e>, 0, 0, SYNC_FILE_RANGE_WRITE) = 0 <0.000100>
100.003000 syncfs(3</d>) = -1 EIO (Input/output error) <0.000500>
100.004000 fsync(3</d>) = 0 <0.000500>
100.005000 +++ exited with 0 +++
",
        "\
100.001100 fsync(4</d/<c>>) = 0 <0.000200>
",
    ];

    #[test]
    fn calls_are_counted_and_those_that_overlap_are_waited_for_once() {
        let flushes = parse(&TEXTS.map(str::to_owned), |path| path == Path::new("/d"));
        let expected = Flushes {
            fsync: 2,
            fsync_directory: 1,
            fdatasync: 1,
            syncfs: 1,
            in_turn: 4,
            sync_file_range: 1,
        };
        assert_eq!(flushes, expected);
        assert_eq!(flushes.all(), 5);
        assert_eq!(TEXTS.map(has_ended), [true, false]);
    }
}
