//! A table per case, then sentences.

use super::super::prelude::*;
use super::case::Case;

pub(super) const REPORT: Report<Case> = Report {
    what: "files of ASCII written whole, nothing flushed",
    time: WALL,
    heading: |_, result| {
        let (directories, new) = (result.case.shape.directories, result.case.new);
        let state = if new {
            "none is there yet"
        } else {
            "all are there already"
        };
        format!("in {directories} directories; {state}")
    },
    table: |page, _, view| idioms::table(page, view, RAW),
    notes: |_| {
        vec![
            "Columns of ratios: how many times as fast as that idiom, with 95 % intervals; rows in \
             Rust are compared with the first Node's. Of raw: how many times as long as raw open, \
             write and close by one thread.",
        ]
    },
    sentences: |page, session, _, view| idioms::sentences(page, session, view, RAW),
};
