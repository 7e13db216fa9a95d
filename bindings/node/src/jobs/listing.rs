//! Lists a directory with all that is below it, as node:fs does with `recursive`.
//!
//! The order is that of node:fs, which differs between its functions. node:fs repeats a call that
//! it might answer in another way: after errors below the first directory, for names that are not
//! UTF-8, and for types that the file system does not tell.

use std::collections::VecDeque;
use std::ffi::CString;

use super::progress::Progress;
use crate::errors::{Failure, Step};
use crate::mailbox::Answer;
use crate::sys::{DIRECTORY, LINK, Names, UNKNOWN, is_directory, is_plain};

/// The bits of a listing. `lib/core/metadata/recursive.ts` has the same.
const TYPES: i32 = 1;
const FOLLOW_LINKS: i32 = 2;
const DEPTH_FIRST: i32 = 4;

/// The number of entries after which a job goes to the end of the queue.
const SLICE: usize = 512;
/// The maximum length of a listing, in bytes. node:fs makes longer ones.
const MAX_LENGTH: usize = 256 << 20;

/// A listing that is being made.
pub(crate) struct Listing {
    root: CString,
    /// The path of an entry of the root, without the name of the entry.
    below: Vec<u8>,
    bits: i32,
    /// The directories that are to be read, as paths below the root that end with a slash.
    waiting: VecDeque<Vec<u8>>,
    text: Vec<u8>,
}

impl Listing {
    pub(super) fn new(root: CString, below: Vec<u8>, bits: i32) -> Self {
        Self {
            root,
            below,
            bits,
            waiting: VecDeque::from([Vec::new()]),
            text: Vec::new(),
        }
    }

    /// Lists some directories.
    pub(super) fn step(&mut self) -> Progress {
        let mut entries = 0;
        while entries < SLICE {
            match self.list_next() {
                Ok(Some(count)) => entries += count + 1,
                Ok(None) => {
                    return Progress::Done(Ok(Answer::Text(std::mem::take(&mut self.text))));
                }
                Err(failure) => return Progress::Done(Err(failure.into())),
            }
        }
        Progress::More
    }

    /// Lists one directory. Returns the number of its entries, or `None` if none is left.
    ///
    /// Each part of the text ends with NUL. Without types, a part is the path of an entry below the
    /// root. With types, the parts of a directory with entries are its path below the root, a digit
    /// for the type of each entry, and the names of the entries.
    fn list_next(&mut self) -> Result<Option<usize>, Failure> {
        let next = if self.bits & DEPTH_FIRST == 0 {
            self.waiting.pop_front()
        } else {
            self.waiting.pop_back()
        };
        let Some(place) = next else {
            let is_text = std::str::from_utf8(&self.text).is_ok();
            return is_text.then_some(None).ok_or(Failure::Delegate);
        };
        let names = self.read(&place)?;
        let has_types = self.bits & TYPES != 0;
        if has_types && names.iter().len() > 0 {
            self.text.extend_from_slice(&place);
            self.text.push(0);
            self.text.extend(names.iter().map(|(_, digit)| digit));
            self.text.push(0);
        }
        for (name, digit) in names.iter() {
            if has_types && digit == UNKNOWN {
                return Err(Failure::Delegate);
            }
            if !has_types {
                self.text.extend_from_slice(&place);
            }
            self.text.extend_from_slice(name);
            self.text.push(0);
            if self.leads_to_directory(&place, name, digit)? {
                self.waiting.push_back([&place, name, b"/"].concat());
            }
        }
        if self.text.len() > MAX_LENGTH {
            return Err(Failure::Delegate);
        }
        Ok(Some(names.iter().len()))
    }

    /// Reads a directory. node:fs names the directory in an error, so it repeats a call that fails
    /// below the root.
    fn read(&self, place: &[u8]) -> Result<Names, Failure> {
        if !place.is_empty() {
            return Names::read(&self.path_of(place)?).map_err(|_| Failure::Delegate);
        }
        Names::read(&self.root).map_err(|errno| {
            if is_plain(errno) {
                Failure::System(Step::Readdir, errno)
            } else {
                Failure::Delegate
            }
        })
    }

    fn leads_to_directory(&self, place: &[u8], name: &[u8], digit: u8) -> Result<bool, Failure> {
        match digit {
            DIRECTORY => Ok(true),
            LINK | UNKNOWN if self.bits & FOLLOW_LINKS != 0 => {
                Ok(is_directory(&self.path_of(&[place, name].concat())?))
            }
            _ => Ok(false),
        }
    }

    fn path_of(&self, below_root: &[u8]) -> Result<CString, Failure> {
        CString::new([&self.below, below_root].concat()).map_err(|_| Failure::Delegate)
    }
}
