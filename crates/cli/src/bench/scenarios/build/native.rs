//! The rows in Rust. The counterpart of `driver.js`: same phases, same order, same bytes.

use super::super::prelude::*;
use super::Request;
use crate::bench::runtime::native::usage::nanoseconds;
use crate::bench::runtime::native::{bulk, flush_directory};
use smallfry::bulk::Writer;
use smallfry::close::Closer;
use smallfry::{Durability, WriteOptions, raw};
use smallfry_package_json::{Cache, Extensions, Format};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Runs the pipeline once.
pub(super) fn run(functions: Functions, request: &Request) -> Result<Times, PeerFailure> {
    let whole = match functions {
        Functions::Std => Whole {
            read: |path| fs::read(path),
            write: write_std,
            // The error of closing is lost, as in every program that drops a file.
            close: |file, _| {
                drop(file);
                Ok(())
            },
            wait: || Ok(()),
        },
        _ => Whole {
            read: |path| Ok(smallfry::fs::read(path)?),
            write: write_smallfry,
            close: |file, path| {
                let closed = Closer::global().close(file, path);
                closed.map(drop).map_err(not_closed)
            },
            wait: wait_smallfry,
        },
    };
    let tree = Path::new(&request.tree);
    let output = Path::new(&request.output);
    let mut clock = Clock::start();
    let files = walk(request)?;
    clock.phase("walk");
    let types = if request.style.is_bulk() {
        types_in_one_call(tree, &files)
    } else {
        module_types(&whole, tree, &files)?
    };
    clock.phase("type");
    let contents;
    let texts: Vec<_> = if request.style.is_bulk() {
        contents = read_in_bulk(tree, &files)?;
        contents.iter().map(|bytes| decode(bytes)).collect()
    } else {
        read(&whole, tree, &files)?
    };
    clock.phase("read");
    let texts: Vec<String> = texts
        .iter()
        .zip(&types)
        .map(|(text, kind)| transform(text, kind))
        .collect();
    clock.phase("transform");
    if request.style.is_bulk() {
        let entries = files.iter().map(|file| output.join(file)).zip(&texts);
        bulk::write(entries, Threads::Auto).map_err(failed("write", output))?;
        clock.phase("write");
    } else {
        let closing = write(&whole, output, &files, &texts)?;
        clock.two_phases("write", "close", closing);
    }
    let files_to_publish = &files[..files.len().min(request.publish)];
    publish(functions, request, files_to_publish, &texts)?;
    clock.phase("publish");
    Ok(clock.stop(&files, &texts))
}

/// The functions whose cost is in question.
struct Whole {
    read: fn(&Path) -> io::Result<Vec<u8>>,
    /// Leaves the file open.
    write: fn(&Path, &str) -> io::Result<File>,
    /// Now or later.
    close: fn(File, &Path) -> Result<(), PeerFailure>,
    /// Returns when all files are closed.
    wait: fn() -> Result<(), PeerFailure>,
}

fn write_std(path: &Path, text: &str) -> io::Result<File> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

/// The calls that `smallfry::fs::write` is made of, without the last.
fn write_smallfry(path: &Path, text: &str) -> io::Result<File> {
    // The paths of a request are text, so nothing is lost.
    let path = CString::new(path.to_string_lossy().as_bytes())?;
    let file = raw::open(&path, raw::O_WRONLY | raw::O_CREAT | raw::O_TRUNC, 0o666)?;
    raw::write_all(raw::borrow(&file), text.as_bytes())?;
    Ok(file.into())
}

fn wait_smallfry() -> Result<(), PeerFailure> {
    let errors = Closer::global().drain();
    errors
        .into_iter()
        .next()
        .map_or(Ok(()), |error| Err(not_closed(error)))
}

fn not_closed(error: smallfry::Error) -> PeerFailure {
    let path = error.path().unwrap_or(Path::new("")).to_owned();
    failed("close", &path)(error.into_io_error())
}

struct Clock {
    meter: Meter,
    last: Instant,
    phases: Vec<(String, u64)>,
}

impl Clock {
    fn start() -> Self {
        Self {
            meter: Meter::start(),
            last: Instant::now(),
            phases: Vec::new(),
        }
    }

    fn phase(&mut self, name: &str) {
        let time = self.lap();
        self.push(name, time);
    }

    /// Two that took turns, the second for `time` in all.
    fn two_phases(&mut self, first: &str, second: &str, time: Duration) {
        let both = self.lap();
        self.push(first, both.saturating_sub(time));
        self.push(second, time);
    }

    /// Returns the time since the last lap.
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.last, now)
    }

    fn push(&mut self, name: &str, time: Duration) {
        self.phases.push((name.to_owned(), nanoseconds(time)));
    }

    fn stop(self, files: &[String], texts: &[String]) -> Times {
        Times {
            usage: self.meter.stop(),
            phases: self.phases,
            files: files.len(),
            bytes: texts.iter().map(String::len).sum(),
            ..Times::default()
        }
    }
}

/// Relative paths with `/`, in order.
fn walk(request: &Request) -> Result<Vec<String>, PeerFailure> {
    let mut files = Vec::new();
    let mut directories = vec![String::new()];
    while let Some(directory) = directories.pop() {
        let path = Path::new(&request.tree).join(&directory);
        for entry in fs::read_dir(&path).map_err(failed("read directory", &path))? {
            let entry = entry.map_err(failed("read directory", &path))?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let kind = entry.file_type().map_err(failed("read directory", &path))?;
            if kind.is_dir() {
                directories.push(format!("{directory}{name}/"));
            } else if kind.is_file() && is_wanted(name, &request.extensions) {
                files.push(format!("{directory}{name}"));
            }
        }
    }
    files.sort_unstable();
    files.truncate(request.files);
    Ok(files)
}

fn is_wanted(name: &str, extensions: &[String]) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, extension)| extensions.iter().any(|wanted| wanted == extension))
}

#[derive(Deserialize)]
struct Package {
    #[serde(rename = "type", default)]
    kind: Value,
}

/// Returns what Node takes each file for.
fn types_in_one_call(tree: &Path, files: &[String]) -> Vec<&'static str> {
    let paths: Vec<PathBuf> = files.iter().map(|file| tree.join(file)).collect();
    let formats = Cache::new().formats(&paths, Extensions::TypeScript);
    let name = |found: &Result<Format, _>| found.as_ref().map_or(COMMON_JS, |it| it.name());
    formats.iter().map(name).collect()
}

const COMMON_JS: &str = "commonjs";

/// The same: by its extension or else by the nearest package.json's `type`, each directory asked
/// once.
fn module_types(
    whole: &Whole,
    tree: &Path,
    files: &[String],
) -> Result<Vec<&'static str>, PeerFailure> {
    let paths: Vec<PathBuf> = files.iter().map(|file| tree.join(file)).collect();
    let mut known = HashMap::new();
    paths
        .iter()
        .map(|path| match path.extension().and_then(OsStr::to_str) {
            Some("mjs") => Ok("module"),
            Some("cjs") => Ok(COMMON_JS),
            Some("json") => Ok("json"),
            _ => nearest_type(whole, path.parent(), &mut known),
        })
        .collect()
}

/// Searches as Node: no further than a directory `node_modules`, and not at the root.
fn nearest_type<'a>(
    whole: &Whole,
    directory: Option<&'a Path>,
    known: &mut HashMap<&'a Path, &'static str>,
) -> Result<&'static str, PeerFailure> {
    let is_searched = |directory: &&Path| {
        directory.parent().is_some() && directory.file_name().is_none_or(|it| it != "node_modules")
    };
    let Some(directory) = directory.filter(is_searched) else {
        return Ok(COMMON_JS);
    };
    if let Some(kind) = known.get(directory) {
        return Ok(kind);
    }
    let path = directory.join("package.json");
    let kind = match (whole.read)(&path) {
        Ok(bytes) => match serde_json::from_slice::<Package>(&bytes) {
            Ok(package) if package.kind == "module" => "module",
            _ => COMMON_JS,
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            nearest_type(whole, directory.parent(), known)?
        }
        Err(error) => return Err(failed("read", &path)(error)),
    };
    known.insert(directory, kind);
    Ok(kind)
}

fn read(
    whole: &Whole,
    tree: &Path,
    files: &[String],
) -> Result<Vec<Cow<'static, str>>, PeerFailure> {
    let text = |file| {
        let path = tree.join(file);
        let bytes = (whole.read)(&path).map_err(failed("read", &path))?;
        let text = String::from_utf8(bytes);
        Ok(Cow::Owned(text.unwrap_or_else(|error| {
            decode(error.as_bytes()).into_owned()
        })))
    };
    files.iter().map(text).collect()
}

/// Decodes as every runtime: what is not UTF-8 becomes U+FFFD.
fn decode(bytes: &[u8]) -> Cow<'_, str> {
    // The lossy conversion alone takes as long as reading the file.
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// One call for all files.
fn read_in_bulk(tree: &Path, files: &[String]) -> Result<Vec<bulk::Bytes>, PeerFailure> {
    let paths: Vec<PathBuf> = files.iter().map(|file| tree.join(file)).collect();
    let mut contents = Vec::with_capacity(paths.len());
    bulk::read(&paths, Threads::Auto, |bytes| {
        contents.push(bytes);
        Ok(())
    })
    .map_err(failed("read", tree))?;
    Ok(contents)
}

fn transform(text: &str, kind: &str) -> String {
    format!(
        "/* built by smallfry bench; type: {kind} */\n{}",
        text.replace("\r\n", "\n")
    )
}

/// Every text to its file. How much of the time closing took, until the last file was closed.
fn write(
    whole: &Whole,
    output: &Path,
    files: &[String],
    texts: &[String],
) -> Result<Duration, PeerFailure> {
    let mut closing = Duration::ZERO;
    for (file, text) in files.iter().zip(texts) {
        let path = output.join(file);
        let file = (whole.write)(&path, text).map_err(failed("write", &path))?;
        // Telling closing apart costs two readings of the clock a file, some 50 ns where closing
        // takes a microsecond at least. Rows that do not tell it apart are spared that.
        let started = Instant::now();
        (whole.close)(file, &path)?;
        closing += started.elapsed();
    }
    let started = Instant::now();
    (whole.wait)()?;
    Ok(closing + started.elapsed())
}

/// Each file whole or not at all, and for good.
fn publish(
    functions: Functions,
    request: &Request,
    files: &[String],
    texts: &[String],
) -> Result<(), PeerFailure> {
    let published = Path::new(&request.published);
    let mut entries = files.iter().map(|file| published.join(file)).zip(texts);
    match functions {
        Functions::Std => entries.try_for_each(|(path, text)| {
            replace_durably(&path, text).map_err(failed("publish", &path))
        }),
        _ if request.style.is_bulk() => {
            let mut writer = Writer::new();
            writer.durability(Durability::Full).replace(true);
            let report = writer.write(entries);
            report.into_result().map_err(failed("publish", published))
        }
        _ => {
            let mut options = WriteOptions::new();
            options.durability(Durability::Full).replace(true);
            entries.try_for_each(|(path, text)| {
                let written = options.write(&path, text).map(drop);
                written.map_err(failed("publish", &path))
            })
        }
    }
}

/// The idiom: written beside its place, flushed, renamed, its directory flushed.
fn replace_durably(path: &Path, text: &str) -> io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".tmp");
    let mut file = File::create(&temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    drop(file);
    fs::rename(&temporary, path)?;
    flush_directory(path.parent().unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallfry::Operation;
    use smallfry::close::{Close, Handle};
    use smallfry::raw::BorrowedFile;

    /// As a file on a server that turns out to be full: closing fails, on another thread.
    #[derive(Debug)]
    struct Full;

    impl Close for Full {
        fn close(self: Box<Self>) -> Result<(), (Operation, io::Error)> {
            Err((Operation::Close, io::ErrorKind::StorageFull.into()))
        }

        fn file(&self) -> Option<BorrowedFile<'_>> {
            None
        }
    }

    #[test]
    fn a_close_that_fails_late_fails_the_run_with_its_path() {
        Closer::global().close(Handle::new(Full), "late").unwrap();
        let failure = wait_smallfry().unwrap_err();
        assert_eq!(failure.operation, "close");
        assert_eq!(failure.path.as_deref(), Some("late"));
        assert_eq!(failure.code.as_deref(), Some("ENOSPC"));
    }
}
