//! The rows in Rust. The counterpart of `driver.js`: same files, same bytes.

use super::super::prelude::*;
use super::case::{Flushing, Request};
use smallfry::Durability;
use smallfry::bulk::Writer;

/// A disk serves some dozens of flushes together, and a journal any number.
const MAX_THREADS: usize = 128;

/// Writes all files once. Timed until all are durable.
pub(super) fn run(functions: Functions, request: &Request) -> Result<Times, PeerFailure> {
    let work = Work::prepare(request);
    let meter = Meter::start();
    let done = match functions {
        Functions::Smallfry => work.by_smallfry(),
        Functions::Raw => match request.flushing {
            Flushing::Each => work.each(),
            Flushing::Concurrent => work.concurrent(|target| work.write(target)),
            other => work.on_linux(other),
        },
        _ => Err(io::ErrorKind::Unsupported.into()),
    };
    let usage = meter.stop();
    done.map_err(failed("write durably", &request.many.layout.directory))?;
    let bytes = work.files.iter().map(|file| file.contents.len()).sum();
    Ok(Times::of(work.files.len(), bytes, usage))
}

pub(super) struct Target {
    pub(super) path: PathBuf,
    /// The file that is written, and then renamed; the path itself where nothing is replaced.
    temporary: PathBuf,
    dir: PathBuf,
    contents: Vec<u8>,
}

pub(super) struct Work {
    pub(super) root: PathBuf,
    pub(super) files: Vec<Target>,
    /// The directories of the files, each once.
    pub(super) directories: BTreeSet<PathBuf>,
    pub(super) replace: bool,
}

impl Work {
    fn prepare(request: &Request) -> Self {
        let (layout, replace) = (&request.many.layout, request.replace);
        let root = PathBuf::from(&layout.directory);
        let target = |(index, path): (usize, String)| Target {
            temporary: format!("{path}{}", if replace { ".tmp" } else { "" }).into(),
            dir: layout.directory(index).into(),
            path: path.into(),
            contents: contents_of(index, request.many.bytes),
        };
        let files: Vec<Target> = layout.paths().enumerate().map(target).collect();
        Self {
            directories: files.iter().map(|file| file.dir.clone()).collect(),
            files,
            root,
            replace,
        }
    }

    fn by_smallfry(&self) -> io::Result<()> {
        let entries = self.files.iter().map(|file| (&file.path, &file.contents));
        let mut writer = Writer::new();
        writer.durability(Durability::Full).replace(self.replace);
        Ok(writer.write(entries).into_result()?)
    }

    fn each(&self) -> io::Result<()> {
        for target in &self.files {
            self.write(target)?.sync_all()?;
            self.name(target)?;
            flush_directory(&target.dir)?;
        }
        Ok(())
    }

    pub(super) fn concurrent(
        &self,
        write: impl Fn(&Target) -> io::Result<File> + Sync,
    ) -> io::Result<()> {
        at_once(&self.files, |target| {
            write(target)?.sync_all()?;
            self.name(target)
        })?;
        let directories: Vec<&PathBuf> = self.directories.iter().collect();
        at_once(&directories, |dir| flush_directory(dir))
    }

    pub(super) fn write(&self, target: &Target) -> io::Result<File> {
        self.write_after(target, |_| Ok(()))
    }

    /// Writes a file; `prepare` is called with it while it is empty.
    pub(super) fn write_after(
        &self,
        target: &Target,
        prepare: impl FnOnce(&File) -> io::Result<()>,
    ) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(self.replace);
        options.create(!self.replace).truncate(!self.replace);
        let mut file = options.open(&target.temporary)?;
        prepare(&file)?;
        file.write_all(&target.contents)?;
        Ok(file)
    }

    pub(super) fn name(&self, target: &Target) -> io::Result<()> {
        if self.replace {
            fs::rename(&target.temporary, &target.path)?;
        }
        Ok(())
    }
}

/// Elsewhere there are no such rows.
#[cfg(not(target_os = "linux"))]
impl Work {
    fn on_linux(&self, _: Flushing) -> io::Result<()> {
        let _ = &self.root;
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Does the work on as many threads as there are items, up to the maximum; a free thread takes the
/// next item.
fn at_once<T: Sync>(items: &[T], work: impl Fn(&T) -> io::Result<()> + Sync) -> io::Result<()> {
    let threads = items.len().min(MAX_THREADS);
    let work = |(): &mut (), index: usize| work(&items[index]);
    share::share(threads, items.len(), || (), work).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_one_thread_is_told() {
        let items: Vec<usize> = (0..300).collect();
        let done = at_once(&items, |item| match item {
            200 => Err(io::Error::other("refused")),
            _ => Ok(()),
        });
        assert_eq!(done.unwrap_err().to_string(), "refused");
        assert!(at_once(&items, |_| Ok(())).is_ok());
    }
}
