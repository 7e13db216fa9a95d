//! A table per case, then sentences.

use super::super::prelude::*;
use super::Case;
use crate::bench::scenarios::shared::idioms;
use crate::bench::scenarios::shared::rows::RAW;

const NOTE: &str = "Columns of ratios: how many times as fast as that idiom, with 95 % intervals; \
    rows in Rust are compared with the first Node's. Of raw: how many times as long as raw open, \
    write and close by one thread.";

pub(super) fn show(page: &mut Page, session: &Session, results: &Results<Case>) {
    page.line(&format!(
        "\nwrite-many on {}: files of ASCII written whole, nothing flushed; {} rounds, a fresh process \
         for every run",
        session.disk_words(),
        results.rounds
    ));
    for result in &results.cases {
        let state = if result.case.new {
            "none is there yet"
        } else {
            "all are there already"
        };
        let heading = format!("in {} directories; {state}", result.case.directories);
        idioms::table(page, session, result, &heading, RAW);
    }
    page.failures(results);
    page.note(NOTE);
    for result in &results.cases {
        page.about(format!("write-many, {}", result.case));
        idioms::sentences(page, session, result, results.rounds, RAW);
    }
}
