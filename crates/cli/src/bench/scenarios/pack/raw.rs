//! A tree packed into a tar in raw system calls.
//!
//! Each entry takes its place in the archive when its length is known, in any order, and threads
//! write at the same time.

use super::super::prelude::*;
use super::super::shared::raw_trees::{BUFFER, DIRECTORY, Work, below, run};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicU64, Ordering};
use tar::{Builder, EntryType, Header};

/// Entries begin at multiples of this many bytes.
const BLOCK: usize = 512;
/// The maximum size of a file, in bytes, that is read and written whole.
const SMALL: usize = 1 << 20;

/// Packs a tree.
///
/// For a file these are `openat`, `fstat`, `read`, `pwrite` and `close`; for a large one `read` and
/// `pwrite` until all is copied.
pub(super) fn pack(tree: &Path, archive: &Path, threads: usize) -> io::Result<()> {
    let archive = Archive {
        file: File::create(archive)?,
        end: AtomicU64::new(0),
    };
    let directory = rustix::fs::openat(CWD, tree, DIRECTORY, Mode::empty())?;
    run(threads, Packed::of(directory, ".".into(), &archive)?)?;
    // Two blocks of zeros are the end.
    let end = archive.end.into_inner() + 2 * BLOCK as u64;
    archive.file.set_len(end)
}

struct Archive {
    file: File,
    end: AtomicU64,
}

impl Archive {
    /// Writes the beginning of an entry, which then has so many bytes in all. Returns the position
    /// of what follows.
    fn write(&self, beginning: &[u8], bytes: usize) -> io::Result<u64> {
        let bytes = bytes.next_multiple_of(BLOCK) as u64;
        let place = self.end.fetch_add(bytes, Ordering::Relaxed);
        self.file.write_all_at(beginning, place)?;
        Ok(place + beginning.len() as u64)
    }
}

/// A directory whose entries are packed.
struct Packed<'a> {
    directory: Dir,
    path: PathBuf,
    archive: &'a Archive,
}

impl<'a> Packed<'a> {
    fn of(directory: OwnedFd, path: PathBuf, archive: &'a Archive) -> io::Result<Self> {
        let mut header = header(&rustix::fs::fstat(&directory)?, EntryType::Directory, 0);
        let entry = blocks(|builder| builder.append_data(&mut header, &path, io::empty()))?;
        archive.write(&entry, entry.len())?;
        Ok(Self {
            directory: Dir::new(directory)?,
            path,
            archive,
        })
    }

    fn file(&self, name: &CStr, path: &Path, buffer: &mut [u8]) -> io::Result<()> {
        let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(self.directory.fd()?, name, flags, Mode::empty())?;
        let facts = rustix::fs::fstat(&file)?;
        let size = usize::try_from(facts.st_size).unwrap_or(0);
        let mut header = header(&facts, EntryType::Regular, size);
        let mut entry = blocks(|builder| builder.append_data(&mut header, path, io::empty()))?;
        let mut file = File::from(file);
        let begins = entry.len();
        if size <= SMALL {
            entry.resize(begins + size, 0);
            file.read_exact(&mut entry[begins..])?;
            self.archive.write(&entry, entry.len())?;
            return Ok(());
        }
        let mut place = self.archive.write(&entry, begins + size)?;
        let mut left = size;
        while left > 0 {
            let part = &mut buffer[..left.min(BUFFER)];
            file.read_exact(part)?;
            self.archive.file.write_all_at(part, place)?;
            place += part.len() as u64;
            left -= part.len();
        }
        Ok(())
    }
}

impl Work for Packed<'_> {
    fn listed(&mut self) -> &mut Dir {
        &mut self.directory
    }

    fn enter(&self, name: &CStr) -> io::Result<Self> {
        let directory = rustix::fs::openat(self.directory.fd()?, name, DIRECTORY, Mode::empty())?;
        let path = below(&self.path, name);
        Self::of(directory, path, self.archive)
    }

    fn entry(&self, name: &CStr, kind: FileType, buffer: &mut [u8]) -> io::Result<()> {
        let path = below(&self.path, name);
        match kind {
            FileType::RegularFile => self.file(name, &path, buffer),
            FileType::Symlink => {
                let directory = self.directory.fd()?;
                let facts = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
                let target = rustix::fs::readlinkat(directory, name, Vec::new())?;
                let target = OsStr::from_bytes(target.to_bytes());
                let mut header = header(&facts, EntryType::Symlink, 0);
                let entry = blocks(|builder| builder.append_link(&mut header, &path, target))?;
                self.archive.write(&entry, entry.len()).map(drop)
            }
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

#[allow(clippy::useless_conversion, reason = "a mode has 16 bits on macOS")]
fn header(facts: &Stat, kind: EntryType, size: usize) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(u32::from(facts.st_mode) & 0o7777);
    header.set_uid(u64::from(facts.st_uid));
    header.set_gid(u64::from(facts.st_gid));
    header.set_mtime(u64::try_from(facts.st_mtime).unwrap_or(0));
    header.set_size(size as u64);
    header
}

/// Returns the blocks that `append` appends: a header, and before it perhaps a long name.
fn blocks(append: impl FnOnce(&mut Builder<Vec<u8>>) -> io::Result<()>) -> io::Result<Vec<u8>> {
    let mut builder = Builder::new(Vec::new());
    append(&mut builder)?;
    Ok(std::mem::take(builder.get_mut()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_crate_tar_unpacks_what_threads_packed() {
        let root = tempfile::tempdir().unwrap();
        let tree = root.path().join("tree");
        let long = format!("{}/file", "directory".repeat(20));
        let sizes = [
            ("empty", 0),
            ("small", 700),
            ("large", SMALL + 1),
            (&long, 1),
        ];
        for (name, size) in sizes {
            let path = tree.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, contents_of(1, size)).unwrap();
        }
        symlink("small", tree.join("link")).unwrap();
        for threads in [1, 3] {
            let archive = root.path().join("archive");
            pack(&tree, &archive, threads).unwrap();
            let to = root.path().join(threads.to_string());
            let packed = File::open(&archive).unwrap();
            tar::Archive::new(packed).unpack(&to).unwrap();
            for (name, size) in sizes {
                assert_eq!(fs::read(to.join(name)).unwrap(), contents_of(1, size));
            }
            let target = fs::read_link(to.join("link")).unwrap();
            assert_eq!(target, Path::new("small"));
        }
    }
}
