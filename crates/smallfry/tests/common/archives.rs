//! Archives that tests make, entry by entry, and a place to unpack them.

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use smallfry::archive::Unpacker;
use smallfry::tree::TreeError;
use tar::{Builder, EntryType, Header};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{Directory, names};

/// An entry of a tar, whose names may be any bytes.
pub(crate) struct Entry<'e> {
    pub(crate) kind: EntryType,
    pub(crate) name: &'e str,
    pub(crate) target: &'e str,
    pub(crate) contents: &'e [u8],
    pub(crate) mode: u32,
}

impl<'e> Entry<'e> {
    pub(crate) fn file(name: &'e str, contents: &'e str) -> Self {
        Self {
            kind: EntryType::Regular,
            name,
            target: "",
            contents: contents.as_bytes(),
            mode: 0o644,
        }
    }

    pub(crate) fn of(kind: EntryType, name: &'e str, target: &'e str) -> Self {
        Self {
            kind,
            target,
            ..Self::file(name, "")
        }
    }
}

/// Makes a tar, without the checks that the crate makes of names.
pub(crate) fn tar_of(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for entry in entries {
        let mut header = Header::new_gnu();
        header.set_entry_type(entry.kind);
        header.set_size(entry.contents.len() as u64);
        header.set_mode(entry.mode);
        header.set_mtime(1_000_000_000);
        let gnu = header.as_gnu_mut().unwrap();
        gnu.name[..entry.name.len()].copy_from_slice(entry.name.as_bytes());
        gnu.linkname[..entry.target.len()].copy_from_slice(entry.target.as_bytes());
        header.set_cksum();
        builder.append(&header, entry.contents).unwrap();
    }
    builder.into_inner().unwrap()
}

pub(crate) fn zip_of(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, contents) in entries {
        let options = SimpleFileOptions::default().unix_permissions(0o640);
        writer.start_file(*name, options).unwrap();
        writer.write_all(contents.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A zstd frame that is not compressed.
///
/// [RFC 8878](https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1)
pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap();
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    frame.extend(length.to_le_bytes());
    frame.extend(&(length << 3 | 1).to_le_bytes()[..3]);
    frame.extend(bytes);
    frame
}

/// A directory with an archive, a destination beside a secret, and both as they are now.
pub(crate) struct Fixture(Directory);

impl Fixture {
    pub(crate) fn new() -> Self {
        let directory = Directory::new();
        fs::create_dir(directory.path("out")).unwrap();
        fs::write(directory.path("out/secret"), "secret").unwrap();
        fs::create_dir(directory.path("in")).unwrap();
        Self(directory)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    pub(crate) fn write(&self, archive: &[u8]) -> PathBuf {
        let path = self.path("archive");
        fs::write(&path, archive).unwrap();
        path
    }

    pub(crate) fn unpack(&self, unpacker: &Unpacker, archive: &[u8]) -> Vec<smallfry::Error> {
        errors(unpacker.unpack(self.write(archive), self.path("in")))
    }

    pub(crate) fn assert_nothing_outside_changed(&self) {
        assert_eq!(names(&self.path("out")), ["secret"]);
        assert_eq!(fs::read(self.path("out/secret")).unwrap(), b"secret");
        let all = names(&self.path("."));
        assert!(
            all == ["archive", "in", "out"] || all == ["in", "out"],
            "{all:?}"
        );
    }
}

pub(crate) fn errors<T>(result: Result<T, TreeError>) -> Vec<smallfry::Error> {
    result.err().map(TreeError::into_errors).unwrap_or_default()
}
