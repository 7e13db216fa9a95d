//! The lines between the bench and the process of a row: one JSON object a line, each request answered by one reply.
//!
//! `driver/*.js` speaks the same; a field added here is added there.

use serde::{Deserialize, Serialize};
use std::fmt;

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
}

/// The last argument of a driver's command line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Launch {
    pub(crate) functions: Functions,
    /// Folder of the npm package, for [`Functions::Smallfry`] under Node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) package: Option<String>,
    /// Let the runtime compile the functions before it says hello.
    #[serde(default)]
    pub(crate) warm_up: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Request {
    WriteString(WriteString),
    Build(Build),
    ReadMany(ReadMany),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reply {
    Hello(Hello),
    Samples(Samples),
    Build(BuildTimes),
    ReadMany(ReadTimes),
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Style {
    /// One call after another.
    Sync,
    /// `Promise.all` over all files.
    Parallel,
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
    /// Where to write; it and the folders in it are there, files are not.
    pub(crate) output: String,
    /// Where to publish; neither it nor `staging` exists yet.
    pub(crate) published: String,
    pub(crate) staging: String,
    /// At most so many files are published.
    pub(crate) publish: usize,
}

/// Nanoseconds per phase, in order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BuildTimes {
    pub(crate) phases: Vec<(String, u64)>,
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    pub(crate) usage: Usage,
}

/// One run of the scenario `read-many`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReadMany {
    pub(crate) style: Style,
    /// What is kept of each file.
    pub(crate) data: Data,
    /// Holds the files, and nothing else.
    pub(crate) folder: String,
    /// Compare, untimed, what was read with the files.
    pub(crate) compare: bool,
}

/// How much was read, and what it took: from the first call to the last byte looked at.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReadTimes {
    pub(crate) files: usize,
    pub(crate) bytes: usize,
    pub(crate) usage: Usage,
}
