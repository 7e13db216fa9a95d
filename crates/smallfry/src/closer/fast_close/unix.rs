//! Unix: the descriptor of a `FastClose`, and reading and writing at an offset.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::fs::FileExt;

use super::{FastClose, FastCloseable};

impl<H: FastCloseable + AsFd> AsFd for FastClose<H> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        (**self).as_fd()
    }
}

impl<H: FastCloseable + AsRawFd> AsRawFd for FastClose<H> {
    fn as_raw_fd(&self) -> RawFd {
        (**self).as_raw_fd()
    }
}

impl<H: FastCloseable + FileExt> FileExt for FastClose<H> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        (**self).read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        (**self).write_at(bytes, offset)
    }
}
