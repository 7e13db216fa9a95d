//! Options as they cross from JavaScript and Kotlin into Rust: bits of one 32-bit number.
//!
//! | module | |
//! |---|---|
//! | [`table`] | the one table of bits; the constants of both front ends are generated from it |
//! | [`OptionBits`] | a number from a front end, and what it asks of `smallfry`'s options |
//! | [`Changes`] | what a dry run of a mirror finds |
//!
//! To add an option, add a row to the table, apply it in [`OptionBits`], and run
//! `UPDATE_OPTION_BITS=1 cargo test -p smallfry-options`.

mod changes;
pub mod table;

pub use changes::Changes;

use smallfry::archive::{Packer, Unpacker};
use smallfry::bulk::{Reader, Writer};
use smallfry::tree::{Copier, Existing, Links, Method, Mirror, Remover};
use smallfry::{Durability, WriteOptions};

use table::{
    ABSOLUTE_LINKS, APPEND, ATTRIBUTES, COMPARE_CONTENTS, COMPLETION_ORDER, CREATE_NEW,
    CREATE_PARENTS, DELETE, DRY_RUN, FAIL_FAST, FLUSH_DATA, FLUSH_FILE, FLUSH_FULL, FLUSH_NOTHING,
    FOLLOW_LINKS, HARD_LINKS, IN_PLACE_IF_BUSY, KEEP_EXISTING, LAST_WINS, LINKS_MAY_LEAVE,
    LINKS_REPLACE_NOTHING, MISSING_OK, MOUNTS, NO_CLONE, ONLY_IF_CHANGED, OWNER, PERMISSIONS,
    REPLACE, REPRODUCIBLE, SKIP_SPECIAL, TIMES,
};

/// The options of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OptionBits(i32);

/// The part of a file that a write flushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// No part.
    Nothing,
    /// The contents and the size of the file: fdatasync.
    Data,
    /// The file: fsync.
    File,
    /// The file and its name: fsync of both.
    Full,
}

impl OptionBits {
    /// Takes the number that a front end passed.
    #[inline]
    pub const fn new(bits: i32) -> Self {
        Self(bits)
    }

    /// Adds `bits` if `condition` holds.
    #[inline]
    #[must_use]
    pub const fn with(self, bits: i32, condition: bool) -> Self {
        if condition { Self(self.0 | bits) } else { self }
    }

    /// Tells whether `bit`, a constant of the [`table`], is set.
    #[inline]
    pub const fn has(self, bit: i32) -> bool {
        self.0 & bit != 0
    }

    /// Returns what a write flushes.
    #[inline]
    pub const fn flush(self) -> Flush {
        match self.0 & FLUSH_FULL {
            FLUSH_NOTHING => Flush::Nothing,
            FLUSH_DATA => Flush::Data,
            FLUSH_FILE => Flush::File,
            _ => Flush::Full,
        }
    }

    /// Returns the level of the core that keeps what [`flush`](Self::flush) promises.
    ///
    /// The core has no level for a file without its name, so [`Flush::File`] becomes
    /// [`Durability::Full`].
    pub const fn durability(self) -> Durability {
        match self.flush() {
            Flush::Nothing => Durability::None,
            Flush::Data => Durability::Data,
            Flush::File | Flush::Full => Durability::Full,
        }
    }

    /// Makes options for writing one file.
    pub fn write_options(self) -> WriteOptions {
        let mut options = WriteOptions::new();
        options
            .append(self.has(APPEND))
            .create_new(self.has(CREATE_NEW))
            .create_parents(self.has(CREATE_PARENTS))
            .only_if_changed(self.has(ONLY_IF_CHANGED))
            .durability(self.durability())
            .replace(self.has(REPLACE))
            .in_place_if_busy(self.has(IN_PLACE_IF_BUSY));
        options
    }

    /// Makes a writer for many files.
    pub fn writer(self) -> Writer {
        let mut writer = Writer::new();
        writer
            .fail_fast(self.has(FAIL_FAST))
            .create_new(self.has(CREATE_NEW))
            .create_parents(self.has(CREATE_PARENTS))
            .only_if_changed(self.has(ONLY_IF_CHANGED))
            .durability(self.durability())
            .replace(self.has(REPLACE))
            .in_place_if_busy(self.has(IN_PLACE_IF_BUSY));
        writer
    }

    /// Makes a reader for many files.
    pub fn reader(self) -> Reader {
        let mut reader = Reader::new();
        reader
            .fail_fast(self.has(FAIL_FAST))
            .completion_order(self.has(COMPLETION_ORDER));
        reader
    }

    /// Returns what happens to entries that are there already.
    const fn existing(self) -> Existing {
        if self.has(KEEP_EXISTING) {
            Existing::Keep
        } else if self.has(CREATE_NEW) {
            Existing::Refuse
        } else {
            Existing::Replace
        }
    }

    /// Returns the way of copying with that number, which is its place in the lists of the front
    /// ends.
    pub const fn method(number: i32) -> Method {
        match number {
            1 => Method::Clone,
            2 => Method::HardLink,
            3 => Method::Copy,
            _ => Method::Auto,
        }
    }

    /// Returns what happens to symbolic links that are copied.
    const fn links(self) -> Links {
        if self.has(FOLLOW_LINKS) {
            Links::Follow
        } else if self.has(ABSOLUTE_LINKS) {
            Links::Absolute
        } else {
            Links::Keep
        }
    }

    /// Makes what copies trees.
    pub fn copier(self) -> Copier {
        let mut copier = Copier::new();
        copier
            .existing(self.existing())
            .links(self.links())
            .links_replace(!self.has(LINKS_REPLACE_NOTHING))
            .parents(self.has(CREATE_PARENTS))
            .times(self.has(TIMES))
            .owner(self.has(OWNER))
            .access_lists(self.has(PERMISSIONS))
            .attributes(self.has(ATTRIBUTES))
            .hard_links(self.has(HARD_LINKS))
            .only_if_changed(self.has(ONLY_IF_CHANGED))
            .durability(self.durability())
            .skip_special(self.has(SKIP_SPECIAL))
            .mounts(self.has(MOUNTS));
        copier
    }

    /// Makes what mirrors trees, and what gets the changes of a dry run.
    pub fn mirror(self) -> (Mirror, Changes) {
        let mut mirror = Mirror::new();
        mirror
            .delete(self.has(DELETE))
            .contents(self.has(COMPARE_CONTENTS))
            .dry_run(self.has(DRY_RUN))
            .hard_links(self.has(HARD_LINKS))
            .clone_blocks(!self.has(NO_CLONE))
            .mounts(self.has(MOUNTS));
        let changes = Changes::default();
        if self.has(DRY_RUN) {
            changes.gather(&mut mirror);
        }
        (mirror, changes)
    }

    /// Makes what removes trees.
    pub fn remover(self) -> Remover {
        let mut remover = Remover::new();
        remover
            .missing_ok(self.has(MISSING_OK))
            .mounts(self.has(MOUNTS));
        remover
    }

    /// Makes what unpacks archives.
    pub fn unpacker(self) -> Unpacker {
        let mut unpacker = Unpacker::new();
        unpacker
            .existing(self.existing())
            .times(self.has(TIMES))
            .permissions(self.has(PERMISSIONS))
            .links_may_leave(self.has(LINKS_MAY_LEAVE))
            .last_wins(self.has(LAST_WINS));
        unpacker
    }

    /// Makes what packs archives.
    pub fn packer(self) -> Packer {
        let mut packer = Packer::new();
        packer.reproducible(self.has(REPRODUCIBLE));
        packer
    }
}
