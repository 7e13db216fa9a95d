//! A file that the closer closes when it is dropped.

#![allow(
    unsafe_code,
    reason = "the value is taken out of a wrapper of the same size"
)]

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::io::{self, BufRead, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

use super::handle::Handle;
use super::pending::Receiver;
use super::process_closer::Closer;
use crate::raw::OwnedFile;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

/// A type that [`FastClose`] can hold.
///
/// It is implemented for [`std::fs::File`] and its descriptor or handle, and with the backend
/// features for the files of tokio, smol and async-std. Implement it for your own types.
///
/// A type whose drop is slow needs no method. The [`Closer`] drops the value on a closing thread:
///
/// ```
/// use smallfry::close::FastCloseable;
///
/// struct Archive(std::fs::File);
///
/// impl Drop for Archive {
///     fn drop(&mut self) {
///         // Writes an index, and waits for a server.
///     }
/// }
///
/// impl FastCloseable for Archive {}
///
/// drop(Archive(tempfile::tempfile()?).fast_close());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// A type that can give its file away is better off doing so. The closer then measures whether
/// closing is slow, and reports its errors:
///
/// ```
/// use smallfry::close::{FastCloseable, Handle};
///
/// struct Log {
///     file: std::fs::File,
///     lines: u64,
/// }
///
/// impl FastCloseable for Log {
///     fn into_handle(self) -> Handle {
///         self.file.into()
///     }
/// }
///
/// let log = Log { file: tempfile::tempfile()?, lines: 0 }.fast_close();
/// assert_eq!(log.lines, 0);
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait FastCloseable: Send + Sized + 'static {
    /// Gives its file away. It must neither block nor panic. A type that holds bytes back gives
    /// away a [`Close`](super::Close), which writes them.
    ///
    /// By default it gives away the value itself, which is closed by dropping it. A panic of the
    /// drop is an error of the close.
    fn into_handle(self) -> Handle {
        Handle::of_value(self)
    }

    /// Wraps it, so that the [`Closer`] closes it when it is dropped.
    fn fast_close(self) -> FastClose<Self> {
        FastClose::new(self)
    }
}

impl FastCloseable for std::fs::File {
    fn into_handle(self) -> Handle {
        self.into()
    }
}

impl FastCloseable for OwnedFile {
    fn into_handle(self) -> Handle {
        self.into()
    }
}

/// An open file that the [`Closer`] of the process closes when it is dropped: on the dropping
/// thread, or on another one where closing is slow.
///
/// It is as large as the type that it holds, and implements the same traits. An error of closing
/// goes to [`Closer::drain`] or to the sink; [`close`](Self::close) returns it at once.
///
/// ```
/// use smallfry::close::FastCloseable;
/// use std::io::{Read, Seek, Write};
///
/// let mut file = tempfile::tempfile()?.fast_close();
/// file.write_all(b"text")?;
/// file.rewind()?;
/// assert_eq!(file.metadata()?.len(), 4);
/// file.close()?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[repr(transparent)]
pub struct FastClose<H: FastCloseable>(ManuallyDrop<H>);

const _: () = assert!(size_of::<FastClose<std::fs::File>>() == size_of::<std::fs::File>());
const _: () = assert!(size_of::<FastClose<OwnedFile>>() == size_of::<OwnedFile>());

impl<H: FastCloseable> FastClose<H> {
    /// Wraps a file, as [`FastCloseable::fast_close`] does.
    pub fn new(handle: H) -> Self {
        const { assert!(size_of::<Self>() == size_of::<H>()) };
        Self(ManuallyDrop::new(handle))
    }

    /// Returns the file, to be closed in the usual way.
    pub fn into_inner(self) -> H {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is never dropped, so the handle is not used after this.
        unsafe { ManuallyDrop::take(&mut this.0) }
    }

    /// Closes the file on the calling thread. It blocks.
    ///
    /// # Errors
    ///
    /// The error of closing, or of writing bytes that were held back. The file is closed in any
    /// case.
    pub fn close(self) -> io::Result<()> {
        let closed = self.into_inner().into_handle().close();
        closed.map_err(|(_, reason)| reason)
    }
}

impl<H: FastCloseable> Drop for FastClose<H> {
    fn drop(&mut self) {
        // SAFETY: `self` is being dropped, so the handle is not used after this.
        let handle = unsafe { ManuallyDrop::take(&mut self.0) };
        let closer = Closer::global();
        if let Err(error) = closer.hand_over(handle.into_handle(), None, None, Receiver::Closer) {
            closer.report(error);
        }
    }
}

impl<H: FastCloseable> From<H> for FastClose<H> {
    fn from(handle: H) -> Self {
        Self::new(handle)
    }
}

impl<H: FastCloseable> Deref for FastClose<H> {
    type Target = H;

    fn deref(&self) -> &H {
        &self.0
    }
}

impl<H: FastCloseable> DerefMut for FastClose<H> {
    fn deref_mut(&mut self) -> &mut H {
        &mut self.0
    }
}

impl<H: FastCloseable> AsRef<H> for FastClose<H> {
    fn as_ref(&self) -> &H {
        self
    }
}

impl<H: FastCloseable> AsMut<H> for FastClose<H> {
    fn as_mut(&mut self) -> &mut H {
        self
    }
}

impl<H: FastCloseable + fmt::Debug> fmt::Debug for FastClose<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FastClose").field(&**self).finish()
    }
}

impl<H: FastCloseable + PartialEq> PartialEq for FastClose<H> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<H: FastCloseable + Eq> Eq for FastClose<H> {}

impl<H: FastCloseable + PartialOrd> PartialOrd for FastClose<H> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<H: FastCloseable + Ord> Ord for FastClose<H> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

/// Compares with a value that is not wrapped.
impl<H: FastCloseable + PartialEq> PartialEq<H> for FastClose<H> {
    fn eq(&self, other: &H) -> bool {
        **self == *other
    }
}

/// Compares with a value that is not wrapped.
impl<H: FastCloseable + PartialOrd> PartialOrd<H> for FastClose<H> {
    fn partial_cmp(&self, other: &H) -> Option<Ordering> {
        (**self).partial_cmp(other)
    }
}

impl<H: FastCloseable + Clone> Clone for FastClose<H> {
    fn clone(&self) -> Self {
        Self::new((**self).clone())
    }
}

impl<H: FastCloseable + Hash> Hash for FastClose<H> {
    fn hash<S: Hasher>(&self, state: &mut S) {
        (**self).hash(state);
    }
}

impl<H: FastCloseable + Read> Read for FastClose<H> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (**self).read(buffer)
    }

    fn read_vectored(&mut self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        (**self).read_vectored(buffers)
    }

    // The methods of `File` ask for its size, which saves allocations and the last `read`.
    fn read_to_end(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        (**self).read_to_end(buffer)
    }

    fn read_to_string(&mut self, buffer: &mut String) -> io::Result<usize> {
        (**self).read_to_string(buffer)
    }

    fn read_exact(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        (**self).read_exact(buffer)
    }
}

impl<H: FastCloseable + Write> Write for FastClose<H> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (**self).write(bytes)
    }

    fn write_vectored(&mut self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        (**self).write_vectored(buffers)
    }

    fn flush(&mut self) -> io::Result<()> {
        (**self).flush()
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        (**self).write_all(bytes)
    }

    fn write_fmt(&mut self, arguments: fmt::Arguments<'_>) -> io::Result<()> {
        (**self).write_fmt(arguments)
    }
}

impl<H: FastCloseable + Seek> Seek for FastClose<H> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        (**self).seek(position)
    }

    fn rewind(&mut self) -> io::Result<()> {
        (**self).rewind()
    }

    fn stream_position(&mut self) -> io::Result<u64> {
        (**self).stream_position()
    }
}

impl<H: FastCloseable + BufRead> BufRead for FastClose<H> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        (**self).fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        (**self).consume(amount);
    }
}

/// Reads through a shared reference, as `&File` does.
impl<H: FastCloseable> Read for &FastClose<H>
where
    for<'a> &'a H: Read,
{
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&mut &***self).read(buffer)
    }

    fn read_vectored(&mut self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        (&mut &***self).read_vectored(buffers)
    }

    fn read_to_end(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        (&mut &***self).read_to_end(buffer)
    }

    fn read_to_string(&mut self, buffer: &mut String) -> io::Result<usize> {
        (&mut &***self).read_to_string(buffer)
    }
}

impl<H: FastCloseable> Write for &FastClose<H>
where
    for<'a> &'a H: Write,
{
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&mut &***self).write(bytes)
    }

    fn write_vectored(&mut self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        (&mut &***self).write_vectored(buffers)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&mut &***self).flush()
    }
}

impl<H: FastCloseable> Seek for &FastClose<H>
where
    for<'a> &'a H: Seek,
{
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        (&mut &***self).seek(position)
    }
}
