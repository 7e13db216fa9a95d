//! `smallfry try`: the user's own command, in turn with and without smallfry.
//!
//! - `answer.rs` what a trial finds out
//! - `subject.rs` the command, and what makes the two sides of it
//! - `process.rs` one run of it; `system/` is the part that differs between systems
//! - `seen/` what a run leaves to be compared: exit status, what it printed, the files it made
//! - `schedule.rs` how many pairs
//! - `counts.rs`, `system_calls.rs` where the time on small files went, as the program itself or strace tells
//! - `report/` to whom: the terminal, a JSON file
//!
//! A warm-up pair comes first and is not measured: it counts instead, which tells whether smallfry was loaded at all, on the
//! side where it should be and on the other, where it should not.

mod answer;
mod arguments;
mod counts;
mod process;
mod report;
mod schedule;
mod seen;
mod subject;
mod system;
mod system_calls;

pub(crate) use arguments::Arguments;

use crate::bench::failure::Failure;
use crate::bench::interrupt::Interrupt;
use crate::bench::progress::Progress;
use crate::bench::report::json::File;
use answer::{Answer, FailedRun, Pair, Results, Sameness};
use counts::Counts;
use process::{Runner, Usage};
use schedule::Schedule;
use seen::{Comparison, Outputs, Seen};
use std::process::ExitCode;
use std::time::Instant;
use subject::{Side, Subject};

/// Runs it and says on one line why it stopped, if it did.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let interrupt = Interrupt::default();
    let outcome = interrupt
        .listen()
        .and_then(|()| attempt(arguments, &interrupt));
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            if let Failure::Said(message) = &failure {
                eprintln!("smallfry try: {message}");
            }
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Whether the command ran on both sides, and did the same.
fn attempt(arguments: &Arguments, interrupt: &Interrupt) -> Result<bool, Failure> {
    let subject = Subject::of(arguments)?;
    let json = arguments.json.as_deref().map(File::create).transpose()?;
    report::opening(&subject, arguments);
    let trial = Trial {
        runner: Runner::new(&subject, arguments.prepare.as_deref(), interrupt),
        outputs: Outputs::new(&arguments.outputs),
        arguments,
        progress: Progress::new(),
    };
    let answer = trial.run()?;
    trial.progress.finish();
    report::answer(&subject, arguments, &answer);
    if let Some(file) = json {
        file.put(&report::document(&subject, arguments, &answer))?;
    }
    Ok(matches!(&answer, Answer::Compared(results) if results.comparison.is_same()))
}

struct Trial<'a> {
    runner: Runner<'a>,
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
        let mut schedule = Schedule::start(self.arguments.runs, started);
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
        Ok(Answer::Compared(Box::new(Results {
            pairs,
            comparison,
            counts,
        })))
    }

    /// A run of each side, counted.
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
            // Is it the counting that it cannot stand, or smallfry?
            let again = self.runner.run(Side::With, None)?;
            return Ok(match self.failure(Side::With, &again, comparison)? {
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

    /// Tells of a run that did not succeed, unless the user said that this is to be expected.
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
    /// What was counted, or why nothing was.
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
