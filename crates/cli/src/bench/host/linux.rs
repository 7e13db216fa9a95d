//! The facts that Linux tells in /proc and /sys.
//!
//! Formats: <https://man7.org/linux/man-pages/man5/proc.5.html>, for the mount table
//! <https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html>.

pub(super) mod cache;

use super::FileSystem;
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

pub(super) fn kernel() -> Option<String> {
    Some(
        read_to_string("/proc/sys/kernel/osrelease")
            .ok()?
            .trim()
            .to_owned(),
    )
}

pub(super) fn cpu() -> Option<String> {
    let text = read_to_string("/proc/cpuinfo").ok()?;
    let line = text
        .lines()
        .find(|line| line.starts_with("model name") || line.starts_with("Model"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

pub(super) fn memory() -> Option<u64> {
    let text = read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(
        line.trim()
            .trim_end_matches("kB")
            .trim()
            .parse::<u64>()
            .ok()?
            * 1024,
    )
}

/// Returns the container's limit, by control groups version 2 or 1; "no limit" is a word or a
/// number beyond any memory.
pub(super) fn memory_limit() -> Option<u64> {
    let limit: u64 = [
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ]
    .into_iter()
    .find_map(|path| read_to_string(path).ok()?.trim().parse().ok())?;
    (limit < 1 << 60).then_some(limit)
}

pub(super) fn load_average() -> Option<f64> {
    read_to_string("/proc/loadavg")
        .ok()?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

/// Returns the choice in brackets of `always [madvise] never`.
pub(super) fn transparent_huge_pages() -> Option<String> {
    let text = read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").ok()?;
    Some(text.split_once('[')?.1.split_once(']')?.0.to_owned())
}

pub(super) fn file_system(directory: PathBuf) -> FileSystem {
    let table = read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let free_bytes = free(&directory);
    match table
        .lines()
        .filter_map(Mount::parse)
        .filter(|mount| directory.starts_with(&mount.point))
        .max_by_key(Mount::depth)
    {
        Some(mount) => FileSystem {
            directory,
            journal: journal(&mount),
            kind: mount.kind,
            rotational: rotational(&mount.number),
            device: Some(mount.source),
            mount_point: Some(mount.point),
            options: Some(mount.options),
            free_bytes,
        },
        None => FileSystem {
            directory,
            kind: "unknown".to_owned(),
            free_bytes,
            ..FileSystem::default()
        },
    }
}

/// One line of the mount table.
struct Mount {
    number: String,
    point: PathBuf,
    kind: String,
    source: String,
    options: String,
}

impl Mount {
    fn parse(line: &str) -> Option<Self> {
        let (place, system) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(2);
        let (number, _root, point, options) =
            (place.next()?, place.next()?, place.next()?, place.next()?);
        let mut system = system.split(' ');
        let (kind, source) = (system.next()?, system.next()?);
        let more = system.next().unwrap_or_default();
        Some(Self {
            number: number.to_owned(),
            point: unescape(point).into(),
            kind: kind.to_owned(),
            source: unescape(source),
            options: merged(options, more),
        })
    }

    /// Returns the depth. `max_by_key` takes the last line of the same depth, which covers earlier
    /// mounts.
    fn depth(&self) -> usize {
        self.point.components().count()
    }
}

/// Joins the options of the mount and of the file system, each once.
fn merged(mount: &str, system: &str) -> String {
    let mut options: Vec<&str> = mount.split(',').collect();
    for option in system.split(',') {
        if !option.is_empty() && !options.contains(&option) {
            options.push(option);
        }
    }
    options.join(",")
}

/// Decodes blank, tab, newline and backslash, which stand there as three octal digits.
fn unescape(text: &str) -> String {
    [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (code, plain)| {
        text.replace(code, plain)
    })
}

/// Reads the disk's queue; for a partition the parent has it.
fn rotational(number: &str) -> Option<bool> {
    let device = Path::new("/sys/dev/block").join(number);
    let text = ["queue/rotational", "../queue/rotational"]
        .into_iter()
        .find_map(|file| read_to_string(device.join(file)).ok())?;
    Some(text.trim() == "1")
}

/// Reads `journal_task`, which holds a number where ext4 has a journal, else `<none>`.
///
/// <https://docs.kernel.org/admin-guide/ext4.html#sys-entries>
fn journal(mount: &Mount) -> Option<bool> {
    if mount.kind != "ext4" {
        return None;
    }
    let device = std::fs::read_link(Path::new("/sys/dev/block").join(&mount.number)).ok()?;
    let facts = Path::new("/sys/fs/ext4").join(device.file_name()?);
    let task = read_to_string(facts.join("journal_task")).ok()?;
    Some(task.trim() != "<none>")
}

fn free(directory: &Path) -> Option<u64> {
    let facts = rustix::fs::statvfs(directory).ok()?;
    Some(facts.f_bavail * facts.f_frsize)
}

/// Returns how many more files there can be; `None` if there is no limit.
pub(super) fn free_inodes(directory: &Path) -> Option<u64> {
    let facts = rustix::fs::statvfs(directory).ok()?;
    (facts.f_files > 0).then_some(facts.f_favail)
}

/// `syncfs`: <https://man7.org/linux/man-pages/man2/syncfs.2.html>.
pub(super) fn flush_all(directory: &Path) -> std::io::Result<()> {
    Ok(rustix::fs::syncfs(std::fs::File::open(directory)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_mount_table() {
        let line = r"36 35 98:0 /root /mnt/my\040disk rw,noatime master:1 - ext3 /dev/root rw,errors=continue";
        let mount = Mount::parse(line).unwrap();
        assert_eq!(mount.point, Path::new("/mnt/my disk"));
        assert_eq!(
            (mount.kind.as_str(), mount.source.as_str()),
            ("ext3", "/dev/root")
        );
        assert_eq!(
            (mount.number.as_str(), mount.options.as_str()),
            ("98:0", "rw,noatime,errors=continue")
        );
    }

    #[test]
    fn a_line_that_makes_no_sense_is_no_mount() {
        assert!(Mount::parse("").is_none());
        assert!(Mount::parse("1 2 3").is_none());
    }
}
