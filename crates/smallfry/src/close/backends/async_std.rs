//! The crate `async-std`, which is discontinued: its threads for blocking work, and its files.

use super::Job;
use super::futures_io::{AsyncFile, into_handle};
use crate::close::{FastCloseable, Handle};
use crate::raw::{self, BorrowedFile};

pub(super) fn spawn(job: Job) {
    drop(::async_std::task::spawn_blocking(|| job.run()));
}

impl FastCloseable for ::async_std::fs::File {
    fn into_handle(self) -> Handle {
        into_handle(self)
    }
}

impl AsyncFile for ::async_std::fs::File {
    fn borrow(&self) -> BorrowedFile<'_> {
        raw::borrow(self)
    }
}
