//! The formats, as the packing sees them.

use std::io;
use std::path::Path;

/// The facts that an archive keeps of an entry.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    pub(super) mode: u32,
    pub(super) owner: u64,
    pub(super) group: u64,
    /// The seconds since 1970.
    pub(super) modified: i64,
    pub(super) size: u64,
}

/// An archive that is being written.
pub(super) trait Sink {
    type Writer;

    fn directory(&mut self, path: &Path, facts: &Facts) -> io::Result<()>;

    fn link(&mut self, path: &Path, target: &Path, facts: &Facts) -> io::Result<()>;

    /// Adds a further name of a file. Returns false if the format has none.
    fn hard_link(&mut self, path: &Path, first: &Path, facts: &Facts) -> io::Result<bool>;

    /// Begins a file of as many bytes as `facts` says.
    fn begin_file(&mut self, path: &Path, facts: &Facts) -> io::Result<()>;

    /// Begins a file with holes. `parts` tells where each part between them begins, and its length.
    /// Returns true if only the bytes of these parts follow. The whole file follows if the format
    /// has no holes.
    fn begin_sparse(
        &mut self,
        path: &Path,
        facts: &Facts,
        parts: &[(u64, u64)],
    ) -> io::Result<bool>;

    fn contents(&mut self, bytes: &[u8]) -> io::Result<()>;

    fn end_file(&mut self) -> io::Result<()>;

    /// Writes the end of the archive.
    fn finish(self) -> io::Result<Self::Writer>;
}
