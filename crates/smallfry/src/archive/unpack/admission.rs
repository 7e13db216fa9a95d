//! Decides which entries of an archive are unpacked, and under which path.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::entry::{Later, LinkEntry, Meta};
use super::name;
use super::unpacking::Unpacking;
use crate::archive::invalid::invalid;
use crate::error::Operation;
use crate::path::{case_key_of, key_of};
use crate::sys;

/// The kind of an entry, and what decides over it.
pub(super) enum Kind {
    /// A file of so many bytes.
    File(u64),
    Directory,
    /// The bytes of its target.
    Link(Vec<u8>),
    HardLink(Vec<u8>),
    /// A device, pipe or socket, or a kind that is not known.
    Other,
}

/// An entry that may be let in.
pub(super) struct Candidate {
    /// The bytes of its name.
    pub(super) name: Vec<u8>,
    pub(super) kind: Kind,
    pub(super) mode: u32,
    pub(super) modified: Option<SystemTime>,
}

/// The entries that were let in.
pub(super) struct Admission<'u, 'o> {
    unpacking: &'u Unpacking<'o>,
    /// The keys of all paths.
    seen: HashSet<u64>,
    entries: u64,
    bytes: u64,
    pub(super) later: Later,
}

/// An entry that was let in.
pub(super) enum Admitted {
    File(Meta),
    Directory(PathBuf),
    /// Nothing is to be done now.
    Nothing,
}

impl<'u, 'o> Admission<'u, 'o> {
    pub(super) fn new(unpacking: &'u Unpacking<'o>) -> Self {
        Self {
            unpacking,
            seen: HashSet::new(),
            entries: 0,
            bytes: 0,
            later: Later::default(),
        }
    }

    /// Lets an entry in, or notes its error. `archived` is the length of the archive in bytes, or
    /// how much of it was read if that is not known.
    ///
    /// # Errors
    ///
    /// The archive exceeds a limit. Nothing more is to be unpacked.
    pub(super) fn admit(&mut self, candidate: Candidate, archived: u64) -> io::Result<Admitted> {
        let Candidate {
            name,
            kind,
            mode,
            modified,
        } = candidate;
        let options = self.unpacking.options;
        self.entries += 1;
        if let Kind::File(size) = kind {
            self.bytes = self.bytes.saturating_add(size);
        }
        options.limits.check(self.entries, self.bytes, archived)?;
        let fail = |reason| {
            let path = String::from_utf8_lossy(&name);
            let path = sys::path_from(&name).unwrap_or(Path::new(&*path));
            self.unpacking.fail(Operation::Open, path, reason);
            Ok(Admitted::Nothing)
        };
        let below = sys::path_from(&name);
        let below = match below.and_then(|path| name::below(path, options.strip_components)) {
            Ok(Some(below)) => below,
            Ok(None) => return Ok(Admitted::Nothing),
            Err(reason) => return fail(reason),
        };
        let filter = options.filter.as_ref();
        if filter.is_some_and(|is_wanted| !is_wanted(&below)) {
            return Ok(Admitted::Nothing);
        }
        let is_directory = matches!(kind, Kind::Directory);
        if below.as_os_str().is_empty() && !is_directory {
            return fail(invalid("the entry has no name"));
        }
        let key = match case_key_of(&below) {
            Some(folded) => key_of(sys::path_from(&folded)?),
            None => key_of(&below),
        };
        if !self.seen.insert(key) && !is_directory && !options.last_wins {
            return fail(invalid("the archive has an earlier entry of this name"));
        }
        let meta = Meta {
            path: below,
            mode: mode & 0o777,
            modified: modified.filter(|_| options.times),
        };
        match kind {
            Kind::File(_) => return Ok(Admitted::File(meta)),
            Kind::Directory => {
                let path = meta.path.clone();
                self.unpacking.destination.expect(&meta);
                self.later.directories.push(meta);
                return Ok(Admitted::Directory(path));
            }
            Kind::Other => return fail(invalid("devices, pipes and sockets are not unpacked")),
            Kind::Link(target) => {
                let target = match name::target(&target) {
                    Ok(target) => target.to_owned(),
                    Err(reason) => return fail(reason),
                };
                if !options.links_may_leave && name::leads_out(&meta.path, &target) {
                    let reason = format!("the link leads out of it, to {}", target.display());
                    return fail(io::Error::new(io::ErrorKind::PermissionDenied, reason));
                }
                self.later.links.push(LinkEntry { meta, target });
            }
            Kind::HardLink(target) => {
                let target = sys::path_from(&target);
                match target.and_then(|target| name::below(target, options.strip_components)) {
                    Ok(Some(target)) => self.later.hard_links.push(LinkEntry { meta, target }),
                    Ok(None) => return fail(io::ErrorKind::NotFound.into()),
                    Err(reason) => return fail(reason),
                }
            }
        }
        Ok(Admitted::Nothing)
    }
}
