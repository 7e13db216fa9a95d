//! Files of tokio.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use ::tokio::fs::File;
use ::tokio::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};
use ::tokio::task::unconstrained;

use super::poll::{block_on, poll_once};
use crate::closer::{Close, FastClose, FastCloseable, Handle};
use crate::error::Operation;
use crate::raw::{self, BorrowedFile, OwnedFile};

/// The pause before another check whether a call still uses the file, at first and at the most.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const MAX_PAUSE: Duration = Duration::from_secs(1);

impl FastCloseable for File {
    fn into_handle(mut self) -> Handle {
        match poll_once(flush(&mut self)) {
            // Nothing is in flight, so its std file is all there is to close.
            Some(Ok(())) => match self.try_into_std() {
                Ok(file) => file.into(),
                Err(file) => Handle::new(Busy { file, failed: None }),
            },
            Some(Err(reason)) => Handle::new(Busy {
                file: self,
                failed: Some(reason),
            }),
            None => Handle::new(Busy {
                file: self,
                failed: None,
            }),
        }
    }
}

/// A file with an operation in flight, or with one that has failed.
#[derive(Debug)]
struct Busy {
    file: File,
    failed: Option<io::Error>,
}

impl Close for Busy {
    fn close(self: Box<Self>) -> Result<(), (Operation, io::Error)> {
        let Self { mut file, failed } = *self;
        let flushed = block_on(flush(&mut file));
        let flushed = failed.map_or(flushed, Err);
        let closed = match into_owned(file) {
            Some(file) => raw::close(file).map_err(Into::into),
            None => Err(io::Error::other(
                "a call that was given up still uses the file, and closes it when it ends",
            )),
        };
        flushed.map_err(|reason| (Operation::Write, reason))?;
        closed.map_err(|reason| (Operation::Close, reason))
    }

    fn file(&self) -> Option<BorrowedFile<'_>> {
        Some(raw::borrow(&self.file))
    }
}

/// Flushes outside of tokio's cooperative budget. With an empty budget tokio reports that nothing
/// is ready until the task yields, so this thread would wait for itself.
///
/// [Cooperative scheduling](https://docs.rs/tokio/latest/tokio/task/coop/)
fn flush(file: &mut File) -> impl Future<Output = io::Result<()>> {
    unconstrained(poll_fn(move |context| {
        Pin::new(&mut *file).poll_flush(context)
    }))
}

/// Takes the std file out. A call whose future was dropped, such as `sync_all`, keeps it until it
/// ends.
fn into_owned(mut file: File) -> Option<OwnedFile> {
    let mut pause = FIRST_PAUSE;
    loop {
        file = match file.try_into_std() {
            Ok(file) => return Some(file.into()),
            Err(file) => file,
        };
        if pause > MAX_PAUSE {
            return None;
        }
        thread::sleep(pause);
        pause *= 2;
    }
}

impl<H: FastCloseable + AsyncRead + Unpin> AsyncRead for FastClose<H> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut **self).poll_read(context, buffer)
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

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut **self).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut **self).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut **self).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        (**self).is_write_vectored()
    }
}

impl<H: FastCloseable + AsyncSeek + Unpin> AsyncSeek for FastClose<H> {
    fn start_seek(mut self: Pin<&mut Self>, position: io::SeekFrom) -> io::Result<()> {
        Pin::new(&mut **self).start_seek(position)
    }

    fn poll_complete(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Pin::new(&mut **self).poll_complete(context)
    }
}
