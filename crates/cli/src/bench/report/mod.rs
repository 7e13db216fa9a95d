//! The parts of a report: text, tables and sentences for a person, a JSON file for a program.

pub(crate) mod cases;
pub(crate) mod json;
pub(crate) mod page;
pub(crate) mod screen;
pub(crate) mod text;
pub(crate) mod view;
