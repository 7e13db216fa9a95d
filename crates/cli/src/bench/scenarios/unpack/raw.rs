//! A tar unpacked in raw system calls.
//!
//! One thread reads all headers and makes the directories. Then threads share the entries in them,
//! each a few of one directory.

use super::super::prelude::*;
use super::super::shared::raw_trees::{BUFFER, PIECE, mask};
use crate::bench::runtime::native::share::share;
use rustix::fs::{CWD, Mode, OFlags, RawMode, Timespec, Timestamps};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt as _;
use tar::{Archive, Entry, EntryType};

/// Unpacks an archive into an empty directory.
///
/// For a file these are `read` and `lseek` for its header, `openat`, `pread` and `write` until all
/// is copied, `utimensat` and `close`; and `fchmod` if the umask takes permissions away.
pub(super) fn unpack(archive: &Path, to: &Path, threads: usize) -> io::Result<()> {
    let mask = mask();
    let archive = File::open(archive)?;
    let mut directories: Vec<(PathBuf, Made)> = Vec::new();
    let mut pieces: Vec<Piece> = Vec::new();
    for entry in Archive::new(&archive).entries_with_seek()? {
        let entry = entry?;
        let path = to.join(entry.path()?);
        let Some((above, name)) = path.parent().zip(path.file_name()) else {
            continue;
        };
        let made = Made::of(&entry, name)?;
        if entry.header().entry_type() == EntryType::Directory {
            // The archive may begin with the directory itself.
            fs::create_dir_all(&path)?;
            directories.push((path, made));
            continue;
        }
        match pieces.last_mut() {
            Some(piece) if piece.within == above && piece.entries.len() < PIECE => {
                piece.entries.push(made);
            }
            _ => pieces.push(Piece {
                within: above.to_owned(),
                entries: vec![made],
            }),
        }
    }
    let buffer = || vec![0; BUFFER];
    let unpack = |buffer: &mut Vec<u8>, piece: usize| pieces[piece].unpack(&archive, mask, buffer);
    share(threads, pieces.len(), buffer, unpack)?;
    for (path, made) in directories.iter().rev() {
        let directory = rustix::fs::openat(CWD, path, OFlags::CLOEXEC, Mode::empty())?;
        made.finish(&directory, mask)?;
    }
    Ok(())
}

/// Entries of one directory.
struct Piece {
    within: PathBuf,
    entries: Vec<Made>,
}

/// An entry, and the facts that it is made with.
struct Made {
    name: OsString,
    kind: EntryType,
    /// The target of a link.
    target: Option<PathBuf>,
    /// Where its contents begin in the archive.
    place: u64,
    size: u64,
    mode: Mode,
    modified: i64,
}

impl Made {
    fn of(entry: &Entry<'_, &File>, name: &OsStr) -> io::Result<Self> {
        let header = entry.header();
        Ok(Self {
            name: name.to_owned(),
            kind: header.entry_type(),
            target: entry.link_name()?.map(Into::into),
            place: entry.raw_file_position(),
            size: entry.size(),
            mode: Mode::from_raw_mode((header.mode()? & 0o777) as RawMode),
            modified: header.mtime()?.cast_signed(),
        })
    }

    /// Gives a file or directory its time, and the permissions that the umask has taken away.
    fn finish(&self, made: &impl AsFd, mask: Mode) -> io::Result<()> {
        if self.kind == EntryType::Directory || self.mode.intersects(mask) {
            rustix::fs::fchmod(made, self.mode)?;
        }
        let modified = Timespec {
            tv_sec: self.modified,
            tv_nsec: 0,
        };
        let times = Timestamps {
            last_access: modified,
            last_modification: modified,
        };
        Ok(rustix::fs::futimens(made, &times)?)
    }
}

impl Piece {
    fn unpack(&self, archive: &File, mask: Mode, buffer: &mut [u8]) -> io::Result<()> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let within = rustix::fs::openat(CWD, &self.within, flags, Mode::empty())?;
        for made in &self.entries {
            match (made.kind, &made.target) {
                (EntryType::Regular, _) => {
                    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                    let file = rustix::fs::openat(&within, &made.name, flags, made.mode)?;
                    let mut file = File::from(file);
                    let (mut place, mut left) = (made.place, made.size);
                    while left > 0 {
                        let length = left.min(buffer.len() as u64) as usize;
                        let part = &mut buffer[..length];
                        archive.read_exact_at(part, place)?;
                        file.write_all(part)?;
                        place += length as u64;
                        left -= length as u64;
                    }
                    made.finish(&file, mask)?;
                }
                (EntryType::Symlink, Some(target)) => {
                    rustix::fs::symlinkat(target, &within, &made.name)?;
                }
                _ => return Err(io::ErrorKind::Unsupported.into()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::*;
    use std::os::unix::fs::{MetadataExt as _, symlink};

    #[test]
    fn what_is_unpacked_is_like_the_tree() {
        let root = tempfile::tempdir().unwrap();
        let tree = root.path().join("tree");
        fs::create_dir_all(tree.join("directory/empty")).unwrap();
        let sizes: Vec<usize> = (0..=PIECE).map(|index| index * BUFFER / 3).collect();
        for (index, &size) in sizes.iter().enumerate() {
            let path = tree.join(format!("directory/{index}"));
            fs::write(path, contents_of(index, size)).unwrap();
        }
        symlink("directory/0", tree.join("link")).unwrap();
        let archive = Format::Tar.pack(&tree).unwrap();
        for threads in [1, 3] {
            let to = root.path().join(threads.to_string());
            fs::create_dir(&to).unwrap();
            unpack(&archive, &to, threads).unwrap();
            for (index, &size) in sizes.iter().enumerate() {
                let unpacked = fs::read(to.join(format!("directory/{index}"))).unwrap();
                assert_eq!(unpacked, contents_of(index, size));
            }
            for path in ["directory", "directory/empty", "directory/0"] {
                let (made, of) = (to.join(path), tree.join(path));
                let facts = |path: PathBuf| {
                    let facts = fs::metadata(path).unwrap();
                    (facts.mode(), facts.mtime())
                };
                assert_eq!(facts(made), facts(of));
            }
            let target = fs::read_link(to.join("link")).unwrap();
            assert_eq!(target, Path::new("directory/0"));
        }
    }
}
