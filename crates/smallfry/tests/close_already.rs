//! The same program with the crate `close_already` and with smallfry. A program that moves from one
//! to the other must not change its behaviour. On Windows that crate closes on threads, elsewhere
//! in place.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::ErrorKind;
use std::thread::sleep;
use std::time::Duration;

use smallfry::close::{Closer, Policy};

/// Tests that compile and pass with either crate.
macro_rules! behaves {
    ($name:ident, $from:path, $drain:expr) => {
        mod $name {
            use std::fs::File;
            use std::io::{BufReader, BufWriter, IoSlice, Read, Seek, SeekFrom, Write};

            use super::*;
            use $from as close;

            use close::{FastClose, FastCloseable};

            #[test]
            fn whole_files() {
                let directory = tempfile::tempdir().unwrap();
                let [a, b] = ["a", "b"].map(|name| directory.path().join(name));
                for text in ["", "some text", "less"] {
                    close::fs::write(&a, text).unwrap();
                    assert_eq!(close::fs::read(&a).unwrap(), text.as_bytes());
                    assert_eq!(close::fs::copy(&a, &b).unwrap(), text.len() as u64);
                    assert_eq!(close::fs::read_to_string(&b).unwrap(), text);
                }
                close::fs::write(&a, b"\xff").unwrap();
                let error = close::fs::read_to_string(&a).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::InvalidData);
                let missing = directory.path().join("no/such");
                assert_eq!(
                    close::fs::read(&missing).unwrap_err().kind(),
                    ErrorKind::NotFound
                );
                assert_eq!(
                    close::fs::write(&missing, "").unwrap_err().kind(),
                    ErrorKind::NotFound
                );
                assert_eq!(
                    close::fs::copy(&missing, &b).unwrap_err().kind(),
                    ErrorKind::NotFound
                );
                $drain;
            }

            #[test]
            fn a_wrapped_file() {
                let directory = tempfile::tempdir().unwrap();
                let path = directory.path().join("a");
                let file = File::create(&path).unwrap();
                let mut file: FastClose<File> = file.fast_close();
                assert_eq!(size_of_val(&file), size_of::<File>());
                file.write_all(b"one ").unwrap();
                assert_eq!(file.write_vectored(&[IoSlice::new(b"two")]).unwrap(), 3);
                file.flush().unwrap();
                file.sync_all().unwrap();
                assert_eq!(file.metadata().unwrap().len(), 7);
                assert!(format!("{file:?}").starts_with("FastClose("));
                drop(file);
                let mut file = FastClose::new(File::open(&path).unwrap());
                file.seek(SeekFrom::Start(4)).unwrap();
                let mut text = String::new();
                file.read_to_string(&mut text).unwrap();
                assert_eq!(text, "two");
                file.rewind().unwrap();
                assert_eq!(file.stream_position().unwrap(), 0);
                let file: File = file.into_inner();
                assert_eq!(file.metadata().unwrap().len(), 7);
                drop(FastClose::from(file));
                $drain;
            }

            #[test]
            fn many_files_behind_buffers() {
                let directory = tempfile::tempdir().unwrap();
                let path = |number: usize| directory.path().join(format!("{number}.glif"));
                std::thread::scope(|scope| {
                    for part in 0..2 {
                        let path = &path;
                        scope.spawn(move || {
                            for number in (part..500).step_by(2) {
                                let file = File::create(path(number)).unwrap().fast_close();
                                let mut file = BufWriter::new(file);
                                write!(file, "{number}").unwrap();
                                file.flush().unwrap();
                            }
                        });
                    }
                });
                // Closed or not, they can be read, replaced and renamed.
                for number in 0..500 {
                    let mut text = String::new();
                    let file = File::open(path(number)).unwrap().fast_close();
                    BufReader::new(file).read_to_string(&mut text).unwrap();
                    assert_eq!(text, number.to_string());
                    close::fs::write(path(number), "again").unwrap();
                }
                $drain;
                std::fs::rename(path(0), path(1000)).unwrap();
                assert_eq!(close::fs::read(path(1000)).unwrap(), b"again");
            }
        }
    };
}

// That crate has no means to wait. Only renaming needs it here, and half a second is plenty for
// that.
behaves!(theirs, close_already, sleep(Duration::from_millis(500)));
behaves!(
    ours,
    smallfry::close,
    assert!(Closer::global().drain().is_empty())
);

/// A program that was written for that crate.
mod their_program {
    use close_already::{FastClose, FastCloseable, fs};

    include!("close_already/program.rs");
}

/// The same program after its imports have changed.
mod our_program {
    use smallfry::close::{FastClose, FastCloseable, fs};

    include!("close_already/program.rs");
}

#[test]
fn a_program_prints_the_same_with_either_crate() {
    let [theirs, ours] = [tempfile::tempdir(), tempfile::tempdir()].map(Result::unwrap);
    let expected = their_program::run(theirs.path()).unwrap();
    assert_eq!(our_program::run(ours.path()).unwrap(), expected);
    assert!(Closer::global().drain().is_empty());
}

#[test]
fn ours_defers_on_windows_as_theirs_does() {
    // That crate always defers there. smallfry defers if told to, or if it finds closing slow.
    let closer = Closer::global();
    closer.set_policy(Policy::Always);
    let directory = tempfile::tempdir().unwrap();
    for number in 0..200 {
        smallfry::close::fs::write(directory.path().join(number.to_string()), "text").unwrap();
        close_already::fs::write(directory.path().join(format!("{number} too")), "text").unwrap();
    }
    assert!(closer.drain().is_empty());
    closer.set_policy(Policy::Auto);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 400);
}
