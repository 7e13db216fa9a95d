//! `smallfry try`: runs the user's own command in turn with and without smallfry.
//!
//! - `answer.rs`: the result of a trial
//! - `subject.rs`: the command, and the environment of each side
//! - `process.rs`: one run of the command; `system/` has the parts that differ between systems
//! - `seen/`: the results of a run that are compared: exit status, printed text, output files
//! - `schedule.rs`: the number of pairs of runs
//! - `start.rs`: the cost of loading smallfry
//! - `counts.rs`, `system_calls.rs`: where the time on small files went, by the program's own
//!   counts or by strace
//! - `report/`: output on the terminal and as JSON
//!
//! The warm-up pair comes first. It is counted and not measured, which shows whether smallfry was
//! loaded on the side where it should be, and only there.

mod answer;
mod arguments;
mod counts;
mod process;
mod report;
mod schedule;
mod seen;
mod start;
mod subject;
mod system;
mod system_calls;

pub(crate) use arguments::Arguments;

use crate::export::{Exports, File};
use crate::failure::{self, Failure};
use crate::output::progress::Progress;
use crate::process::interrupt::Interrupt;
use answer::{Answer, FailedRun, Pair, Results, Sameness};
use counts::Counts;
use process::{Runner, Usage};
use schedule::Schedule;
use seen::{Comparison, Outputs, Seen};
use std::process::ExitCode;
use std::time::Instant;
use subject::{Side, Subject};

/// Runs the command, and reports on one line why it stopped early.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let interrupt = Interrupt::default();
    let outcome = interrupt
        .listen()
        .and_then(|()| attempt(arguments, &interrupt));
    failure::exit_code("try", outcome)
}

/// Returns whether the command ran on both sides and did the same.
fn attempt(arguments: &Arguments, interrupt: &Interrupt) -> Result<bool, Failure> {
    let subject = Subject::of(arguments)?;
    let exports = Exports::create(&arguments.exports)?;
    let hyperfine = arguments.export_hyperfine.as_deref();
    let hyperfine = hyperfine.map(File::create).transpose()?;
    report::opening(&subject, arguments);
    let trial = Trial {
        subject: &subject,
        runner: Runner::new(&subject, arguments.prepare.as_deref(), interrupt),
        interrupt,
        outputs: Outputs::new(&arguments.outputs),
        arguments,
        progress: Progress::new(),
    };
    let answer = trial.run()?;
    trial.progress.finish();
    report::answer(&subject, arguments, &answer);
    let (document, more) = report::document(&subject, arguments, &answer)?;
    exports.put(&document, more)?;
    if let (Some(file), Answer::Compared(results)) = (hyperfine, &answer) {
        file.put(&report::hyperfine(
            &subject.line(&arguments.command),
            &results.pairs,
        ))?;
    }
    Ok(matches!(&answer, Answer::Compared(results) if results.comparison.is_same()))
}

struct Trial<'a> {
    subject: &'a Subject,
    runner: Runner<'a>,
    interrupt: &'a Interrupt,
    outputs: Outputs,
    arguments: &'a Arguments,
    progress: Progress,
}

impl Trial<'_> {
    fn run(&self) -> Result<Answer, Failure> {
        let started = Instant::now();
        let mut comparison = Comparison::default();
        let counts = match self.warm_up(&mut comparison)? {
            WarmUp::Counted(counts) => counts,
            WarmUp::Answered(answer) => return Ok(answer),
        };
        for _ in 1..self.arguments.warmup {
            for side in Side::BOTH {
                let run = self.runner.run(side, None)?;
                if let Some(failed) = self.failure(side, &run, &comparison)? {
                    return Ok(Answer::Failed(failed));
                }
                comparison.add(side, self.see(&run)?);
            }
        }
        let mut schedule = Schedule::start(self.arguments, started);
        let mut random = fastrand::Rng::with_seed(self.arguments.seed);
        let mut pairs = Vec::new();
        while schedule.another() {
            let mut order = Side::BOTH;
            random.shuffle(&mut order);
            let mut usages = [Usage::default(); 2];
            for (place, side) in order.into_iter().enumerate() {
                let part = schedule.used(place as f64 / 2.0);
                self.progress.show(part, side.name());
                let run = self.runner.run(side, None)?;
                if let Some(failed) = self.failure(side, &run, &comparison)? {
                    return Ok(Answer::Failed(failed));
                }
                usages[side as usize] = run.usage;
                comparison.add(side, self.see(&run)?);
            }
            pairs.push(Pair(usages));
        }
        let node = counts.as_ref().ok().and_then(Counts::node);
        let start = match node {
            Some(node) => start::measure(node, self.subject, self.interrupt)?,
            None => None,
        };
        Ok(Answer::Compared(Box::new(Results {
            pairs,
            comparison,
            counts,
            start,
            took: started.elapsed(),
        })))
    }

    /// Runs each side once, counted.
    fn warm_up(&self, comparison: &mut Comparison) -> Result<WarmUp, Failure> {
        self.progress.show(0.0, "warm-up");
        let directory = counts::Directory::make()?;
        let run = self.runner.run(Side::Without, Some(directory.path()))?;
        if let Some(failed) = self.failure(Side::Without, &run, comparison)? {
            return Ok(WarmUp::Answered(Answer::Failed(failed)));
        }
        comparison.add(Side::Without, self.see(&run)?);
        let plain = run.status;
        if directory.read(run.usage)?.processes() > 0 {
            return Ok(WarmUp::nothing(Sameness::AlreadyLoaded));
        }
        let directory = counts::Directory::make()?;
        let run = self.runner.run(Side::With, Some(directory.path()))?;
        if self.failure(Side::With, &run, comparison)?.is_some() {
            // Does the command fail because of the counting, or because of smallfry?
            let uncounted = self.runner.run(Side::With, None)?;
            return Ok(match self.failure(Side::With, &uncounted, comparison)? {
                Some(failed) => WarmUp::Answered(Answer::Failed(failed)),
                None => WarmUp::not_counted("the command fails when its calls are counted"),
            });
        }
        let counts = directory.read(run.usage)?;
        Ok(match (counts.processes(), counts.not_native()) {
            (0, _) if run.status == plain => {
                self.progress.show(0.0, "strace");
                WarmUp::nothing(Sameness::NotLoaded(system_calls::count(&self.runner)?))
            }
            (0, _) => WarmUp::not_counted("no process counted its calls"),
            (_, Some(reason)) => WarmUp::nothing(Sameness::NotNative(reason.to_owned())),
            _ if counts.are_of_launchers_only() => WarmUp::nothing(Sameness::OnlyLaunchers(counts)),
            _ => WarmUp::Counted(Ok(counts)),
        })
    }

    /// Describes a run that failed, unless the user allows failures.
    fn failure(
        &self,
        side: Side,
        run: &process::Run,
        comparison: &Comparison,
    ) -> Result<Option<FailedRun>, Failure> {
        if run.status.success() || self.arguments.allow_failure {
            return Ok(None);
        }
        Ok(Some(FailedRun {
            side,
            status: run.status,
            tail: run.tail()?,
            before: comparison.runs(),
        }))
    }

    fn see(&self, run: &process::Run) -> Result<Seen, Failure> {
        Seen::of(run, &self.outputs)
    }
}

enum WarmUp {
    /// The counts, or the reason why there are none.
    Counted(Result<Counts, String>),
    Answered(Answer),
}

impl WarmUp {
    fn nothing(sameness: Sameness) -> Self {
        Self::Answered(Answer::NoDifference(sameness))
    }

    fn not_counted(reason: &str) -> Self {
        Self::Counted(Err(reason.to_owned()))
    }
}
