//! What a person sees: the machine, a table or two per scenario, then sentences.

mod build;
mod close;
mod many;
mod package_scope;
mod read_many;
mod runs;
mod scale;
mod sync;
mod sync_many;
mod write_many;
mod write_string;

use super::text;
use crate::bench::Results;
use crate::bench::arguments::{Arguments, Scenario};
use crate::bench::disk;
use crate::bench::runtime::jvm;
use crate::bench::scenario;
use crate::bench::schedule::{Budget, LEAST_ROUNDS};
use crate::bench::session::{Extent, Session};
use crate::bench::stats::bootstrap::Interval;
use std::fmt::Write as _;
use std::io::Write as _;

/// A baseline that may differ from itself by more deserves a warning.
const NOISE: f64 = 0.08;

/// With fewer, even widened intervals leave out the truth too often.
const ENOUGH_ROUNDS: usize = 6;

/// What is about to happen, before anything else does.
pub(crate) fn first_line(arguments: &Arguments) {
    let names: Vec<_> = arguments.scenarios().into_iter().map(name).collect();
    let disk = match arguments.disk.as_str() {
        disk::REAL => String::new(),
        profile => format!(", made to behave like the slow disk {profile}"),
    };
    print(&format!(
        "smallfry bench: measures {} in a fresh directory under {}{disk}\n",
        names.join(", "),
        arguments.dir.display()
    ));
}

/// For how long, and on what.
pub(crate) fn opening(session: &Session) {
    let mut out = String::new();
    let plans: Vec<String> = session
        .plan
        .scenarios
        .iter()
        .map(|scenario| match session.budget(*scenario) {
            Budget::Time(time) => {
                let least = if session.directories.profile().is_some() {
                    // Of a row on a slow disk nobody knows the time beforehand.
                    format!(", or {} rounds if those take longer", LEAST_ROUNDS + 1)
                } else {
                    String::new()
                };
                format!("{} for {:.0} s{least}", name(*scenario), time.as_secs_f64())
            }
            Budget::Rounds(1) => format!("{} for one round", name(*scenario)),
            Budget::Rounds(rounds) => {
                format!(
                    "{} for {rounds} rounds{}",
                    name(*scenario),
                    estimate(session, *scenario, rounds)
                )
            }
        })
        .collect();
    let _ = writeln!(
        out,
        "  plan      {}; Ctrl-C stops and cleans up",
        plans.join(", then ")
    );
    let fewer = [
        Scenario::ReadMany,
        Scenario::WriteMany,
        Scenario::Close,
        Scenario::Scale,
        Scenario::Sync,
        Scenario::PackageScope,
    ];
    let has_such = session.plan.scenarios.iter().any(|one| fewer.contains(one));
    if has_such && session.has_fewer_files() {
        let _ = writeln!(
            out,
            "  files     a tenth of the usual number, since the disk is slow; --files N names another"
        );
    }
    host(&mut out, session);
    print(&out);
}

/// Of what takes minutes.
fn estimate(session: &Session, scenario: Scenario, rounds: usize) -> String {
    if session.plan.extent != Extent::All {
        return String::new();
    }
    // Seconds of a turn: measured, on two cores.
    let (turns, seconds) = match scenario {
        Scenario::Build => (scenario::build::rows(session).len(), 0.8),
        Scenario::WriteString => (write_string::turns(session), 0.0035),
        Scenario::ReadMany => (scenario::read_many::turns(session), 0.5),
        Scenario::WriteMany => (scenario::write_many::turns(session), 0.6),
        Scenario::Close => (scenario::close::turns(session), 0.6),
        Scenario::Scale => (scenario::scale::turns(session), 2.0),
        Scenario::Sync => (scenario::sync::turns(session), 0.2),
        Scenario::SyncMany => (scenario::sync_many::turns(session), 2.0),
        Scenario::PackageScope => (scenario::package_scope::turns(session), 0.6),
    };
    let turns = turns * (rounds + 1);
    let minutes = match (turns as f64 * seconds / 60.0).round() {
        few if few <= 1.0 => "a minute".to_owned(),
        many => format!("{many:.0} minutes"),
    };
    format!(" of {turns} turns, about {minutes}")
}

const fn name(scenario: Scenario) -> &'static str {
    match scenario {
        Scenario::Build => "build",
        Scenario::WriteString => "write-string",
        Scenario::ReadMany => "read-many",
        Scenario::WriteMany => "write-many",
        Scenario::Close => "close",
        Scenario::Scale => "scale",
        Scenario::Sync => "sync",
        Scenario::SyncMany => "sync-many",
        Scenario::PackageScope => "package-scope",
    }
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

/// Everything that was measured.
pub(crate) fn results(session: &Session, results: &Results) {
    let mut out = String::new();
    let mut said = Sentences::default();
    if let Some(results) = &results.build {
        build::show(&mut out, &mut said, session, results);
    }
    if let Some(results) = &results.write_string {
        write_string::show(&mut out, &mut said, session, results);
    }
    if let Some(results) = &results.read_many {
        read_many::show(&mut out, &mut said, session, results);
    }
    if let Some(results) = &results.write_many {
        write_many::show(&mut out, &mut said, session, results);
    }
    if let Some(results) = &results.close {
        close::show(&mut out, &mut said, session, results);
    }
    if let Some(results) = &results.scale {
        scale::show(&mut out, &mut said, session, results);
    }
    if let Some(results) = &results.sync {
        sync::show(&mut out, &mut said, session, results);
    }
    if let Some(results) = &results.sync_many {
        sync_many::show(&mut out, &mut said, session, results);
    }
    if let Some(results) = &results.package_scope {
        package_scope::show(&mut out, &mut said, session, results);
    }
    let _ = writeln!(out, "\nIn words");
    for (mark, sentence) in said.0 {
        let _ = writeln!(
            out,
            "{}",
            text::wrap(&format!("{mark} "), &sentence, text::width())
        );
    }
    for skip in &session.skips {
        let _ = writeln!(out, "  ! {skip}");
    }
    let _ = writeln!(out, "\nNext: {}", next(session));
    print(&out);
}

fn next(session: &Session) -> &'static str {
    let arguments = session.arguments;
    if arguments.quick {
        "smallfry bench   (the same, long enough to believe)"
    } else if arguments.tree.is_none() {
        "smallfry bench build --tree YOUR_PROJECT --dir A_DIRECTORY_ON_YOUR_DISK"
    } else if arguments.all {
        "smallfry bench --json FILE   (every sample, for your own analysis)"
    } else {
        "smallfry bench write-string --all   (every length, text, function and target)"
    }
}

/// One plain sentence per cost, each with what stands before it.
#[derive(Default)]
struct Sentences(Vec<(&'static str, String)>);

impl Sentences {
    /// What the next ones are about.
    fn about(&mut self, subject: String) {
        self.0.push(("  ", subject));
    }

    fn say(&mut self, sentence: String) {
        self.0.push(("  - ", sentence));
    }

    /// Something that the reader had better know before believing the rest.
    fn warn(&mut self, sentence: String) {
        self.0.push(("  ! ", sentence));
    }

    fn detail(&mut self, detail: String) {
        self.0.push(("      ", detail));
    }

    /// What the baseline of that name against itself says of the machine.
    fn noise(&mut self, baseline: &str, again: Option<Interval>, rounds: usize) {
        if (2..ENOUGH_ROUNDS).contains(&rounds) {
            self.warn(format!(
                "only {rounds} rounds: intervals from so few are guesses."
            ));
        }
        let Some(interval) = again else {
            return self.warn("one round tells nothing about noise: no intervals.".to_owned());
        };
        let shown = text::ratio(again);
        let reach = (interval.high - 1.0).max(1.0 - interval.low);
        let percent = (reach * 100.0).ceil().max(1.0);
        if reach > NOISE {
            self.warn(format!(
                "this machine is too noisy to tell differences under {percent:.0} %: {baseline} against itself came out at \
                 {shown}. Close other programs, or measure longer (--seconds)."
            ));
        } else {
            self.say(format!(
                "noise: {baseline} against itself came out at {shown}; differences under {percent:.0} % mean nothing here."
            ));
        }
    }
}

/// `1.52x as fast (1.40-1.60)`, or that there is no difference worth a word, or the loss.
fn verdict(interval: Interval) -> String {
    let Interval {
        low,
        estimate,
        high,
    } = interval;
    if interval.holds_one() {
        format!("no measurable difference ({low:.2}-{high:.2})")
    } else if (estimate - 1.0).abs() < 0.005 {
        format!("as fast, to a hundredth ({low:.2}-{high:.2})")
    } else if estimate > 1.0 {
        format!("{estimate:.2}x as fast ({low:.2}-{high:.2})")
    } else {
        format!("a LOSS, {estimate:.2}x as fast ({low:.2}-{high:.2})")
    }
}

/// A reader who has seen enough (a closed pipe) is no error.
fn print(text: &str) {
    let mut output = std::io::stdout().lock();
    let _ = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
}
