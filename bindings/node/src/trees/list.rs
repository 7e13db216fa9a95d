//! A listing of a tree in the order of its directories, for filters that JavaScript asks.

use std::fs::{self, DirEntry};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The number of entries from which on no further directory is listed. A filter may want nothing of
/// them.
const MAX_ENTRIES: usize = 1000;
/// The maximum depth of a listing.
const MAX_DEPTH: usize = 100;

/// Lists the directory at `path`, and directories in it until there are many entries.
///
/// A listing is a text of parts that end with `/`: the permissions of the directory in decimal, its
/// entries, and `^`. An entry is `f` and its name. That of a directory is `d` and its name, and
/// then its listing, or `>` if it is not listed.
pub(super) fn list(path: &Path) -> io::Result<Vec<u8>> {
    let mut listing = Listing {
        text: Vec::new(),
        entries: 0,
    };
    listing.add(path, 0)?;
    Ok(listing.text)
}

struct Listing {
    text: Vec<u8>,
    entries: usize,
}

impl Listing {
    fn add(&mut self, path: &Path, depth: usize) -> io::Result<()> {
        let entries: Vec<DirEntry> = fs::read_dir(path)?.collect::<Result<_, _>>()?;
        let mode = fs::symlink_metadata(path)?.mode();
        self.part(mode.to_string().as_bytes());
        self.entries += entries.len();
        for entry in entries {
            let is_directory = entry.file_type()?.is_dir();
            self.text.push(if is_directory { b'd' } else { b'f' });
            self.part(entry.file_name().as_bytes());
            if is_directory {
                let length = self.text.len();
                let is_listed = self.entries < MAX_ENTRIES && depth < MAX_DEPTH;
                if !is_listed || self.add(&entry.path(), depth + 1).is_err() {
                    self.text.truncate(length);
                    self.part(b">");
                }
            }
        }
        self.part(b"^");
        Ok(())
    }

    fn part(&mut self, part: &[u8]) {
        self.text.extend_from_slice(part);
        self.text.push(b'/');
    }
}
