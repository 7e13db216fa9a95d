//! The first screen: is a build faster with smallfry, where, and how to adopt it.

use super::super::prelude::*;
use super::case::{Case, WRITE_AND_CLOSE};
use crate::bench::report::screens::{self, Group};
use crate::output::screen::Screen;
use crate::stats::claim::{Claim, ENOUGH_ROUNDS};

const DROP_IN: &str = "smallfry Promise.all";

/// The phases that smallfry does.
const PARTS: [&str; 6] = [
    "clean",
    "type",
    "read",
    WRITE_AND_CLOSE,
    "assets",
    "publish",
];

pub(super) fn screen(session: &Session, case: &Case, view: &View, rounds: usize) -> Screen {
    let what = format!(
        "{} files, {}",
        thousands(case.files as i64),
        text::bytes(case.bytes as u64)
    );
    let mut screen = screens::begin("build", &what, session, rounds);
    let node = session.nodes.first().map_or("", |node| node.runtime.name());
    let jvm = session.jvm.as_ref().map_or("", |jvm| jvm.name());
    screens::groups(
        &mut screen,
        view,
        &[
            Group {
                title: "Promise.all",
                runtime: node,
                rows: &[
                    (NODE_PARALLEL, "node:fs"),
                    (DROP_IN, "smallfry drop-in"),
                    (rows::BULK, "smallfry bulk"),
                ],
            },
            Group {
                title: "Blocking calls",
                runtime: node,
                rows: &[
                    (NODE_SYNC, "node:fs"),
                    ("smallfry sync", "smallfry drop-in"),
                    (rows::BULK_SYNC, "smallfry bulk"),
                ],
            },
            Group {
                title: "Rust",
                runtime: "Rust",
                rows: &[("Rust std", "std::fs"), (BULK_RUST, "smallfry::bulk")],
            },
            Group {
                title: "JVM",
                runtime: jvm,
                rows: &[
                    ("Java Files", "java.nio.file.Files"),
                    ("smallfry bulk in the JVM", "smallfry bulk"),
                ],
            },
        ],
    );
    let pair = [NODE_PARALLEL, DROP_IN].map(|row| view.find(node, row));
    if let [Some(baseline), Some(ours)] = pair {
        screen.fact("Where", &parts(view, node, baseline, ours));
    }
    // Without Node no row is run twice.
    screens::noise(&mut screen, session, "node:fs", view.noise_of(node));
    screen.fact("Adopt", adopt(view, node));
    screen.fact("Yours", "smallfry try --outputs dist -- npm run build");
    screen.fact(
        "More",
        "--details   --html FILE   --json FILE   --tree YOUR_PROJECT   --dir DIR",
    );
    screen
}

/// Says what each phase takes with node:fs and with the drop-in, the largest difference first.
fn parts(view: &View, node: &str, baseline: usize, ours: usize) -> String {
    let mut parts: Vec<(f64, String)> = PARTS
        .iter()
        .filter_map(|part| {
            let of = view.part(part);
            let [before, after] = [of.median(baseline)?, of.median(ours)?];
            let claim = view.noise_of(node).claim(of.ratio(baseline, ours)?);
            let unsure = match claim {
                Claim::Gain | Claim::Loss => "",
                _ => " (unsure)",
            };
            let [shown, after_shown] = [before, after].map(text::millis);
            let text = format!("{part} {shown} -> {after_shown}{unsure}");
            Some(((before - after).abs(), text))
        })
        .collect();
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    let parts: Vec<String> = parts.into_iter().take(3).map(|(_, text)| text).collect();
    format!("ms, Promise.all: {}", parts.join("   "))
}

/// Names the way to adopt what certainly gains.
fn adopt(view: &View, node: &str) -> &'static str {
    let gains = |baseline: &str, row: &str| {
        let pair = [baseline, row].map(|name| view.find(node, name));
        let [Some(baseline), Some(row)] = pair else {
            return false;
        };
        let ratio = view.ratio(baseline, row);
        ratio.is_some_and(|ratio| view.noise_of(node).claim(ratio) == Claim::Gain)
    };
    if view.noise_of(node).rounds < ENOUGH_ROUNDS {
        "first measure longer: --runs 10"
    } else if gains(NODE_PARALLEL, DROP_IN) || gains(NODE_SYNC, "smallfry sync") {
        "node --require smallfry/register build.js"
    } else if gains(NODE_PARALLEL, rows::BULK) || gains(NODE_SYNC, rows::BULK_SYNC) {
        "readFiles and writeFiles of the package smallfry, one call for all files"
    } else {
        "nothing: no gain for Node is certain here"
    }
}
