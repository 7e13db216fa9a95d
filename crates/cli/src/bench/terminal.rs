//! The output for people: the machine and the plan, a table or two per scenario, then sentences.

use super::Results;
use super::disk;
use super::options::{Extent, Options};
use super::plan::Plan;
use super::report::page::Page;
use super::report::text;
use super::runtime::jvm;
use super::scenarios::Entry;
use super::schedule::{Budget, MIN_ROUNDS};
use super::session::Session;
use std::fmt::Write as _;
use std::io::Write as _;

/// Says what is about to happen, before anything else does.
pub(crate) fn first_line(options: &Options, plan: &Plan) {
    let names: Vec<_> = plan.scenarios.iter().map(Entry::name).collect();
    let disk = match options.disk.as_str() {
        disk::REAL => String::new(),
        profile => format!(", made to behave like the slow disk {profile}"),
    };
    print(&format!(
        "smallfry bench: measures {} in a fresh directory under {}{disk}\n",
        names.join(", "),
        options.dir.display()
    ));
}

/// Says for how long it measures, and on what.
pub(crate) fn opening(session: &Session, plan: &Plan) {
    let scenarios = plan.scenarios.iter();
    let plans: Vec<String> = scenarios
        .map(|scenario| schedule(session, *scenario, plan.budget(*scenario)))
        .collect();
    let plans = plans.join(", then ");
    let mut out = format!("  plan      {plans}; Ctrl-C stops and cleans up\n");
    if plan.has(|scenario| scenario.facts.fewer_files) && session.has_fewer_files() {
        out.push_str(
            "  files     a tenth of the usual number, since the disk is slow; --files N names another\n",
        );
    }
    host(&mut out, session);
    print(&out);
}

fn schedule(session: &Session, scenario: Entry, budget: Budget) -> String {
    let name = scenario.name();
    match budget {
        Budget::Time(time) => {
            let least = match session.directories.profile() {
                // The time of a row on a slow disk is not known beforehand.
                Some(_) => format!(", or {} rounds if those take longer", MIN_ROUNDS + 1),
                None => String::new(),
            };
            format!("{name} for {:.0} s{least}", time.as_secs_f64())
        }
        Budget::Rounds(1) => format!("{name} for one round"),
        Budget::Rounds(rounds) => {
            let estimate = estimate(session, scenario, rounds);
            format!("{name} for {rounds} rounds{estimate}")
        }
    }
}

/// Estimates the time of what takes minutes.
fn estimate(session: &Session, scenario: Entry, rounds: usize) -> String {
    if session.extent != Extent::All {
        return String::new();
    }
    let turns = scenario.turns(session) * (rounds + 1);
    let minutes = (turns as f64 * scenario.facts.turn_seconds / 60.0).round();
    let minutes = match minutes {
        few if few <= 1.0 => "a minute".to_owned(),
        many => format!("{many:.0} minutes"),
    };
    format!(" of {turns} turns, about {minutes}")
}

fn host(out: &mut String, session: &Session) {
    let host = &session.host;
    let mut machine = vec![
        host.cpu
            .clone()
            .unwrap_or_else(|| "unknown processor".to_owned()),
    ];
    machine.push(format!("{} cores", host.cores));
    machine.extend(
        host.memory_limit_bytes
            .or(host.memory_bytes)
            .map(text::bytes),
    );
    machine.push(format!(
        "{} {}",
        host.system,
        host.kernel.as_deref().unwrap_or_default()
    ));
    machine.extend(host.load_average.map(|load| format!("load {load:.2}")));
    machine.extend(
        host.transparent_huge_pages
            .as_ref()
            .map(|state| format!("huge pages {state}")),
    );
    let disk = &host.file_system;
    let mut place = Vec::new();
    if session.directories.profile().is_some() {
        place.push(format!("{}, beneath it", session.disk_words()));
    }
    place.push(disk.kind.clone());
    place.extend(disk.device.clone());
    place.extend(disk.rotational.map(|turns| {
        if turns {
            "rotational"
        } else {
            "not rotational"
        }
        .to_owned()
    }));
    if disk.journal == Some(false) {
        place.push("no journal".to_owned());
    }
    place.extend(disk.options.clone());
    place.extend(
        disk.free_bytes
            .map(|free| format!("{} free", text::bytes(free))),
    );
    let mut runtimes = vec![format!("Rust (smallfry {})", env!("CARGO_PKG_VERSION"))];
    for node in &session.nodes {
        let package = match &node.package {
            Some(package) => format!(
                "loads smallfry in {}",
                text::duration(package.load_ns as f64)
            ),
            None => "without smallfry".to_owned(),
        };
        runtimes.push(format!("{} ({package})", node.runtime.full_name()));
    }
    if let Some(jvm) = &session.jvm {
        runtimes.push(format!("{} ({})", jvm.name(), jvm::FLAGS.join(" ")));
    }
    for (heading, facts) in [
        ("machine", machine),
        ("disk", place),
        ("runtimes", runtimes),
    ] {
        let lead = format!("  {heading:<9} ");
        let _ = writeln!(
            out,
            "{}",
            text::wrap(&lead, &facts.join(", "), text::width())
        );
    }
    for warning in host.warnings() {
        let _ = writeln!(out, "  warning   {warning}");
    }
}

/// Shows everything that was measured.
pub(crate) fn results(session: &Session, results: &Results) {
    let mut page = Page::default();
    for (_, measured) in results {
        measured.show(&mut page, session);
    }
    let mut out = page.finish();
    for skip in &session.skips {
        let _ = writeln!(out, "  ! {skip}");
    }
    let _ = writeln!(out, "\nNext: {}", next(session));
    print(&out);
}

fn next(session: &Session) -> &'static str {
    let options = &session.options;
    if options.quick {
        "smallfry bench   (the same, long enough to believe)"
    } else if options.tree.is_none() {
        "smallfry bench build --tree YOUR_PROJECT --dir A_DIRECTORY_ON_YOUR_DISK"
    } else if options.all {
        "smallfry bench --json FILE   (every sample, for your own analysis)"
    } else {
        "smallfry bench write-string --all   (every length, text, function and target)"
    }
}

/// Prints the text; a closed pipe is no error.
fn print(text: &str) {
    let mut output = std::io::stdout().lock();
    let _ = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
}
