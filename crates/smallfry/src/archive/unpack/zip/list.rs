//! The list of the entries of a zip, which is at its end. It is read several times, since a million
//! names would take much memory.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::io;

use rawzip::{
    Error, ErrorKind, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, ZipEntries, ZipFileHeaderRecord,
};

use super::record;
use super::source::{Reader, Source};
use super::{Zip, cut_off, end, into_io};

/// The list of entries, and the facts that all of them decide. Entries are named by their numbers.
pub(super) struct List<'a> {
    pub(super) zip: Zip<'a>,
    /// The number of entries, with those that are replaced.
    count: u64,
    /// The entries that a later one of the same name replaces.
    pub(super) replaced: HashSet<u64>,
    /// The entries without a header before their contents.
    pub(super) unreadable: HashSet<u64>,
    /// The reason why the list ends early.
    pub(super) damage: Option<io::Error>,
    /// Two entries have bytes in common, or one of them and the list.
    pub(super) overlap: bool,
}

/// Returns memory for the headers of the list.
pub(super) fn buffer() -> Vec<u8> {
    vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE]
}

impl<'a> List<'a> {
    pub(super) fn read(source: Source<'a>) -> io::Result<Self> {
        let mut buffer = buffer();
        let zip = end::open(source, &mut buffer)?;
        let hasher = RandomState::new();
        let (keys, damage) = keys(&zip, &hasher, &mut buffer);
        let mut list = Self {
            zip,
            count: keys.len() as u64,
            replaced: HashSet::new(),
            unreadable: HashSet::new(),
            damage,
            overlap: false,
        };
        list.find_replaced(keys, &hasher, &mut buffer)?;
        list.compare_places(&mut buffer)?;
        Ok(list)
    }

    /// Returns the number of entries that no later one replaces.
    pub(super) fn len(&self) -> u64 {
        self.count - self.replaced.len() as u64
    }

    /// Finds entries of one name. Keys that are the same need not be those of one name, so names
    /// are compared then.
    fn find_replaced(
        &mut self,
        mut keys: Vec<u64>,
        hasher: &RandomState,
        buffer: &mut [u8],
    ) -> io::Result<()> {
        keys.sort_unstable();
        let pairs = keys.windows(2).filter(|pair| pair[0] == pair[1]);
        let suspected: HashSet<_> = pairs.map(|pair| pair[0]).collect();
        if suspected.is_empty() {
            return Ok(());
        }
        let mut last = HashMap::new();
        let mut entries = Entries::new(self, buffer);
        let mut replaced = HashSet::new();
        while let Some((number, entry)) = entries.next()? {
            let name = record::raw_name(&entry);
            if suspected.contains(&hasher.hash_one(name))
                && let Some(earlier) = last.insert(name.to_vec(), number)
            {
                replaced.insert(earlier);
            }
        }
        self.replaced = replaced;
        Ok(())
    }

    /// Finds entries that have bytes in common with each other or with the list.
    fn compare_places(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        let mut places = Vec::new();
        let mut unreadable = HashSet::new();
        let reader = self.zip.clone();
        let mut entries = Entries::new(self, buffer);
        while let Some((number, entry)) = entries.next()? {
            match reader.get_entry(entry.wayfinder()) {
                Ok(found) => {
                    places.push((entry.local_header_offset(), found.compressed_data_range().1));
                }
                Err(_) => {
                    unreadable.insert(number);
                }
            }
        }
        places.sort_unstable();
        let end = self.zip.directory_offset();
        let has_list = places.iter().any(|place| place.1 > end);
        self.overlap = has_list || places.windows(2).any(|pair| pair[0].1 > pair[1].0);
        self.unreadable = unreadable;
        Ok(())
    }
}

/// Returns a key of each name, and the reason why the list ends early. Entries beyond the stated
/// number are read, too: some programs write only the lower 16 bits of a larger number.
fn keys(zip: &Zip<'_>, hasher: &RandomState, buffer: &mut [u8]) -> (Vec<u64>, Option<io::Error>) {
    let stated = zip.entries_hint();
    let mut keys = Vec::new();
    let mut entries = zip.entries(buffer);
    let error = loop {
        match entries.next_entry() {
            Ok(Some(entry)) => keys.push(hasher.hash_one(record::raw_name(&entry))),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    let is_other = |error: &Error| matches!(error.kind(), ErrorKind::InvalidSignature { .. });
    let damage = match (keys.len() as u64).cmp(&stated) {
        Ordering::Less => Some(error.map_or_else(cut_off, into_io)),
        // Other bytes after the last entry are no part of the list.
        Ordering::Equal => error.filter(|error| !is_other(error)).map(into_io),
        Ordering::Greater => error.map(into_io),
    };
    (keys, damage)
}

/// The entries that no later one replaces.
pub(super) struct Entries<'l, 'b, 'a> {
    headers: ZipEntries<'l, 'b, Reader<'a>>,
    numbers: std::ops::Range<u64>,
    replaced: &'l HashSet<u64>,
}

impl<'l, 'b, 'a> Entries<'l, 'b, 'a> {
    pub(super) fn new(list: &'l List<'a>, buffer: &'b mut [u8]) -> Self {
        Self {
            headers: list.zip.entries(buffer),
            numbers: 0..list.count,
            replaced: &list.replaced,
        }
    }

    /// Returns the number of the next entry, and its header.
    pub(super) fn next(&mut self) -> io::Result<Option<(u64, ZipFileHeaderRecord<'_>)>> {
        let mut number = self.numbers.next();
        while number.is_some_and(|number| self.replaced.contains(&number)) {
            self.headers.next_entry().map_err(into_io)?;
            number = self.numbers.next();
        }
        let Some(number) = number else {
            return Ok(None);
        };
        let entry = self.headers.next_entry().map_err(into_io)?;
        let entry = entry.ok_or_else(cut_off)?;
        Ok(Some((number, entry)))
    }

    /// Leaves out the entries that are left.
    pub(super) fn end(&mut self) {
        self.numbers = 0..0;
    }
}
