//! Changes fonts in the form UFO: a directory with a small file for each of thousands of glyphs.

use std::error::Error;
use std::path::Path;

use norad::Glyph;
use smallfry::{Durability, bulk};

/// Adds to the width of each glyph. Returns the number of glyphs.
///
/// All files are read in one call and written in one: each is replaced in one step, and survives a
/// power failure once this has returned. A glyph that cannot be read or parsed is an error with its
/// path, and then nothing is written.
pub fn widen(font: &Path, by: f64) -> Result<usize, Box<dyn Error>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(font.join("glyphs"))? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "glif")
        {
            paths.push(path);
        }
    }
    let mut widened = Vec::with_capacity(paths.len());
    for (index, contents) in bulk::Reader::new().read(&paths) {
        let path = &paths[index];
        let mut glyph =
            Glyph::parse_raw(&contents?).map_err(|error| format!("{}: {error}", path.display()))?;
        glyph.width += by;
        widened.push((path, glyph.encode_xml()?));
    }
    let count = widened.len();
    let mut writer = bulk::Writer::new();
    writer.replace(true).durability(Durability::Full);
    writer.write(widened).into_result()?;
    Ok(count)
}
