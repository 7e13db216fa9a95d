//! A JSON file that appears when it is whole.

use crate::bench::failure::Failure;
use serde_json::Value;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file that is opened before measuring, so that a path that cannot be written to is known at
/// once.
pub(crate) struct File {
    temporary: NamedTempFile,
    path: PathBuf,
}

impl File {
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        if path.is_dir() {
            return Err(Failure::said(format!(
                "cannot write {}: it is a directory",
                path.display()
            )));
        }
        let directory = path
            .parent()
            .filter(|directory| !directory.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let temporary = builder
            .prefix(".smallfry-bench-")
            .tempfile_in(directory)
            .map_err(|error| {
                Failure::said(format!("cannot write {}: {}", path.display(), error.kind()))
            })?;
        Ok(Self {
            temporary,
            path: path.to_owned(),
        })
    }

    pub(crate) fn put(self, document: &Value) -> Result<(), Failure> {
        let Self { temporary, path } = self;
        let mut output = BufWriter::new(&temporary);
        serde_json::to_writer(&mut output, document).map_err(Failure::at("write", &path))?;
        output
            .write_all(b"\n")
            .and_then(|()| output.flush())
            .map_err(Failure::at("write", &path))?;
        drop(output);
        temporary
            .persist(&path)
            .map_err(|error| Failure::at("write", &path)(error.error))?;
        Ok(())
    }
}
