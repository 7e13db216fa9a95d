//! Where results go: the terminal for a person, a JSON file for a program.

pub(crate) mod json;
pub(crate) mod terminal;
pub(crate) mod text;
