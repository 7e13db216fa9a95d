//! Adds to the width of each glyph of a font: `font Roboto.ufo 20`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [font, by] = words.as_slice() else {
        eprintln!("usage: font FONT.ufo UNITS");
        return ExitCode::from(2);
    };
    let Ok(by) = by.parse() else {
        eprintln!("font: {by} is no number");
        return ExitCode::from(2);
    };
    match font::widen(Path::new(font), by) {
        Ok(count) => println!("{count} glyphs"),
        Err(error) => {
            eprintln!("font: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
