//! Files with the traits of the crate `futures-io`, those of smol and of async-std.
//!
//! Neither crate gives its file out safely: smol has no way, and async-std's function panics while
//! a call that was given up still runs. The first descriptor closed after a write gets the error of
//! closing. So a duplicate is closed for its error, and then the file itself is dropped. There is
//! no duplicate where closing reports nothing.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use ::futures_io::{AsyncRead, AsyncSeek, AsyncWrite};

use super::poll::{block_on, poll_once};
use crate::closer::{Close, FastClose, FastCloseable, Handle};
use crate::error::Operation;
use crate::raw::{self, BorrowedFile};
use crate::sys;

/// A file of one of the two.
pub(super) trait AsyncFile: AsyncWrite + fmt::Debug + Send + Unpin + 'static {
    fn borrow(&self) -> BorrowedFile<'_>;
}

#[derive(Debug)]
struct Held<H> {
    file: H,
    /// The result of a flush; `None` if an operation is in flight.
    flushed: Option<io::Result<()>>,
}

impl<H: AsyncFile> Close for Held<H> {
    fn close(self: Box<Self>) -> Result<(), (Operation, io::Error)> {
        let Self { mut file, flushed } = *self;
        let flushed = flushed.unwrap_or_else(|| block_on(flush(&mut file)));
        let closed = tell(file.borrow());
        drop(file);
        flushed.map_err(|reason| (Operation::Write, reason))?;
        closed.map_err(|reason| (Operation::Close, reason))
    }

    fn file(&self) -> Option<BorrowedFile<'_>> {
        Some(self.file.borrow())
    }

    fn is_idle(&self) -> bool {
        matches!(self.flushed, Some(Ok(())))
    }
}

pub(super) fn into_handle(mut file: impl AsyncFile) -> Handle {
    let flushed = poll_once(flush(&mut file));
    Handle::new(Held { file, flushed })
}

fn flush(file: &mut impl AsyncFile) -> impl Future<Output = io::Result<()>> {
    poll_fn(|context| Pin::new(&mut *file).poll_flush(context))
}

/// Closes a duplicate for the error of closing. There is none if no descriptor is left.
fn tell(file: BorrowedFile<'_>) -> io::Result<()> {
    if !sys::reports_at_close(file) {
        return Ok(());
    }
    match file.try_clone_to_owned() {
        Ok(duplicate) => Ok(raw::close(duplicate)?),
        Err(_) => Ok(()),
    }
}

impl<H: FastCloseable + AsyncRead + Unpin> AsyncRead for FastClose<H> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut **self).poll_read(context, buffer)
    }

    fn poll_read_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &mut [io::IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut **self).poll_read_vectored(context, buffers)
    }
}

impl<H: FastCloseable + AsyncWrite + Unpin> AsyncWrite for FastClose<H> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut **self).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut **self).poll_write_vectored(context, buffers)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut **self).poll_flush(context)
    }

    fn poll_close(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut **self).poll_close(context)
    }
}

impl<H: FastCloseable + AsyncSeek + Unpin> AsyncSeek for FastClose<H> {
    fn poll_seek(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        position: io::SeekFrom,
    ) -> Poll<io::Result<u64>> {
        Pin::new(&mut **self).poll_seek(context, position)
    }
}
