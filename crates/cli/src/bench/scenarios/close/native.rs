//! The rows in Rust: one thread writes the files of a font's glyphs. The programs in
//! `crates/cli/peers/norad` do the same through norad.

use super::super::prelude::*;
use super::super::shared::font;
use super::case::Request;
use smallfry_bench_closing::{self as closing, Way};

/// Writes all files once. The time is from making what closing needs to the last close.
pub(super) fn run(launch: &Launch, request: &Request) -> Result<Times, PeerFailure> {
    let glyphs = Path::new(&request.font).join(font::DIRECTORY);
    let files = load(&glyphs, &request.target).map_err(failed("read", &glyphs))?;
    let way = launch.closing.unwrap_or(Way::Plain);
    let meter = Meter::start();
    let done = write(way, &files, Path::new(&request.target));
    let usage = meter.stop();
    done?;
    let bytes = files.iter().map(|(_, contents)| contents.len()).sum();
    Ok(Times::of(files.len(), bytes, usage))
}

/// Returns the path and the contents of each file, in the order of names.
fn load(glyphs: &Path, target: &str) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(glyphs)? {
        let path = entry?.path();
        if let Some(name) = path.file_name().filter(|_| font::is_glyph(&path)) {
            let to = format!("{target}{}", name.to_string_lossy());
            files.push((PathBuf::from(to), fs::read(&path)?));
        }
    }
    files.sort_unstable();
    Ok(files)
}

fn write(way: Way, files: &[(PathBuf, Vec<u8>)], target: &Path) -> Result<(), PeerFailure> {
    let closing = way
        .start()
        .map_err(failed("prepare to close the files of", target))?;
    for (path, contents) in files {
        closing::write(closing.as_ref(), path, contents).map_err(failed("write", path))?;
    }
    closing.wait().map_err(failed("close the files of", target))
}
