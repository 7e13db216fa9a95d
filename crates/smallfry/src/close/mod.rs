//! Closing files that were written, without waiting for it where it is slow.
//!
//! Where a virus scanner looks at each file that is closed, as on Windows, closing takes 1 to 10 ms; on a network file
//! system it sends what was written and waits for the answer. A program that has written a file has nothing to wait for:
//! other threads can close it. Where closing is fast, as on the disks of Linux, handing it over costs more than doing it,
//! so it is measured which is which, per file system and all the time.
//!
//! | job | call |
//! |---|---|
//! | have a [`std::fs::File`] closed well when it is dropped | [`fast_close`](FastCloseable::fast_close) |
//! | the same for files of tokio, smol and async-std | `fast_close`, with the feature of that backend |
//! | read, write or copy a whole file | [`fs`] |
//! | know that a file was closed without an error, at once | [`FastClose::close`] |
//! | know it of all of them, at the end | [`Closer::drain`] |
//! | close files always or never elsewhere, on whose threads, and be told of errors | [`Closer::global`] |
//! | remove, rename or make anew a file that may not be closed yet | [`Closer::settle`] before |
//!
//! ```
//! use smallfry::close::{Closer, FastCloseable};
//! use std::io::Write;
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("a");
//! let mut file = std::fs::File::create(&path)?.fast_close();
//! writeln!(file, "text")?;
//! drop(file);
//!
//! // What was written can be read, closed or not.
//! assert_eq!(std::fs::read_to_string(&path)?, "text\n");
//! for error in Closer::global().drain() {
//!     eprintln!("{error}");
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Errors
//!
//! Dropping a [`std::fs::File`] loses what closing it reports. Nothing is lost here: errors, with the path where it is known,
//! are kept for [`Closer::drain`] or told to a sink. On Linux and macOS the path of a file that came without one is asked for
//! before the file is closed, if its file system can report errors then.
//!
//! # What is not promised
//!
//! - **Nothing is flushed** to the disk by closing, now or later. A flush that is asked for, by
//!   [`File::sync_all`](std::fs::File::sync_all), is done when that returns, before the file is closed. What an async file
//!   holds back is written before it is closed.
//! - A close that is pending is an open file: it counts for the limit of the process, keeps a disk from being unmounted, and
//!   on Windows keeps who opens without sharing from doing so. Another process on another machine sees what was written to a
//!   network file system only once the file is closed.
//!
//! # From the crate `close_already`
//!
//! | there | here |
//! |---|---|
//! | `close_already::{FastClose, FastCloseable}` | [`FastClose`], [`FastCloseable`] |
//! | `close_already::fs::{read, read_to_string, write, copy}` | [`fs`], with [`Error`](crate::Error), which `?` turns into [`std::io::Error`] |
//! | feature `backend-threadpool`, the default | [`Backend::Threads`], always there |
//! | features `backend-blocking`, `-rayon`, `-smol`, `-async-std`, `-tokio`, one at a time | the same names, as many as you like, and [`Closer::set_backend`] in the program |
//! | Windows only | every system; what pays is measured, or said by [`Closer::set_policy`] |
//! | any number of files waiting | 384, and those beyond are closed by who drops them |
//! | errors are lost, the end of the process waits for nothing | [`Closer::drain`], [`Closer::set_sink`] |
//! | the tokio backend panics without a runtime, and closes on the threads that run futures | threads of smallfry without one; the runtime's blocking threads |
//! | `FastClose<H>` of any `H` | of [`FastCloseable`] types, which yours can be |
//!
//! The idea is that crate's, and before it rustup's and Mercurial's.

mod auto;
mod backends;
mod closer;
mod devices;
mod fast_close;
pub mod fs;
mod group;
mod handle;
mod pending;
mod pool;
mod process;
mod queue;

pub use backends::{Backend, Job};
pub use closer::{Closed, Closer, Policy};
pub use fast_close::{FastClose, FastCloseable};
pub(crate) use group::Group;
pub use handle::{Close, Handle};
