//! The report of a scenario whose cases have a table each: tables, notes, then sentences.

use super::page::Page;
use super::view::{Time, View};
use crate::bench::results::{CaseResult, Results};
use crate::bench::session::Session;
use std::fmt::Display;

pub(crate) struct Report<C: 'static> {
    /// The subject of the title: what is measured.
    pub(crate) what: &'static str,
    /// The time that counts.
    pub(crate) time: Time,
    /// Returns the heading of a case, which names what is special about it.
    pub(crate) heading: fn(&Session, &CaseResult<C>) -> String,
    pub(crate) table: fn(&mut Page, &CaseResult<C>, &View),
    pub(crate) notes: fn(&Results<C>) -> Vec<&'static str>,
    pub(crate) sentences: fn(&mut Page, &Session, &CaseResult<C>, &View),
}

impl<C: Display> Report<C> {
    pub(crate) fn show(
        &self,
        name: &str,
        page: &mut Page,
        session: &Session,
        results: &Results<C>,
    ) {
        let disk = session.disk_words();
        page.title(name, session, self.what, results.rounds);
        for result in &results.cases {
            let heading = (self.heading)(session, result);
            page.heading(&format!("{}: {heading}; {disk}", result.case));
            (self.table)(page, result, &View::by(result, self.time));
        }
        page.failures(results);
        for note in (self.notes)(results) {
            page.note(note);
        }
        for result in &results.cases {
            page.about(format!("{name}, {}", result.case));
            let view = View::by(result, self.time);
            (self.sentences)(page, session, result, &view);
        }
    }
}
