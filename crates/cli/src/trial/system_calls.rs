//! Where a program other than Node spends its time on files, as counted by strace.

use super::process::Runner;
use crate::failure::Failure;
use std::process::Command;

/// Processor time in the kernel, by kind of call; see strace(1), `-c`.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Summary {
    pub(super) rows: Vec<Row>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Row {
    pub(super) part: &'static str,
    pub(super) calls: u64,
    pub(super) errors: u64,
    pub(super) seconds: f64,
    /// The system call that took the most time.
    pub(super) mostly: String,
}

/// Parts of the work and their system calls. All others count as `other`.
const PARTS: [(&str, &[&str]); 7] = [
    (
        "look up",
        &[
            "stat",
            "lstat",
            "fstat",
            "newfstatat",
            "fstatat64",
            "statx",
            "access",
            "faccessat",
            "faccessat2",
            "readlink",
            "readlinkat",
            "getdents",
            "getdents64",
            "statfs",
            "fstatfs",
            "getcwd",
            "chdir",
        ],
    ),
    ("open", &["open", "openat", "openat2", "creat"]),
    (
        "read",
        &[
            "read",
            "pread64",
            "readv",
            "preadv",
            "preadv2",
            "mmap",
            "sendfile",
            "copy_file_range",
        ],
    ),
    (
        "write",
        &[
            "write",
            "pwrite64",
            "writev",
            "pwritev",
            "pwritev2",
            "ftruncate",
            "fallocate",
        ],
    ),
    (
        "flush",
        &["fsync", "fdatasync", "sync_file_range", "syncfs", "msync"],
    ),
    ("close", &["close", "close_range"]),
    (
        "make, move, remove",
        &[
            "mkdir",
            "mkdirat",
            "rmdir",
            "unlink",
            "unlinkat",
            "rename",
            "renameat",
            "renameat2",
            "link",
            "linkat",
            "symlink",
            "symlinkat",
            "chmod",
            "fchmod",
            "fchmodat",
            "chown",
            "fchown",
            "fchownat",
            "utimensat",
            "truncate",
        ],
    ),
];

/// Runs the command once more under strace. The inner `Err` is the reason why that is impossible.
pub(super) fn count(runner: &Runner) -> Result<Result<Summary, String>, Failure> {
    if !cfg!(target_os = "linux") {
        return Ok(Err("this system has no strace".to_owned()));
    }
    let Ok(strace) = which::which("strace") else {
        return Ok(Err(
            "strace is not installed (apt install strace, dnf install strace)".to_owned(),
        ));
    };
    let results = tempfile::Builder::new()
        .prefix("smallfry-try-")
        .tempfile()
        .map_err(Failure::at("make a file in", &std::env::temp_dir()))?;
    let run = runner.run_wrapped(|command| {
        let mut traced = Command::new(&strace);
        traced
            .args(["-f", "-c", "-S", "time", "-e", "trace=%file,%desc", "-o"])
            .arg(results.path())
            .arg("--")
            .arg(command.get_program())
            .args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => traced.env(name, value),
                None => traced.env_remove(name),
            };
        }
        traced
    })?;
    let text =
        std::fs::read_to_string(results.path()).map_err(Failure::at("read", results.path()))?;
    let summary = parse(&text);
    Ok(if summary.rows.is_empty() {
        let said = run.tail()?;
        Err(format!(
            "strace counted nothing: {}",
            said.lines()
                .last()
                .unwrap_or("tracing may be forbidden here")
        ))
    } else {
        Ok(summary)
    })
}

/// Parses lines of `% time, seconds, usecs/call, calls, [errors,] syscall`.
fn parse(text: &str) -> Summary {
    let mut rows: Vec<(Row, f64)> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (seconds, calls, errors, name) = match words[..] {
            [_, seconds, _, calls, name] => (seconds, calls, "0", name),
            [_, seconds, _, calls, errors, name] => (seconds, calls, errors, name),
            _ => continue,
        };
        let (Ok(seconds), Ok(calls), Ok(errors)) = (seconds.parse(), calls.parse(), errors.parse())
        else {
            continue;
        };
        if name != "total" {
            add(&mut rows, name, seconds, calls, errors);
        }
    }
    let mut rows: Vec<Row> = rows.into_iter().map(|(row, _)| row).collect();
    rows.sort_by_key(|row| {
        PARTS
            .iter()
            .position(|(part, _)| *part == row.part)
            .unwrap_or(PARTS.len())
    });
    Summary { rows }
}

/// Adds a call to its row. The second value of a row is the time of its longest call.
fn add(rows: &mut Vec<(Row, f64)>, name: &str, seconds: f64, calls: u64, errors: u64) {
    let part = PARTS
        .iter()
        .find(|(_, names)| names.contains(&name))
        .map_or("other", |(part, _)| part);
    let index = rows
        .iter()
        .position(|(row, _)| row.part == part)
        .unwrap_or_else(|| {
            let row = Row {
                part,
                calls: 0,
                errors: 0,
                seconds: 0.0,
                mostly: String::new(),
            };
            rows.push((row, -1.0));
            rows.len() - 1
        });
    let (row, most) = &mut rows[index];
    row.calls += calls;
    row.errors += errors;
    row.seconds += seconds;
    if seconds > *most {
        *most = seconds;
        name.clone_into(&mut row.mostly);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of strace 6.1.
    const TEXT: &str = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 42.00    0.000420           4       105           close
 40.00    0.000400          10        40         3 openat
 10.00    0.000100          10        10           newfstatat
  5.00    0.000050           5        10         2 access
  3.00    0.000030           3        10           epoll_wait
------ ----------- ----------- --------- --------- ----------------
100.00    0.001000           5       175         5 total
";

    #[test]
    fn system_calls_are_summed_by_part() {
        let summary = parse(TEXT);
        let shown: Vec<_> = summary
            .rows
            .iter()
            .map(|row| (row.part, row.calls, row.errors, row.mostly.as_str()))
            .collect();
        assert_eq!(
            shown,
            [
                ("look up", 20, 2, "newfstatat"),
                ("open", 40, 3, "openat"),
                ("close", 105, 0, "close"),
                ("other", 10, 0, "epoll_wait"),
            ]
        );
        assert!((summary.rows[0].seconds - 0.000_15).abs() < 1e-9);
        assert_eq!(parse("strace: nothing"), Summary::default());
    }
}
