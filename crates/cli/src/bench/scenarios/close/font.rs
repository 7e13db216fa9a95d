//! The font that this command carries: a directory of 3,359 small files and eight others, as font
//! editors leave them on disk. `data/README.md` names its authors.

use ruzstd::decoding::StreamingDecoder;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

const PACKED: &[u8] = include_bytes!("../../../../data/Roboto-Regular.ufo.tar.zst");

/// The number of its glyphs' files.
pub(crate) const GLYPHS: usize = 3_359;
/// The directory of these files within it.
pub(crate) const DIRECTORY: &str = "glyphs";
/// The list that says which glyph is in which file.
const LIST: &str = "glyphs/contents.plist";

/// A font in a directory.
pub(crate) struct Font {
    /// The paths of its glyphs' files within it, and their contents.
    pub(crate) glyphs: Vec<(String, Vec<u8>)>,
}

impl Font {
    /// Makes the directory, and in it the font with so many glyphs, the first in the order of their
    /// files' names.
    pub(crate) fn unpack(directory: &Path, glyphs: usize) -> io::Result<Self> {
        let (mut kept, others): (Vec<_>, Vec<_>) = files()?
            .into_iter()
            .partition(|(path, _)| is_glyph(Path::new(path)));
        kept.sort_unstable();
        kept.truncate(glyphs);
        let names: BTreeSet<&str> = kept.iter().map(|(path, _)| path.as_str()).collect();
        fs::create_dir_all(directory.join(DIRECTORY))?;
        for (path, contents) in &others {
            let contents = if path == LIST {
                Cow::Owned(without(contents, &names)?)
            } else {
                Cow::Borrowed(contents)
            };
            fs::write(directory.join(path), &*contents)?;
        }
        for (path, contents) in &kept {
            fs::write(directory.join(path), contents)?;
        }
        Ok(Self { glyphs: kept })
    }
}

/// Returns true if it is the file of a glyph.
pub(crate) fn is_glyph(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "glif")
}

/// Returns paths within the font, and contents.
fn files() -> io::Result<Vec<(String, Vec<u8>)>> {
    let decoder = StreamingDecoder::new(PACKED).map_err(io::Error::other)?;
    let mut archive = tar::Archive::new(decoder);
    let mut files = Vec::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        if entry.header().entry_type().is_file() {
            // The first name is the font's own. Spelt as in the archive and in the list, with
            // slashes on every system.
            let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let path = path.split_once('/').map_or("", |(_, rest)| rest).to_owned();
            let mut contents = Vec::new();
            entry.read_to_end(&mut contents)?;
            files.push((path, contents));
        }
    }
    Ok(files)
}

/// Returns the list without the glyphs whose files are not `kept`. It has a line for each key, and
/// one for its file.
fn without(list: &[u8], kept: &BTreeSet<&str>) -> io::Result<Vec<u8>> {
    let list = std::str::from_utf8(list).map_err(io::Error::other)?;
    let mut left = String::new();
    let mut key = None;
    for line in list.split_inclusive('\n') {
        let file = line
            .trim()
            .strip_prefix("<string>")
            .and_then(|rest| rest.strip_suffix("</string>"));
        match (line.trim_start().starts_with("<key>"), file) {
            (true, _) => key = Some(line),
            (false, None) => left.push_str(line),
            (false, Some(file)) => {
                let key = key.take().unwrap_or_default();
                if kept.contains(format!("{DIRECTORY}/{file}").as_str()) {
                    left.push_str(key);
                    left.push_str(line);
                }
            }
        }
    }
    Ok(left.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_font_is_a_font_whose_list_names_the_files_that_are_there() {
        let root = tempfile::tempdir().unwrap();
        for glyphs in [GLYPHS, 40] {
            let directory = root.path().join(glyphs.to_string());
            let font = Font::unpack(&directory, glyphs).unwrap();
            assert_eq!(font.glyphs.len(), glyphs);
            let list = fs::read_to_string(directory.join(LIST)).unwrap();
            assert_eq!(list.matches("<key>").count(), glyphs);
            assert_eq!(list.matches(".glif</string>").count(), glyphs);
            assert!(list.ends_with("</plist>\n"), "{list}");
            let there = fs::read_dir(directory.join(DIRECTORY)).unwrap().count();
            // The list is in there too.
            assert_eq!(there, glyphs + 1);
        }
    }
}
