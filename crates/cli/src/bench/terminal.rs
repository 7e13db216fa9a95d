//! The output for people: the machine and the plan, a table or two per scenario, then sentences.

use super::disk;
use super::options::{Extent, Options};
use super::report::page::Page;
use super::runtime::jvm;
use super::scenarios::{self, Entry};
use super::schedule::Budget;
use super::session::Session;
use crate::output::text;
use crate::stats::claim::ENOUGH_ROUNDS;
use std::fmt::Write as _;
use std::io::Write as _;

/// Says what is about to happen, before anything else does.
pub(crate) fn first_line(options: &Options, plan: &[(Entry, Budget)]) {
    let names: Vec<_> = plan.iter().map(|(it, _)| it.facts.name).collect();
    let (names, dir) = (names.join(", "), options.dir.display());
    let disk = match options.disk.as_str() {
        disk::REAL => String::new(),
        profile => format!(", made to behave like the slow disk {profile}"),
    };
    print(&format!(
        "smallfry bench: measures {names} in a fresh directory under {dir}{disk}\n"
    ));
}

/// Says for how long it measures, and on what.
pub(crate) fn opening(session: &Session, plan: &[(Entry, Budget)]) {
    let plans = plan.iter().map(|planned| schedule(session, planned));
    let plans = plans.collect::<Vec<_>>().join(", then ");
    let mut out = format!("  plan      {plans}; Ctrl-C stops and cleans up\n");
    if plan.iter().any(|(it, _)| it.facts.fewer_files) && session.has_fewer_files() {
        out.push_str(
            "  files     a tenth of the usual number, since the disk is slow; --files N names another\n",
        );
    }
    host(&mut out, session);
    print(&out);
}

fn schedule(session: &Session, (scenario, budget): &(Entry, Budget)) -> String {
    let name = scenario.facts.name;
    match *budget {
        Budget::Time(time) => {
            // The time of a row on a slow disk is not known beforehand.
            let least = match session.directories.profile() {
                Some(_) => format!(", or {} rounds if those take longer", ENOUGH_ROUNDS + 1),
                None => String::new(),
            };
            format!("{name} for {:.0} s{least}", time.as_secs_f64())
        }
        Budget::Rounds(1) => format!("{name} for one round"),
        Budget::Rounds(rounds) if session.extent == Extent::All => {
            let turns = (scenario.turns)(session) * (rounds + 1);
            let minutes = (turns as f64 * scenario.facts.turn_seconds / 60.0).round();
            let minutes = match minutes {
                few if few <= 1.0 => "a minute".to_owned(),
                many => format!("{many:.0} minutes"),
            };
            format!("{name} for {rounds} rounds of {turns} turns, about {minutes}")
        }
        Budget::Rounds(rounds) => format!("{name} for {rounds} rounds"),
        Budget::RoundsWithin(rounds, time) => {
            let seconds = time.as_secs();
            format!("{name} for {rounds} rounds, at most about {seconds} s")
        }
    }
}

fn host(out: &mut String, session: &Session) {
    let (host, disk) = (&session.host, &session.host.file_system);
    let cpu = host.cpu.as_deref().unwrap_or("unknown processor");
    let memory = host.memory_limit_bytes.or(host.memory_bytes);
    let kernel = host.kernel.as_deref().unwrap_or_default();
    let pages = host.transparent_huge_pages.as_ref();
    let machine = [
        Some(cpu.to_owned()),
        Some(format!("{} cores", host.cores)),
        memory.map(text::bytes),
        Some(format!("{} {kernel}", host.system)),
        host.load_average.map(|load| format!("load {load:.2}")),
        pages.map(|state| format!("huge pages {state}")),
    ];
    let slow = session.directories.profile();
    let rotates = |it| ["not rotational", "rotational"][usize::from(it)].to_owned();
    let free = disk.free_bytes.map(text::bytes);
    let place = [
        slow.map(|_| format!("{}, beneath it", session.disk_words())),
        Some(disk.kind.clone()),
        disk.device.clone(),
        disk.rotational.map(rotates),
        (disk.journal == Some(false)).then(|| "no journal".to_owned()),
        disk.options.clone(),
        free.map(|free| format!("{free} free")),
    ];
    let mut runtimes = vec![format!("Rust (smallfry {})", env!("CARGO_PKG_VERSION"))];
    for node in &session.nodes {
        let name = node.runtime.full_name();
        let load = node.package.as_ref().map(|package| package.load_ns as f64);
        runtimes.push(match load.map(text::duration) {
            Some(load) => format!("{name} (loads smallfry in {load})"),
            None => format!("{name} (without smallfry)"),
        });
    }
    if let Some(jvm) = &session.jvm {
        runtimes.push(format!("{} ({})", jvm.name(), jvm::FLAGS.join(" ")));
    }
    if session.options.details {
        facts(out, "machine", machine.into_iter().flatten());
        facts(out, "disk", place.into_iter().flatten());
        facts(out, "runtimes", runtimes.into_iter());
    }
    for warning in host.warnings() {
        let _ = writeln!(out, "  warning   {warning}");
    }
}

fn facts(out: &mut String, heading: &str, facts: impl Iterator<Item = String>) {
    let facts = facts.collect::<Vec<_>>().join(", ");
    let lead = format!("  {heading:<9} ");
    let _ = writeln!(out, "{}", text::wrap(&lead, &facts, text::width()));
}

/// Lists the scenarios.
pub(crate) fn list() {
    let mut out = String::new();
    for Entry { facts, .. } in scenarios::ALL {
        let lead = format!("  {:<14} ", facts.name);
        let _ = writeln!(out, "{}", text::wrap(&lead, facts.help, text::width()));
    }
    print(&out);
}

/// Shows everything that was measured.
pub(crate) fn results(session: &Session, page: Page) {
    let details = session.options.details;
    let is_short = page.has_screens() && !details;
    let mut out = page.finish(details);
    for skip in session.skips.borrow().iter() {
        let _ = writeln!(out, "{}", text::wrap("  ! ", skip, text::width()));
    }
    if !is_short {
        let _ = writeln!(out, "\nNext: {}", next(session));
    }
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
pub(crate) fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}
