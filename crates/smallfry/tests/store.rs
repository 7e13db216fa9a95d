//! Objects of a real S3 server on the loopback, as slow and faulty as each test asks.
//!
//! `make slow-s3` builds the server.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use smallfry::bulk::{Control, Reader, Strategy, Writer};
use smallfry::{Operation, store};

/// The size in bytes of the objects that a server begins with, unless another one is asked for.
const SIZE: usize = 10_000;

/// A server, and the bucket of one test on it.
struct Server {
    process: Child,
    url: String,
    bucket: String,
}

impl Server {
    /// Starts a server with 100 objects in memory in a bucket of this name. Returns `None` if it
    /// has not been built.
    fn start(bucket: &str, arguments: &[&str]) -> Option<Self> {
        let program = program();
        if !program.exists() {
            common::skip(bucket, &format!("{} is not built", program.display()));
            return None;
        }
        let mut process = Command::new(program)
            .args(["--objects", "100", "--bucket", bucket])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let output = process.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut url).unwrap();
        let server = Self {
            process,
            url: url.trim().to_owned(),
            bucket: bucket.to_owned(),
        };
        server.configure(bucket, "secret");
        Some(server)
    }

    fn configure(&self, bucket: &str, secret: &str) {
        let options = [
            ("endpoint", self.url.as_str()),
            ("access_key_id", "key"),
            ("secret_access_key", secret),
        ];
        store::configure(&format!("s3://{bucket}"), options).unwrap();
    }

    fn urls(&self) -> Vec<PathBuf> {
        let url = |index| format!("s3://{}/o/0000/{index:08}", self.bucket).into();
        (0..100).map(url).collect()
    }

    fn read_all(&self, reader: &Reader) {
        let urls = self.urls();
        let mut count = 0;
        for (index, result) in reader.read(&urls) {
            assert_eq!(index, count);
            assert!(result.unwrap()[..] == [b'x'; SIZE]);
            count += 1;
        }
        assert_eq!(count, 100);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The program of the server, beside the directory of this test's program.
fn program() -> PathBuf {
    std::env::var_os("SLOW_S3").map_or_else(
        || {
            let test = std::env::current_exe().unwrap();
            let target = test.ancestors().nth(3).unwrap();
            target.join("slow-s3/debug/slow-s3")
        },
        PathBuf::from,
    )
}

#[test]
fn objects_are_read_with_each_strategy() {
    let Some(server) = Server::start("strategies", &[]) else {
        return;
    };
    for strategy in common::strategies() {
        server.read_all(Reader::new().strategy(strategy));
    }
}

#[test]
fn objects_are_read_beside_files() {
    let Some(server) = Server::start("beside", &[]) else {
        return;
    };
    let directory = common::Directory::new();
    let file = directory.path("file");
    std::fs::write(&file, "file").unwrap();
    let paths = [server.urls()[0].clone(), file, server.urls()[1].clone()];
    let lengths: Vec<_> = Reader::new()
        .read(paths)
        .map(|(_, result)| result.unwrap().len())
        .collect();
    assert_eq!(lengths, [SIZE, 4, SIZE]);
}

/// The other server of the protocol's crate, whose objects are files.
#[test]
fn objects_of_a_directory_are_read() {
    let directory = common::Directory::new();
    let root = directory.path("");
    let files = [("empty", ""), ("a/b c", "text"), ("a/ü%20+&?#", "odd name")];
    for (name, contents) in files {
        let path = root.join("files").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, contents).unwrap();
    }
    let Some(server) = Server::start("files", &["--directory", root.to_str().unwrap()]) else {
        return;
    };
    let urls = files.map(|(name, _)| format!("s3://{}/{name}", server.bucket));
    for (index, result) in Reader::new().read(urls) {
        assert_eq!(&result.unwrap()[..], files[index].1.as_bytes());
    }
}

#[test]
fn busy_and_broken_servers_are_asked_again() {
    for (bucket, arguments) in [
        ("refusing", ["--refuse", "0.3"]),
        ("cutting", ["--cut", "0.2"]),
        ("truncating", ["--truncate", "0.3"]),
        ("limiting", ["--max-rate", "200"]),
    ] {
        let Some(server) = Server::start(bucket, &arguments) else {
            return;
        };
        server.read_all(&Reader::new());
    }
}

#[test]
fn errors_have_the_url_and_the_reason_of_the_server() {
    let Some(server) = Server::start("errors", &[]) else {
        return;
    };
    server.configure("no-such-bucket", "secret");
    server.configure("wrong-secret", "guessed");
    for (url, kind, reason) in [
        ("s3://errors/missing", ErrorKind::NotFound, "NoSuchKey"),
        ("s3://no-such-bucket/o", ErrorKind::NotFound, "NoSuchBucket"),
        (
            "s3://wrong-secret/o",
            ErrorKind::PermissionDenied,
            "SignatureDoesNotMatch",
        ),
    ] {
        let (_, result) = Reader::new().read([url]).next().unwrap();
        let error = result.unwrap_err();
        common::assert_error(&error, Operation::Read, Some(Path::new(url)), kind);
        let text = error.to_string();
        assert!(text.contains(reason) && !text.contains("guessed"), "{text}");
    }
}

#[test]
fn an_object_that_is_too_large_is_refused() {
    let Some(server) = Server::start("large", &[]) else {
        return;
    };
    let mut reader = Reader::new();
    for (_, result) in reader.max_file_size(SIZE as u64 - 1).read(server.urls()) {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::FileTooLarge);
    }
    server.read_all(reader.max_file_size(SIZE as u64));
}

#[test]
fn a_server_that_is_not_there_is_given_up() {
    let Some(server) = Server::start("gone", &[]) else {
        return;
    };
    let urls = server.urls();
    drop(server);
    let (_, result) = Reader::new()
        .strategy(Strategy::CallingThread)
        .read(&urls)
        .next()
        .unwrap();
    let kind = ErrorKind::ConnectionRefused;
    common::assert_error(&result.unwrap_err(), Operation::Read, Some(&urls[0]), kind);
}

#[test]
fn what_is_written_is_read() {
    let Some(server) = Server::start(
        "written",
        &["--refuse", "0.1", "--cut", "0.1", "--truncate", "0.1"],
    ) else {
        return;
    };
    let entries: Vec<_> = (0..100)
        .map(|index| {
            (
                format!("s3://{}/new/{index}", server.bucket),
                vec![b'y'; index * 100],
            )
        })
        .collect();
    let report = Writer::new().create_new(true).write(entries.clone());
    assert_eq!(report.written(), 100, "{:?}", report.errors().next());
    let urls = entries.iter().map(|(url, _)| url);
    for (index, result) in Reader::new().read(urls) {
        assert_eq!(result.unwrap()[..], entries[index].1[..]);
    }
    let others = entries.into_iter().map(|(url, _)| (url, "other"));
    let report = Writer::new().create_new(true).write(others);
    let exist = |(_, error): (usize, &smallfry::Error)| error.kind() == ErrorKind::AlreadyExists;
    assert!(report.errors().count() == 100 && report.errors().all(exist));
}

#[test]
fn unchanged_objects_are_not_written() {
    let Some(server) = Server::start("unchanged", &[]) else {
        return;
    };
    let urls = || server.urls().into_iter();
    let mut writer = Writer::new();
    writer.only_if_changed(true);
    // The server's own objects have a digest of MD5 only.
    let report = writer.write(urls().map(|url| (url, vec![b'x'; SIZE])));
    assert_eq!(report.unchanged(), 100);
    for outcomes in [(100, 0), (0, 100)] {
        let report = writer.write(urls().map(|url| (url, vec![b'y'; SIZE])));
        assert_eq!((report.written(), report.unchanged()), outcomes);
    }
}

/// Another program may write an object while it is read in several parts.
#[test]
fn a_changed_object_is_not_mixed_with_the_old_one() {
    let Some(server) = Server::start("changed", &["--truncate", "0.7", "--size", "1000000"]) else {
        return;
    };
    let url = &server.urls()[0];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for byte in [b'a', b'b', b'c', b'd'] {
                Writer::new()
                    .write([(url, vec![byte; 1_000_000])])
                    .into_result()
                    .unwrap();
            }
        });
        for _ in 0..10 {
            let (_, result) = Reader::new().read([url]).next().unwrap();
            match result {
                Ok(contents) => assert!(contents.iter().all(|byte| *byte == contents[0])),
                Err(error) => assert!(error.to_string().contains("has changed"), "{error}"),
            }
        }
    });
}

#[test]
fn a_cancelled_batch_waits_for_no_busy_server() {
    let Some(server) = Server::start("cancelled", &["--refuse", "1"]) else {
        return;
    };
    let control = Control::new();
    let mut reader = Reader::new();
    reader.control(&control);
    let mut contents = reader.read(server.urls());
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        control.cancel();
    });
    // Without an end of the waits the first error would come after three minutes.
    let (_, result) = contents.next().unwrap();
    assert!(canceller.is_finished());
    let error = result.unwrap_err();
    assert!(error.to_string().contains("SlowDown"), "{error}");
}

#[test]
fn beneath_a_directory_a_url_is_a_path() {
    let directory = common::Directory::new();
    let file = directory.path("memory:/name/key");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let mut writer = Writer::new();
    writer.within(directory.path("")).unwrap();
    writer
        .write([("memory://name/key", "text")])
        .into_result()
        .unwrap();
    assert_eq!(std::fs::read_to_string(file).unwrap(), "text");
    let mut reader = Reader::new();
    reader.within(directory.path("")).unwrap();
    let (_, result) = reader.read(["memory://name/key"]).next().unwrap();
    assert_eq!(&result.unwrap()[..], b"text");
}

#[test]
fn unknown_options_and_urls_of_no_store_are_refused() {
    for (url, option) in [
        ("s3://options", "no_such_option"),
        ("s3://", "endpoint"),
        ("options", "endpoint"),
        ("ftp://options", "endpoint"),
    ] {
        let error = store::configure(url, [(option, "value")]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
    }
}
