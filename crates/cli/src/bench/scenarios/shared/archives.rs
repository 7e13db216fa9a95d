//! The cases of scenarios that pack and unpack archives, and archives made by crates.

use super::prelude::*;
use super::rows::RowOf;
use super::tree_jobs::{self, Sample};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt as _;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

pub(crate) const IN_RUST: [RowOf; 2] = [
    ("Rust tar, zip", Functions::Std, Style::Sync),
    ("smallfry in Rust", Functions::Smallfry, Style::BulkSync),
];

pub(crate) const IN_JVM: RowOf = ("smallfry in the JVM", Functions::Smallfry, Style::BulkSync);
pub(crate) const NPM_TAR: RowOf = ("npm tar", Functions::NpmTar, Style::Parallel);
pub(crate) const ON_NODE: RowOf = ("smallfry in Node", Functions::Smallfry, Style::Bulk);

/// An archive of a tree.
#[derive(Clone, Copy, Serialize, Display, AsRef, AsMut)]
#[display("{of}, {format}")]
pub(crate) struct Case {
    #[serde(flatten)]
    #[as_ref]
    #[as_mut]
    of: tree_jobs::Case,
    pub(crate) format: Format,
}

impl Case {
    pub(crate) fn all(session: &Session) -> Vec<Self> {
        let cases = tree_jobs::Case::all(session).into_iter();
        let cases = cases.flat_map(|of| {
            let formats: &[Format] = match of.sample() {
                Sample::Tree | Sample::Workspace => &[Format::Tar, Format::Gzip, Format::Zip],
                Sample::Font => &[Format::Gzip, Format::Zip],
                Sample::Flat => &[Format::Tar],
                Sample::Large => &[Format::Gzip],
            };
            formats.iter().map(move |&format| Self { of, format })
        });
        cases.collect()
    }
}

/// The format of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Format {
    #[display("tar")]
    Tar,
    #[display("tar.gz")]
    Gzip,
    #[display("zip")]
    Zip,
}

impl Format {
    /// Packs a tree into a file beside it.
    pub(crate) fn pack(self, tree: &Path) -> Result<PathBuf, Failure> {
        let mut path = tree.as_os_str().to_owned();
        path.push(format!(".{self}"));
        let path = PathBuf::from(path);
        self.write(tree, &path)
            .map_err(Failure::at("write", &path))?;
        Ok(path)
    }

    /// Packs a tree by the crate for the format.
    pub(crate) fn write(self, tree: &Path, path: &Path) -> io::Result<()> {
        let file = BufWriter::new(File::create(path)?);
        match self {
            Self::Tar => write_tar(tree, file)?.into_inner()?,
            Self::Gzip => {
                let encoder = GzEncoder::new(file, Compression::default());
                write_tar(tree, encoder)?.finish()?.into_inner()?
            }
            Self::Zip => write_zip(tree, file)?.into_inner()?,
        };
        Ok(())
    }
}

fn write_tar<W: Write>(tree: &Path, writer: W) -> io::Result<W> {
    let mut builder = tar::Builder::new(writer);
    builder.follow_symlinks(false);
    builder.append_dir_all(".", tree)?;
    builder.into_inner()
}

fn write_zip<W: Write + io::Seek>(tree: &Path, writer: W) -> io::Result<W> {
    let mut writer = ZipWriter::new(writer);
    let mut directories = vec![PathBuf::new()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(tree.join(&directory))? {
            let entry = entry?;
            let name = directory.join(entry.file_name());
            let shown = name.to_string_lossy();
            let (kind, mode) = (entry.file_type()?, entry.metadata()?.permissions().mode());
            let options = SimpleFileOptions::default().unix_permissions(mode);
            if kind.is_dir() {
                writer.add_directory(shown, options)?;
                directories.push(name);
            } else if kind.is_symlink() {
                let target = fs::read_link(entry.path())?;
                writer.add_symlink(shown, target.to_string_lossy(), options)?;
            } else {
                writer.start_file(shown, options)?;
                io::copy(&mut File::open(entry.path())?, &mut writer)?;
            }
        }
    }
    Ok(writer.finish()?)
}
