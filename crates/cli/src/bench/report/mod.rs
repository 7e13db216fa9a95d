//! The parts of a report: text, tables and sentences for a person, comparisons for result files.

pub(crate) mod answer;
pub(crate) mod cases;
pub(crate) mod compared;
pub(crate) mod page;
pub(crate) mod screens;
pub(crate) mod view;
pub(crate) mod warnings;
