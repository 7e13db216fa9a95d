//! The rows that several scenarios have, by the names that tables and files give them.

use crate::bench::options::Extent;
use crate::bench::runtime::native::PEERS_BUILT;
use crate::bench::runtime::protocol::{Functions, Style, Threads};
use crate::bench::runtime::{Row, Way, node};
use crate::bench::session::{Node, Session};
use std::num::NonZeroUsize;

pub(crate) const NODE_SYNC: &str = "Node sync";
pub(crate) const NODE_CALLBACK: &str = "Node callback";
pub(crate) const NODE_PARALLEL: &str = "Node Promise.all";
/// A baseline once more: what differs between the two is noise.
pub(crate) const SYNC_AA: &str = "Node sync A/A";
pub(crate) const PARALLEL_AA: &str = "Node Promise.all A/A";
pub(crate) const SMALLFRY_SYNC: &str = "smallfry sync";
pub(crate) const SMALLFRY_PARALLEL: &str = "smallfry Promise.all";
pub(crate) const BULK_SYNC: &str = "smallfry bulk sync";
pub(crate) const BULK: &str = "smallfry bulk";
pub(crate) const STD: &str = "Rust std";
const RAYON: &str = "Rust rayon";
const TOKIO: &str = "Rust tokio";
pub(crate) const SMALLFRY_RUST: &str = "smallfry in Rust";
/// The row with the strategy Auto; rows with a fixed one are named by [`fixed`].
pub(crate) const BULK_RUST: &str = "smallfry bulk in Rust";
pub(crate) const RAW: &str = "raw system calls";
/// Reads into memory that stays, as every row that keeps what it reads must.
pub(crate) const RAW_KEPT: &str = "raw system calls, kept";
/// The cost of the simulation itself: through a mount that adds no delay, beside a slow disk.
pub(crate) const MOUNT_ALONE: &str = "raw system calls, mount alone";
pub(crate) const JAVA_FILES: &str = "Java Files";
pub(crate) const JAVA_PARALLEL: &str = "Java Files, parallel stream";
pub(crate) const SMALLFRY_JVM: &str = "smallfry in the JVM";
pub(crate) const BULK_JVM: &str = "smallfry bulk in the JVM";

/// A row in a table of rows.
pub(crate) type RowOf = (&'static str, Functions, Style);

/// The idioms that all files are read and written with under Node.
const IDIOMS: [RowOf; 4] = [
    (NODE_SYNC, Functions::Node, Style::Sync),
    (NODE_CALLBACK, Functions::Node, Style::Callback),
    (NODE_PARALLEL, Functions::Node, Style::Parallel),
    (PARALLEL_AA, Functions::Node, Style::Parallel),
];

/// smallfry on Node: the drop-in functions, and one call for all files.
pub(crate) const OURS: [RowOf; 4] = [
    (SMALLFRY_SYNC, Functions::Smallfry, Style::Sync),
    (SMALLFRY_PARALLEL, Functions::Smallfry, Style::Parallel),
    (BULK_SYNC, Functions::Smallfry, Style::BulkSync),
    (BULK, Functions::Smallfry, Style::Bulk),
];

pub(crate) const OURS_IN_RUST: [RowOf; 2] = [
    (SMALLFRY_RUST, Functions::Smallfry, Style::Sync),
    (BULK_RUST, Functions::Smallfry, Style::BulkSync),
];

const STREAMS: &str = "Java FileOutputStream or FileInputStream";
const IN_JVM: [RowOf; 7] = [
    (JAVA_FILES, Functions::JavaFiles, Style::Sync),
    (JAVA_PARALLEL, Functions::JavaFiles, Style::Parallel),
    (STREAMS, Functions::JavaStream, Style::Sync),
    ("Java FileChannel", Functions::JavaChannel, Style::Sync),
    ("Kotlin File", Functions::KotlinFile, Style::Sync),
    ("okio", Functions::Okio, Style::Sync),
    (BULK_JVM, Functions::Smallfry, Style::BulkSync),
];

/// Returns these rows on each Node that has the functions.
pub(crate) fn on_nodes(
    session: &Session,
    rows: &[RowOf],
    is_there: impl Fn(&Node, Functions) -> bool,
) -> Vec<Row> {
    let on = |node| {
        let rows = rows.iter().filter(|row| is_there(node, row.1));
        let row = |&(name, functions, style)| session.row(node, functions, name, style);
        rows.map(row).collect::<Vec<Row>>()
    };
    session.nodes.iter().flat_map(on).collect()
}

pub(crate) fn in_jvm(session: &Session, rows: &[RowOf]) -> Vec<Row> {
    let row = |&(name, functions, style)| session.jvm_row(functions, name, style);
    rows.iter().filter_map(row).collect()
}

/// Returns these rows in Rust; only Unix has those of raw system calls.
pub(crate) fn in_rust(rows: &[RowOf]) -> Vec<Row> {
    let rows = rows.iter();
    let rows = rows.filter(|row| cfg!(unix) || row.1 != Functions::Raw);
    rows.map(|&(name, functions, style)| Row::native(functions, name, style))
        .collect()
}

/// Returns true if the Node has the functions, or the package that has them.
pub(crate) fn is_there(node: &Node, functions: Functions) -> bool {
    match functions {
        Functions::Smallfry => node.package.is_some(),
        _ => functions.npm_peer().is_none() || node::npm_peer(functions).is_some(),
    }
}

/// The same, for writing durably.
pub(crate) fn is_durable(node: &Node, functions: Functions) -> bool {
    let package = node.package.as_ref();
    let is_durable = package.is_some_and(|package| package.durable);
    is_there(node, functions) && (functions != Functions::Smallfry || is_durable)
}

/// Notes the rows that [`is_durable`] finds missing.
pub(crate) fn leave_out_durable(session: &mut Session) {
    let mut reasons = Vec::new();
    for node in &session.nodes {
        if node.package.is_some() && !is_durable(node, Functions::Smallfry) {
            let name = node.runtime.name();
            reasons.push(format!(
                "rows of smallfry on {name} are left out: this package takes no option `durability`"
            ));
        }
        if !is_there(node, Functions::WriteFileAtomic) {
            reasons.push(not_installed("write-file-atomic"));
        }
    }
    for reason in reasons {
        session.leave_out(reason);
    }
}

pub(crate) fn not_installed(name: &str) -> String {
    format!("rows {name} are left out: it is not installed (make bench-peers installs it)")
}

pub(crate) fn not_built(names: &str) -> String {
    format!(
        "rows {names} are left out: not in this build (make bench-all, or cargo build --features \
         peers, has them)"
    )
}

/// Notes the rows that this build does not have.
pub(crate) fn leave_out_peers(session: &mut Session) {
    if !PEERS_BUILT {
        session.leave_out(not_built(&format!("{RAYON} and {TOKIO}")));
    }
}

/// Returns all rows that read or write many files.
pub(crate) fn of_many(session: &Session) -> Vec<Row> {
    let mut rows = scripts(session);
    rows.extend(in_rust(&[(STD, Functions::Std, Style::Sync)]));
    if PEERS_BUILT {
        rows.extend(in_rust(&[
            (RAYON, Functions::Rayon, Style::Parallel),
            (TOKIO, Functions::Tokio, Style::Parallel),
        ]));
    }
    rows.extend(in_rust(&OURS_IN_RUST));
    rows.extend(in_jvm(session, &IN_JVM));
    for threads in strategies(session.extent) {
        let way = Way::keeping(Style::BulkSync, threads);
        rows.push(Row::native(Functions::Smallfry, &fixed(threads), way));
    }
    rows
}

/// Returns the rows that run scripts.
pub(crate) fn scripts(session: &Session) -> Vec<Row> {
    let rows = [IDIOMS, OURS].concat();
    on_nodes(session, &rows, is_there)
}

/// Returns raw system calls by one thread and by one per core.
pub(crate) fn raw(session: &Session, keep: bool) -> Vec<Row> {
    if !cfg!(unix) {
        return Vec::new();
    }
    let name = if keep { RAW_KEPT } else { RAW };
    let row = |name: &str, threads| {
        let way = Way {
            style: Style::Sync,
            threads,
            keep,
        };
        Row::native(Functions::Raw, name, way)
    };
    let mut rows = vec![row(name, Threads::CallingThread)];
    if let Some(cores) = NonZeroUsize::new(session.host.cores).filter(|cores| cores.get() > 1) {
        let name = format!("{name}, {cores} cores");
        rows.push(row(&name, Threads::Fixed(cores)));
    }
    rows
}

/// Returns the row of the mount beside a slow disk.
pub(crate) fn mount_alone(session: &Session, name: &'static str) -> Vec<Row> {
    if session.directories.undelayed(0).is_none() {
        return Vec::new();
    }
    in_rust(&[(name, Functions::Raw, Style::Sync)])
}

/// Returns the strategies that a program can name.
fn strategies(extent: Extent) -> Vec<Threads> {
    let counts: &[usize] = match extent {
        Extent::Quick => &[4],
        Extent::Core | Extent::All => &[2, 4, 8, 16, 32, 64],
    };
    let fixed = counts.iter().copied().filter_map(NonZeroUsize::new);
    [Threads::CallingThread]
        .into_iter()
        .chain(fixed.map(Threads::Fixed))
        .collect()
}

/// Names the bulk row in Rust with that strategy.
pub(crate) fn fixed(threads: Threads) -> String {
    match threads {
        Threads::Auto => BULK_RUST.to_owned(),
        Threads::CallingThread => "bulk Rust, calling thread".to_owned(),
        Threads::Fixed(count) => format!("bulk Rust, {count} threads"),
    }
}
