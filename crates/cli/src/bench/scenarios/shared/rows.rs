//! The rows that several scenarios have, by the names that tables and files give them.

use super::prelude::*;
use crate::bench::runtime::node;
use std::num::NonZeroUsize;

pub(crate) const NODE_SYNC: &str = "Node sync";
pub(crate) const NODE_CALLBACK: &str = "Node callback";
pub(crate) const NODE_PARALLEL: &str = "Node Promise.all";
pub(crate) const BULK_SYNC: &str = "smallfry bulk sync";
pub(crate) const BULK: &str = "smallfry bulk";
/// The row with the strategy Auto; rows with a fixed one are named by [`fixed`].
pub(crate) const BULK_RUST: &str = "smallfry bulk in Rust";
pub(crate) const RAW: &str = "raw system calls";
/// Reads into memory that stays, as every row that keeps what it reads must.
pub(crate) const RAW_KEPT: &str = "raw system calls, kept";
/// The cost of the simulation itself: through a mount that adds no delay, beside a slow disk.
pub(crate) const MOUNT_ALONE: &str = "raw system calls, mount alone";

/// A row in a table of rows. One named `A/A` is a baseline once more: what differs between the two
/// is noise.
pub(crate) type RowOf = (&'static str, Functions, Style);

/// Returns the row in which one call of smallfry does all, and returns when all is done.
pub(crate) const fn bulk(name: &'static str) -> RowOf {
    (name, Functions::Smallfry, Style::BulkSync)
}

/// The idioms that all files are read and written with under Node.
const IDIOMS: [RowOf; 4] = [
    (NODE_SYNC, Functions::Node, Style::Sync),
    (NODE_CALLBACK, Functions::Node, Style::Callback),
    (NODE_PARALLEL, Functions::Node, Style::Parallel),
    ("Node Promise.all A/A", Functions::Node, Style::Parallel),
];

/// smallfry on Node: the drop-in functions, and one call for all files.
pub(crate) const OURS: [RowOf; 4] = [
    ("smallfry sync", Functions::Smallfry, Style::Sync),
    ("smallfry Promise.all", Functions::Smallfry, Style::Parallel),
    bulk(BULK_SYNC),
    (BULK, Functions::Smallfry, Style::Bulk),
];

pub(crate) const IN_RUST: [RowOf; 3] = [
    ("Rust std", Functions::Std, Style::Sync),
    ("smallfry in Rust", Functions::Smallfry, Style::Sync),
    bulk(BULK_RUST),
];

const PEERS: [RowOf; 2] = [
    ("Rust rayon", Functions::Rayon, Style::Parallel),
    ("Rust tokio", Functions::Tokio, Style::Parallel),
];

const JAVA_PARALLEL: &str = "Java Files, parallel stream";
pub(crate) const BULK_JVM: RowOf = bulk("smallfry bulk in the JVM");
const STREAMS: &str = "Java FileOutputStream or FileInputStream";
const IN_JVM: [RowOf; 7] = [
    ("Java Files", Functions::JavaFiles, Style::Sync),
    (JAVA_PARALLEL, Functions::JavaFiles, Style::Parallel),
    (STREAMS, Functions::JavaStream, Style::Sync),
    ("Java FileChannel", Functions::JavaChannel, Style::Sync),
    ("Kotlin File", Functions::KotlinFile, Style::Sync),
    ("okio", Functions::Okio, Style::Sync),
    BULK_JVM,
];

/// The sentences about idioms and smallfry's counterparts.
pub(crate) const COMPARED: [&str; 5] = [
    "Node sync|smallfry sync|smallfry bulk sync",
    "Node Promise.all|smallfry Promise.all|smallfry bulk",
    "Rust std|smallfry in Rust|smallfry bulk in Rust",
    "Java Files|smallfry in the JVM|smallfry bulk in the JVM",
    "Java Files, parallel stream|smallfry bulk in the JVM",
];

/// Returns these rows in the JVM, if there is one. Each takes seconds to start and to warm up, so a
/// quick look has the first one and smallfry's.
fn in_jvm(session: &Session, rows: &[RowOf]) -> impl Iterator<Item = Row> {
    let is_quick = session.extent == Extent::Quick;
    let counts = move |(index, row): &(usize, &RowOf)| {
        !is_quick || *index == 0 || row.1 == Functions::Smallfry
    };
    let row =
        |(_, &(name, functions, style)): (usize, &RowOf)| session.jvm_row(functions, name, style);
    rows.iter().enumerate().filter(counts).filter_map(row)
}

/// The reason why a row is missing, if that is news.
pub(crate) type Missing = Option<String>;

/// Returns those of these rows that are there: on each Node that has the functions, in the JVM, and
/// in Rust. Notes why others are not.
pub(crate) fn all(
    session: &Session,
    [on_node, in_jvm, in_rust]: [&[RowOf]; 3],
    find: impl Fn(&Node, &RowOf) -> Result<(), Missing>,
) -> Vec<Row> {
    let mut rows = Vec::new();
    for node in &session.nodes {
        for row in on_node {
            match find(node, row) {
                Ok(()) => rows.push(session.row(node, row.1, row.0, row.2)),
                Err(reason) => reason.into_iter().for_each(|it| session.leave_out(it)),
            }
        }
    }
    rows.extend(self::in_jvm(session, in_jvm));
    for &(name, functions, style) in in_rust {
        match functions {
            Functions::Rayon | Functions::Tokio | Functions::OxcResolver if !PEERS_BUILT => {
                session.leave_out(not_built(name));
            }
            // Only Unix has raw system calls.
            Functions::Raw if !cfg!(unix) => {}
            _ => rows.push(Row::native(functions, name, style)),
        }
    }
    rows
}

/// Returns these rows on each Node, and on no other runtime.
pub(crate) fn on_node(session: &Session, on_node: &[RowOf]) -> Vec<Row> {
    let is_node = |node: &Node, row: &RowOf| match node.runtime.kind {
        Kind::Node => find(node, row),
        _ => Err(None),
    };
    all(session, [on_node, &[], &[]], is_node)
}

/// Finds the functions for whole trees: on Bun and Deno their own alone.
pub(crate) fn find_for_trees(node: &Node, row: &RowOf) -> Result<(), Missing> {
    match (node.runtime.kind, row.1) {
        (Kind::Node, _) => find(node, row),
        (_, Functions::Node) => Ok(()),
        _ => Err(None),
    }
}

/// Finds the functions, or the package that has them.
pub(crate) fn find(node: &Node, (_, functions, _): &RowOf) -> Result<(), Missing> {
    let is_installed = || node::npm_peer(*functions).is_some();
    match functions.npm_peer() {
        Some(name) if !is_installed() => Err(Some(format!(
            "rows {name} are left out: it is not installed (make bench-peers installs it)"
        ))),
        None if *functions == Functions::Smallfry && node.package.is_none() => Err(None),
        _ => Ok(()),
    }
}

/// Finds functions that write durably.
pub(crate) fn find_durable(node: &Node, row: &RowOf) -> Result<(), Missing> {
    let package = node.package.as_ref();
    if row.1 == Functions::Smallfry && package.is_some_and(|package| !package.durable) {
        let name = node.runtime.name();
        return Err(Some(format!(
            "rows of smallfry on {name} are left out: this package takes no option `durability`"
        )));
    }
    find(node, row)
}

pub(crate) fn not_built(names: &str) -> String {
    format!(
        "rows {names} are left out: not in this build (make bench-all, or cargo build --features \
         peers, has them)"
    )
}

/// Returns all rows that read or write many files.
pub(crate) fn of_many(session: &Session) -> Vec<Row> {
    let in_rust = [&IN_RUST[..], &PEERS].concat();
    let mut rows = all(session, [&[IDIOMS, OURS].concat(), &IN_JVM, &in_rust], find);
    // The strategies that a program can name.
    let counts = session.extent.pick(&[4][..], &[2, 4, 8, 16, 32, 64]);
    let counts = counts.iter().copied().filter_map(NonZeroUsize::new);
    let fixed_ones = counts.map(Threads::Fixed);
    for threads in [Threads::CallingThread].into_iter().chain(fixed_ones) {
        let way = Way::keeping(Style::BulkSync, threads);
        rows.push(Row::native(Functions::Smallfry, &fixed(threads), way));
    }
    rows
}

/// Returns those that run scripts.
pub(crate) fn scripts(session: &Session) -> Vec<Row> {
    all(session, [&[IDIOMS, OURS].concat(), &[], &[]], find)
}

/// Returns raw system calls by one thread and by one per core.
pub(crate) fn raw(session: &Session, name: &str) -> Vec<Row> {
    if !cfg!(unix) {
        return Vec::new();
    }
    let keep = name == RAW_KEPT;
    let row = |name: &str, threads| {
        let way = Way::keeping(Style::Sync, threads);
        Row::native(Functions::Raw, name, Way { keep, ..way })
    };
    let mut rows = vec![row(name, Threads::CallingThread)];
    if let Some(cores) = NonZeroUsize::new(session.host.cores).filter(|cores| cores.get() > 1) {
        let name = format!("{name}, {cores} cores");
        rows.push(row(&name, Threads::Fixed(cores)));
    }
    rows
}

/// Returns the row of the mount beside a slow disk.
pub(crate) fn mount_alone(session: &Session, name: &str) -> Option<Row> {
    session.directories.undelayed(0)?;
    Some(Row::native(Functions::Raw, name, Style::Sync))
}

/// Names the bulk row in Rust with that strategy.
pub(crate) fn fixed(threads: Threads) -> String {
    match threads {
        Threads::Auto => BULK_RUST.to_owned(),
        Threads::CallingThread => "bulk Rust, calling thread".to_owned(),
        Threads::Fixed(count) => format!("bulk Rust, {count} threads"),
    }
}
