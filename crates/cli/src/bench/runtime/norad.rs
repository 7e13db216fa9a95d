//! Rows in programs that use the library norad, one with its feature `rayon` and one without. They
//! are built apart from this command (`crates/cli/peers/norad`) and found beside it.

pub(crate) use super::Program;

impl Program {
    /// Returns the program, if it was built.
    pub(crate) fn find(rayon: bool) -> Option<Self> {
        let (name, file) = if rayon {
            ("norad, rayon", "smallfry-bench-norad-rayon")
        } else {
            ("norad", "smallfry-bench-norad")
        };
        let this = std::env::current_exe().ok()?;
        let beside = this.with_file_name(file);
        let binary = beside.with_extension(std::env::consts::EXE_EXTENSION);
        binary.is_file().then(|| Self {
            name: name.to_owned(),
            binary,
            arguments: Vec::new(),
        })
    }
}
