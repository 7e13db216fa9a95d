//! Who takes part: the implementations that the scenarios compare, by the names that tables and files give them.

use crate::bench::runtime::native::PEERS_BUILT;
use crate::bench::runtime::protocol::{Functions, Launch, Style, Threads};
use crate::bench::runtime::strace::Strace;
use crate::bench::runtime::{Row, Runtime, Way, node};
use crate::bench::session::{Extent, Node, Session};
use smallfry_bench_closing::{self as closing, Backend, Policy};
use std::num::NonZeroUsize;

pub(crate) const NODE_SYNC: &str = "Node sync";
pub(crate) const NODE_CALLBACK: &str = "Node callback";
pub(crate) const NODE_PARALLEL: &str = "Node Promise.all";
/// A baseline once more: what differs between the two is noise.
pub(crate) const SYNC_AGAIN: &str = "Node sync again";
pub(crate) const PARALLEL_AGAIN: &str = "Node Promise.all again";
pub(crate) const SMALLFRY_SYNC: &str = "smallfry sync";
pub(crate) const SMALLFRY_PARALLEL: &str = "smallfry Promise.all";
pub(crate) const BULK_SYNC: &str = "smallfry bulk sync";
pub(crate) const BULK: &str = "smallfry bulk";
pub(crate) const STD: &str = "Rust std";
pub(crate) const RAYON: &str = "Rust rayon";
pub(crate) const TOKIO: &str = "Rust tokio";
pub(crate) const SMALLFRY_RUST: &str = "smallfry in Rust";
/// With strategy Auto; those with a fixed one are named by [`fixed`].
pub(crate) const BULK_RUST: &str = "smallfry bulk in Rust";
pub(crate) const FLOOR: &str = "floor";
/// Into memory that stays, as every row that keeps what it reads must have it.
pub(crate) const FLOOR_KEPT: &str = "floor, kept";

/// In the JVM, as the next ones.
pub(crate) const JAVA_FILES: &str = "Java Files";
pub(crate) const JAVA_PARALLEL: &str = "Java Files, parallel stream";
pub(crate) const SMALLFRY_JVM: &str = "smallfry in the JVM";
pub(crate) const BULK_JVM: &str = "smallfry bulk in the JVM";

/// Of `close`: whoever writes closes.
pub(crate) const PLAIN: &str = "std";
pub(crate) const PLAIN_AGAIN: &str = "std again";
pub(crate) const DESIGN: &str = "close_already's design";
pub(crate) const DESIGN_UNBOUNDED: &str = "close_already's design, unbounded threads";
/// On a slow disk, the baseline through a mount that adds no delay.
pub(crate) const PLAIN_MOUNT_ALONE: &str = "std, mount alone";

/// On a slow disk, the floor through a mount that adds no delay: what the simulation itself costs.
pub(crate) const MOUNT_ALONE: &str = "floor, mount alone";

/// Each Node's two idioms, the one of style `again` twice, and smallfry's counterparts; then the same in Rust and in the JVM.
pub(crate) fn of_build(session: &Session) -> Vec<Row> {
    let idioms = [
        (NODE_SYNC, Style::Sync),
        (SYNC_AGAIN, Style::Sync),
        (NODE_PARALLEL, Style::Parallel),
    ];
    let mut rows = of_nodes(session, &idioms);
    rows.push(Session::native_row(Functions::Std, STD, Style::Sync));
    rows.extend(ours_in_rust());
    rows.extend(session.jvm_row(Functions::JavaFiles, JAVA_FILES, Style::Sync));
    rows.extend(session.jvm_row(Functions::Smallfry, BULK_JVM, Style::BulkSync));
    rows
}

/// On each Node these idioms, and smallfry's counterparts.
fn of_nodes(session: &Session, idioms: &[(&str, Style)]) -> Vec<Row> {
    let mut rows = Vec::new();
    for node in &session.nodes {
        let row =
            |functions, (name, style): (&str, Style)| session.row(node, functions, name, style);
        rows.extend(idioms.iter().map(|idiom| row(Functions::Node, *idiom)));
        if node.package.is_some() {
            rows.extend(OURS.map(|idiom| row(Functions::Smallfry, idiom)));
        }
    }
    rows
}

fn ours_in_rust() -> [Row; 2] {
    [(SMALLFRY_RUST, Style::Sync), (BULK_RUST, Style::BulkSync)]
        .map(|(name, style)| Session::native_row(Functions::Smallfry, name, style))
}

/// smallfry on Node: what drops in, and what takes all files in one call.
const OURS: [(&str, Style); 4] = [
    (SMALLFRY_SYNC, Style::Sync),
    (SMALLFRY_PARALLEL, Style::Parallel),
    (BULK_SYNC, Style::BulkSync),
    (BULK, Style::Bulk),
];

/// All that read or write many files.
pub(crate) fn of_many(session: &mut Session) -> Vec<Row> {
    let mut rows = scripts(session);
    rows.push(Session::native_row(Functions::Std, STD, Style::Sync));
    let peers = [(Functions::Rayon, RAYON), (Functions::Tokio, TOKIO)];
    if PEERS_BUILT {
        rows.extend(peers.map(|(whose, name)| Session::native_row(whose, name, Style::Parallel)));
    } else {
        session.leave_out(format!(
            "rows {RAYON} and {TOKIO} are left out: not in this build (make bench-all, or cargo build --features peers, has them)"
        ));
    }
    rows.extend(ours_in_rust());
    rows.extend(of_jvm(session));
    for threads in strategies(session.plan.extent) {
        let way = Way::keeping(Style::BulkSync, threads);
        rows.push(Session::native_row(
            Functions::Smallfry,
            &fixed(threads),
            way,
        ));
    }
    rows
}

/// What Java, Kotlin and okio have, and smallfry's Maven artifact.
fn of_jvm(session: &Session) -> Vec<Row> {
    [
        (JAVA_FILES, Functions::JavaFiles, Style::Sync),
        (JAVA_PARALLEL, Functions::JavaFiles, Style::Parallel),
        (
            "Java FileOutputStream or FileInputStream",
            Functions::JavaStream,
            Style::Sync,
        ),
        ("Java FileChannel", Functions::JavaChannel, Style::Sync),
        ("Kotlin File", Functions::KotlinFile, Style::Sync),
        ("okio", Functions::Okio, Style::Sync),
        (BULK_JVM, Functions::Smallfry, Style::BulkSync),
    ]
    .into_iter()
    .filter_map(|(name, functions, style)| session.jvm_row(functions, name, style))
    .collect()
}

/// Those that run scripts.
pub(crate) fn scripts(session: &Session) -> Vec<Row> {
    let idioms = [
        (NODE_SYNC, Style::Sync),
        (NODE_CALLBACK, Style::Callback),
        (NODE_PARALLEL, Style::Parallel),
        (PARALLEL_AGAIN, Style::Parallel),
    ];
    of_nodes(session, &idioms)
}

/// Bare system calls by one thread, and by one for each core; none where there is no such row.
pub(crate) fn floors(session: &Session, keep: bool) -> Vec<Row> {
    if !cfg!(unix) {
        return Vec::new();
    }
    let name = if keep { FLOOR_KEPT } else { FLOOR };
    let row = |name: &str, threads| {
        let way = Way {
            style: Style::Sync,
            threads,
            keep,
        };
        Session::native_row(Functions::Floor, name, way)
    };
    let mut rows = vec![row(name, Threads::CallingThread)];
    if let Some(cores) = NonZeroUsize::new(session.host.cores).filter(|cores| cores.get() > 1) {
        rows.push(row(
            &format!("{name}, {cores} cores"),
            Threads::Fixed(cores),
        ));
    }
    rows
}

/// Each way of closing, in programs of that runtime.
pub(crate) fn of_close(session: &Session, runtime: &Runtime) -> Vec<Row> {
    let mut ways = vec![
        (PLAIN.to_owned(), closing::Way::Plain),
        (PLAIN_AGAIN.to_owned(), closing::Way::Plain),
        (DESIGN.to_owned(), closing::Way::Pool),
    ];
    if closing::PEERS_BUILT {
        ways.push((DESIGN_UNBOUNDED.to_owned(), closing::Way::Blocking));
    }
    ways.extend(closing::ours().into_iter().map(|way| (closer(way), way)));
    if session.directories.undelayed(0).is_some() {
        ways.push((PLAIN_MOUNT_ALONE.to_owned(), closing::Way::Plain));
    }
    let row = |(name, way): (String, closing::Way)| Row {
        runtime: runtime.clone(),
        launch: Launch {
            functions: match way {
                closing::Way::Smallfry { .. } => Functions::Smallfry,
                _ => Functions::Std,
            },
            package: None,
            warm_up: false,
            closing: Some(way),
        },
        way: Style::Sync.into(),
        implementation: name.clone(),
        label: name,
    };
    chosen(session, ways.into_iter().map(row).collect())
}

/// What the row is called in which smallfry closes that way; others have a name of their own.
pub(crate) fn closer(way: closing::Way) -> String {
    let closing::Way::Smallfry { policy, backend } = way else {
        return String::new();
    };
    let policy = match policy {
        Policy::Auto => "Auto",
        Policy::Always => "Always",
        Policy::Never => "Never",
    };
    let backend = match backend {
        Backend::Threads => "",
        Backend::Rayon => ", rayon",
        Backend::Blocking => ", blocking",
        Backend::Smol => ", smol",
        Backend::AsyncStd => ", async-std",
        Backend::Tokio => ", tokio",
    };
    format!("smallfry {policy}{backend}")
}

/// Are these functions there on that Node, and can they write durably?
pub(crate) fn is_there(node: &Node, functions: Functions) -> bool {
    match functions {
        Functions::Smallfry => node.package.as_ref().is_some_and(|package| package.durable),
        _ => functions.npm_peer().is_none() || node::npm_peer(functions).is_some(),
    }
}

/// Whatever [`is_there`] finds missing is missed aloud.
pub(crate) fn leave_out_durable(session: &mut Session) {
    let mut reasons = Vec::new();
    for node in &session.nodes {
        if node.package.is_some() && !is_there(node, Functions::Smallfry) {
            reasons.push(format!(
                "rows of smallfry on {} are left out: this package takes no option `durability`",
                node.runtime.name()
            ));
        }
        if !is_there(node, Functions::WriteFileAtomic) {
            reasons.push(
                "rows write-file-atomic are left out: it is not installed (make bench-peers installs it)"
                    .to_owned(),
            );
        }
    }
    for reason in reasons {
        session.leave_out(reason);
    }
}

/// What counts flushes, if there is such a thing; else that is missed aloud.
pub(crate) fn counted(session: &mut Session) -> Option<Strace> {
    match Strace::find() {
        Ok(strace) => Some(strace),
        Err(reason) => {
            session.leave_out(format!("flushes are not counted: {reason}"));
            None
        }
    }
}

/// Those that the user wants to see. A text that is the whole name of one means that one alone.
pub(crate) fn chosen(session: &Session, mut rows: Vec<Row>) -> Vec<Row> {
    let choices = &session.arguments.rows;
    if !choices.is_empty() {
        let names: Vec<String> = rows.iter().map(|row| row.label.clone()).collect();
        rows.retain(|row| {
            choices.iter().map(|text| text.trim()).any(|text| {
                let is_name = names.iter().any(|name| name == text);
                row.label == text || !is_name && row.label.contains(text)
            })
        });
    }
    rows
}

/// Beside a slow disk, the mount without it.
pub(crate) fn mount_alone(session: &Session) -> Option<Row> {
    let row = || Session::native_row(Functions::Floor, MOUNT_ALONE, Style::Sync);
    (cfg!(unix) && session.directories.undelayed(0).is_some()).then(row)
}

/// The strategies that a program can name.
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

/// The bulk row in Rust with that strategy.
pub(crate) fn fixed(threads: Threads) -> String {
    match threads {
        Threads::Auto => BULK_RUST.to_owned(),
        Threads::CallingThread => "bulk Rust, calling thread".to_owned(),
        Threads::Fixed(count) => format!("bulk Rust, {count} threads"),
    }
}
