//! The font that this command carries: a directory of 3,359 small files and eight others, as font
//! editors leave them on disk. `data/README.md` names its authors.

use ruzstd::decoding::StreamingDecoder;
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

/// The paths of glyphs' files within a font, and their contents.
pub(crate) type Glyphs = Vec<(String, Vec<u8>)>;

/// Makes the directory, and in it the font with so many glyphs, the first in the order of their
/// files' names.
pub(crate) fn unpack(directory: &Path, glyphs: usize) -> io::Result<Glyphs> {
    let files = files()?.into_iter();
    let (mut kept, others): (Glyphs, Glyphs) =
        files.partition(|(path, _)| is_glyph(Path::new(path)));
    kept.sort_unstable();
    kept.truncate(glyphs);
    let names: BTreeSet<&str> = kept.iter().map(|(path, _)| path.as_str()).collect();
    fs::create_dir_all(directory.join(DIRECTORY))?;
    for (path, contents) in others.iter().chain(&kept) {
        fs::write(directory.join(path), contents)?;
    }
    let list = fs::read_to_string(directory.join(LIST))?;
    fs::write(directory.join(LIST), without(&list, &names))?;
    Ok(kept)
}

/// Returns true if it is the file of a glyph.
pub(crate) fn is_glyph(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "glif")
}

/// Returns paths within the font, and contents.
fn files() -> io::Result<Glyphs> {
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
fn without(list: &str, kept: &BTreeSet<&str>) -> String {
    let mut left = String::new();
    let mut lines = list.split_inclusive('\n');
    while let Some(line) = lines.next() {
        if !line.contains("<key>") {
            left.push_str(line);
            continue;
        }
        let value = lines.next().unwrap_or_default();
        let file = value.trim().trim_start_matches("<string>");
        let file = file.trim_end_matches("</string>");
        if kept.contains(format!("{DIRECTORY}/{file}").as_str()) {
            left.push_str(line);
            left.push_str(value);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_font_is_a_font_whose_list_names_the_files_that_are_there() {
        let root = tempfile::tempdir().unwrap();
        for glyphs in [GLYPHS, 40] {
            let directory = root.path().join(glyphs.to_string());
            let font = unpack(&directory, glyphs).unwrap();
            assert_eq!(font.len(), glyphs);
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
