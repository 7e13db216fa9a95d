//! Files closed by other threads. The danger is a file that is never closed or closed twice, an
//! error without its path, and a wait without end.
//!
//! A closer belongs to the process, so these tests take turns.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(
    clippy::similar_names,
    reason = "a closer has closed what is to be closed"
)]

use std::collections::HashSet;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use smallfry::Operation;
use smallfry::bulk::{Files, Writer};
use smallfry::close::{
    self, Backend, Close, Closed, Closer, FastClose, FastCloseable, Handle, Policy,
};
use smallfry::raw::BorrowedFile;

/// The closer of the process, in its initial state, for one test at a time.
struct Turn(#[expect(dead_code, reason = "held")] MutexGuard<'static, ()>);

fn turn(policy: Policy) -> Turn {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = Turn(TURN.lock().unwrap_or_else(PoisonError::into_inner));
    Closer::global().set_policy(policy);
    turn
}

impl Drop for Turn {
    fn drop(&mut self) {
        let closer = Closer::global();
        closer.set_backend(Backend::Threads);
        closer.remove_sink();
        closer.drain();
        closer.set_policy(Policy::Auto);
    }
}

/// A handle that counts closes, and whose close ends as told.
#[derive(Debug)]
struct Fake {
    closed: Arc<AtomicUsize>,
    ends: Ends,
}

#[derive(Clone, Copy, Debug)]
enum Ends {
    Well,
    Badly,
    InPanic,
}

impl Close for Fake {
    fn close(self: Box<Self>) -> Result<(), (Operation, io::Error)> {
        self.closed.fetch_add(1, Ordering::SeqCst);
        match self.ends {
            Ends::Well => Ok(()),
            Ends::Badly => Err((Operation::Close, io::Error::from_raw_os_error(5))),
            Ends::InPanic => panic!("as asked"),
        }
    }

    fn file(&self) -> Option<BorrowedFile<'_>> {
        None
    }

    fn is_idle(&self) -> bool {
        true
    }
}

impl FastCloseable for Fake {
    fn into_handle(self) -> Handle {
        Handle::new(self)
    }
}

fn fake(ends: Ends) -> (Fake, Arc<AtomicUsize>) {
    let closed = Arc::default();
    let fake = Fake {
        closed: Arc::clone(&closed),
        ends,
    };
    (fake, closed)
}

#[test]
fn a_wrapper_behaves_like_its_file() {
    let _turn = turn(Policy::Always);
    let mut file = tempfile::tempfile().unwrap().fast_close();
    assert_eq!(size_of_val(&file), size_of::<File>());
    file.write_all(b"one two").unwrap();
    assert_eq!(
        file.write_vectored(&[io::IoSlice::new(b" three")]).unwrap(),
        6
    );
    file.flush().unwrap();
    file.seek(SeekFrom::Start(4)).unwrap();
    let mut text = String::new();
    (&file).read_to_string(&mut text).unwrap();
    assert_eq!(text, "two three");
    file.rewind().unwrap();
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, b"one two three");
    assert_eq!(file.stream_position().unwrap(), 13);
    assert_eq!(file.metadata().unwrap().len(), 13);
    assert!(format!("{file:?}").starts_with("FastClose(File"));
    file.sync_all().unwrap();
    let plain: File = file.into_inner();
    assert_eq!(plain.metadata().unwrap().len(), 13);
    FastClose::from(plain).close().unwrap();
}

/// A value that can be compared, and read by lines.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Text(&'static [u8]);

impl FastCloseable for Text {
    fn into_handle(self) -> Handle {
        fake(Ends::Well).0.into_handle()
    }
}

impl Read for Text {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl BufRead for Text {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.0.consume(amount);
    }
}

#[test]
fn wrappers_compare_like_their_values() {
    let _turn = turn(Policy::Always);
    let [one, two] = [b"1\nx", b"2\ny"].map(|text| Text(text).fast_close());
    assert!(one < two && one != two && one == Text(b"1\nx").fast_close());
    assert!(one == Text(b"1\nx") && one != Text(b"2\ny") && one < Text(b"2\ny"));
    let hash = |value: &dyn Fn(&mut DefaultHasher)| {
        let mut hasher = DefaultHasher::new();
        value(&mut hasher);
        hasher.finish()
    };
    assert_eq!(hash(&|it| one.hash(it)), hash(&|it| one.as_ref().hash(it)));
    let lines: Vec<String> = one.lines().map(Result::unwrap).collect();
    assert_eq!(lines, ["1", "x"]);
}

#[test]
fn no_error_of_many_is_lost() {
    let _turn = turn(Policy::Always);
    let directory = tempfile::tempdir().unwrap();
    let count = 100_000;
    let sent = Arc::new(AtomicUsize::new(0));
    // Four threads hand files over, some through the queue and, when it is full, by closing them
    // themselves.
    let returned: Vec<PathBuf> = thread::scope(|scope| {
        let work = |part: usize| {
            let (directory, sent) = (directory.path(), &sent);
            move || {
                let mut returned = Vec::new();
                for number in (0..count).filter(|number| number % 4 == part) {
                    let ends = if number % 97 == 0 {
                        Ends::Badly
                    } else {
                        Ends::Well
                    };
                    let (fake, _) = fake(ends);
                    sent.fetch_add(1, Ordering::Relaxed);
                    let path = directory.join(number.to_string());
                    if let Err(error) = Closer::global().close(Handle::new(fake), &path) {
                        assert_eq!(error.path(), Some(&*path));
                        returned.push(path);
                    }
                }
                returned
            }
        };
        let threads: Vec<_> = (0..4).map(|part| scope.spawn(work(part))).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    let errors = Closer::global().drain();
    assert!(
        errors
            .iter()
            .all(|error| error.operation() == Operation::Close)
    );
    assert!(errors.iter().all(|error| error.raw_os_error() == Some(5)));
    let kept = errors
        .iter()
        .filter_map(|error| Some(error.path()?.to_owned()));
    let all: Vec<PathBuf> = returned.into_iter().chain(kept).collect();
    assert_eq!(sent.load(Ordering::Relaxed), count);
    assert_eq!(all.len(), count.div_ceil(97));
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    assert!(Closer::global().drain().is_empty());
}

#[test]
fn a_sink_is_told_and_may_panic() {
    let _turn = turn(Policy::Always);
    let closer = Closer::global();
    closer
        .close(Handle::new(fake(Ends::Badly).0), "kept")
        .unwrap();
    closer.wait();
    let (send, receive) = channel();
    let send = Mutex::new(send);
    closer.set_sink(move |error| {
        assert!(error.path() != Some(Path::new("boom")), "as asked");
        // Calls that a sink makes must not wait for the sink itself.
        let (inner, closed) = fake(Ends::Well);
        drop(inner.fast_close());
        assert_eq!(closed.load(Ordering::SeqCst), 1);
        Closer::global().wait();
        Closer::global().wait_for("x");
        send.lock().unwrap().send(error).unwrap();
    });
    let told: smallfry::Error = receive.recv().unwrap();
    assert_eq!(told.path(), Some(Path::new("kept")));

    for path in ["one", "boom", "two"] {
        closer
            .close(Handle::new(fake(Ends::Badly).0), path)
            .unwrap();
    }
    closer.wait();
    let mut told: Vec<_> = receive.try_iter().collect();
    told.sort_by_key(|error| error.path().map(Path::to_owned));
    let told: Vec<String> = told.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2);
    assert!(told[0].starts_with("close one: "), "{told:?}");
    // The error at which the sink panicked is not lost.
    closer.remove_sink();
    let left = closer.drain();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].path(), Some(Path::new("boom")));
    assert_eq!(left[0].raw_os_error(), Some(5));
}

#[test]
fn a_close_that_panics_is_an_error_of_its_file() {
    let _turn = turn(Policy::Always);
    let closer = Closer::global();
    let (fake, closed) = fake(Ends::InPanic);
    closer.close(Handle::new(fake), "a").unwrap();
    let errors = closer.drain();
    assert_eq!(errors[0].to_string(), "close a: panicked: as asked");
    assert_eq!(closed.load(Ordering::SeqCst), 1);
}

/// Panics again when the payload of its panic is dropped.
struct Stubborn;

impl Drop for Stubborn {
    fn drop(&mut self) {
        panic!("as asked");
    }
}

/// Panics in everything.
#[derive(Debug)]
struct Panics;

impl Close for Panics {
    fn close(self: Box<Self>) -> Result<(), (Operation, io::Error)> {
        std::panic::panic_any(Stubborn)
    }

    fn file(&self) -> Option<BorrowedFile<'_>> {
        std::panic::panic_any(Stubborn)
    }

    fn is_idle(&self) -> bool {
        std::panic::panic_any(Stubborn)
    }
}

#[test]
fn panics_cause_no_endless_wait() {
    for policy in [Policy::Always, Policy::Auto, Policy::Never] {
        let _turn = turn(policy);
        let closer = Closer::global();
        let closed = closer.close(Handle::new(Panics), "a");
        let here = usize::from(closed.is_err());
        let told = closer.drain();
        assert_eq!(told.len() + here, 1, "{policy:?}, {told:?}");

        closer.set_sink(|_| std::panic::panic_any(Stubborn));
        drop(FastClose::from(fake(Ends::Badly).0));
        closer.wait();
        closer.remove_sink();
        assert_eq!(closer.drain().len(), 1, "{policy:?}");
        assert_eq!(closer.pending(), 0);
    }
}

#[test]
fn files_dropped_in_a_panic_are_closed() {
    for policy in [Policy::Always, Policy::Never, Policy::Auto] {
        let _turn = turn(policy);
        let (fake, closed) = fake(Ends::Well);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _file = fake.fast_close();
            panic!("as asked");
        }));
        assert!(panicked.is_err());
        Closer::global().wait();
        assert_eq!(closed.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn files_in_thread_local_storage_are_closed() {
    thread_local! {
        static LEFT: std::cell::RefCell<Vec<FastClose<Fake>>> = const { std::cell::RefCell::new(Vec::new()) };
    }
    let _turn = turn(Policy::Always);
    let (fake, closed) = fake(Ends::Well);
    let leave = || LEFT.with_borrow_mut(|left| left.push(fake.fast_close()));
    thread::spawn(leave).join().unwrap();
    Closer::global().wait();
    assert_eq!(closed.load(Ordering::SeqCst), 1);
}

/// Has no file to give away, and tells which thread drops it.
struct Archive {
    dropped: Sender<thread::ThreadId>,
    panics: bool,
}

impl FastCloseable for Archive {}

impl Drop for Archive {
    fn drop(&mut self) {
        self.dropped.send(thread::current().id()).unwrap();
        assert!(!self.panics, "as asked");
    }
}

fn archive(panics: bool) -> (FastClose<Archive>, Receiver<thread::ThreadId>) {
    let (dropped, threads) = channel();
    (Archive { dropped, panics }.fast_close(), threads)
}

#[test]
fn a_value_without_a_file_is_dropped_by_a_closing_thread() {
    for policy in [Policy::Auto, Policy::Always] {
        let _turn = turn(policy);
        let (value, threads) = archive(false);
        drop(value);
        // No thread drains, so only a closing thread can have dropped it.
        assert_ne!(threads.recv().unwrap(), thread::current().id());
        Closer::global().wait();
        assert!(threads.recv().is_err(), "dropped twice");
    }
}

#[test]
fn a_value_without_a_file_is_dropped_here_if_asked() {
    let here = Ok(thread::current().id());
    let _turn = turn(Policy::Never);
    let (value, threads) = archive(false);
    drop(value);
    assert_eq!(threads.try_recv(), here);

    Closer::global().set_policy(Policy::Always);
    let (value, threads) = archive(false);
    value.close().unwrap();
    assert_eq!(threads.try_recv(), here);
    let (value, threads) = archive(false);
    let value = value.into_inner();
    assert!(threads.try_recv().is_err());
    drop(value);
    assert_eq!(threads.try_recv(), here);
}

#[test]
fn a_drop_that_panics_is_an_error() {
    for policy in [Policy::Auto, Policy::Always, Policy::Never] {
        let _turn = turn(policy);
        let (value, _threads) = archive(true);
        drop(value);
        let errors = Closer::global().drain();
        assert_eq!(errors.len(), 1, "{policy:?}");
        assert_eq!(errors[0].operation(), Operation::Close);
        assert!(errors[0].to_string().contains("as asked"), "{policy:?}");
    }
}

/// The way in which a backend runs a job.
type Spawn = fn(close::Job);

#[test]
fn backends_that_refuse_work_are_replaced() {
    let _turn = turn(Policy::Always);
    let closer = Closer::global();
    let backends: [(&str, Spawn); 6] = [
        ("drops", |job| drop(job)),
        ("panics", |_| panic!("as asked")),
        ("drops later", |job| {
            thread::spawn(move || drop(job));
        }),
        ("at once", close::Job::run),
        ("on a thread", |job| {
            thread::spawn(|| job.run());
        }),
        ("runs when it is too late", |job| {
            thread::spawn(|| {
                thread::sleep(Duration::from_millis(20));
                job.run();
            });
        }),
    ];
    for (name, spawn) in backends {
        closer.set_backend(Backend::Custom(Arc::new(spawn)));
        let counts: Vec<_> = (0..200)
            .map(|number: i32| {
                let (fake, closed) = fake(Ends::Well);
                closer.close(Handle::new(fake), number.to_string()).unwrap();
                closed
            })
            .collect();
        assert!(closer.drain().is_empty(), "{name}");
        for closed in counts {
            assert_eq!(closed.load(Ordering::SeqCst), 1, "{name}");
        }
    }
}

#[test]
fn a_backend_that_keeps_its_jobs_is_abandoned() {
    let _turn = turn(Policy::Always);
    let closer = Closer::global();
    let kept: Arc<Mutex<Vec<close::Job>>> = Arc::default();
    let keep = Arc::clone(&kept);
    closer.set_backend(Backend::Custom(Arc::new(move |job| {
        keep.lock().unwrap().push(job);
    })));
    let hand_over = || drop(fake(Ends::Well).0.fast_close());
    (0..20).for_each(|_| hand_over());
    assert_eq!(closer.pending(), 20);
    closer.set_backend(Backend::Threads);
    hand_over();
    // No thread drains, and no other thread closes.
    while closer.pending() > 0 {
        thread::sleep(Duration::from_millis(1));
    }
    // Jobs that come too late find nothing, and take no place of others.
    let jobs = std::mem::take(&mut *kept.lock().unwrap());
    for (index, job) in jobs.into_iter().enumerate() {
        if index % 2 == 0 {
            job.run();
        }
    }
    (0..20).for_each(|_| hand_over());
    while closer.pending() > 0 {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Its close ends only after [`open`](Gate::open) was called.
#[derive(Clone, Debug, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }
}

impl Close for Gate {
    fn close(self: Box<Self>) -> Result<(), (Operation, io::Error)> {
        let is_shut = |open: &mut bool| !*open;
        drop(
            self.0
                .1
                .wait_while(self.0.0.lock().unwrap(), is_shut)
                .unwrap(),
        );
        Ok(())
    }

    fn file(&self) -> Option<BorrowedFile<'_>> {
        None
    }
}

#[test]
fn wait_for_waits_only_for_closes_of_that_file() {
    let _turn = turn(Policy::Always);
    let closer = Closer::global();
    let (one, unknown) = (Gate::default(), Gate::default());
    let closed = closer.close(Handle::new(one.clone()), "dir/one").unwrap();
    assert_eq!(closed, Closed::Later);
    // Returns although the gate is shut.
    closer.wait_for("other/two");
    let returned = AtomicUsize::new(0);
    thread::scope(|scope| {
        let wait = || {
            closer.wait_for("elsewhere/../dir/one");
            returned.fetch_add(1, Ordering::SeqCst)
        };
        let thread = scope.spawn(wait);
        thread::sleep(Duration::from_millis(20));
        assert_eq!(returned.load(Ordering::SeqCst), 0);
        one.open();
        thread.join().unwrap();

        // A handle without a path may be any file.
        let report = |gate: Gate| closer.close(Handle::new(gate), "..").unwrap();
        report(unknown.clone());
        let thread = scope.spawn(wait);
        thread::sleep(Duration::from_millis(20));
        assert_eq!(returned.load(Ordering::SeqCst), 1);
        unknown.open();
        thread.join().unwrap();
    });
    assert_eq!(closer.drain().len(), 0);
    assert_eq!(closer.pending(), 0);
}

#[test]
fn wait_for_ends_while_other_files_are_pending() {
    let _turn = turn(Policy::Always);
    let closer = Closer::global();
    let is_done = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                // None has a known path, so each may be the file.
                while is_done.load(Ordering::SeqCst) == 0 {
                    drop(Slow.fast_close());
                }
            });
        }
        thread::sleep(Duration::from_millis(20));
        for _ in 0..5 {
            closer.wait_for("unrelated");
        }
        is_done.store(1, Ordering::SeqCst);
    });
    assert!(closer.drain().is_empty());
}

/// Takes a while to close.
#[derive(Debug)]
struct Slow;

impl Close for Slow {
    fn close(self: Box<Self>) -> Result<(), (Operation, io::Error)> {
        thread::sleep(Duration::from_millis(1));
        Ok(())
    }

    fn file(&self) -> Option<BorrowedFile<'_>> {
        None
    }

    fn is_idle(&self) -> bool {
        true
    }
}

impl FastCloseable for Slow {
    fn into_handle(self) -> Handle {
        Handle::new(self)
    }
}

#[test]
fn the_queue_is_bounded() {
    let _turn = turn(Policy::Always);
    let closer = Closer::global();
    let gate = Gate::default();
    for number in 0..384 {
        let closed = closer.close(Handle::new(gate.clone()), number.to_string());
        assert_eq!(closed.unwrap(), Closed::Later, "{number}");
    }
    assert_eq!(closer.pending(), 384);
    for _ in 0..1000 {
        let (fake, count) = fake(Ends::Well);
        let closed = closer.close(Handle::new(fake), "here").unwrap();
        assert_eq!((closed, count.load(Ordering::SeqCst)), (Closed::Now, 1));
    }
    assert_eq!(closer.pending(), 384);
    gate.open();
    closer.wait();
    assert_eq!(closer.pending(), 0);
}

#[test]
fn drain_waits_for_files_handed_over_before() {
    let _turn = turn(Policy::Always);
    let closer = Closer::global();
    let (early, late) = (Gate::default(), Gate::default());
    closer.close(Handle::new(early.clone()), "early").unwrap();
    thread::scope(|scope| {
        let (begins, begun) = channel();
        let waiter = scope.spawn(move || {
            begins.send(()).unwrap();
            closer.wait();
        });
        // On a busy machine the thread may begin late, and would then wait for the late file, too.
        begun.recv().unwrap();
        thread::sleep(Duration::from_millis(100));
        closer.close(Handle::new(late.clone()), "late").unwrap();
        early.open();
        waiter.join().unwrap();
        assert_eq!(closer.pending(), 1);
        late.open();
    });
}

#[test]
fn policy_never_defers_nothing() {
    let _turn = turn(Policy::Never);
    let (fake, closed) = fake(Ends::Badly);
    let error = Closer::global().close(Handle::new(fake), "a").unwrap_err();
    assert_eq!(error.operation(), Operation::Close);
    assert_eq!(closed.load(Ordering::SeqCst), 1);
    assert!(Closer::global().drain().is_empty());
}

#[test]
fn whole_files_are_read_and_written() {
    for policy in [Policy::Always, Policy::Never, Policy::Auto] {
        let _turn = turn(policy);
        let directory = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| directory.path().join(name));
        for text in ["", "long enough", "short"] {
            close::fs::write(&a, text).unwrap();
            assert_eq!(close::fs::read(&a).unwrap(), text.as_bytes());
            assert_eq!(close::fs::read_to_string(&a).unwrap(), text);
            assert_eq!(close::fs::copy(&a, &b).unwrap(), text.len() as u64);
            assert_eq!(fs::read_to_string(&b).unwrap(), text);
        }
        fs::write(&a, b"\xff").unwrap();
        let error = close::fs::read_to_string(&a).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        let missing = directory.path().join("no/such");
        for error in [
            close::fs::write(&missing, "").unwrap_err(),
            close::fs::read(&missing).unwrap_err(),
        ] {
            assert_eq!(error.operation(), Operation::Open);
            assert_eq!(error.path(), Some(&*missing));
        }
        let error = close::fs::copy(&missing, &b).unwrap_err();
        assert_eq!(error.operation(), Operation::Copy);
        let error = close::fs::copy(directory.path(), &b).unwrap_err();
        assert_eq!(error.operation(), Operation::Copy);
        assert!(Closer::global().drain().is_empty());
    }
}

#[test]
fn removed_files_can_be_made_again() {
    let _turn = turn(Policy::Always);
    let directory = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..50)
        .map(|number| directory.path().join(number.to_string()))
        .collect();
    for round in 0..4 {
        for path in &paths {
            close::fs::write(path, format!("{round}")).unwrap();
        }
        let removed = Files::new().remove(&paths);
        assert!(removed.iter().all(Result::is_ok));
        assert!(!paths.iter().any(|path| path.exists()));
    }
    for path in &paths {
        close::fs::write(path, "last").unwrap();
    }
    Closer::global().wait();
    fs::rename(directory.path().join("1"), directory.path().join("moved")).unwrap();
    assert_eq!(
        fs::read_to_string(directory.path().join("moved")).unwrap(),
        "last"
    );
}

#[test]
fn a_file_whose_close_failed_replaces_no_other() {
    let _turn = turn(Policy::Always);
    let closer = Closer::global();
    let directory = tempfile::tempdir().unwrap();
    let [good, bad] = ["good", "bad"].map(|name| directory.path().join(name));
    fs::write(&good, "good").unwrap();
    fs::write(&bad, "bad").unwrap();
    closer
        .close(Handle::new(fake(Ends::Badly).0), "x/bad")
        .unwrap();
    closer
        .close(Handle::new(fake(Ends::Badly).0), &bad)
        .unwrap();
    let error = smallfry::fs::rename(&bad, &good).unwrap_err();
    assert_eq!(error.operation(), Operation::Close);
    assert_eq!(error.path(), Some(&*bad));
    assert_eq!(fs::read(&good).unwrap(), b"good");
    // Reported once. The error of another file is kept.
    smallfry::fs::rename(&bad, &good).unwrap();
    assert_eq!(fs::read(&good).unwrap(), b"bad");
    let left = closer.drain();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].path(), Some(Path::new("x/bad")));
}

#[test]
fn a_batch_has_closed_its_files() {
    for policy in [Policy::Always, Policy::Never, Policy::Auto] {
        let _turn = turn(policy);
        let directory = tempfile::tempdir().unwrap();
        let entry = |number: usize| {
            (
                directory.path().join(number.to_string()),
                number.to_string(),
            )
        };
        let report = Writer::new().write((0..1000).map(entry));
        assert_eq!(report.written(), 1000);
        assert_eq!(Closer::global().pending(), 0);
        let report = Writer::new().fail_fast(true).write((0..10).map(entry));
        assert_eq!(report.written(), 10);
    }
}

#[test]
fn any_thread_can_hand_over_at_any_time() {
    let _turn = turn(Policy::Always);
    let closer = Closer::global();
    let counts: Vec<Arc<AtomicUsize>> = thread::scope(|scope| {
        let hand_over = || {
            let mut counts = Vec::new();
            for number in 0..2000 {
                let (fake, closed) = fake(Ends::Well);
                counts.push(closed);
                closer.close(Handle::new(fake), number.to_string()).unwrap();
                match number % 7 {
                    0 => closer.wait_for(number.to_string()),
                    1 if number % 70 == 1 => drop(closer.drain()),
                    _ => {}
                }
            }
            counts
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(hand_over)).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    closer.wait();
    assert!(
        counts
            .iter()
            .all(|closed| closed.load(Ordering::SeqCst) == 1)
    );
    assert_eq!(closer.pending(), 0);
}
