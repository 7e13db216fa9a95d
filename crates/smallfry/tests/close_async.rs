//! Threads and files of asynchronous runtimes. Each runtime treats a dropped file differently, and
//! leaves something else behind when it has ended. None of that may lose bytes or hang.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg_attr(
    not(all(
        feature = "backend-async-std",
        feature = "backend-smol",
        feature = "backend-tokio"
    )),
    allow(dead_code, unused_imports, reason = "for the files of one of them")
)]

use std::fs;
use std::io::{self, IoSlice, SeekFrom};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use smallfry::Operation;
use smallfry::close::{Backend, Close, Closer, FastClose, FastCloseable, Handle, Policy};
use smallfry::raw::BorrowedFile;

/// The backends of this build.
#[allow(deprecated, reason = "async-std is tested as long as it is offered")]
fn backends() -> Vec<Backend> {
    vec![
        Backend::Threads,
        #[cfg(feature = "backend-blocking")]
        Backend::Blocking,
        #[cfg(feature = "backend-rayon")]
        Backend::Rayon,
        #[cfg(feature = "backend-smol")]
        Backend::Smol,
        #[cfg(feature = "backend-async-std")]
        Backend::AsyncStd,
        #[cfg(feature = "backend-tokio")]
        Backend::Tokio,
    ]
}

const POLICIES: [Policy; 3] = [Policy::Always, Policy::Never, Policy::Auto];

/// The closer of the process, for one test at a time.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    Closer::global().set_policy(Policy::Always);
    turn
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap()
}

/// Counts where it is closed.
#[derive(Debug)]
struct Fake {
    closed: Arc<AtomicUsize>,
    elsewhere: Arc<AtomicUsize>,
    home: thread::ThreadId,
}

impl Close for Fake {
    fn close(self: Box<Self>) -> Result<(), (Operation, io::Error)> {
        self.closed.fetch_add(1, Ordering::SeqCst);
        let is_elsewhere = thread::current().id() != self.home;
        self.elsewhere
            .fetch_add(is_elsewhere.into(), Ordering::SeqCst);
        Ok(())
    }

    fn file(&self) -> Option<BorrowedFile<'_>> {
        None
    }

    // Otherwise it would never be given to a backend.
    fn is_idle(&self) -> bool {
        true
    }
}

/// Hands over a few hundred files, and returns how many are closed in the end.
fn hand_over() -> usize {
    let (closed, elsewhere) = (Arc::<AtomicUsize>::default(), Arc::default());
    for number in 0..300 {
        let fake = Fake {
            closed: Arc::clone(&closed),
            elsewhere: Arc::clone(&elsewhere),
            home: thread::current().id(),
        };
        let handle = Handle::new(fake);
        Closer::global().close(handle, number.to_string()).unwrap();
    }
    assert!(Closer::global().drain().is_empty());
    closed.load(Ordering::SeqCst)
}

/// Has no file to give away, and tells which thread drops it.
struct Archive(Sender<thread::ThreadId>);

impl FastCloseable for Archive {}

impl Drop for Archive {
    fn drop(&mut self) {
        self.0.send(thread::current().id()).unwrap();
    }
}

#[test]
fn every_backend_drops_a_value_without_a_file_on_another_thread() {
    let _turn = turn();
    Closer::global().set_policy(Policy::Auto);
    let drop_one = |backend: &Backend| {
        let (dropped, threads) = channel();
        drop(Archive(dropped).fast_close());
        // No thread drains, so only the backend can have dropped it.
        let thread = threads.recv().unwrap();
        assert_ne!(thread, thread::current().id(), "{backend:?}");
        Closer::global().wait();
        assert!(threads.recv().is_err(), "{backend:?}: dropped twice");
    };
    for backend in backends() {
        Closer::global().set_backend(backend.clone());
        drop_one(&backend);
        runtime().block_on(async { drop_one(&backend) });
        smol::block_on(async { drop_one(&backend) });
    }
    Closer::global().set_backend(Backend::Threads);
    assert!(Closer::global().drain().is_empty());
}

#[test]
fn every_backend_closes_inside_outside_and_after_every_runtime() {
    let _turn = turn();
    for backend in backends() {
        Closer::global().set_backend(backend.clone());
        assert_eq!(hand_over(), 300, "{backend:?}, no runtime");
        let runtime = runtime();
        assert_eq!(runtime.block_on(async { hand_over() }), 300, "{backend:?}");
        let task = runtime.spawn(async { hand_over() });
        assert_eq!(runtime.block_on(task).unwrap(), 300, "{backend:?}, task");
        let entered = runtime.enter();
        assert_eq!(hand_over(), 300, "{backend:?}, entered");
        drop(entered);
        // The context of a runtime that has ended.
        let handle = runtime.handle().clone();
        drop(runtime);
        let entered = handle.enter();
        assert_eq!(hand_over(), 300, "{backend:?}, ended");
        drop(entered);
        assert_eq!(smol::block_on(async { hand_over() }), 300, "{backend:?}");
        let task = smol::spawn(async { hand_over() });
        assert_eq!(smol::block_on(task), 300, "{backend:?}, smol");
        #[cfg(feature = "backend-async-std")]
        {
            let task = async_std::task::spawn(async { hand_over() });
            assert_eq!(async_std::task::block_on(task), 300, "{backend:?}");
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        // The only thread of the pool waits, so no other thread can run jobs.
        assert_eq!(pool.install(hand_over), 300, "{backend:?}, rayon");
        let mut one = tokio::runtime::Builder::new_current_thread();
        let one = one.max_blocking_threads(1).build().unwrap();
        assert_eq!(one.block_on(async { hand_over() }), 300, "{backend:?}");
    }
    Closer::global().set_backend(Backend::Threads);
}

#[cfg(feature = "backend-tokio")]
#[test]
fn a_runtime_may_end_while_files_wait() {
    let _turn = turn();
    Closer::global().set_backend(Backend::Tokio);
    for _ in 0..20 {
        let directory = tempfile::tempdir().unwrap();
        let runtime = runtime();
        runtime.block_on(async {
            for number in 0..100 {
                use tokio::io::AsyncWriteExt;
                let path = directory.path().join(number.to_string());
                let mut file = tokio::fs::File::create(path).await.unwrap().fast_close();
                file.write_all(b"text").await.unwrap();
            }
        });
        runtime.shutdown_background();
        let errors = Closer::global().drain();
        let unwritten = (0..100).filter(|number| {
            fs::read(directory.path().join(number.to_string())).unwrap() != b"text"
        });
        // A write that the runtime gave up cannot be repeated, but it is reported.
        assert!(unwritten.count() <= errors.len(), "{errors:?}");
        assert_eq!(Closer::global().pending(), 0);
    }
    Closer::global().set_backend(Backend::Threads);
}

#[cfg(any(
    feature = "backend-async-std",
    feature = "backend-smol",
    feature = "backend-tokio"
))]
#[track_caller]
fn check_written(path: &Path) {
    let errors = Closer::global().drain();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(fs::read(path).unwrap(), b"one two three");
}

#[cfg(feature = "backend-tokio")]
#[test]
fn files_of_tokio_are_closed() {
    use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWrite, AsyncWriteExt};
    let _turn = turn();
    let runtime = runtime();
    for policy in POLICIES {
        Closer::global().set_policy(policy);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        runtime.block_on(async {
            let mut file = tokio::fs::File::create(&path).await.unwrap().fast_close();
            assert_eq!(size_of_val(&file), size_of::<tokio::fs::File>());
            file.write_all(b"one ").await.unwrap();
            let parts = [IoSlice::new(b"two "), IoSlice::new(b"three")];
            let mut written = file.write_vectored(&parts).await.unwrap();
            while written < 9 {
                written += file.write(&b"two three"[written..]).await.unwrap();
            }
            let _: bool = file.is_write_vectored();
            // Dropped without a flush.
        });
        check_written(&path);
        runtime.block_on(async {
            let mut file = FastClose::new(tokio::fs::File::open(&path).await.unwrap());
            file.seek(SeekFrom::Start(4)).await.unwrap();
            let mut text = String::new();
            file.read_to_string(&mut text).await.unwrap();
            assert_eq!(text, "two three");
        });
        // Outside of the runtime, with a call in flight.
        let mut file = runtime.block_on(async {
            let mut file = tokio::fs::File::create(&path).await.unwrap().fast_close();
            file.write_all(b"one two three").await.unwrap();
            file
        });
        assert!(file.max_buf_size() > 0);
        file.set_max_buf_size(1 << 20);
        drop(file);
        check_written(&path);
        // A call whose future was dropped still has the file.
        runtime.block_on(async {
            let file = tokio::fs::File::open(&path).await.unwrap().fast_close();
            let mut sync = Box::pin(file.sync_all());
            let _ = futures_poll(sync.as_mut());
            drop(sync);
            drop(file);
        });
        check_written(&path);
    }
}

#[cfg(feature = "backend-tokio")]
#[test]
fn many_files_of_tokio_can_be_dropped_at_once() {
    use tokio::io::AsyncWriteExt;
    let _turn = turn();
    let directory = tempfile::tempdir().unwrap();
    let path = |number: usize| directory.path().join(number.to_string());
    for runtime in &mut [
        tokio::runtime::Builder::new_current_thread(),
        tokio::runtime::Builder::new_multi_thread(),
    ] {
        // More than a task may do in one turn by tokio's count, and more than the queue can hold.
        runtime.build().unwrap().block_on(async {
            let mut files = Vec::new();
            for number in 0..600 {
                let mut file = tokio::fs::File::create(path(number))
                    .await
                    .unwrap()
                    .fast_close();
                file.write_all(b"text").await.unwrap();
                files.push(file);
            }
            drop(files);
            assert!(Closer::global().drain().is_empty());
        });
        assert!((0..600).all(|number| fs::read(path(number)).unwrap() == b"text"));
    }
}

/// Blocks the thread that closes it until it is told that others went on.
#[cfg(feature = "backend-tokio")]
#[derive(Debug)]
struct Held(Receiver<()>);

#[cfg(feature = "backend-tokio")]
impl Close for Held {
    fn close(self: Box<Self>) -> Result<(), (Operation, io::Error)> {
        self.0.recv().unwrap();
        Ok(())
    }

    fn file(&self) -> Option<BorrowedFile<'_>> {
        None
    }

    fn is_idle(&self) -> bool {
        true
    }
}

#[cfg(feature = "backend-tokio")]
#[test]
fn a_pool_of_one_thread_does_not_wait_for_itself() {
    use tokio::io::AsyncWriteExt;
    let _turn = turn();
    Closer::global().set_backend(Backend::Tokio);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    let mut one = tokio::runtime::Builder::new_current_thread();
    let one = one.max_blocking_threads(1).build().unwrap();
    one.block_on(async {
        let mut file = tokio::fs::File::create(&path).await.unwrap().fast_close();
        let (go_on, held) = channel();
        Closer::global()
            .close(Handle::new(Held(held)), "held")
            .unwrap();
        // Its write waits behind the job that blocks the only thread, and its close waits for the
        // write.
        file.write_all(b"one two three").await.unwrap();
        drop(file);
        go_on.send(()).unwrap();
    });
    check_written(&path);
    Closer::global().set_backend(Backend::Threads);
}

/// Polls once.
#[cfg(feature = "backend-tokio")]
fn futures_poll<F: Future>(future: std::pin::Pin<&mut F>) -> std::task::Poll<F::Output> {
    future.poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
}

#[cfg(feature = "backend-smol")]
#[test]
fn files_of_smol_are_closed() {
    use smol::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
    let _turn = turn();
    for policy in POLICIES {
        Closer::global().set_policy(policy);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        smol::block_on(async {
            let mut file = smol::fs::File::create(&path).await.unwrap().fast_close();
            assert_eq!(size_of_val(&file), size_of::<smol::fs::File>());
            file.write_all(b"one ").await.unwrap();
            let parts = [IoSlice::new(b"two three")];
            let written = file.write_vectored(&parts).await.unwrap();
            file.write_all(&b"two three"[written..]).await.unwrap();
        });
        check_written(&path);
        smol::block_on(async {
            let mut file = smol::fs::File::open(&path).await.unwrap().fast_close();
            file.seek(SeekFrom::Start(4)).await.unwrap();
            let mut text = String::new();
            file.read_to_string(&mut text).await.unwrap();
            assert_eq!(text, "two three");
            file.close().unwrap();
        });
    }
}

#[cfg(feature = "backend-async-std")]
#[test]
fn files_of_async_std_are_closed() {
    use async_std::io::prelude::{ReadExt, SeekExt, WriteExt};
    let _turn = turn();
    for policy in POLICIES {
        Closer::global().set_policy(policy);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        async_std::task::block_on(async {
            let mut file = async_std::fs::File::create(&path)
                .await
                .unwrap()
                .fast_close();
            assert_eq!(size_of_val(&file), size_of::<async_std::fs::File>());
            file.write_all(b"one ").await.unwrap();
            let parts = [IoSlice::new(b"two three")];
            let written = file.write_vectored(&parts).await.unwrap();
            file.write_all(&b"two three"[written..]).await.unwrap();
        });
        check_written(&path);
        async_std::task::block_on(async {
            let mut file = async_std::fs::File::open(&path).await.unwrap().fast_close();
            file.seek(SeekFrom::Start(4)).await.unwrap();
            let mut text = String::new();
            file.read_to_string(&mut text).await.unwrap();
            assert_eq!(text, "two three");
        });
    }
}

/// Every write to it fails. Asynchronous files learn that only after they have reported success.
#[cfg(target_os = "linux")]
const FULL: &str = "/dev/full";

#[cfg(all(target_os = "linux", feature = "backend-tokio"))]
#[test]
fn late_write_errors_of_tokio_are_reported() {
    use tokio::io::AsyncWriteExt;
    let _turn = turn();
    let runtime = runtime();
    for policy in POLICIES {
        Closer::global().set_policy(policy);
        runtime.block_on(async {
            let mut options = tokio::fs::OpenOptions::new();
            let mut file = options.write(true).open(FULL).await.unwrap().fast_close();
            file.write_all(b"text").await.unwrap();
        });
        check_full(policy);
    }
}

#[cfg(all(target_os = "linux", feature = "backend-smol"))]
#[test]
fn late_write_errors_of_smol_are_reported() {
    use smol::io::AsyncWriteExt;
    let _turn = turn();
    for policy in POLICIES {
        Closer::global().set_policy(policy);
        smol::block_on(async {
            let mut options = smol::fs::OpenOptions::new();
            let mut file = options.write(true).open(FULL).await.unwrap().fast_close();
            file.write_all(b"text").await.unwrap();
        });
        check_full(policy);
    }
}

#[cfg(all(target_os = "linux", feature = "backend-async-std"))]
#[test]
fn late_write_errors_of_async_std_are_reported() {
    use async_std::io::prelude::WriteExt;
    let _turn = turn();
    for policy in POLICIES {
        Closer::global().set_policy(policy);
        async_std::task::block_on(async {
            let mut options = async_std::fs::OpenOptions::new();
            let mut file = options.write(true).open(FULL).await.unwrap().fast_close();
            file.write_all(b"text").await.unwrap();
        });
        check_full(policy);
    }
}

#[cfg(target_os = "linux")]
#[cfg(any(
    feature = "backend-async-std",
    feature = "backend-smol",
    feature = "backend-tokio"
))]
fn check_full(policy: Policy) {
    let errors = Closer::global().drain();
    assert_eq!(errors.len(), 1, "{policy:?}");
    assert_eq!(errors[0].operation(), Operation::Write);
    assert_eq!(errors[0].raw_os_error(), Some(libc::ENOSPC));
    assert_eq!(errors[0].path(), Some(Path::new(FULL)));
}
