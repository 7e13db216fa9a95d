//! A result file that appears when it is whole.

use crate::failure::Failure;
use smallfry::WriteOptions;
use std::io;
use std::path::{Path, PathBuf};

/// A file that can be written to, which is known before measuring.
pub(crate) struct File(PathBuf);

impl File {
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
        let tried = if path.is_dir() {
            Err(io::ErrorKind::IsADirectory.into())
        } else {
            tempfile::tempfile_in(directory.unwrap_or(Path::new(".")))
        };
        match tried {
            Ok(_) => Ok(Self(path.to_owned())),
            Err(error) => Err(Failure::at("write", path)(error.kind())),
        }
    }

    pub(crate) fn put(self, text: &str) -> Result<(), Failure> {
        let mut options = WriteOptions::new();
        options.replace(true);
        let written = options.write(&self.0, text);
        written.map(drop).map_err(Failure::at("write", &self.0))
    }
}
