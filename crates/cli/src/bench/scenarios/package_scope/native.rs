//! The rows in Rust. The counterpart of `driver.js`: same files, same answers.

use super::super::prelude::*;
use super::case::{Lookup, Request};
use crate::bench::runtime::protocol::{HASH_START, hash_answer};
use smallfry_package_json::{Cache, Error, ModuleType, Revalidate};
use std::collections::HashSet;

/// Looks all files up, once or again and again. The time is from the first look-up of a pass to its
/// last answer.
pub(super) fn run(functions: Functions, request: &Request) -> Result<Times, PeerFailure> {
    let list = Path::new(&request.list);
    let files = listed(list).map_err(failed("read", list))?;
    let done = match functions {
        Functions::Smallfry => by_smallfry(request, &files),
        #[cfg(feature = "peers")]
        Functions::OxcResolver => {
            let alone = request.lookup == Lookup::TheirsAlone;
            let paths: Vec<&Path> = files.iter().map(|(_, path)| &**path).collect();
            let resolver = peers::Oxc::new(alone.then_some(&*paths));
            passes(request, &files, || {
                paths.iter().map(|path| resolver.is_module(path)).collect()
            })
        }
        Functions::Raw => by_raw(request, &files),
        _ => Err(io::ErrorKind::Unsupported.into()),
    };
    done.map_err(failed("look up", list))
}

/// A line of the list: the number of directories to look into, from the file's own up to the one
/// that decides, and the path.
type Listed = (usize, PathBuf);

fn listed(list: &Path) -> io::Result<Vec<Listed>> {
    let text = fs::read_to_string(list)?;
    let line = |line: &str| {
        let (levels, path) = line.split_once(' ')?;
        Some((levels.parse().ok()?, path.into()))
    };
    let files: Option<_> = text.lines().map(line).collect();
    files.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn by_smallfry(request: &Request, files: &[Listed]) -> io::Result<Times> {
    let revalidate = match request.lookup {
        Lookup::Never => Revalidate::Never,
        Lookup::OnChange => Revalidate::OnChange,
        _ => Revalidate::After(Duration::from_secs(1)),
    };
    let cache = Cache::new().with(revalidate);
    // As `.js`, so that the extension leaves the answer open. Only resolvers look at the file.
    let asked = files.iter().map(|(_, path)| path.with_extension("js"));
    let asked: Vec<PathBuf> = asked.collect();
    let is_module = |found: Result<ModuleType, Error>| {
        let found = found.map_err(|error| io::Error::other(error.to_string()))?;
        Ok(found == ModuleType::Module)
    };
    passes(request, files, || {
        if request.style.is_bulk() {
            let all = cache.nearest_types(&asked);
            all.into_iter().map(is_module).collect()
        } else {
            let one = |path| is_module(cache.nearest_type(path));
            asked.iter().map(one).collect()
        }
    })
}

/// Makes the system calls that an answer takes and nothing else, paths prepared beforehand.
///
/// With nothing known: for each directory from a file's own up to the one that decides one `open`
/// of its package.json, whichever way that ends, each directory once however many files share it;
/// and of those that are there `fstat`, `read` until the size is reached, `close`, into one buffer.
/// With everything known: one `stat` of the same paths, either each once, or for each file all of
/// its own, which checks one file after another.
fn by_raw(request: &Request, files: &[Listed]) -> io::Result<Times> {
    let mut seen = HashSet::new();
    let mut paths = Vec::new();
    for (levels, path) in files {
        for directory in path.ancestors().skip(1).take(*levels) {
            if request.lookup == Lookup::EachFile || seen.insert(directory) {
                paths.push(Prepared::new(&directory.join("package.json"))?);
            }
        }
    }
    let mut buffer = Vec::new();
    passes(request, files, || {
        for path in &paths {
            let done = if request.cold {
                path.read(&mut buffer).map(drop)
            } else {
                path.stat()
            };
            match done {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(Vec::new())
    })
}

/// Makes as many passes as are asked for, each timed.
fn passes(
    request: &Request,
    files: &[Listed],
    mut pass: impl FnMut() -> io::Result<Vec<bool>>,
) -> io::Result<Times> {
    let mut answers = Vec::new();
    let mut passes_for = |milliseconds| {
        let (mut passes, mut time) = (0, Duration::ZERO);
        loop {
            let started = Instant::now();
            answers = pass()?;
            time += started.elapsed();
            passes += 1;
            if time >= Duration::from_millis(milliseconds) {
                return Ok::<_, io::Error>((passes, time));
            }
        }
    };
    if !request.cold {
        passes_for(request.warm_up_ms)?;
    }
    let meter = Meter::start();
    let (passes, time) = passes_for(if request.cold { 0 } else { request.measure_ms })?;
    let mut usage = meter.stop();
    usage.wall_ns = nanoseconds(time);
    // Only files whose extension leaves the type open count. Resolvers tell the type of others
    // without a package.json.
    let open = files.iter().zip(&answers);
    let open = open.filter(|((_, path), _)| path.extension().is_some_and(|it| it == "js"));
    let hash = open.fold(HASH_START, |hash, (_, answer)| hash_answer(hash, *answer));
    Ok(Times {
        answers: (!answers.is_empty()).then_some(hash),
        ..Times::of(files.len() * passes, 0, usage)
    })
}
