//! Counts what a row's process flushes, by strace: in a run of its own, which is not timed.

use crate::bench::failure::Failure;
use serde::Serialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The time that strace has to write down the end of a process.
const PATIENCE: Duration = Duration::from_secs(5);

const CALLS: &str = "trace=fsync,fdatasync,syncfs,sync_file_range";

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
}

/// A strace that works.
#[derive(Clone, Debug)]
pub(crate) struct Strace(PathBuf);

impl Strace {
    /// Finds strace, or says why there is none.
    pub(crate) fn find() -> Result<Self, String> {
        if !cfg!(target_os = "linux") {
            return Err("this system has no strace".to_owned());
        }
        let Ok(binary) = which::which("strace") else {
            return Err(
                "strace is not installed (apt install strace, dnf install strace)".to_owned(),
            );
        };
        let this = std::env::current_exe().map_err(|error| error.to_string())?;
        let tried = Command::new(&binary)
            .args(OPTIONS)
            .args(["-o", "/dev/null", "--"])
            .arg(this)
            .arg("--version")
            .output();
        match tried {
            Ok(output) if output.status.success() => Ok(Self(binary)),
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                let why = said.lines().next().unwrap_or("it does not say why");
                Err(format!("strace does not work here: {}", why.trim()))
            }
            Err(error) => Err(format!("strace does not run: {error}")),
        }
    }

    /// Makes a file for one trace.
    pub(crate) fn trace(&self) -> Result<Trace, Failure> {
        let directory = tempfile::Builder::new()
            .prefix("smallfry-bench-trace-")
            .tempdir()
            .map_err(Failure::at("make a directory in", &std::env::temp_dir()))?;
        Ok(Trace {
            strace: self.0.clone(),
            file: directory.path().join("trace"),
            _directory: directory,
        })
    }
}

/// With `-D` the row stays a child of the bench, which can end it; with `--seccomp-bpf` only the
/// traced calls are slowed. See <https://man7.org/linux/man-pages/man1/strace.1.html>.
const OPTIONS: [&str; 11] = [
    "-D",
    "-f",
    "--seccomp-bpf",
    "-q",
    "-y",
    "-ttt",
    "-T",
    "-e",
    CALLS,
    "-e",
    "signal=none",
];

/// The file that strace writes about one process.
pub(crate) struct Trace {
    strace: PathBuf,
    file: PathBuf,
    _directory: TempDir,
}

impl Trace {
    pub(super) fn of(&self, command: &Command) -> Command {
        let mut traced = Command::new(&self.strace);
        traced.args(OPTIONS).arg("-o").arg(&self.file).arg("--");
        traced.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => traced.env(name, value),
                None => traced.env_remove(name),
            };
        }
        traced
    }

    /// Counts the flushes, once the process has ended.
    pub(crate) fn flushes(&self, process: u32) -> Result<Flushes, String> {
        let until = Instant::now() + PATIENCE;
        loop {
            let text = std::fs::read_to_string(&self.file).unwrap_or_default();
            if text.lines().any(|line| is_end_of(line, process)) {
                return Ok(parse(&text, Path::is_dir));
            }
            if Instant::now() >= until {
                return Err("strace has not seen its process end".to_owned());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// `123 1700000000.000000 +++ exited with 0 +++`
fn is_end_of(line: &str, process: u32) -> bool {
    let mut words = line.split_whitespace();
    words.next().and_then(|word| word.parse().ok()) == Some(process) && words.nth(1) == Some("+++")
}

/// Counts the flushes in lines such as `123 1700000000.000000 fsync(3</a/b>) = 0 <0.000123>`, or
/// two: `... <unfinished ...>`, and `123 1700000000.000000 <... fsync resumed>) = 0 <0.000123>`.
fn parse(text: &str, is_directory: impl Fn(&Path) -> bool) -> Flushes {
    let mut flushes = Flushes::default();
    let mut waits: Vec<(f64, f64)> = Vec::new();
    let mut unfinished: HashMap<&str, f64> = HashMap::new();
    for line in text.lines() {
        let Some((process, rest)) = line.split_once(' ') else {
            continue;
        };
        let Some((time, call)) = rest.trim_start().split_once(' ') else {
            continue;
        };
        let Ok(time) = time.parse::<f64>() else {
            continue;
        };
        if call.starts_with("<... ") {
            if let (Some(began), Some(took)) = (unfinished.remove(process), duration(call)) {
                waits.push((began, began + took));
            }
            continue;
        }
        let Some((name, arguments)) = call.split_once('(') else {
            continue;
        };
        match name {
            "fsync" if is_directory(path_in(arguments)) => flushes.fsync_directory += 1,
            "fsync" => flushes.fsync += 1,
            "fdatasync" => flushes.fdatasync += 1,
            "syncfs" => flushes.syncfs += 1,
            "sync_file_range" => {
                flushes.sync_file_range += 1;
                continue;
            }
            _ => continue,
        }
        if call.ends_with("<unfinished ...>") {
            unfinished.insert(process, time);
        } else if let Some(took) = duration(call) {
            waits.push((time, time + took));
        }
    }
    flushes.in_turn = longest_chain(waits);
    flushes
}

/// Returns the path in `3</a/b>) = 0 <0.000123>` or `3</a/b> <unfinished ...>`.
fn path_in(arguments: &str) -> &Path {
    let arguments = arguments
        .rsplit_once(") = ")
        .or_else(|| arguments.rsplit_once(" <unfinished"))
        .map_or(arguments, |(before, _)| before);
    let path = arguments.split_once('<').map_or("", |(_, path)| path);
    Path::new(path.strip_suffix('>').unwrap_or(path))
}

/// Returns the seconds in brackets at the end.
fn duration(call: &str) -> Option<f64> {
    let (_, end) = call.rsplit_once('<')?;
    end.strip_suffix('>')?.parse().ok()
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

    /// The output of strace 6.1.
    const TEXT: &str = "\
1034  100.000000 fdatasync(3</d/a>) = 0 <0.000500>
1034  100.001000 fsync(3</d/b> <unfinished ...>
1035  100.001100 fsync(4</d/<c>>) = 0 <0.000200>
1034  100.002000 <... fsync resumed>) = 0 <0.001000>
1034  100.002500 sync_file_range(3</d/e>, 0, 0, SYNC_FILE_RANGE_WRITE) = 0 <0.000100>
1034  100.003000 syncfs(3</d>) = -1 EIO (Input/output error) <0.000500>
1034  100.004000 fsync(3</d>) = 0 <0.000500>
1034  100.005000 +++ exited with 0 +++
";

    #[test]
    fn calls_are_counted_and_those_that_overlap_are_waited_for_once() {
        let flushes = parse(TEXT, |path| path == Path::new("/d"));
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
        assert!(TEXT.lines().any(|line| is_end_of(line, 1034)));
        assert!(!TEXT.lines().any(|line| is_end_of(line, 1035)));
    }
}
