//! The scenario `write-many`: a table per case, then sentences.

use super::{Sentences, many, text};
use crate::bench::scenario::rows::FLOOR;
use crate::bench::scenario::write_many::Results;
use crate::bench::session::Session;
use std::fmt::Write as _;

pub(super) fn show(out: &mut String, said: &mut Sentences, session: &Session, results: &Results) {
    let _ = writeln!(
        out,
        "\nwrite-many on {}: files of ASCII written whole, nothing flushed; {} rounds, a fresh process for every run",
        session.disk_words(),
        results.rounds
    );
    for result in &results.cases {
        let state = if result.case.new {
            "none is there yet"
        } else {
            "all are there already"
        };
        let heading = format!("in {} directories; {state}", result.case.directories);
        many::table(out, session, result, &heading, FLOOR);
    }
    many::failures(out, &results.cases);
    let note = "Columns of ratios: how many times as fast as that idiom, with 95 % intervals; rows in Rust are compared with the \
                first Node's. Of floor: how many times as long as bare open, write and close by one thread.";
    let _ = writeln!(out, "{}", text::wrap("  ", note, text::width()));
    for result in &results.cases {
        said.about(format!("write-many, {}", result.case));
        many::sentences(said, session, result, results.rounds, FLOOR);
    }
}
