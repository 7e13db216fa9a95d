//! The options of calls for many files, as `dev.smallfry.Native` passes them.

use crate::sys;
use jni::Env;
use jni::errors::Result;
use jni::objects::JByteArray;
use jni::sys::{jint, jlong};
use smallfry::Error;
use smallfry::bulk::{Reader, Strategy, Writer};
use smallfry_options::OptionBits;
use smallfry_options::table::TEXT;
use std::num::NonZeroUsize;

/// Reads the `threads` option; 0 stands for [`Strategy::Auto`].
pub(crate) fn strategy(threads: jint) -> Strategy {
    let threads = usize::try_from(threads).ok();
    match threads.and_then(NonZeroUsize::new) {
        None => Strategy::Auto,
        Some(NonZeroUsize::MIN) => Strategy::CallingThread,
        Some(threads) => Strategy::Threads(threads),
    }
}

/// The options that all calls for many files have.
pub(crate) struct Bulk {
    bits: OptionBits,
    /// The number of workers; 0 for [`Strategy::Auto`].
    threads: jint,
    /// The maximum number of bytes in flight; 0 for the core's default.
    max_in_flight: jlong,
    /// The directory that all paths must stay beneath.
    within: Option<Vec<u8>>,
}

impl Bulk {
    pub(crate) fn new(
        env: &Env<'_>,
        bits: jint,
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
            bits: OptionBits::new(bits),
            threads,
            max_in_flight,
            within,
        })
    }

    fn max_in_flight(&self) -> Option<u64> {
        u64::try_from(self.max_in_flight)
            .ok()
            .filter(|bytes| *bytes > 0)
    }

    /// Tells whether contents become text.
    pub(crate) fn is_text(&self) -> bool {
        self.bits.has(TEXT)
    }

    /// Makes a reader. Fails if the directory to stay beneath cannot be opened.
    pub(crate) fn reader(&self, max_file_size: jlong) -> std::result::Result<Reader, Error> {
        let mut reader = self.bits.reader();
        reader
            .strategy(strategy(self.threads))
            .max_file_size(u64::try_from(max_file_size).unwrap_or(0));
        if let Some(bytes) = self.max_in_flight() {
            reader.max_in_flight(bytes);
        }
        if let Some(directory) = &self.within {
            reader.within(sys::path_in(directory))?;
        }
        Ok(reader)
    }

    /// Makes a writer. Fails if the directory to stay beneath cannot be opened.
    pub(crate) fn writer(&self) -> std::result::Result<Writer, Error> {
        let mut writer = self.bits.writer();
        writer.overwrite(true).strategy(strategy(self.threads));
        if let Some(bytes) = self.max_in_flight() {
            writer.max_in_flight(bytes);
        }
        if let Some(directory) = &self.within {
            writer.within(sys::path_in(directory))?;
        }
        Ok(writer)
    }
}
