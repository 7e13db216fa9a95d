//! Writing whole files, compared with std, on the odd files where writing goes wrong, and without
//! leaking a descriptor.

mod common;

use std::fs;
use std::io::{self, ErrorKind};

use common::{Directory, assert_error};
use proptest::prelude::*;
use smallfry::{Durability, Operation, Outcome, WriteOptions};

#[test]
fn files_are_made_and_overwritten() {
    let directory = Directory::new();
    let path = directory.path("a");
    for contents in ["long enough", "short", "", "again"] {
        smallfry::fs::write(&path, contents).unwrap();
        assert_eq!(fs::read(&path).unwrap(), contents.as_bytes());
    }
}

#[test]
fn overwritten_files_get_their_new_length() {
    let directory = Directory::new();
    let (one, many) = (directory.path("one"), directory.path("many"));
    for level in [Durability::None, Durability::Data, Durability::Full] {
        let mut options = WriteOptions::new();
        options.overwrite(true).durability(level);
        let mut writer = smallfry::bulk::Writer::new();
        writer.overwrite(true).durability(level);
        // More than 1 MiB is not overwritten in place.
        for length in [11, 5, 0, 5, 20, 1 << 20, (1 << 20) + 1, (1 << 20) + 1, 5] {
            let contents = vec![b'0' + (length % 10) as u8; length];
            options.write(&one, &contents).unwrap();
            let report = writer.write([(&many, &contents)]);
            report.into_result().unwrap();
            assert!(fs::read(&one).unwrap() == contents, "{level:?} {length}");
            assert!(fs::read(&many).unwrap() == contents, "{level:?} {length}");
        }
    }
}

#[test]
fn append_makes_missing_files_and_adds_to_others() {
    let directory = Directory::new();
    let path = directory.path("a");
    for _ in 0..3 {
        smallfry::fs::append(&path, "ab").unwrap();
    }
    smallfry::fs::append(&path, "").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"ababab");
}

#[test]
fn create_new_refuses_existing_files() {
    let directory = Directory::new();
    let path = directory.path("a");
    let mut options = WriteOptions::new();
    options.create_new(true);
    assert_eq!(options.write(&path, "1").unwrap(), Outcome::Written);
    let error = options.write(&path, "2").unwrap_err();
    assert_error(
        &error,
        Operation::Open,
        Some(&path),
        ErrorKind::AlreadyExists,
    );
    options.append(true);
    let error = options.write(&path, "2").unwrap_err();
    assert_error(
        &error,
        Operation::Open,
        Some(&path),
        ErrorKind::AlreadyExists,
    );
    assert_eq!(fs::read(&path).unwrap(), b"1");
}

#[test]
fn missing_directories_are_made_only_if_asked() {
    let directory = Directory::new();
    let path = directory.path("b/c/d");
    let error = smallfry::fs::write(&path, "x").unwrap_err();
    assert_error(&error, Operation::Open, Some(&path), ErrorKind::NotFound);
    assert!(!directory.path("b").exists());

    let mut options = WriteOptions::new();
    options.create_parents(true);
    assert_eq!(options.write(&path, "x").unwrap(), Outcome::Written);
    assert_eq!(options.write(&path, "y").unwrap(), Outcome::Written);
    assert_eq!(fs::read(&path).unwrap(), b"y");

    // A file stands where a directory should be. The open itself says so, but on Windows only that
    // there is no directory.
    let below = path.join("e");
    let error = options.write(&below, "x").unwrap_err();
    let (operation, at, kind) = if cfg!(windows) {
        (Operation::Mkdir, &path, ErrorKind::AlreadyExists)
    } else {
        (Operation::Open, &below, ErrorKind::NotADirectory)
    };
    assert_error(&error, operation, Some(at), kind);
    // An empty path has no directory to make.
    let error = options.write("", "x").unwrap_err();
    assert_error(
        &error,
        Operation::Open,
        Some("".as_ref()),
        ErrorKind::NotFound,
    );
}

#[test]
fn writing_a_directory_is_an_error() {
    let directory = Directory::new();
    let error = smallfry::fs::write(directory.path(""), "x").unwrap_err();
    assert_eq!(error.operation(), Operation::Open);
    let std_error = fs::write(directory.path(""), "x").unwrap_err();
    assert_eq!(error.raw_os_error(), std_error.raw_os_error());
}

#[test]
fn a_nul_in_the_path_is_an_error() {
    for length in [0, 10, 1000] {
        let path = format!("{}a\0b", "x".repeat(length));
        let error = smallfry::fs::write(&path, "x").unwrap_err();
        assert_error(
            &error,
            Operation::Open,
            Some(path.as_ref()),
            ErrorKind::InvalidInput,
        );
    }
}

#[test]
fn errors_print_operation_path_and_reason() {
    let directory = Directory::new();
    let path = directory.path("no/file");
    let error = smallfry::fs::write(&path, "x").unwrap_err();
    let printed = format!("open {}: {}", path.display(), error.io_error());
    assert_eq!(error.to_string(), printed);

    let error = io::Error::from(error);
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(error.to_string(), printed);
    let inner = error
        .get_ref()
        .unwrap()
        .downcast_ref::<smallfry::Error>()
        .unwrap();
    assert_eq!(inner.path(), Some(&*path));

    let to = directory.path("b");
    let error = smallfry::fs::copy(&path, &to).unwrap_err();
    assert_error(&error, Operation::Copy, Some(&path), ErrorKind::NotFound);
    assert_eq!(error.destination(), Some(&*to));
    let printed = format!("copy {} to {}: ", path.display(), to.display());
    assert!(error.to_string().starts_with(&printed));
}

#[test]
fn copy_agrees_with_std() {
    let directory = Directory::new();
    let (from, to) = (directory.path("a"), directory.path("b"));
    fs::write(&from, vec![7; 100_000]).unwrap();
    assert_eq!(smallfry::fs::copy(&from, &to).unwrap(), 100_000);
    assert_eq!(fs::read(&to).unwrap(), fs::read(&from).unwrap());

    // A failed copy leaves the destination as it is.
    for from in [directory.path(""), directory.path("missing")] {
        smallfry::fs::copy(&from, &to).unwrap_err();
        assert_eq!(fs::metadata(&to).unwrap().len(), 100_000);
    }
}

#[test]
fn unchanged_files_are_not_written() {
    let directory = Directory::new();
    let path = directory.path("a");
    let mut options = WriteOptions::new();
    options.only_if_changed(true);
    // Around the piece that is compared at a time, with a difference in each place that matters.
    for length in [0, 1, 100, 16_383, 16_384, 16_385, 40_000] {
        let contents = vec![b'a'; length];
        let _ = fs::remove_file(&path);
        assert_eq!(options.write(&path, &contents).unwrap(), Outcome::Written);
        let long_ago = std::time::SystemTime::UNIX_EPOCH;
        let set_time = || {
            let file = fs::File::options().append(true).open(&path).unwrap();
            file.set_modified(long_ago).unwrap();
        };
        set_time();
        assert_eq!(options.write(&path, &contents).unwrap(), Outcome::Unchanged);
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), long_ago);

        for place in [0, length / 2, length.saturating_sub(1)] {
            let mut changed = contents.clone();
            match changed.get_mut(place) {
                Some(byte) => *byte = b'b',
                None => changed.push(b'b'),
            }
            set_time();
            assert_eq!(options.write(&path, &changed).unwrap(), Outcome::Written);
            assert_eq!(fs::read(&path).unwrap(), changed);
            assert_ne!(fs::metadata(&path).unwrap().modified().unwrap(), long_ago);
            assert_eq!(options.write(&path, &contents).unwrap(), Outcome::Written);
        }
    }
}

#[test]
fn contradictory_options_are_refused() {
    let directory = Directory::new();
    let path = directory.path("a");
    let mut with_append = WriteOptions::new();
    with_append.only_if_changed(true).append(true);
    let mut with_create_new = WriteOptions::new();
    with_create_new.only_if_changed(true).create_new(true);
    for options in [&with_append, &with_create_new] {
        let error = options.write(&path, "x").unwrap_err();
        assert_error(
            &error,
            Operation::Open,
            Some(&path),
            ErrorKind::InvalidInput,
        );
        assert!(!path.exists());
    }

    let file = fs::File::create(&path).unwrap();
    for options in [
        WriteOptions::new().append(true),
        WriteOptions::new().create_new(true),
        WriteOptions::new().only_if_changed(true),
    ] {
        let error = options.write_to(&file, "x").unwrap_err();
        assert_error(&error, Operation::Write, None, ErrorKind::InvalidInput);
    }
    assert_eq!(fs::read(&path).unwrap(), b"");
}

/// The state of a path before it is written.
#[derive(Clone, Debug)]
enum Before {
    Nothing,
    File(Vec<u8>),
    Directory,
    NoParent,
}

fn before() -> impl Strategy<Value = Before> {
    prop_oneof![
        Just(Before::Nothing),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Before::File),
        Just(Before::Directory),
        Just(Before::NoParent),
    ]
}

proptest! {
    /// With the same options std leaves the same bytes, or fails with the same kind of error.
    #[test]
    fn options_agree_with_std(
        before in before(),
        bytes in prop::collection::vec(any::<u8>(), 0..20),
        append: bool,
        create_new: bool,
        create_parents: bool,
        only_if_changed: bool,
        overwrite: bool,
    ) {
        let directory = Directory::new();
        let [ours, theirs] = ["ours", "theirs"].map(|name| {
            let path = directory.path(name).join("file");
            match &before {
                Before::NoParent => {}
                Before::Nothing => fs::create_dir(directory.path(name)).unwrap(),
                Before::File(contents) => {
                    fs::create_dir(directory.path(name)).unwrap();
                    fs::write(&path, contents).unwrap();
                }
                Before::Directory => fs::create_dir_all(&path).unwrap(),
            }
            path
        });

        let mut options = WriteOptions::new();
        options
            .append(append)
            .create_new(create_new)
            .create_parents(create_parents)
            .only_if_changed(only_if_changed)
            .overwrite(overwrite);
        let result = options.write(&ours, &bytes);
        if only_if_changed && (append || create_new) {
            prop_assert_eq!(result.unwrap_err().kind(), ErrorKind::InvalidInput);
            return Ok(());
        }

        if create_parents {
            fs::create_dir_all(theirs.parent().unwrap()).unwrap();
        }
        let expected = fs::OpenOptions::new()
            .write(true)
            .append(append)
            .truncate(!append && !create_new)
            .create(true)
            .create_new(create_new)
            .open(&theirs)
            .and_then(|mut file| io::Write::write_all(&mut file, &bytes));
        match (result, expected) {
            (Ok(outcome), Ok(())) => {
                let same = matches!(&before, Before::File(contents) if *contents == bytes);
                prop_assert_eq!(outcome == Outcome::Unchanged, only_if_changed && same);
                prop_assert_eq!(fs::read(&ours).unwrap(), fs::read(&theirs).unwrap());
            }
            (Err(ours), Err(theirs)) => prop_assert_eq!(ours.raw_os_error(), theirs.raw_os_error()),
            (ours, theirs) => prop_assert!(false, "{:?} but std {:?}", ours, theirs),
        }
    }

    #[test]
    fn appended_bytes_are_read_back(chunks in prop::collection::vec((any::<u64>(), 0..20_000_usize), 1..5)) {
        let directory = Directory::new();
        let path = directory.path("a");
        let mut buffer = Vec::new();
        let mut all = Vec::new();
        for (seed, length) in chunks {
            let mut chunk = vec![0; length];
            fastrand::Rng::with_seed(seed).fill(&mut chunk);
            smallfry::fs::append(&path, &chunk).unwrap();
            all.extend_from_slice(&chunk);
            prop_assert_eq!(smallfry::fs::read_into(&path, &mut buffer).unwrap(), all.len());
            prop_assert_eq!(&buffer, &all);
            prop_assert_eq!(&smallfry::fs::read(&path).unwrap(), &all);
        }
    }
}
