//! Rows in programs that use the library norad, one with its feature `rayon` and one without. They
//! are built apart from this command (`crates/cli/peers/norad`) and found beside it.

use super::{Kind, Runtime};

/// Returns the program, if it was built.
pub(crate) fn find(rayon: bool) -> Option<Runtime> {
    let (name, file) = if rayon {
        ("norad, rayon", "smallfry-bench-norad-rayon")
    } else {
        ("norad", "smallfry-bench-norad")
    };
    let beside = std::env::current_exe().ok()?.with_file_name(file);
    let binary = beside.with_extension(std::env::consts::EXE_EXTENSION);
    binary.is_file().then(|| Runtime {
        name: name.to_owned(),
        ..Runtime::new(Kind::Norad, binary, [])
    })
}
