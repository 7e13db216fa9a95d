//! The rows in Rust. The counterpart of `driver.js`: same phases, same order, same bytes.

use super::super::prelude::*;
use super::super::shared::tree_jobs;
use super::case::{EXTENSIONS, Request};
use smallfry::bulk::Writer;
use smallfry::close::Closer;
use smallfry::{Durability, WriteOptions, raw};
use smallfry_package_json::{Cache, Extensions, Format};
use std::borrow::Cow;
use std::ffi::{CString, OsStr};

/// Runs the pipeline once.
pub(super) fn run(functions: Functions, request: &Request) -> Result<Times, PeerFailure> {
    let tree = Path::new(&request.tree);
    let output = Path::new(&request.output);
    let is_bulk = request.style.is_bulk();
    let meter = Meter::start();
    let mut clock = Clock {
        last: Instant::now(),
        phases: Vec::new(),
    };
    tree_jobs::remove_by(functions, Path::new(&request.last))?;
    clock.phase("clean");
    let mut files = walk(tree, |name| has_extension(name, &EXTENSIONS))
        .map_err(failed("read directory", tree))?;
    files.truncate(request.files);
    clock.phase("walk");
    let paths: Vec<PathBuf> = files.iter().map(|file| tree.join(file)).collect();
    let types = if is_bulk {
        types_in_one_call(&paths)
    } else {
        let mut known = HashMap::new();
        let kinds = paths
            .iter()
            .map(|path| module_type(functions, path, &mut known));
        kinds.collect::<Result<_, _>>()?
    };
    clock.phase("type");
    let mut contents = Vec::new();
    let texts: Vec<Cow<str>> = if is_bulk {
        bulk::read(&paths, Threads::Auto, |bytes| {
            contents.push(bytes);
            Ok(())
        })
        .map_err(failed("read", tree))?;
        contents.iter().map(|bytes| decode(bytes)).collect()
    } else {
        let text = |path: &PathBuf| {
            let bytes = read(functions, path).map_err(failed("read", path))?;
            let text = String::from_utf8(bytes);
            let text = text.unwrap_or_else(|error| decode(error.as_bytes()).into_owned());
            Ok(Cow::Owned(text))
        };
        paths.iter().map(text).collect::<Result<_, _>>()?
    };
    clock.phase("read");
    let both = texts.iter().zip(&types);
    let texts: Vec<String> = both.map(|(text, kind)| transform(text, kind)).collect();
    clock.phase("transform");
    let entries = files.iter().map(|file| output.join(file)).zip(&texts);
    if is_bulk {
        bulk::write(entries, Threads::Auto).map_err(failed("write", output))?;
        clock.phase("write");
    } else {
        let closing = write(functions, entries)?;
        // It took turns with writing.
        clock.last += closing;
        clock.phase("write");
        clock
            .phases
            .push(("close".to_owned(), nanoseconds(closing)));
    }
    let (assets, copied) = (Path::new(&request.assets), Path::new(&request.copied));
    tree_jobs::copy_by(functions, assets, copied)?;
    clock.phase("assets");
    publish(functions, request, &files, &texts)?;
    clock.phase("publish");
    let bytes = texts.iter().map(String::len).sum();
    Ok(Times {
        phases: clock.phases,
        ..Times::of(files.len(), bytes, meter.stop())
    })
}

fn read(functions: Functions, path: &Path) -> io::Result<Vec<u8>> {
    match functions {
        Functions::Std => fs::read(path),
        _ => Ok(smallfry::fs::read(path)?),
    }
}

/// Writes a file and leaves it open. For smallfry these are the calls that `smallfry::fs::write` is
/// made of, without the last.
fn write_open(functions: Functions, path: &Path, text: &str) -> io::Result<File> {
    if functions == Functions::Std {
        let mut file = File::create(path)?;
        file.write_all(text.as_bytes())?;
        return Ok(file);
    }
    // The paths of a request are text, so nothing is lost.
    let path = CString::new(path.to_string_lossy().as_bytes())?;
    let file = raw::open(&path, raw::O_WRONLY | raw::O_CREAT | raw::O_TRUNC, 0o666)?;
    raw::write_all(raw::borrow(&file), text.as_bytes())?;
    Ok(file.into())
}

fn wait_smallfry() -> Result<(), PeerFailure> {
    let mut errors = Closer::global().drain().into_iter();
    errors.next().map_or(Ok(()), |error| Err(not_closed(error)))
}

fn not_closed(error: smallfry::Error) -> PeerFailure {
    let path = error.path().unwrap_or(Path::new("")).to_owned();
    failed("close", &path)(error.into_io_error())
}

struct Clock {
    last: Instant,
    phases: Vec<(String, u64)>,
}

impl Clock {
    fn phase(&mut self, name: &str) {
        let now = Instant::now();
        let time = now - std::mem::replace(&mut self.last, now);
        self.phases.push((name.to_owned(), nanoseconds(time)));
    }
}

#[derive(Deserialize)]
struct Package {
    #[serde(rename = "type", default)]
    kind: Value,
}

/// Returns what Node takes each file for.
fn types_in_one_call(paths: &[PathBuf]) -> Vec<&'static str> {
    let formats = Cache::new().formats(paths, Extensions::TypeScript);
    let name = |found: &Result<Format, _>| found.as_ref().map_or(COMMON_JS, |it| it.name());
    formats.iter().map(name).collect()
}

const COMMON_JS: &str = "commonjs";

/// The same: by its extension or else by the nearest package.json's `type`, each directory asked
/// once.
fn module_type<'a>(
    functions: Functions,
    path: &'a Path,
    known: &mut HashMap<&'a Path, &'static str>,
) -> Result<&'static str, PeerFailure> {
    match path.extension().and_then(OsStr::to_str) {
        Some("mjs") => Ok("module"),
        Some("cjs") => Ok(COMMON_JS),
        Some("json") => Ok("json"),
        _ => nearest_type(functions, path.parent(), known),
    }
}

fn nearest_type<'a>(
    functions: Functions,
    directory: Option<&'a Path>,
    known: &mut HashMap<&'a Path, &'static str>,
) -> Result<&'static str, PeerFailure> {
    let Some(directory) = directory.filter(|directory| is_searched(directory)) else {
        return Ok(COMMON_JS);
    };
    if let Some(kind) = known.get(directory) {
        return Ok(kind);
    }
    let path = directory.join("package.json");
    let kind = match read(functions, &path) {
        Ok(bytes) => match serde_json::from_slice::<Package>(&bytes) {
            Ok(package) if package.kind == "module" => "module",
            _ => COMMON_JS,
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            nearest_type(functions, directory.parent(), known)?
        }
        Err(error) => return Err(failed("read", &path)(error)),
    };
    known.insert(directory, kind);
    Ok(kind)
}

/// Decodes as every runtime: what is not UTF-8 becomes U+FFFD.
fn decode(bytes: &[u8]) -> Cow<'_, str> {
    // The lossy conversion alone takes as long as reading the file.
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

fn transform(text: &str, kind: &str) -> String {
    format!(
        "/* built by smallfry bench; type: {kind} */\n{}",
        text.replace("\r\n", "\n")
    )
}

/// Every text to its file. How much of the time closing took, until the last file was closed.
fn write<'a>(
    functions: Functions,
    entries: impl Iterator<Item = (PathBuf, &'a String)>,
) -> Result<Duration, PeerFailure> {
    let mut closing = Duration::ZERO;
    for (path, text) in entries {
        let file = write_open(functions, &path, text).map_err(failed("write", &path))?;
        // Telling closing apart costs two readings of the clock a file, some 50 ns where closing
        // takes a microsecond at least. Rows that do not tell it apart are spared that.
        let started = Instant::now();
        if functions == Functions::Std {
            // The error of closing is lost, as in every program that drops a file.
            drop(file);
        } else {
            Closer::global().close(file, &path).map_err(not_closed)?;
        }
        closing += started.elapsed();
    }
    let started = Instant::now();
    if functions != Functions::Std {
        wait_smallfry()?;
    }
    Ok(closing + started.elapsed())
}

/// Each of the first files whole or not at all, and for good.
fn publish(
    functions: Functions,
    request: &Request,
    files: &[String],
    texts: &[String],
) -> Result<(), PeerFailure> {
    let published = Path::new(&request.published);
    let files = files.iter().take(request.publish);
    let mut entries = files.map(|file| published.join(file)).zip(texts);
    if functions != Functions::Std && request.style.is_bulk() {
        let mut writer = Writer::new();
        writer.durability(Durability::Full).replace(true);
        let report = writer.write(entries);
        return report.into_result().map_err(failed("publish", published));
    }
    let mut options = WriteOptions::new();
    options.durability(Durability::Full).replace(true);
    entries.try_for_each(|(path, text)| {
        let written = match functions {
            Functions::Std => replace_durably(&path, text),
            _ => options.write(&path, text).map(drop).map_err(Into::into),
        };
        written.map_err(failed("publish", &path))
    })
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
