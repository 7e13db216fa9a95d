//! The rows of `read-many` and `scale` in Rust. The counterpart of `driver.js`: same steps, same
//! order.

use super::super::prelude::*;
use super::case::{Request, Watch};
use super::memory;

/// Reads all files once.
pub(super) fn run(functions: Functions, request: &Request) -> Result<Times, PeerFailure> {
    let files: Vec<PathBuf> = request.many.layout.paths().map(PathBuf::from).collect();
    let run = Run {
        request,
        files: &files,
    };
    let is_text = request.many.data == Data::String;
    let done = match (functions, is_text) {
        (Functions::Std, true) => run.keep(|all| one_by_one(all, |it| fs::read_to_string(it))),
        (Functions::Std, false) => run.keep(|all| one_by_one(all, |it| fs::read(it))),
        (Functions::Smallfry, _) if request.many.way.style.is_bulk() => run.bulk(),
        (Functions::Smallfry, true) => {
            run.keep(|all| one_by_one(all, |it| Ok(smallfry::fs::read_to_string(it)?)))
        }
        (Functions::Smallfry, false) => {
            run.keep(|all| one_by_one(all, |it| Ok(smallfry::fs::read(it)?)))
        }
        #[cfg(feature = "peers")]
        (Functions::Rayon, true) => {
            run.keep(|all| peers::rayon(all, |_, it| fs::read_to_string(it)))
        }
        #[cfg(feature = "peers")]
        (Functions::Rayon, false) => run.keep(|all| peers::rayon(all, |_, it| fs::read(it))),
        #[cfg(feature = "peers")]
        (Functions::Tokio, true) => {
            run.keep(|all| peers::tokio(all, |_, it| tokio::fs::read_to_string(it)))
        }
        #[cfg(feature = "peers")]
        (Functions::Tokio, false) => run.keep(|all| peers::tokio(all, |_, it| tokio::fs::read(it))),
        (Functions::Raw, _) => run.raw(),
        _ => Err(io::ErrorKind::Unsupported.into()),
    };
    done.map_err(failed("read", &request.many.layout.directory))
}

/// Generic so that each implementation's call is in the loop, not behind a pointer.
fn one_by_one<T>(files: &[PathBuf], read: impl Fn(&Path) -> io::Result<T>) -> io::Result<Vec<T>> {
    let mut all = Vec::with_capacity(files.len());
    for path in files {
        all.push(read(path).map_err(|error| at(path, &error))?);
    }
    Ok(all)
}

struct Run<'a> {
    request: &'a Request,
    files: &'a [PathBuf],
}

impl Run<'_> {
    fn watch(&self) -> io::Result<Option<memory::Watch>> {
        (self.request.watch == Watch::Memory)
            .then(memory::Watch::start)
            .transpose()
    }

    /// All is read before anything is looked at.
    fn keep<T: AsRef<[u8]>>(
        &self,
        read: impl FnOnce(&[PathBuf]) -> io::Result<Vec<T>>,
    ) -> io::Result<Times> {
        let watch = self.watch()?;
        let meter = Meter::start();
        let all = read(self.files)?;
        // Looking touches what is there already: it takes no memory, but time that belongs to
        // reading.
        let memory = watch.map(memory::Watch::stop).transpose()?;
        for (path, contents) in self.files.iter().zip(&all) {
            look(contents.as_ref()).map_err(|error| at(path, &error))?;
        }
        let usage = meter.stop();
        if self.request.compare {
            for (path, contents) in self.files.iter().zip(&all) {
                if fs::read(path)? != contents.as_ref() {
                    return Err(at(path, &"read wrongly"));
                }
            }
        }
        let bytes = all.iter().map(|contents| contents.as_ref().len()).sum();
        Ok(Times {
            memory_kib: memory,
            ..Times::of(all.len(), bytes, usage)
        })
    }

    /// Reads in bulk; text is checked to be UTF-8 in place.
    fn bulk(&self) -> io::Result<Times> {
        let Self { request, files } = self;
        let is_text = request.many.data == Data::String;
        if request.many.way.keep {
            return self.keep(|files| {
                let mut all = Vec::with_capacity(files.len());
                bulk::read(files, request.many.way.threads, |bytes| {
                    if is_text {
                        std::str::from_utf8(&bytes).map_err(io::Error::other)?;
                    }
                    all.push(bytes);
                    Ok(())
                })?;
                Ok(all)
            });
        }
        let mut times = Times::default();
        let watch = self.watch()?;
        let meter = Meter::start();
        bulk::read(files, request.many.way.threads, |bytes| {
            times.files += 1;
            times.bytes += bytes.len();
            look(&bytes)
        })?;
        times.usage = meter.stop();
        times.memory_kib = watch.map(memory::Watch::stop).transpose()?;
        Ok(times)
    }

    /// Into one buffer a thread, looked at on the spot; or, kept, each file into fresh memory.
    fn raw(&self) -> io::Result<Times> {
        let prepared = self.files.iter().map(|path| Prepared::new(path));
        let prepared = prepared.collect::<io::Result<Vec<_>>>()?;
        let count = prepared.len();
        let threads = self.request.many.way.threads.count();
        if self.request.many.way.keep {
            let read = |(): &mut (), index: usize| prepared[index].read_fresh();
            return self.keep(|_| share::share(threads, count, || (), read));
        }
        let meter = Meter::start();
        let lengths = share::share(threads, count, Vec::new, |buffer, index| {
            let contents = prepared[index].read(buffer)?;
            look(contents).map(|()| contents.len())
        })?;
        let usage = meter.stop();
        Ok(Times::of(lengths.len(), lengths.iter().sum(), usage))
    }
}

fn at(path: &Path, what: &dyn fmt::Display) -> io::Error {
    io::Error::other(format!("{}: {what}", path.display()))
}

/// Looks at every byte: there is no zero among them.
fn look(contents: &[u8]) -> io::Result<()> {
    if contents.contains(&0) {
        return Err(io::Error::other("a zero was found, and there is none"));
    }
    Ok(())
}
