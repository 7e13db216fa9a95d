//! The lines between the bench and the process of a row: one JSON object per line, one reply per
//! request.
//!
//! A request is `{"<scenario>": {...}}`; each scenario defines its own. `driver.js` beside this
//! file, the scenarios' `driver.js` and `peers/` speak the same protocol.

pub(crate) use crate::process::child::Usage;
use derive_more::Display;
use serde::{Deserialize, Serialize};
use smallfry_bench_closing as closing;
use std::num::NonZeroUsize;

/// The functions that a row calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Functions {
    /// `node:fs`.
    Node,
    /// `Buffer.from`, `openSync`, `writeSync`, `closeSync`: `writeFileSync` before its native path.
    Before,
    /// The npm package, the Maven artifact or the Rust crate.
    Smallfry,
    /// `std::fs`.
    Std,
    /// System calls on a path that was prepared beforehand.
    Raw,
    /// `std::fs` on rayon's threads.
    Rayon,
    /// `tokio::fs`, a task per file.
    Tokio,
    /// The npm package write-file-atomic.
    WriteFileAtomic,
    /// `FileOutputStream` and `FileInputStream` of java.io.
    JavaStream,
    /// `FileChannel` of java.nio.
    JavaChannel,
    /// `java.nio.file.Files`.
    JavaFiles,
    /// `File.writeText` and `File.readText` of Kotlin.
    KotlinFile,
    /// Square's okio.
    Okio,
    /// The function that Node calls itself, which the flag `--expose-internals` shows.
    NodeInternal,
    /// The npm package read-package-up.
    ReadPackageUp,
    /// The npm package pkg-types.
    PkgTypes,
    /// The npm package oxc-resolver, or its crate.
    OxcResolver,
    /// The npm package tar.
    NpmTar,
    /// The npm package extract-zip, which is made of yauzl.
    ExtractZip,
    /// The npm package yauzl.
    Yauzl,
    /// The npm package fs-extra.
    FsExtra,
}

impl Functions {
    /// Returns the npm package, other than smallfry, that has these functions.
    pub(crate) const fn npm_peer(self) -> Option<&'static str> {
        match self {
            Self::WriteFileAtomic => Some("write-file-atomic"),
            Self::ReadPackageUp => Some("read-package-up"),
            Self::PkgTypes => Some("pkg-types"),
            Self::OxcResolver => Some("oxc-resolver"),
            Self::NpmTar => Some("tar"),
            Self::ExtractZip => Some("extract-zip"),
            Self::Yauzl => Some("yauzl"),
            Self::FsExtra => Some("fs-extra"),
            _ => None,
        }
    }
}

/// The last argument of a driver's command line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Launch {
    pub(crate) functions: Functions,
    /// The directory of the npm package that has the functions, under Node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) package: Option<String>,
    /// True if the runtime compiles the functions before it says hello.
    pub(crate) warm_up: bool,
    /// The way of closing files, in the scenario `close`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) closing: Option<closing::Way>,
}

impl Launch {
    pub(crate) const fn of(functions: Functions) -> Self {
        Self {
            functions,
            package: None,
            warm_up: false,
            closing: None,
        }
    }
}

/// The request that asks whether the functions take the option `durability`.
pub(crate) const ASK_DURABILITY: &str = "ask-durability";

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reply {
    Hello(Hello),
    Many(Times),
    Durability(bool),
    Failure(PeerFailure),
}

/// The first line that a driver sends.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) version: String,
    /// The time that loading the package took.
    pub(crate) load_ns: u64,
}

/// An error in a row's process. `code` is the errno's name where there is one.
#[derive(Clone, Debug, Display, Serialize, Deserialize)]
#[display(
    "cannot {operation}{}: {message}",
    path.as_ref().map(|path| format!(" {path}")).unwrap_or_default()
)]
pub(crate) struct PeerFailure {
    pub(crate) operation: String,
    pub(crate) path: Option<String>,
    pub(crate) code: Option<String>,
    pub(crate) message: String,
}

impl PeerFailure {
    /// Returns true if the directory is unfit for every row. Then the run stops; any other error is
    /// the row's own.
    pub(crate) fn is_the_directory(&self) -> bool {
        matches!(
            self.code.as_deref(),
            Some("ENOSPC" | "EDQUOT" | "EROFS" | "EIO" | "ENODEV" | "ESTALE")
        )
    }
}

/// The work and the cost of one run.
///
/// The wall time ends with the last byte looked at, the last write, or, where files are closed by
/// other threads, the last close.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Times {
    pub(crate) files: usize,
    pub(crate) bytes: usize,
    pub(crate) usage: Usage,
    /// Nanoseconds per phase of a build, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) phases: Vec<(String, u64)>,
    /// Microseconds between two turns of an event loop that was asked to turn every [`PROBE_US`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) gaps_us: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) memory_kib: Option<Memory>,
    /// The part of the files, from 0 to 1, that was in the page cache before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cached: Option<f64>,
    /// The part of a font's time that loading took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) load_ns: Option<u64>,
    /// The peaks that another process has seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) peaks: Option<Peaks>,
    /// Nanoseconds of each sample, where samples are timed alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) samples_ns: Vec<u64>,
    /// The calls per sample, and the directory they wrote to, as the bench asked.
    #[serde(skip)]
    pub(crate) calls: u32,
    #[serde(skip)]
    pub(crate) directory: Option<usize>,
    /// A [hash](hash_answer) of the answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answers: Option<u32>,
}

impl Times {
    pub(crate) fn of(files: usize, bytes: usize, usage: Usage) -> Self {
        Self {
            files,
            bytes,
            usage,
            ..Self::default()
        }
    }
}

/// The highest numbers that a process had at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Peaks {
    /// Open handles beyond those at the start.
    pub(crate) handles: usize,
    pub(crate) threads: usize,
    pub(crate) resident_kib: u64,
}

/// The shortest time after which Node's timers fire again.
pub(crate) const PROBE_US: u64 = 1_000;

/// The resident set of the process in KiB.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// The size when only the paths were there.
    pub(crate) before: u64,
    /// The highest while the process read.
    pub(crate) peak: u64,
    /// The size when all was read, kept contents included.
    pub(crate) after: u64,
}

/// Text of a kind, by a pattern that repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Text {
    Ascii,
    /// One byte per character in memory, some of two bytes in UTF-8.
    Latin1,
    /// Characters of two and three bytes in UTF-8.
    Mixed,
}

impl Text {
    pub(crate) const fn pattern(self) -> &'static str {
        match self {
            Self::Ascii => "file",
            Self::Latin1 => "café",
            Self::Mixed => "жé漢€",
        }
    }

    /// Returns `length` characters, each one UTF-16 unit.
    pub(crate) fn repeat(self, length: usize) -> String {
        self.pattern().chars().cycle().take(length).collect()
    }
}

#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Data {
    #[display("string")]
    String,
    Buffer,
}

/// The order in which the calls of a row follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Style {
    /// One call after another.
    #[default]
    Sync,
    /// All calls at once, each with a callback.
    Callback,
    /// `Promise.all` over all files.
    Parallel,
    /// One call for all files, which returns when all is done.
    BulkSync,
    /// One call for all files, awaited.
    Bulk,
}

impl Style {
    /// Returns true if the event loop goes on meanwhile.
    pub(crate) const fn is_async(self) -> bool {
        matches!(self, Self::Callback | Self::Parallel | Self::Bulk)
    }

    pub(crate) const fn is_bulk(self) -> bool {
        matches!(self, Self::BulkSync | Self::Bulk)
    }
}

/// The number of threads that a bulk call, or a row of raw system calls, may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Threads {
    #[default]
    Auto,
    CallingThread,
    Fixed(NonZeroUsize),
}

impl Threads {
    /// Returns the number for rows that cannot choose it themselves.
    pub(crate) fn count(self) -> usize {
        match self {
            Self::Fixed(count) => count.get(),
            Self::Auto | Self::CallingThread => 1,
        }
    }
}

/// The places of many files of one size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Layout {
    pub(crate) directory: String,
    /// The number of directories in it that hold the files; 0: the files are in it themselves.
    pub(crate) directories: usize,
    pub(crate) files: usize,
    /// The prefix of each name.
    pub(crate) name: String,
}

impl Layout {
    pub(crate) fn path(&self, index: usize) -> String {
        let name = &self.name;
        format!("{}/{name}{index:07}", self.directory(index))
    }

    /// Returns the directory of the file of that number.
    pub(crate) fn directory(&self, index: usize) -> String {
        match index.checked_rem(self.directories) {
            Some(number) => format!("{}/{number:04}", self.directory),
            None => self.directory.clone(),
        }
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = String> {
        (0..self.files).map(|index| self.path(index))
    }
}

/// Returns the contents of the file of that number: one line, repeated.
pub(crate) fn contents_of(index: usize, bytes: usize) -> Vec<u8> {
    let line = format!("{index}: smallfry writes many small files.\n");
    line.bytes().cycle().take(bytes).collect()
}

/// Continues an FNV-1a hash of 32 bits with one answer:
/// <http://www.isthe.com/chongo/tech/comp/fnv/>.
pub(crate) const fn hash_answer(hash: u32, is_module: bool) -> u32 {
    (hash ^ is_module as u32).wrapping_mul(0x0100_0193)
}

/// The hash of no answers.
pub(crate) const HASH_START: u32 = 0x811c_9dc5;
