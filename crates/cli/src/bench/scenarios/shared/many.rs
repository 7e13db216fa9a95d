//! Many files of one size, and the request to read or write them.

use super::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Shape {
    pub(crate) files: usize,
    pub(crate) bytes_per_file: usize,
    /// 0: the files lie side by side.
    pub(crate) directories: usize,
}

/// Names files and bytes of each: `300x10kB`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (files, bytes) = (self.files, self.bytes_per_file);
        let units = [(1_000_000, "MB"), (1_000, "kB")];
        let fits = |(unit, _): &(usize, &str)| bytes >= *unit && bytes.is_multiple_of(*unit);
        let (unit, name) = units.into_iter().find(fits).unwrap_or((1, "B"));
        write!(f, "{files}x{}{name}", bytes / unit)
    }
}

impl Shape {
    /// Returns the number of bytes in all files.
    pub(crate) fn bytes(&self) -> usize {
        self.files * self.bytes_per_file
    }

    /// Returns the files in that directory, whose names begin with `name`.
    pub(crate) fn within(&self, directory: &Path, name: &str) -> Result<Layout, Failure> {
        Ok(Layout {
            directory: unicode(directory)?,
            directories: self.directories,
            files: self.files,
            name: name.to_owned(),
        })
    }
}

/// One run.
#[derive(Serialize, Deserialize)]
pub(crate) struct Request {
    #[serde(flatten)]
    pub(crate) way: Way,
    pub(crate) data: Data,
    /// The directories are there; what is to be read is, too.
    pub(crate) layout: Layout,
    /// The size of each file.
    pub(crate) bytes: usize,
}

impl Request {
    pub(crate) fn of(row: &Row, data: Data, layout: Layout, shape: &Shape) -> Self {
        Self {
            way: row.way,
            data,
            layout,
            bytes: shape.bytes_per_file,
        }
    }
}
