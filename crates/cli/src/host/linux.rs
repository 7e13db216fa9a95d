//! The facts that Linux tells in /proc and /sys, and its page cache.
//!
//! Formats: <https://man7.org/linux/man-pages/man5/proc.5.html>.

#![allow(unsafe_code, reason = "it calls the system")]

use super::{FileSystem, Host, field, number};
use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags, major, minor, statvfs, syncfs};
use std::fs::{File, read_to_string};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

pub(super) fn machine() -> Host {
    let cpu = |name| field("/proc/cpuinfo".as_ref(), name);
    let memory = number("/proc/meminfo".as_ref(), "MemTotal");
    let load = text("/proc/loadavg").and_then(|text| text.split(' ').next()?.parse().ok());
    let pages = text("/sys/kernel/mm/transparent_hugepage/enabled");
    Host {
        kernel: text("/proc/sys/kernel/osrelease"),
        cpu: cpu("model name").or_else(|| cpu("Model")),
        memory_bytes: memory.map(|kib| kib * 1024),
        memory_limit_bytes: memory_limit(),
        load_average: load,
        container: container(),
        // The choice in brackets of `always [madvise] never`.
        transparent_huge_pages: pages
            .and_then(|text| Some(text.split_once('[')?.1.split_once(']')?.0.to_owned())),
        ..Host::default()
    }
}

/// Returns the container's limit, by control groups version 2 or 1; "no limit" is a word or a
/// number beyond any memory.
fn memory_limit() -> Option<u64> {
    let version_2 = text("/sys/fs/cgroup/memory.max");
    let limit = version_2.or_else(|| text("/sys/fs/cgroup/memory/memory.limit_in_bytes"))?;
    limit.parse().ok().filter(|limit| *limit < 1 << 60)
}

/// Returns the program that runs the container. systemd's tool to detect one reads the same files:
/// <https://www.freedesktop.org/software/systemd/man/latest/systemd-detect-virt.html>.
fn container() -> Option<String> {
    if let Some(name) = text("/run/systemd/container").filter(|name| !name.is_empty()) {
        return Some(name);
    }
    let files = [("/run/.containerenv", "podman"), ("/.dockerenv", "docker")];
    let found = files.into_iter().find(|(file, _)| Path::new(file).exists());
    found.map(|(_, name)| name.to_owned())
}

/// Returns the text of a file that has one line.
fn text(path: impl AsRef<Path>) -> Option<String> {
    Some(read_to_string(path).ok()?.trim().to_owned())
}

pub(super) fn file_system(directory: &Path) -> Option<FileSystem> {
    let table = read_to_string("/proc/self/mounts").ok()?;
    let mounts = table.lines().filter_map(parse);
    let mounts = mounts.filter(|(point, _)| directory.starts_with(point));
    // The last mount at a point covers the others. `max_by_key` returns the last one.
    let (_, mut found) = mounts.max_by_key(|(point, _)| Path::new(point).components().count())?;
    let number = directory.metadata().ok()?.dev();
    let device = format!("/sys/dev/block/{}:{}", major(number), minor(number));
    let device = Path::new(&device);
    found.rotational = rotational(device);
    found.journal = (found.kind == "ext4").then(|| journal(device)).flatten();
    let space = statvfs(directory).ok();
    found.free_bytes = space.map(|space| space.f_bavail * space.f_frsize);
    Some(found)
}

/// Reads a line of the mount table, and returns the mount point and what the line tells:
/// <https://man7.org/linux/man-pages/man5/fstab.5.html>.
fn parse(line: &str) -> Option<(String, FileSystem)> {
    // Blank, tab, newline and backslash stand there as three octal digits.
    let codes = [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ];
    let plain = |text: &str| {
        let decode = |text: String, (code, plain): (&str, &str)| text.replace(code, plain);
        codes.into_iter().fold(text.to_owned(), decode)
    };
    let mut fields = line.split(' ').map(plain);
    let (device, point, kind) = (fields.next()?, fields.next()?, fields.next()?);
    let found = FileSystem {
        kind,
        device: Some(device),
        mount_point: Some(point.clone().into()),
        options: Some(fields.next()?),
        ..FileSystem::default()
    };
    Some((point, found))
}

/// Reads the disk's queue; for a partition the parent has it. Virtual disks call themselves
/// rotational, whatever is beneath them.
fn rotational(device: &Path) -> Option<bool> {
    let place = device.canonicalize().ok()?;
    let is_virtual = |part: &str| part.starts_with("virtio") || part.starts_with("vbd-");
    let mut parts = place.components().map(std::path::Component::as_os_str);
    if parts.any(|part| part.to_str().is_some_and(is_virtual)) {
        return None;
    }
    let own = text(device.join("queue/rotational"));
    let text = own.or_else(|| text(device.join("../queue/rotational")))?;
    Some(text == "1")
}

/// Reads `journal_task`, which holds a number where ext4 has a journal, else `<none>`.
///
/// <https://docs.kernel.org/admin-guide/ext4.html#sys-entries>
fn journal(device: &Path) -> Option<bool> {
    let device = device.read_link().ok()?;
    let facts = Path::new("/sys/fs/ext4").join(device.file_name()?);
    Some(text(facts.join("journal_task"))? != "<none>")
}

/// Returns how many more files the file system of `directory` can hold, where it has a limit.
pub(crate) fn free_inodes(directory: &Path) -> Option<u64> {
    let facts = statvfs(directory).ok()?;
    (facts.f_files > 0).then_some(facts.f_favail)
}

/// Waits until everything written to the file system of `directory` is on its device.
///
/// `syncfs`: <https://man7.org/linux/man-pages/man2/syncfs.2.html>.
pub(crate) fn flush_all(directory: &Path) -> io::Result<()> {
    Ok(syncfs(File::open(directory)?)?)
}

/// Asks the file system to give each new directory in this one a place of its own, far from others,
/// with what is in it: the attribute `T`,
/// [chattr(1)](https://man7.org/linux/man-pages/man1/chattr.1.html).
pub(crate) fn spread_directories(directory: &Path) {
    let set = || -> io::Result<()> {
        let directory = File::open(directory)?;
        let flags = ioctl_getflags(&directory)?;
        Ok(ioctl_setflags(&directory, flags | IFlags::TOPDIR)?)
    };
    // Without it everything works.
    let _ = set();
}

/// Empties the page cache of all file systems, entries of directories included; only root may:
/// <https://docs.kernel.org/admin-guide/sysctl/vm.html#drop-caches>. What is not on its device yet
/// cannot be dropped, so that comes first.
pub(crate) fn drop_cache(directory: &Path) -> io::Result<()> {
    flush_all(directory)?;
    std::fs::write("/proc/sys/vm/drop_caches", "3")
}

/// Returns how many pages of the file are in the page cache, and how many it has.
///
/// `mincore` tells of every page without touching it:
/// <https://man7.org/linux/man-pages/man2/mincore.2.html>.
pub(super) fn cached_pages(path: &Path) -> io::Result<(usize, usize)> {
    let file = File::open(path)?;
    // SAFETY: nothing reads the mapped memory, so that it does not matter who changes the file.
    let map = unsafe { memmap2::Mmap::map(&file)? };
    let mut resident = vec![0_u8; map.len().div_ceil(rustix::param::page_size())];
    let start = map.as_ptr().cast_mut().cast();
    // SAFETY: the range is the mapping made above, and there is a byte for each of its pages.
    if unsafe { libc::mincore(start, map.len(), resident.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let here = resident.iter().filter(|byte| **byte & 1 == 1).count();
    Ok((here, resident.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_mount_table() {
        let line = r"/dev/root /mnt/my\040disk ext3 rw,noatime,errors=continue 0 0";
        let (point, found) = parse(line).unwrap();
        assert_eq!(point, "/mnt/my disk");
        assert_eq!(
            (found.kind.as_str(), found.device.as_deref()),
            ("ext3", Some("/dev/root"))
        );
        assert_eq!(
            (found.mount_point, found.options.as_deref()),
            (Some(point.into()), Some("rw,noatime,errors=continue"))
        );
    }

    #[test]
    fn a_line_that_makes_no_sense_is_no_mount() {
        assert!(parse("").is_none());
        assert!(parse("1 2 3").is_none());
    }
}
