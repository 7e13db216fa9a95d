//! For the programs of libFuzzer, which are built with `--cfg fuzzing`.

use crate::compare;
use crate::export::{self, Document};

/// Reads bytes as a result file, and makes of it all that is made of result files.
pub fn show_results(bytes: &[u8]) {
    let Ok(document) = Document::parse(bytes) else {
        return;
    };
    let _ = export::in_every_format(&document);
    compare::with_itself(&document);
}
