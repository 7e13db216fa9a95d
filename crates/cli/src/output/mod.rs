//! Output for people: numbers and bars as text, the first screen, and progress.

pub(crate) mod progress;
pub(crate) mod screen;
pub(crate) mod text;
