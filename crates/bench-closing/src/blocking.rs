//! `close_already`'s design with its feature `backend-blocking`: as it does, each file is a task of
//! the crate `blocking`, which adds threads while tasks queue up, to 500.

use crate::Closing;
use crate::pending::Pending;
use std::fs::File;
use std::io;

#[derive(Default)]
struct Blocking(Pending);

#[allow(clippy::unnecessary_wraps, reason = "without the feature it fails")]
pub(crate) fn start() -> io::Result<Box<dyn Closing>> {
    Ok(Box::new(Blocking::default()))
}

impl Closing for Blocking {
    fn close(&self, file: File) {
        blocking::unblock(self.0.job(file)).detach();
    }

    fn wait(&self) -> io::Result<()> {
        self.0.wait();
        Ok(())
    }
}
