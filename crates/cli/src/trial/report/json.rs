//! The JSON file: `"schema": "smallfry-try/1"`.
//!
//! ```text
//! finished, command_line, host, disk, warnings, comparisons
//!             as in every result file; docs/result.schema.json has them
//! command     array of words
//! prepare, outputs, seed   the options as given
//! package     directory of the npm package
//! outcome     "same", "different", "failed", "not loaded", "not native", "already loaded" or
//!             "only launchers"; only the first two have the fields below
//! pairs       [[without, with]], each {wall_ns, processor: {user_ns, sys_ns} or null}
//! gain        {low, estimate, high} of wall time, or null if there are too few pairs to tell
//! files, bytes, runs   numbers of what was compared
//! differences array of what differs with smallfry: "exit status", "standard output",
//!             "standard error", or a path
//! varying     array of what varies without smallfry too, likewise
//! start       {without_ns, more_ns}: a start of Node alone, and what smallfry adds; or null
//! counts      array of the counts of each process (smallfry-count/1), or null
//! ```

use super::gain::Gain;
use super::{compared, same};
use crate::export::Document;
use crate::export::document::REAL;
use crate::failure::Failure;
use crate::host::Host;
use crate::trial::answer::{Answer, Pair, Results, Sameness};
use crate::trial::arguments::Arguments;
use crate::trial::counts::Counts;
use crate::trial::seen::Judgement;
use crate::trial::subject::Subject;
use serde_json::{Map, Value, json};
use std::path::Path;

const SCHEMA: &str = "smallfry-try/1";

/// Returns the part that is the same for all result files, and the rest.
pub(in crate::trial) fn document(
    subject: &Subject,
    arguments: &Arguments,
    answer: &Answer,
) -> Result<(Document, Map<String, Value>), Failure> {
    let words = arguments.command.iter().map(|word| word.to_string_lossy());
    let more = json!({
        "command": words.collect::<Vec<_>>(),
        "prepare": arguments.prepare,
        "outputs": arguments.outputs,
        "seed": arguments.seed,
        "package": subject.package(),
        "outcome": outcome(answer),
    });
    let mut fields = match more {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    let host = Host::look(Path::new("."))?;
    let (mut warnings, mut comparisons) = (host.warnings(), Vec::new());
    if let Answer::Compared(results) = answer {
        let gain = Gain::of(&results.pairs);
        warnings.extend(super::screen::warnings(arguments, &gain, results));
        comparisons = compared::comparisons(&gain, &subject.line(&arguments.command), results);
        if let Value::Object(more) = self::results(results) {
            fields.extend(more);
        }
    }
    let document = Document::now(SCHEMA, host, REAL, warnings, comparisons);
    Ok((document, fields))
}

fn outcome(answer: &Answer) -> &'static str {
    match answer {
        Answer::Compared(results) if results.comparison.is_same() => "same",
        Answer::Compared(_) => "different",
        Answer::Failed(_) => "failed",
        Answer::NoDifference(Sameness::NotLoaded(_)) => "not loaded",
        Answer::NoDifference(Sameness::NotNative(_)) => "not native",
        Answer::NoDifference(Sameness::AlreadyLoaded) => "already loaded",
        Answer::NoDifference(Sameness::OnlyLaunchers(_)) => "only launchers",
    }
}

fn results(results: &Results) -> Value {
    let comparison = &results.comparison;
    let named = |wanted: fn(&Judgement) -> bool| {
        comparison
            .judgements()
            .filter(|(_, judgement)| wanted(judgement))
            .map(|(thing, _)| same::name(thing))
            .collect::<Vec<_>>()
    };
    let (files, bytes) = comparison.files();
    let pairs = results.pairs.iter().map(|Pair(usages)| usages);
    json!({
        "pairs": pairs.collect::<Vec<_>>(),
        "gain": Gain::of(&results.pairs).wall(),
        "files": files,
        "bytes": bytes,
        "runs": comparison.runs().iter().sum::<usize>(),
        "differences": named(|judgement| matches!(judgement, Judgement::Differs(_))),
        "varying": named(|judgement| *judgement == Judgement::Varies),
        "start": results.start,
        "counts": results.counts.as_ref().ok().map(Counts::document),
    })
}
