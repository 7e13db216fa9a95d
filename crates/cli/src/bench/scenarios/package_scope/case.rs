//! The cases and the rows, and what a row is asked to do.

use super::super::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Place {
    Tree,
    Deep,
    Wide,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Display)]
#[display("{} {}", word(self.place), if self.cold { "cold" } else { "warm" })]
pub(crate) struct Case {
    pub(super) place: Place,
    pub(super) files: usize,
    /// The number of directories to look into.
    pub(super) directories: usize,
    pub(super) cold: bool,
}

/// The way in which a row finds out whether a file's nearest package.json says `module`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Lookup {
    /// By smallfry, which never looks again, each time, or after a second.
    Never,
    OnChange,
    After,
    /// By `findPackageJSON` of `node:module`.
    FindPackageJson,
    /// By `readFileSync` and `JSON.parse`, for each file up to the one that decides.
    Walk,
    /// The same, with a `Map` from each directory to its answer.
    Map,
    /// By the one way that these functions have.
    Theirs,
    /// The same, spared what they ask of the file itself.
    TheirsAlone,
    /// By raw system calls: each directory's file once.
    EachDirectory,
    /// By raw system calls: for each file all directories up to the one that decides.
    EachFile,
}

/// One run.
#[derive(Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) style: Style,
    pub(super) lookup: Lookup,
    /// A file that has a line for each file: in how many directories there is to look, and its
    /// path.
    pub(super) list: String,
    /// True for one pass, the first of the process. Else there are passes for so many
    /// milliseconds untimed, then so many timed.
    pub(super) cold: bool,
    pub(super) warm_up_ms: u64,
    pub(super) measure_ms: u64,
}

/// The baselines on Node and in Rust.
pub(super) const INTERNAL: &str = "Node INTERNAL function";
pub(super) const OXC: &str = "oxc_resolver crate";
pub(super) const OXC_ALONE: &str = "oxc_resolver crate, no stats";
pub(super) const MAP: &str = "JavaScript, a Map";
pub(super) const RAW_READS: &str = "raw system calls, opens and reads";
pub(super) const RAW_BATCH: &str = "raw system calls, a stat a directory";
pub(super) const RAW_EACH: &str = "raw system calls, stats of each file";

pub(super) type Asked = (&'static str, Functions, Style, Lookup);

pub(super) const ON_NODE: [Asked; 15] = {
    use Functions::{Node, NodeInternal, OxcResolver, PkgTypes, ReadPackageUp, Smallfry};
    use Lookup::{After, FindPackageJson, Never, OnChange, Theirs};
    use Style::{BulkSync, Parallel, Sync};
    [
        ("Node findPackageJSON", Node, Sync, FindPackageJson),
        (INTERNAL, NodeInternal, Sync, Theirs),
        ("Node INTERNAL function A/A", NodeInternal, Sync, Theirs),
        ("JavaScript, walking", Node, Sync, Lookup::Walk),
        (MAP, Node, Sync, Lookup::Map),
        ("read-package-up", ReadPackageUp, Sync, Theirs),
        ("pkg-types", PkgTypes, Sync, Theirs),
        ("pkg-types, 256 at once", PkgTypes, Parallel, Theirs),
        ("oxc-resolver", OxcResolver, Sync, Theirs),
        ("smallfry Never", Smallfry, Sync, Never),
        ("smallfry Never, batch", Smallfry, BulkSync, Never),
        ("smallfry OnChange", Smallfry, Sync, OnChange),
        ("smallfry OnChange, batch", Smallfry, BulkSync, OnChange),
        ("smallfry After 1 s", Smallfry, Sync, After),
        ("smallfry After 1 s, batch", Smallfry, BulkSync, After),
    ]
};

pub(super) const IN_RUST: [Asked; 11] = {
    use Functions::{OxcResolver, Raw, Smallfry};
    use Lookup::{After, EachDirectory, EachFile, Never, OnChange, Theirs, TheirsAlone};
    use Style::{BulkSync, Sync};
    [
        (OXC, OxcResolver, Sync, Theirs),
        (OXC_ALONE, OxcResolver, Sync, TheirsAlone),
        ("smallfry in Rust, Never", Smallfry, Sync, Never),
        ("smallfry in Rust, Never, batch", Smallfry, BulkSync, Never),
        ("smallfry in Rust, OnChange", Smallfry, Sync, OnChange),
        (
            "smallfry in Rust, OnChange, batch",
            Smallfry,
            BulkSync,
            OnChange,
        ),
        ("smallfry in Rust, After 1 s", Smallfry, Sync, After),
        (
            "smallfry in Rust, After 1 s, batch",
            Smallfry,
            BulkSync,
            After,
        ),
        (RAW_READS, Raw, Sync, EachDirectory),
        (RAW_BATCH, Raw, BulkSync, EachDirectory),
        (RAW_EACH, Raw, Sync, EachFile),
    ]
};

pub(super) fn lookup(row: &str) -> Lookup {
    let mut rows = ON_NODE.iter().chain(&IN_RUST);
    let found = rows.find(|(name, ..)| *name == row);
    found.map_or(Lookup::Theirs, |(.., lookup)| *lookup)
}
