//! Every sample as comma-separated values, RFC 4180: a line for each round of each row.

use super::document::Document;
use csv::{Error, IntoInnerError, Writer};

const HEADINGS: [&str; 7] = [
    "scenario",
    "case",
    "runtime",
    "row",
    "sample",
    "round",
    "nanoseconds",
];

pub(super) fn of(document: &Document) -> Result<String, Error> {
    let mut writer = Writer::from_writer(Vec::new());
    writer.write_record(HEADINGS)?;
    for comparison in &document.comparisons {
        for row in &comparison.rows {
            for (round, ns) in row.samples_ns.iter().enumerate() {
                let Some(ns) = ns else { continue };
                writer.write_record([
                    comparison.scenario.as_str(),
                    &comparison.case,
                    &comparison.runtime,
                    &row.name,
                    &comparison.sample,
                    &(round + 1).to_string(),
                    &format!("{ns:.0}"),
                ])?;
            }
        }
    }
    let bytes = writer.into_inner().map_err(IntoInnerError::into_error)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
