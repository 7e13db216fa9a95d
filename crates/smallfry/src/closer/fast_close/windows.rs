//! Windows: the handle of a `FastClose`, and reading and writing at an offset.

use std::io;
use std::os::windows::fs::FileExt;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, RawHandle};

use super::{FastClose, FastCloseable};

impl<H: FastCloseable + AsHandle> AsHandle for FastClose<H> {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        (**self).as_handle()
    }
}

impl<H: FastCloseable + AsRawHandle> AsRawHandle for FastClose<H> {
    fn as_raw_handle(&self) -> RawHandle {
        (**self).as_raw_handle()
    }
}

impl<H: FastCloseable + FileExt> FileExt for FastClose<H> {
    fn seek_read(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        (**self).seek_read(buffer, offset)
    }

    fn seek_write(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        (**self).seek_write(bytes, offset)
    }
}
