//! The scenarios: a directory each, and a line each in [`ALL`].
//!
//! A directory holds, of these, what it needs: the cases and rows (`case.rs`), what a round does
//! with them (`mod.rs`), the rows in Rust (`native.rs`), those under Node and in the JVM
//! (`driver.js`, `driver.kt`) and the report (`report.rs`). `scenario.rs` defines a scenario,
//! `engine.rs` runs it, `selection.rs` and `left_out.rs` choose its cases and rows, `shared/` has
//! what several of them need.

mod build;
mod calls;
mod close;
mod copy_tree;
mod engine;
mod fsync;
mod fsync_many;
#[cfg(unix)]
mod hash_tree;
mod left_out;
mod mirror;
#[cfg(unix)]
mod pack;
mod package_scope;
mod prelude;
pub(crate) mod read_many;
mod remove_tree;
mod scale;
mod scenario;
mod selection;
mod shared;
mod start;
#[cfg(unix)]
mod unpack;
mod write_many;
mod write_string;

use super::report::page::Page;
use super::report::{answer, compared, warnings};
use super::session::Session;
use crate::export::document::Comparison;
use crate::failure::Failure;
use scenario::{Facts, Scenario, Serve};
use serde_json::Value;

/// All scenarios, in the order in which they run when none is named.
pub(crate) static ALL: &[Entry] = &[
    Entry::of::<build::Build>(),
    Entry::of::<write_string::WriteString>(),
    Entry::of::<read_many::ReadMany>(),
    Entry::of::<write_many::WriteMany>(),
    Entry::of::<close::Close>(),
    Entry::of::<scale::Scale>(),
    Entry::of::<fsync::Fsync>(),
    Entry::of::<fsync_many::FsyncMany>(),
    Entry::of::<package_scope::PackageScope>(),
    Entry::of::<start::Start>(),
    Entry::of::<calls::Calls>(),
    Entry::of::<copy_tree::CopyTree>(),
    Entry::of::<mirror::Mirror>(),
    Entry::of::<remove_tree::RemoveTree>(),
    #[cfg(unix)]
    Entry::of::<unpack::Unpack>(),
    #[cfg(unix)]
    Entry::of::<pack::Pack>(),
    #[cfg(unix)]
    Entry::of::<hash_tree::HashTree>(),
];

/// The results of a scenario.
pub(crate) struct Measured {
    /// The number of rows that failed.
    pub(crate) failures: usize,
    pub(crate) json: Value,
    pub(crate) comparisons: Vec<Comparison>,
}

/// Returns the scripts of all rows under Node.
pub(crate) fn drivers() -> impl Iterator<Item = &'static str> {
    let shared = [include_str!("shared/driver.js")].into_iter();
    shared.chain(ALL.iter().map(|scenario| scenario.facts.driver))
}

/// A scenario in the registry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) facts: Facts,
    /// Returns the number of runs in a round.
    pub(crate) turns: fn(&Session) -> usize,
    /// Measures until the budget is spent, and shows what comes of it.
    pub(crate) run: fn(&mut Session, &mut Page) -> Result<Measured, Failure>,
    /// Serves a request in the process of a row in Rust.
    pub(crate) serve: Serve,
}

impl Entry {
    const fn of<S: Scenario>() -> Self {
        Self {
            facts: S::FACTS,
            turns: engine::turns::<S>,
            run: |session, page| {
                let results = engine::run::<S>(session)?;
                let name = S::FACTS.name;
                let comparisons = compared::comparisons(name, S::SAMPLE, S::time(), &results);
                if let Some(question) = S::FACTS.question {
                    page.screen(answer::screen(name, question, session, &comparisons));
                }
                S::show(page, session, &results);
                for warning in warnings::of(&comparisons) {
                    session.leave_out(warning);
                }
                Ok(Measured {
                    failures: results.failures(),
                    json: S::json(&results),
                    comparisons,
                })
            },
            serve: S::SERVE,
        }
    }
}
