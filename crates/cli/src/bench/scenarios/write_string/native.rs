//! The rows in Rust. The counterpart of `driver.js`: same steps, same names.

use super::super::prelude::*;
use super::case::{Addressing, Function, Request};
use crate::bench::runtime::native::raw::write_to;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs one batch.
pub(super) fn run(functions: Functions, request: &Request) -> Result<Times, PeerFailure> {
    let case = request.case;
    let text = case.text.repeat(case.length as usize);
    let bytes = text.as_bytes();
    let path = Path::new(&request.path);
    let target = Target::prepare(request, bytes).map_err(failed("prepare", path))?;
    let append = case.function == Function::Append;
    let by_fd = case.addressing == Addressing::Fd;
    let mut appending = OpenOptions::new();
    appending.append(true).create(true);
    let times = match functions {
        Functions::Std if by_fd => batch(target, |it| it.file()?.write_all(bytes)),
        Functions::Std if append => batch(target, |it| appending.open(&it.path)?.write_all(bytes)),
        Functions::Std => batch(target, |it| fs::write(&it.path, bytes)),
        Functions::Smallfry if by_fd => {
            batch(target, |it| Ok(smallfry::fs::write_to(it.file()?, bytes)?))
        }
        Functions::Smallfry if append => {
            batch(target, |it| Ok(smallfry::fs::append(&it.path, bytes)?))
        }
        Functions::Smallfry => batch(target, |it| Ok(smallfry::fs::write(&it.path, bytes)?)),
        Functions::Raw if by_fd => batch(target, |it| write_to(it.file()?, bytes)),
        Functions::Raw => batch(target, |it| it.prepared.write(append, bytes)),
        _ => Err(io::ErrorKind::Unsupported.into()),
    };
    times.map_err(failed("write", path))
}

fn batch(mut target: Target<'_>, call: impl Fn(&Target) -> io::Result<()>) -> io::Result<Times> {
    let size = target.request.batch;
    let times = size.time(&mut target, call, Target::reset)?;
    target.close()?;
    Ok(times)
}

/// The file that the next call writes to, and what has to happen to it between samples, untimed.
struct Target<'a> {
    request: &'a Request,
    path: PathBuf,
    prepared: Prepared,
    /// The caller's descriptor, when the case is by descriptor.
    file: Option<File>,
    made: Vec<PathBuf>,
    /// The bytes that a call adds to a file that grows.
    step: u64,
    grown: u64,
}

impl<'a> Target<'a> {
    fn prepare(request: &'a Request, bytes: &[u8]) -> io::Result<Self> {
        let path = PathBuf::from(&request.path);
        let mut target = Self {
            request,
            prepared: Prepared::new(&path)?,
            path,
            file: None,
            made: Vec::new(),
            step: bytes.len() as u64,
            grown: 0,
        };
        match request.case.addressing {
            Addressing::New => target.next()?,
            Addressing::Fd => target.open()?,
            Addressing::Overwritten => fs::write(&request.path, bytes)?,
            Addressing::Path => {}
        }
        Ok(target)
    }

    fn file(&self) -> io::Result<&File> {
        let file = self.file.as_ref();
        file.ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }

    fn next(&mut self) -> io::Result<()> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        self.path = PathBuf::from(format!("{}-{process}-{count}", self.request.path));
        self.prepared = Prepared::new(&self.path)?;
        self.made.push(self.path.clone());
        Ok(())
    }

    fn open(&mut self) -> io::Result<()> {
        self.file = None;
        self.file = Some(File::create(&self.path)?);
        Ok(())
    }

    fn reset(&mut self, calls: u32) -> io::Result<()> {
        let Request { case, batch, .. } = self.request;
        match (case.addressing, case.function) {
            (Addressing::New, _) => return self.next(),
            (Addressing::Fd, _) | (Addressing::Overwritten, Function::Append) => {}
            _ => return Ok(()),
        }
        self.grown += self.step * u64::from(calls);
        if self.grown + self.step * u64::from(batch.calls) <= self.request.grow_to {
            return Ok(());
        }
        self.grown = 0;
        match self.file {
            Some(_) => self.open(),
            None => empty(&self.path),
        }
    }

    fn close(mut self) -> io::Result<()> {
        self.made.pop();
        let mut made = self.made.iter();
        match self.request.case.target {
            super::case::Target::Disk => made.try_for_each(|path| empty(path)),
            _ => made.try_for_each(fs::remove_file),
        }
    }
}
