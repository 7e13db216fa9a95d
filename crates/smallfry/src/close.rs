//! Closes written files without waiting, where closing is slow.
//!
//! On Windows a virus scanner reads each file that is closed, which takes 1 to 10 ms. On a network
//! file system closing sends the contents and waits for the answer. The program need not wait:
//! other threads can close the file. Where closing is fast, as on local disks of Linux, another
//! thread costs more than it saves. So the closer measures it, for each file system, all the time.
//!
//! | job | call |
//! |---|---|
//! | defer the close of a [`std::fs::File`] when it is dropped | [`fast_close`](FastCloseable::fast_close) |
//! | the same for files of tokio, smol and async-std | `fast_close`, with the feature of that backend |
//! | read, write or copy a whole file | [`fs`] |
//! | close a file now and get its error | [`FastClose::close`] |
//! | wait for all closes and get their errors | [`Closer::drain`] |
//! | set the policy, the threads and an error sink | [`Closer::global`] |
//! | remove, rename or recreate a file that may not be closed yet | [`Closer::wait_for`] before |
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
//! // The contents can be read, whether or not the file is closed.
//! assert_eq!(std::fs::read_to_string(&path)?, "text\n");
//! for error in Closer::global().drain() {
//!     eprintln!("{error}");
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Errors
//!
//! Dropping a [`std::fs::File`] loses the error of closing it. The closer keeps errors for
//! [`Closer::drain`], or passes them to a sink, with the path if it is known. On Linux and macOS it
//! asks the system for the path of a file that came without one, if closing can fail on its file
//! system.
//!
//! # What is not promised
//!
//! - **A flush to the disk.** Closing flushes nothing. Call
//!   [`File::sync_all`](std::fs::File::sync_all) before. Bytes that an async file holds back are
//!   written before it is closed.
//! - **An early close.** A pending file is an open file: it counts for the descriptor limit, keeps
//!   a disk mounted, and on Windows keeps other programs from opening it without sharing. Other
//!   machines see the contents of a file on a network file system only once it is closed.
//!
//! # From the crate `close_already`
//!
//! | there | here |
//! |---|---|
//! | `close_already::{FastClose, FastCloseable}` | [`FastClose`], [`FastCloseable`] |
//! | `close_already::fs::{read, read_to_string, write, copy}` | [`fs`], with [`Error`](crate::Error), which `?` turns into [`std::io::Error`] |
//! | feature `backend-threadpool`, the default | [`Backend::Threads`], always there |
//! | features `backend-blocking`, `-rayon`, `-smol`, `-async-std`, `-tokio`, one at a time | the same names, as many as you like, and [`Closer::set_backend`] in the program |
//! | Windows only | every system; measured, or set by [`Closer::set_policy`] |
//! | any number of files wait | at most 384; further ones are closed by the dropping thread |
//! | errors are lost, and so are pending closes at the end of the process | [`Closer::drain`], [`Closer::set_sink`] |
//! | the tokio backend panics without a runtime, and closes on threads that run futures | threads of smallfry without a runtime, else its blocking threads |
//! | `FastClose<H>` of any `H` | of [`FastCloseable`] types, also of your own |
//! | `impl FastCloseable for Mine {}` | the same; [`into_handle`](FastCloseable::into_handle) keeps errors |
//!
//! The idea comes from that crate, and before it from rustup and Mercurial.

pub mod fs;

pub use crate::closer::{
    Backend, Close, Closed, Closer, FastClose, FastCloseable, Handle, Job, Policy,
};
