//! The lines between the bench and the process of a row: one JSON object a line, each request answered by one reply.
//!
//! `driver/*.js` speaks the same; a field added here is added there.

use serde::{Deserialize, Serialize};
use smallfry_bench_closing as closing;
use std::fmt;
use std::num::NonZeroUsize;

/// Whose functions a row calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Functions {
    /// Those of `node:fs`.
    Node,
    /// `Buffer.from`, `openSync`, `writeSync`, `closeSync`: what `writeFileSync` did before it had a native path.
    Before,
    /// The npm package, or the Rust crate.
    Smallfry,
    /// `std::fs`.
    Std,
    /// Bare system calls on a prepared path.
    Floor,
    /// `std::fs` on rayon's threads.
    Rayon,
    /// `tokio::fs`, a task for each file.
    Tokio,
    /// The npm package write-file-atomic.
    WriteFileAtomic,
    /// `FileOutputStream` and `FileInputStream` of java.io.
    JavaStream,
    /// `FileChannel` of java.nio.
    JavaChannel,
    /// `java.nio.file.Files`.
    JavaFiles,
    /// Kotlin's `File.writeText` and `File.readText`.
    KotlinFile,
    /// Square's okio.
    Okio,
    /// What Node calls inside, which its flag `--expose-internals` shows.
    NodeInternal,
    /// The npm package read-package-up.
    ReadPackageUp,
    /// The npm package pkg-types.
    PkgTypes,
    /// The npm package oxc-resolver, or its crate.
    OxcResolver,
}

impl Functions {
    /// The npm package whose functions they are, of those that are compared with.
    pub(crate) const fn npm_peer(self) -> Option<&'static str> {
        match self {
            Self::WriteFileAtomic => Some("write-file-atomic"),
            Self::ReadPackageUp => Some("read-package-up"),
            Self::PkgTypes => Some("pkg-types"),
            Self::OxcResolver => Some("oxc-resolver"),
            _ => None,
        }
    }
}

/// The last argument of a driver's command line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Launch {
    pub(crate) functions: Functions,
    /// Directory of the npm package, for [`Functions::Smallfry`] and those that have an [npm peer](Functions::npm_peer) under Node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) package: Option<String>,
    /// Let the runtime compile the functions before it says hello.
    #[serde(default)]
    pub(crate) warm_up: bool,
    /// Who closes, in the scenario `close`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) closing: Option<closing::Way>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Request {
    WriteString(WriteString),
    Build(Build),
    ReadMany(ReadMany),
    WriteMany(WriteMany),
    Close(Close),
    Sync(Sync),
    SyncMany(SyncMany),
    PackageScope(PackageScope),
    /// Do the functions take the option `durability`?
    AskDurability {},
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reply {
    Hello(Hello),
    Samples(Samples),
    Build(BuildTimes),
    Many(Times),
    Durability(bool),
    Failure(PeerFailure),
}

/// The first line a driver sends.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) version: String,
    /// Time that loading the package took.
    pub(crate) load_ns: u64,
}

/// What went wrong in a row's process. `code` is the errno's name where there is one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PeerFailure {
    pub(crate) operation: String,
    #[serde(default)]
    pub(crate) path: Option<String>,
    #[serde(default)]
    pub(crate) code: Option<String>,
    pub(crate) message: String,
}

/// Processor time of the process over the whole batch, what is not timed included (unlinking, truncating).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Usage {
    pub(crate) wall_ns: u64,
    pub(crate) user_ns: u64,
    pub(crate) sys_ns: u64,
    /// Highest resident set of the process so far, in KiB.
    pub(crate) peak_kib: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Text {
    Ascii,
    Latin1,
    Mixed,
}

impl Text {
    /// Repeated to the length wanted. ASCII; one byte a character in memory and some `é`; characters that take two and three bytes in UTF-8.
    pub(crate) const fn pattern(self) -> &'static str {
        match self {
            Self::Ascii => "file",
            Self::Latin1 => "café",
            Self::Mixed => "жé漢€",
        }
    }

    /// `length` characters, each one UTF-16 unit.
    pub(crate) fn repeat(self, length: usize) -> String {
        let pattern = self.pattern();
        let units = pattern.chars().count();
        let mut text = pattern.repeat(length / units);
        text.extend(pattern.chars().take(length % units));
        text
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Function {
    #[serde(rename = "writeFileSync")]
    Write,
    #[serde(rename = "appendFileSync")]
    Append,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Data {
    String,
    Buffer,
}

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::String => "string",
            Self::Buffer => "Buffer",
        })
    }
}

/// How the file is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Addressing {
    /// By path; the file is not there.
    New,
    /// By path; the file is there (for append: appended to).
    Overwritten,
    /// By path; the null device.
    Path,
    /// By a descriptor that the caller holds open.
    Fd,
}

/// One batch of samples of one case of the scenario `write-string`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WriteString {
    /// In UTF-16 units.
    pub(crate) length: u32,
    pub(crate) text: Text,
    pub(crate) pattern: String,
    pub(crate) function: Function,
    pub(crate) data: Data,
    pub(crate) addressing: Addressing,
    /// Of the file; for [`Addressing::New`] what the names of the files start with.
    pub(crate) path: String,
    /// Leave the new files there, empty, instead of removing them.
    pub(crate) keep_names: bool,
    /// Calls before the first sample, untimed.
    pub(crate) warm_up: u32,
    pub(crate) samples: u32,
    /// Calls a sample.
    pub(crate) calls: u32,
    /// A file that grows is cut back, untimed, before it passes this many bytes.
    pub(crate) grow_to: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Samples {
    pub(crate) ns: Vec<u64>,
    pub(crate) usage: Usage,
}

/// How the calls of a row follow each other.
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
    /// Does the event loop go on meanwhile?
    pub(crate) const fn is_async(self) -> bool {
        matches!(self, Self::Callback | Self::Parallel | Self::Bulk)
    }

    pub(crate) const fn is_bulk(self) -> bool {
        matches!(self, Self::BulkSync | Self::Bulk)
    }
}

/// How many threads a bulk call, or a floor, may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Threads {
    /// It finds out.
    #[default]
    Auto,
    CallingThread,
    Fixed(NonZeroUsize),
}

/// One run of the scenario `build`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Build {
    pub(crate) style: Style,
    pub(crate) tree: String,
    /// File name extensions to take, without the dot.
    pub(crate) extensions: Vec<String>,
    /// At most so many files, first in the order of their paths.
    pub(crate) files: usize,
    /// Where to write; it and the directories in it are there, files are not.
    pub(crate) output: String,
    /// Where to publish; likewise.
    pub(crate) published: String,
    /// At most so many files are published.
    pub(crate) publish: usize,
}

/// Nanoseconds per phase, in order. A row that closes inside `write` has no `close`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BuildTimes {
    pub(crate) phases: Vec<(String, u64)>,
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    pub(crate) usage: Usage,
}

/// Where many files of one size are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Layout {
    pub(crate) directory: String,
    /// Directories in it that the files are spread over; 0: none, the files are in it themselves.
    pub(crate) directories: usize,
    pub(crate) files: usize,
    /// What each name begins with.
    pub(crate) name: String,
}

impl Layout {
    /// Of the file of that number.
    pub(crate) fn path(&self, index: usize) -> String {
        let Self {
            directory, name, ..
        } = self;
        match self.directory(index) {
            Some(directory) => format!("{directory}/{name}{index:07}"),
            None => format!("{directory}/{name}{index:07}"),
        }
    }

    /// That the file of that number is in, if the files are spread.
    pub(crate) fn directory(&self, index: usize) -> Option<String> {
        let number = index.checked_rem(self.directories)?;
        Some(format!("{}/{number:04}", self.directory))
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = String> {
        (0..self.files).map(|index| self.path(index))
    }
}

/// One run of reading many files, all kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReadMany {
    pub(crate) style: Style,
    pub(crate) threads: Threads,
    /// What is made of each file.
    pub(crate) data: Data,
    /// Only for the floor, and for bulk calls in Rust: others keep what they read.
    pub(crate) keep: bool,
    pub(crate) layout: Layout,
    /// Compare, untimed, what was read with the files.
    pub(crate) compare: bool,
    pub(crate) watch: Watch,
}

/// What is watched beside the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Watch {
    Nothing,
    /// How often the event loop turns.
    EventLoop,
    Memory,
}

/// One run of reading many files, as the whole life of a process: list the directory, read every file, keep nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Discard {
    pub(crate) style: Style,
    pub(crate) threads: Threads,
    pub(crate) directory: String,
    /// Files and bytes that there are: a process that has read less fails.
    pub(crate) files: usize,
    pub(crate) bytes: usize,
}

/// One run of writing many files, each with its [`contents_of`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WriteMany {
    pub(crate) style: Style,
    pub(crate) threads: Threads,
    pub(crate) data: Data,
    /// The directories are there; the files are, or are not.
    pub(crate) layout: Layout,
    /// Of each file.
    pub(crate) bytes: usize,
}

/// What the file of that number holds: a line again and again.
pub(crate) fn contents_of(index: usize, bytes: usize) -> Vec<u8> {
    let line = format!("{index}: smallfry writes many small files.\n");
    line.bytes().cycle().take(bytes).collect()
}

/// What must survive a crash of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    None,
    /// The contents and the size.
    Data,
    /// All that the file itself has.
    File,
    /// And its name.
    Full,
}

/// Writes of one file, again and again, each timed alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sync {
    /// Its directory is there.
    pub(crate) path: String,
    /// Of ASCII.
    pub(crate) text: String,
    pub(crate) level: Level,
    /// By a new file that takes the old one's name.
    pub(crate) replace: bool,
    /// Calls before the first sample.
    pub(crate) warm_up: u32,
    pub(crate) samples: u32,
}

/// How bare system calls make many files last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Flushing {
    /// Each file is flushed and named, and its directory flushed, before the next one.
    Each,
    /// The same for files, many at once; then each directory once.
    Concurrent,
    /// Writing to the device is started for all, then each file is flushed; then each directory once.
    Writeout,
    /// All is written, then the whole file system flushed; after renaming once more.
    Syncfs,
    /// Likewise, each time followed by the flush of a directory.
    SyncfsThenFsync,
    /// Each file is written to the device and that awaited, then one other file is flushed, which empties the device's cache.
    Git,
}

/// One run of writing many files, each with its [`contents_of`], durably.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SyncMany {
    pub(crate) style: Style,
    /// Of [`Functions::Floor`].
    pub(crate) flushing: Flushing,
    /// The directories are there; the files are, or are not.
    pub(crate) layout: Layout,
    /// Each file by a new one that takes the old one's name.
    pub(crate) replace: bool,
    /// Of each file.
    pub(crate) bytes: usize,
}

/// How a row finds out whether a file's nearest package.json says `module`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Lookup {
    /// smallfry's, which looks again never, each time, or after a second.
    Never,
    OnChange,
    After,
    /// `findPackageJSON` of `node:module`.
    FindPackageJson,
    /// `readFileSync` and `JSON.parse`, for each file up to the one that decides.
    Walk,
    /// The same, with a `Map` from each directory to its answer.
    Map,
    /// The one way that these functions have.
    Theirs,
    /// The same, spared what they ask of the file itself.
    TheirsAlone,
    /// Bare system calls: each directory's file once.
    EachDirectory,
    /// Bare system calls: for each file all directories up to the one that decides.
    EachFile,
}

/// One run of looking up package.json files.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PackageScope {
    pub(crate) style: Style,
    pub(crate) lookup: Lookup,
    /// A file that has a line for each file: in how many directories there is to look, and its path.
    pub(crate) list: String,
    /// One pass, the first of the process. Else passes for so many milliseconds untimed, then so many timed.
    pub(crate) cold: bool,
    pub(crate) warm_up_ms: u64,
    pub(crate) measure_ms: u64,
}

/// Continues an FNV-1a hash of 32 bits with one answer: <http://www.isthe.com/chongo/tech/comp/fnv/>.
pub(crate) const fn hash_answer(hash: u32, is_module: bool) -> u32 {
    (hash ^ is_module as u32).wrapping_mul(0x0100_0193)
}

/// Where it begins.
pub(crate) const HASH_START: u32 = 0x811c_9dc5;

/// One run of writing a font: its glyphs' files, or, through norad, loading and saving all of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Close {
    /// The directory of the font.
    pub(crate) font: String,
    /// Of glyphs, what the name of each file begins with, its directory included; of norad's font the path. Nothing is there.
    pub(crate) target: String,
}

/// How much was read or written, and what it took: of reading from the first call to the last byte looked at, of writing to the
/// return of the last call, where others close to the last close.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Times {
    pub(crate) files: usize,
    pub(crate) bytes: usize,
    pub(crate) usage: Usage,
    /// Microseconds between two turns of an event loop that was asked to turn every [`PROBE_US`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) gaps_us: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) memory_kib: Option<Memory>,
    /// Part of the files, from 0 to 1, that was in the kernel's cache before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cached: Option<f64>,
    /// Of a font, the part of the time that loading took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) load_ns: Option<u64>,
    /// Seen from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) peaks: Option<Peaks>,
    /// Nanoseconds of each write, where each is timed alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) samples_ns: Vec<u64>,
    /// A [hash](hash_answer) of the answers, where there are such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answers: Option<u32>,
}

/// The most that a process had at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Peaks {
    /// Open, beyond those that it had when it began.
    pub(crate) handles: usize,
    pub(crate) threads: usize,
    pub(crate) resident_kib: u64,
}

/// The shortest time after which Node's timers fire again.
pub(crate) const PROBE_US: u64 = 1_000;

/// Resident set of the process in KiB.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// When the paths were there, and nothing else.
    pub(crate) before: u64,
    /// The highest while it read.
    pub(crate) peak: u64,
    /// When all was read, and whatever is kept was there.
    pub(crate) after: u64,
}
