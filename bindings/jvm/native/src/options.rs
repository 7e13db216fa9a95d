//! What a call may say, as `dev.smallfry.Native` encodes it.

use crate::sys;
use jni::Env;
use jni::errors::Result;
use jni::objects::JByteArray;
use jni::sys::{jint, jlong};
use smallfry::bulk::{Reader, Strategy, Writer};
use smallfry::{Durability, Error, WriteOptions};
use std::num::NonZeroUsize;

const DATA: jint = 1;
const FULL: jint = 1 << 1;
const REPLACE: jint = 1 << 2;
const APPEND: jint = 1 << 3;
const CREATE_PARENTS: jint = 1 << 4;
const ONLY_IF_CHANGED: jint = 1 << 5;
const CREATE_NEW: jint = 1 << 6;
const FAIL_FAST: jint = 1 << 7;
const COMPLETION_ORDER: jint = 1 << 8;
const TEXT: jint = 1 << 9;

fn durability(flags: jint) -> Durability {
    if flags & FULL != 0 {
        Durability::Full
    } else if flags & DATA != 0 {
        Durability::Data
    } else {
        Durability::None
    }
}

/// Of one file.
pub(crate) fn write_options(flags: jint) -> WriteOptions {
    let mut options = WriteOptions::new();
    options
        .overwrite(true)
        .append(flags & APPEND != 0)
        .durability(durability(flags))
        .replace(flags & REPLACE != 0)
        .create_parents(flags & CREATE_PARENTS != 0)
        .only_if_changed(flags & ONLY_IF_CHANGED != 0)
        .create_new(flags & CREATE_NEW != 0);
    options
}

/// What calls for many files have in common.
pub(crate) struct Bulk {
    pub(crate) flags: jint,
    /// 0: it finds out.
    pub(crate) threads: jint,
    /// In bytes; 0: as the core has it.
    pub(crate) max_in_flight: jlong,
    /// The directory to stay beneath.
    pub(crate) within: Option<Vec<u8>>,
}

impl Bulk {
    pub(crate) fn new(
        env: &Env<'_>,
        flags: jint,
        threads: jint,
        max_in_flight: jlong,
        within: &JByteArray<'_>,
    ) -> Result<Self> {
        let within = if within.is_null() {
            None
        } else {
            Some(env.convert_byte_array(within)?)
        };
        Ok(Self {
            flags,
            threads,
            max_in_flight,
            within,
        })
    }

    fn strategy(&self) -> Strategy {
        let threads = usize::try_from(self.threads).ok();
        match threads.and_then(NonZeroUsize::new) {
            None => Strategy::Auto,
            Some(NonZeroUsize::MIN) => Strategy::CallingThread,
            Some(threads) => Strategy::Threads(threads),
        }
    }

    fn max_in_flight(&self) -> Option<u64> {
        u64::try_from(self.max_in_flight)
            .ok()
            .filter(|bytes| *bytes > 0)
    }

    /// Whether contents are to become text.
    pub(crate) fn is_text(&self) -> bool {
        self.flags & TEXT != 0
    }

    pub(crate) fn reader(&self, largest: jlong) -> std::result::Result<Reader, Error> {
        let mut reader = Reader::new();
        reader
            .strategy(self.strategy())
            .fail_fast(self.flags & FAIL_FAST != 0)
            .completion_order(self.flags & COMPLETION_ORDER != 0)
            .max_file_size(u64::try_from(largest).unwrap_or(0));
        if let Some(bytes) = self.max_in_flight() {
            reader.max_in_flight(bytes);
        }
        if let Some(directory) = &self.within {
            reader.within(sys::path_in(directory))?;
        }
        Ok(reader)
    }

    pub(crate) fn writer(&self) -> std::result::Result<Writer, Error> {
        let mut writer = Writer::new();
        writer
            .overwrite(true)
            .strategy(self.strategy())
            .fail_fast(self.flags & FAIL_FAST != 0)
            .durability(durability(self.flags))
            .replace(self.flags & REPLACE != 0)
            .create_parents(self.flags & CREATE_PARENTS != 0)
            .only_if_changed(self.flags & ONLY_IF_CHANGED != 0)
            .create_new(self.flags & CREATE_NEW != 0);
        if let Some(bytes) = self.max_in_flight() {
            writer.max_in_flight(bytes);
        }
        if let Some(directory) = &self.within {
            writer.within(sys::path_in(directory))?;
        }
        Ok(writer)
    }
}
