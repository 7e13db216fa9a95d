//! The format of an archive, which its first bytes tell.

use std::io::{self, BufRead, Read};
use std::path::Path;

use super::decompress::{Frames, Members, ZSTD, is_skippable};
use super::invalid::invalid;

/// The length in bytes of a header of tar, which tells the format.
pub(super) const HEADER: usize = tar_core::HEADER_SIZE;

/// The format of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A tar that is not compressed.
    Tar,
    /// A tar that is compressed by gzip.
    TarGz,
    /// A tar that is compressed by zstd.
    TarZst,
    /// A zip, whose files are compressed by deflate.
    Zip,
}

impl Format {
    /// Returns the format that the name of an archive tells, whatever its case: `.tar`, `.tar.gz`
    /// or `.tgz`, `.tar.zst` or `.tzst`, `.zip`.
    ///
    /// ```
    /// use smallfry::archive::Format;
    ///
    /// assert_eq!(Format::of_name("site-1.2.TAR.GZ"), Some(Format::TarGz));
    /// assert_eq!(Format::of_name("site.rar"), None);
    /// ```
    pub fn of_name(archive: impl AsRef<Path>) -> Option<Self> {
        let name = archive
            .as_ref()
            .file_name()?
            .to_string_lossy()
            .to_lowercase();
        let endings = [
            (".tar", Self::Tar),
            (".tar.gz", Self::TarGz),
            (".tgz", Self::TarGz),
            (".tar.zst", Self::TarZst),
            (".tzst", Self::TarZst),
            (".zip", Self::Zip),
        ];
        let found = endings.iter().find(|(ending, _)| name.ends_with(ending));
        found.map(|&(_, format)| format)
    }

    /// Recognizes the format by its first bytes.
    pub(super) fn of(start: &[u8]) -> io::Result<Self> {
        match start {
            [] => Err(invalid("the archive is empty")),
            [0x1f, 0x8b, ..] => Ok(Self::TarGz),
            &[a, b, c, d, ..] if [a, b, c, d] == ZSTD || is_skippable([a, b, c, d]) => {
                Ok(Self::TarZst)
            }
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Ok(Self::Zip),
            [0xfd, b'7', b'z', b'X', b'Z', ..] => Err(unsupported("xz")),
            [b'B', b'Z', b'h', ..] => Err(unsupported("bzip2")),
            [b'7', b'z', 0xbc, 0xaf, ..] => Err(unsupported("7z")),
            _ if is_tar(start) => Ok(Self::Tar),
            _ => Err(invalid(
                "neither a tar nor a zip; tar may be compressed by gzip or zstd",
            )),
        }
    }

    /// Decompresses an archive of this format.
    pub(super) fn decompress<'r>(
        self,
        reader: impl BufRead + 'r,
    ) -> io::Result<Box<dyn Read + 'r>> {
        Ok(match self {
            Self::TarGz => Box::new(Members::new(reader)),
            Self::TarZst => Box::new(Frames::new(reader)?),
            Self::Tar | Self::Zip => Box::new(reader),
        })
    }
}

/// Returns true for the header of a first entry, or for the end of a tar without any.
fn is_tar(start: &[u8]) -> bool {
    let Some(header) = start.first_chunk::<HEADER>() else {
        return false;
    };
    let is_end = header.iter().all(|&byte| byte == 0);
    is_end
        || tar_core::Header::from_bytes(header)
            .verify_checksum()
            .is_ok()
}

fn unsupported(format: &str) -> io::Error {
    let reason = format!("{format} is not supported; tar, tar.gz, tar.zst and zip are");
    io::Error::new(io::ErrorKind::Unsupported, reason)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn of_names_formats_that_are_not_supported() {
        for (start, name) in [
            (&b"\xfd7zXZ\0"[..], "xz"),
            (b"BZh9", "bzip2"),
            (b"7z\xbc\xaf", "7z"),
        ] {
            let error = Format::of(start).unwrap_err();
            assert!(error.to_string().starts_with(name), "{error}");
        }
        assert_eq!(
            Format::of(b"").unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
        assert_eq!(
            Format::of(b"hello").unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
        assert_eq!(Format::of(b"PK\x03\x04").unwrap(), Format::Zip);
        assert_eq!(Format::of(&[0; 1024]).unwrap(), Format::Tar);
    }
}
