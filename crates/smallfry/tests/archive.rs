//! Archives that GNU tar writes and reads, and archives that strangers would write to harm.
//! `archive_slips.rs` has the archives of published advisories.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::io::{Cursor, ErrorKind, Read, Write};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
#[cfg(unix)]
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::PathBuf,
};

use common::archives::{Entry, Fixture, errors, gzip, tar_of, zip_of, zstd};
use common::platform::{number_of, set_mode};
use common::{Directory, assert_error, names, strategies};
#[cfg(unix)]
use common::{
    trees::{describe, make_tree},
    unix::{child_directory, is_child, limit, run_child, symlink},
};
use smallfry::Operation;
use smallfry::archive::{Format, Packer, Unpacker};
use smallfry::bulk::Control;
#[cfg(unix)]
use smallfry::bulk::Strategy;
use smallfry::tree::Existing;
use tar::{Builder, EntryType, Header};
#[cfg(unix)]
use zip::{ZipWriter, write::SimpleFileOptions};

/// Runs a program that must succeed.
fn run(program: &str, arguments: &[&str], directory: &Path) {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {said}");
}

/// Returns the times of modification of all entries.
#[cfg(unix)]
fn times(root: &Path) -> BTreeMap<PathBuf, (i64, i64)> {
    let mut times = BTreeMap::new();
    for path in describe(root).into_keys() {
        let status = fs::symlink_metadata(root.join(&path)).unwrap();
        times.insert(path, (status.mtime(), status.mtime_nsec()));
    }
    times
}

/// Returns the times of modification of all entries, in whole seconds.
#[cfg(unix)]
fn seconds(root: &Path) -> BTreeMap<PathBuf, i64> {
    let times = times(root).into_iter();
    times.map(|(path, (seconds, _))| (path, seconds)).collect()
}

#[test]
fn compressed_files_may_be_several() {
    let tar = tar_of(&[Entry::file("a", "x"), Entry::file("b", "y")]);
    let (start, rest) = tar.split_at(700);
    let skippable = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"any"].concat();
    for archive in [
        [gzip(start), gzip(rest)].concat(),
        [gzip(&tar), vec![0; 100_000]].concat(),
        [gzip(start), vec![0; 10], gzip(rest), vec![0]].concat(),
        [zstd(start), zstd(rest)].concat(),
        [skippable.clone(), zstd(&tar)].concat(),
        [
            zstd(start),
            skippable.clone(),
            zstd(rest),
            skippable.clone(),
        ]
        .concat(),
    ] {
        let fixture = Fixture::new();
        let errors = fixture.unpack(&Unpacker::new(), &archive);
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(names(&fixture.path("in")), ["a", "b"]);
    }
    for (archive, reason) in [
        ([&gzip(&tar)[..], b"more"].concat(), "other bytes after"),
        (
            [zstd(&tar), skippable[..9].to_vec()].concat(),
            "end of file",
        ),
        ([&zstd(&tar)[..], b"more"].concat(), "other bytes after"),
    ] {
        let fixture = Fixture::new();
        let errors = fixture.unpack(&Unpacker::new(), &archive);
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].to_string().contains(reason), "{}", errors[0]);
        assert_eq!(names(&fixture.path("in")), ["a", "b"]);
    }
}

#[cfg(unix)]
#[test]
fn unpack_gives_back_what_gnu_tar_packed() {
    for seed in 0..3 {
        let directory = Directory::new();
        let from = directory.path("from");
        make_tree(&from, seed);
        let mut expected = describe(&from);
        // Bits that let a program run as somebody else are dropped.
        for (_, mode, ..) in expected.values_mut() {
            *mode &= 0o777;
        }
        for (number, options) in [
            &["--format=gnu"][..],
            &["--format=pax"],
            &["--format=gnu", "--sparse"],
            &["--format=pax", "--sparse"],
            &["--format=gnu", "--gzip"],
            &["--format=pax", "--zstd"],
        ]
        .iter()
        .enumerate()
        {
            if options.contains(&"--zstd")
                && Command::new("zstd").arg("--version").output().is_err()
            {
                common::skip("unpack_gives_back_what_gnu_tar_packed with zstd", "no zstd");
                continue;
            }
            let archive = directory.path("archive");
            let mut arguments = options.to_vec();
            arguments.extend(["-cf", archive.to_str().unwrap(), "."]);
            run("tar", &arguments, &from);
            for strategy in strategies() {
                let to = directory.path("to");
                let mut unpacker = Unpacker::new();
                unpacker
                    .strategy(strategy)
                    .permissions(true)
                    .links_may_leave(true);
                let report = unpacker.unpack(&archive, &to).unwrap();
                let files = expected.values().filter(|(kind, ..)| *kind != 'd').count();
                assert_eq!(report.files, files as u64);
                assert!(describe(&to) == expected, "{options:?}, seed {seed}");
                if options[0] == "--format=pax" {
                    assert_eq!(times(&to), times(&from), "{options:?}, seed {seed}");
                } else {
                    assert_eq!(seconds(&to), seconds(&from), "{options:?}, seed {seed}");
                }
                fs::remove_dir_all(&to).unwrap();
                if number > 0 {
                    break;
                }
            }
        }
    }
}

/// Makes a tar whose first file has a record of pax. Its header states a time of 2001.
fn tar_with_record(key: &str, value: &str) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    let records = [(key, value.as_bytes())];
    builder.append_pax_extensions(records).unwrap();
    for name in ["file", "next"] {
        let mut header = Header::new_ustar();
        header.set_path(name).unwrap();
        header.set_size(1);
        header.set_mode(0o644);
        header.set_mtime(1_000_000_000);
        header.set_cksum();
        builder.append(&header, &b"x"[..]).unwrap();
    }
    builder.into_inner().unwrap()
}

/// GNU tar takes the time of the header and goes on, with a warning. Only for `1e9` it takes 1.
#[test]
fn a_time_or_owner_that_is_no_number_does_not_stop_the_archive() {
    let stated = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let before = SystemTime::UNIX_EPOCH - Duration::from_millis(5500);
    for (key, value, expected) in [
        ("mtime", "-5.5", before),
        ("mtime", "", stated),
        ("mtime", "1e9", stated),
        ("mtime", "abc", stated),
        ("mtime", "99999999999999999999", stated),
        ("uid", "-1", stated),
        ("gid", "abc", stated),
    ] {
        let fixture = Fixture::new();
        let errors = fixture.unpack(&Unpacker::new(), &tar_with_record(key, value));
        assert!(errors.is_empty(), "{key} {value}: {errors:?}");
        assert_eq!(names(&fixture.path("in")), ["file", "next"]);
        let status = fs::metadata(fixture.path("in/file")).unwrap();
        assert_eq!(status.modified().unwrap(), expected, "{key} {value}");
    }
}

/// The next header could be anywhere.
#[test]
fn a_length_that_is_no_number_stops_the_archive() {
    for key in ["size", "GNU.sparse.major", "GNU.sparse.realsize"] {
        let fixture = Fixture::new();
        let errors = fixture.unpack(&Unpacker::new(), &tar_with_record(key, "abc"));
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].operation(), Operation::Read);
        assert!(errors[0].to_string().contains(key), "{}", errors[0]);
        assert!(names(&fixture.path("in")).is_empty());
    }
}

/// GNU tar writes such a time in binary: 12 bytes with a sign.
#[test]
fn a_tar_of_gnu_has_times_before_1970() {
    let mut builder = Builder::new(Vec::new());
    let seconds = |name: &str| if name == "file" { -1 } else { -1_000_000_000 };
    for (name, kind) in [
        ("directory", EntryType::Directory),
        ("file", EntryType::Regular),
        ("link", EntryType::Symlink),
    ] {
        // Not all systems let everybody make links.
        if kind == EntryType::Symlink && cfg!(windows) {
            continue;
        }
        let mut header = Header::new_gnu();
        header.set_path(name).unwrap();
        header.set_entry_type(kind);
        header.set_size(0);
        header.set_mode(0o755);
        let gnu = header.as_gnu_mut().unwrap();
        gnu.linkname[..4].copy_from_slice(b"file");
        gnu.mtime[..4].fill(0xff);
        gnu.mtime[4..].copy_from_slice(&i64::to_be_bytes(seconds(name)));
        header.set_cksum();
        builder.append(&header, &b""[..]).unwrap();
    }
    let fixture = Fixture::new();
    let archive = builder.into_inner().unwrap();
    let errors = fixture.unpack(&Unpacker::new(), &archive);
    assert!(errors.is_empty(), "{errors:?}");
    for name in names(&fixture.path("in")) {
        let status = fs::symlink_metadata(fixture.path("in").join(&name)).unwrap();
        let before = Duration::from_secs(i64::unsigned_abs(seconds(&name)));
        let expected = SystemTime::UNIX_EPOCH - before;
        assert_eq!(status.modified().unwrap(), expected, "{name}");
    }
}

#[test]
fn pack_keeps_times_before_1970_in_a_tar() {
    let directory = Directory::new();
    let file = directory.path("file");
    let before = |milliseconds| SystemTime::UNIX_EPOCH - Duration::from_millis(milliseconds);
    fs::write(&file, "x").unwrap();
    let open = fs::File::options().write(true).open(&file).unwrap();
    open.set_modified(before(5500)).unwrap();
    let archive = directory.path("archive");
    let modified = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    for format in [Format::Tar, Format::TarGz, Format::Zip] {
        let packed = Packer::new().pack(format, &archive, [(&file, "file")]);
        assert_eq!(packed.unwrap().files, 1);
        let to = directory.path("to");
        Unpacker::new().unpack(&archive, &to).unwrap();
        if format == Format::Zip {
            // The first day of 1980, in the time zone of this machine.
            let days = Duration::from_secs(24 * 3600 * 3652);
            let distance = modified(&to.join("file")).duration_since(SystemTime::UNIX_EPOCH + days);
            let distance = distance.unwrap_or_else(|error| error.duration());
            assert!(distance <= Duration::from_secs(24 * 3600), "{distance:?}");
            continue;
        }
        assert_eq!(modified(&to.join("file")), before(6000));
        if cfg!(unix) {
            fs::remove_file(to.join("file")).unwrap();
            let archive = archive.to_str().unwrap();
            run("tar", &["-xf", archive, "-C", "to"], &directory.path("."));
            assert_eq!(modified(&to.join("file")), before(6000));
        }
    }
}

#[test]
fn unpack_keeps_long_names_and_directories_without_entries() {
    let fixture = Fixture::new();
    let long = "x".repeat(200);
    let path = format!("a/{long}/{long}/file");
    let mut builder = Builder::new(Vec::new());
    let mut header = Header::new_gnu();
    header.set_size(3);
    header.set_mode(0o600);
    builder
        .append_data(&mut header, &path, &b"abc"[..])
        .unwrap();
    let archive = builder.into_inner().unwrap();
    assert!(fixture.unpack(&Unpacker::new(), &archive).is_empty());
    assert_eq!(fs::read(fixture.path("in").join(path)).unwrap(), b"abc");
}

#[cfg(unix)]
#[test]
fn unpack_subtracts_the_umask_and_drops_setuid() {
    let fixture = Fixture::new();
    let mut entries = [
        Entry::of(EntryType::Directory, "private", ""),
        Entry::file("private/program", "x"),
        // Its entry comes after what is in it.
        Entry::file("late/file", "y"),
        Entry::of(EntryType::Directory, "late", ""),
    ];
    entries[0].mode = 0o500;
    entries[1].mode = 0o6777;
    entries[3].mode = 0o700;
    assert!(
        fixture
            .unpack(&Unpacker::new(), &tar_of(&entries))
            .is_empty()
    );
    let mode = |name: &str| fs::metadata(fixture.path(name)).unwrap().mode() & 0o7777;
    assert_eq!(mode("in/private"), 0o500);
    assert_eq!(mode("in/late"), 0o700);
    assert_eq!(mode("in/private/program") & 0o7022, 0);
    let time = fs::metadata(fixture.path("in/late")).unwrap().mtime();
    assert_eq!(time, 1_000_000_000);
    set_mode(&fixture.path("in/private"), 0o700);
}

#[cfg(unix)]
#[test]
fn entries_never_go_through_links() {
    // A link of the archive, and one that is there already.
    let elsewhere = Directory::new();
    let absolute = elsewhere.path(".").to_str().unwrap().to_owned();
    for is_there in [false, true] {
        for target in ["../out", &absolute, "."] {
            let fixture = Fixture::new();
            if is_there {
                symlink(target, fixture.path("in/link")).unwrap();
            }
            let mut entries = vec![Entry::file("link/secret", "overwritten")];
            if !is_there {
                entries.insert(0, Entry::of(EntryType::Symlink, "link", target));
            }
            let mut unpacker = Unpacker::new();
            unpacker.links_may_leave(true);
            let errors = fixture.unpack(&unpacker, &tar_of(&entries));
            assert_eq!(errors.len(), 1, "{target}: {errors:?}");
            fixture.assert_nothing_outside_changed();
            assert_eq!(names(&elsewhere.path(".")), [""; 0]);
        }
    }
}

#[cfg(unix)]
#[test]
fn a_file_replaces_a_link_and_not_its_target() {
    let fixture = Fixture::new();
    symlink("../out/secret", fixture.path("in/link")).unwrap();
    let archive = tar_of(&[Entry::file("link", "new")]);
    assert!(fixture.unpack(&Unpacker::new(), &archive).is_empty());
    assert_eq!(fs::read(fixture.path("in/link")).unwrap(), b"new");
    assert!(!fixture.path("in/link").is_symlink());
    fixture.assert_nothing_outside_changed();
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_are_refused_unless_allowed() {
    for (name, target) in [
        ("link", "../out"),
        ("link", "/etc/passwd"),
        ("a/link", "../../out"),
    ] {
        let fixture = Fixture::new();
        let archive = tar_of(&[Entry::of(EntryType::Symlink, name, target)]);
        let errors = fixture.unpack(&Unpacker::new(), &archive);
        assert_eq!(errors.len(), 1);
        let path = fixture.path("in").join(name);
        assert_error(
            &errors[0],
            Operation::Open,
            Some(&path),
            ErrorKind::PermissionDenied,
        );
        assert!(!path.is_symlink());
        let mut unpacker = Unpacker::new();
        assert!(
            fixture
                .unpack(unpacker.links_may_leave(true), &archive)
                .is_empty()
        );
        assert_eq!(fs::read_link(path).unwrap(), Path::new(target));
    }
}

#[cfg(unix)]
#[test]
fn hard_links_stay_in_the_destination() {
    for target in ["../out/secret", "/etc/passwd", "link/secret", "missing"] {
        let fixture = Fixture::new();
        symlink("../out", fixture.path("in/link")).unwrap();
        let archive = tar_of(&[
            Entry::file("file", "x"),
            Entry::of(EntryType::Link, "stolen", target),
            Entry::of(EntryType::Link, "same", "file"),
        ]);
        let errors = fixture.unpack(&Unpacker::new(), &archive);
        assert!(!errors.is_empty(), "{target}");
        assert!(!fixture.path("in/stolen").exists(), "{target}");
        let inode = |name: &str| number_of(&fixture.path(name));
        assert_eq!(inode("in/same"), inode("in/file"));
        fixture.assert_nothing_outside_changed();
    }
}

#[test]
fn a_hard_link_that_is_there_already_leaves_no_temporary_file() {
    let fixture = Fixture::new();
    let archive = tar_of(&[
        Entry::file("a", "x"),
        Entry::of(EntryType::Link, "b", "a"),
        Entry::of(EntryType::Link, "b", "a"),
        Entry::of(EntryType::Link, "a", "a"),
    ]);
    let mut unpacker = Unpacker::new();
    unpacker.last_wins(true);
    for _ in 0..2 {
        assert!(fixture.unpack(&unpacker, &archive).is_empty());
        assert_eq!(names(&fixture.path("in")), ["a", "b"]);
        let inode = |name: &str| number_of(&fixture.path(name));
        assert_eq!(inode("in/a"), inode("in/b"));
    }
}

#[test]
fn devices_and_pipes_are_refused() {
    for kind in [EntryType::Char, EntryType::Block, EntryType::Fifo] {
        let fixture = Fixture::new();
        let archive = tar_of(&[Entry::of(kind, "device", ""), Entry::file("good", "y")]);
        let errors = fixture.unpack(&Unpacker::new(), &archive);
        assert_eq!(errors.len(), 1);
        assert!(errors[0].to_string().contains("devices, pipes and sockets"));
        assert_eq!(names(&fixture.path("in")), ["good"]);
    }
}

#[test]
fn a_second_file_of_one_name_is_an_error_unless_the_last_wins() {
    for strategy in strategies() {
        let fixture = Fixture::new();
        let archive = tar_of(&[Entry::file("a/b", "first"), Entry::file("./a//b", "second")]);
        let mut unpacker = Unpacker::new();
        let errors = fixture.unpack(unpacker.strategy(strategy), &archive);
        assert_eq!(errors.len(), 1);
        assert!(
            errors[0].to_string().contains("earlier entry"),
            "{}",
            errors[0]
        );
        assert_eq!(fs::read(fixture.path("in/a/b")).unwrap(), b"first");
        assert!(
            fixture
                .unpack(unpacker.last_wins(true), &archive)
                .is_empty()
        );
        assert_eq!(fs::read(fixture.path("in/a/b")).unwrap(), b"second");
    }
}

/// The calling thread writes large files, and workers write small ones.
#[test]
fn the_last_file_wins_whatever_its_size() {
    let large = "large".repeat(300_000);
    for strategy in strategies() {
        let fixture = Fixture::new();
        let archive = tar_of(&[
            Entry::file("a", "small"),
            Entry::file("b", "small"),
            Entry::file("a", &large),
            Entry::file("b", &large),
            Entry::file("b", "last"),
        ]);
        let mut unpacker = Unpacker::new();
        unpacker.strategy(strategy).last_wins(true);
        assert!(fixture.unpack(&unpacker, &archive).is_empty());
        assert_eq!(fs::read(fixture.path("in/a")).unwrap(), large.as_bytes());
        assert_eq!(fs::read(fixture.path("in/b")).unwrap(), b"last");
    }
}

#[test]
fn existing_files_are_replaced_kept_or_refused() {
    let archive = tar_of(&[Entry::file("file", "new")]);
    for (existing, left, count) in [
        (Existing::Replace, "new", 0),
        (Existing::Keep, "old", 0),
        (Existing::Refuse, "old", 1),
    ] {
        let fixture = Fixture::new();
        fs::write(fixture.path("in/file"), "old").unwrap();
        let mut unpacker = Unpacker::new();
        let errors = fixture.unpack(unpacker.existing(existing), &archive);
        assert_eq!(errors.len(), count);
        assert_eq!(fs::read_to_string(fixture.path("in/file")).unwrap(), left);
        assert_eq!(names(&fixture.path("in")), ["file"]);
    }
}

#[test]
fn truncated_archives_are_errors_wherever_they_end() {
    let contents: String = (0..1500)
        .flat_map(|n: u32| [n.to_string(), " ".to_owned()])
        .collect();
    let entries: Vec<String> = (0..5).map(|n| format!("d/{n}")).collect();
    let entries: Vec<_> = entries
        .iter()
        .map(|name| Entry::file(name, &contents))
        .collect();
    let whole = tar_of(&entries);
    let zip = zip_of(&[("a", &contents), ("b", &contents)]);
    // Wine takes many times as long for each file.
    let step = if cfg!(windows) { 4099 } else { 257 };
    for archive in [whole.clone(), gzip(&whole), zip] {
        // The last kilobyte of a tar are two blocks that mark its end; one is enough.
        let end = archive.len() - if archive == whole { 1024 } else { 1 };
        for length in (0..=end).step_by(step).chain([1, 511, 512, 513, end]) {
            let fixture = Fixture::new();
            let errors = fixture.unpack(&Unpacker::new(), &archive[..length]);
            assert!(!errors.is_empty(), "{length} of {}", archive.len());
            assert_eq!(errors[0].operation(), Operation::Read, "{}", errors[0]);
            // No file is half written.
            for name in names(&fixture.path("in")) {
                let path = fixture.path("in").join(name);
                if path.is_dir() {
                    for file in names(&path) {
                        assert_eq!(fs::read_to_string(path.join(file)).unwrap(), contents);
                    }
                }
            }
        }
    }
}

#[test]
fn a_large_file_that_is_cut_off_is_removed() {
    let contents = vec![7; 3 << 20];
    let mut entry = Entry::file("large", "");
    entry.contents = &contents;
    let archive = tar_of(&[entry]);
    let fixture = Fixture::new();
    let errors = fixture.unpack(&Unpacker::new(), &archive[..2 << 20]);
    assert_eq!(errors[0].kind(), ErrorKind::UnexpectedEof);
    assert!(names(&fixture.path("in")).is_empty());
    assert!(fixture.unpack(&Unpacker::new(), &archive).is_empty());
    assert_eq!(fs::read(fixture.path("in/large")).unwrap(), contents);
}

#[test]
fn damaged_checksums_are_errors() {
    let archive = gzip(&tar_of(&[Entry::file("a", "x")]));
    let fixture = Fixture::new();
    let mut damaged = archive.clone();
    let place = damaged.len() - 6;
    damaged[place] ^= 1;
    let errors = fixture.unpack(&Unpacker::new(), &damaged);
    assert_error(
        &errors[0],
        Operation::Read,
        Some(&fixture.path("archive")),
        errors[0].kind(),
    );

    let mut zip = zip_of(&[("a", "contents that are checked"), ("b", "good")]);
    let place = zip
        .windows(4)
        .position(|four| four == b"PK\x01\x02")
        .unwrap();
    zip[place + 16] ^= 1;
    let errors = fixture.unpack(&Unpacker::new(), &zip);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0].to_string().contains("archive: a: "),
        "{}",
        errors[0]
    );
    assert_eq!(fs::read(fixture.path("in/b")).unwrap(), b"good");
}

#[test]
fn other_files_are_no_archives() {
    let fixture = Fixture::new();
    for bytes in [
        &b""[..],
        b"hello",
        &[0x1f, 0x8b],
        &gzip(b"text"),
        b"PK\x03\x04",
    ] {
        let errors = fixture.unpack(&Unpacker::new(), bytes);
        assert_eq!(errors.len(), 1, "{bytes:?}");
        assert_error(
            &errors[0],
            Operation::Read,
            Some(&fixture.path("archive")),
            errors[0].kind(),
        );
    }
    let missing = fixture.path("missing");
    let error = errors(Unpacker::new().unpack(&missing, fixture.path("in")));
    assert_error(
        &error[0],
        Operation::Open,
        Some(&missing),
        ErrorKind::NotFound,
    );
}

#[test]
fn limits_stop_before_the_disk_is_full() {
    let zeros = "\0".repeat(2 << 20);
    let tar = tar_of(&[Entry::file("zeros", &zeros)]);
    let zip = zip_of(&[("zeros", &zeros)]);
    for archive in [gzip(&tar), zip] {
        let mut bytes = Unpacker::new();
        bytes.max_bytes(1 << 20);
        let mut ratio = Unpacker::new();
        ratio.max_ratio(100);
        let mut entries = Unpacker::new();
        entries.max_entries(0);
        for unpacker in [bytes, ratio, entries] {
            let fixture = Fixture::new();
            let errors = fixture.unpack(&unpacker, &archive);
            assert_eq!(errors.len(), 1);
            assert_eq!(errors[0].kind(), ErrorKind::QuotaExceeded, "{}", errors[0]);
            assert!(names(&fixture.path("in")).is_empty());
        }
    }
}

#[test]
fn the_ratio_is_that_of_the_whole_archive() {
    let mut random = fastrand::Rng::with_seed(1);
    let noise: String = std::iter::repeat_with(|| random.alphanumeric())
        .take(4 << 20)
        .collect();
    let zeros = "\0".repeat(2 << 20);
    let entries = [Entry::file("zeros", &zeros), Entry::file("noise", &noise)];
    let archive = gzip(&tar_of(&entries));
    let mut unpacker = Unpacker::new();
    unpacker.max_ratio(3);
    let fixture = Fixture::new();
    assert!(fixture.unpack(&unpacker, &archive).is_empty());
    unpacker.unpack_bytes(&archive, fixture.path("in")).unwrap();
}

#[cfg(unix)]
#[test]
fn a_zip_keeps_permissions_links_and_times() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let time = zip::DateTime::from_date_and_time(2024, 2, 29, 12, 34, 56).unwrap();
    let options = SimpleFileOptions::default().last_modified_time(time);
    writer
        .add_directory("d/", options.unix_permissions(0o750))
        .unwrap();
    writer
        .start_file("d/run", options.unix_permissions(0o755))
        .unwrap();
    writer.write_all(b"#!/bin/sh").unwrap();
    writer.add_symlink("d/link", "run", options).unwrap();
    writer.add_symlink("d/out", "../../out", options).unwrap();
    let archive = writer.finish().unwrap().into_inner();
    let fixture = Fixture::new();
    let mut unpacker = Unpacker::new();
    let errors = fixture.unpack(unpacker.permissions(true), &archive);
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].kind(), ErrorKind::PermissionDenied);
    let status = |name: &str| fs::symlink_metadata(fixture.path(name)).unwrap();
    assert_eq!(status("in/d").mode() & 0o777, 0o750);
    assert_eq!(status("in/d/run").mode() & 0o777, 0o755);
    assert_eq!(
        fs::read_link(fixture.path("in/d/link")).unwrap(),
        Path::new("run")
    );
    // In the time zone of this machine, as `date` takes it.
    let date = Command::new("date")
        .args(["-d", "2024-02-29 12:34:56", "+%s"])
        .output();
    let seconds: i64 = String::from_utf8(date.unwrap().stdout)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    assert_eq!(status("in/d/run").mtime(), seconds);
    assert_eq!(status("in/d").mtime(), seconds);
}

#[test]
fn names_are_stripped_filtered_and_listed() {
    let entries = ["package/a", "package/lib/b", "package/lib/c", "top"];
    let entries: Vec<_> = entries.iter().map(|name| Entry::file(name, "x")).collect();
    let fixture = Fixture::new();
    let written = Arc::new(Mutex::new(Vec::new()));
    let mut unpacker = Unpacker::new();
    let list = Arc::clone(&written);
    unpacker
        .strip_components(1)
        .filter(|path| path != Path::new("lib/c"))
        .on_entry(move |path| list.lock().unwrap().push(path.to_owned()));
    assert!(fixture.unpack(&unpacker, &tar_of(&entries)).is_empty());
    let mut written = written.lock().unwrap().clone();
    written.sort();
    assert_eq!(written, [Path::new("a"), Path::new("lib/b")]);
    assert_eq!(names(&fixture.path("in")), ["a", "lib"]);
}

/// Gives one byte at a time.
struct Slowly<'b>(&'b [u8]);
impl Read for Slowly<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = buffer.len().min(1);
        self.0.read(&mut buffer[..count])
    }
}

#[test]
fn unpack_from_reads_a_stream() {
    let tar = gzip(&tar_of(&[Entry::file("a", "x")]));
    for archive in [tar, zip_of(&[("a", "x")])] {
        let fixture = Fixture::new();
        Unpacker::new()
            .unpack_from(Slowly(&archive), fixture.path("in"))
            .unwrap();
        assert_eq!(fs::read(fixture.path("in/a")).unwrap(), b"x");
        assert_eq!(names(&fixture.path("in")), ["a"]);
        let cut = &archive[..archive.len() - 30];
        let errors = errors(Unpacker::new().unpack_from(cut, fixture.path("in")));
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].operation(), Operation::Read);
        assert_eq!(names(&fixture.path("in")), ["a"]);
    }
}

/// Such a stream would fill the disk.
#[test]
fn a_zip_from_a_stream_without_an_end_stops_at_the_limit_or_is_cancelled() {
    let endless = || (&b"PK\x03\x04"[..]).chain(std::io::repeat(7));
    let fixture = Fixture::new();
    let mut unpacker = Unpacker::new();
    unpacker.max_bytes(1);
    let errors = errors(unpacker.unpack_from(endless(), fixture.path("in")));
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_error(
        &errors[0],
        Operation::Read,
        Some(Path::new("")),
        ErrorKind::QuotaExceeded,
    );
    let control = Control::new();
    let mut unpacker = Unpacker::new();
    unpacker.control(&control);
    std::thread::scope(|scope| {
        let unpacking = scope.spawn(|| unpacker.unpack_from(endless(), fixture.path("in")));
        std::thread::sleep(Duration::from_millis(20));
        control.cancel();
        assert_eq!(unpacking.join().unwrap().unwrap().files, 0);
    });
    assert!(names(&fixture.path("in")).is_empty());
}

#[cfg(unix)]
#[test]
fn a_zip_from_a_pipe_is_unpacked() {
    let fixture = Fixture::new();
    let pipe = fixture.path("archive");
    common::unix::make_fifo(&pipe);
    let zip = zip_of(&[("a", "x"), ("d/b", "y")]);
    for (length, files, damage) in [(zip.len(), 2, None), (zip.len() - 30, 0, Some("cut off"))] {
        let errors = std::thread::scope(|scope| {
            scope.spawn(|| fs::write(&pipe, &zip[..length]));
            errors(Unpacker::new().unpack(&pipe, fixture.path("in")))
        });
        let said: Vec<_> = errors.iter().map(ToString::to_string).collect();
        match damage {
            None => assert_eq!(said, [""; 0]),
            Some(damage) => assert!(said.len() == 1 && said[0].contains(damage), "{said:?}"),
        }
        assert_eq!(names(&fixture.path("in")).len(), files);
        smallfry::tree::Remover::new()
            .remove(fixture.path("in"))
            .unwrap();
    }
}

#[test]
fn unpack_bytes_takes_every_format() {
    let tar = tar_of(&[Entry::file("a", "x")]);
    for archive in [zip_of(&[("a", "x")]), gzip(&tar), tar] {
        let fixture = Fixture::new();
        let unpack = |archive: &[u8]| Unpacker::new().unpack_bytes(archive, fixture.path("in"));
        let report = unpack(&archive).unwrap();
        assert_eq!((report.files, report.bytes), (1, 1));
        assert_eq!(fs::read(fixture.path("in/a")).unwrap(), b"x");
        let cut = errors(unpack(&archive[..archive.len() / 2]));
        assert_eq!(cut[0].operation(), Operation::Read);
        assert_eq!(cut[0].path(), Some(Path::new("")));
    }
}

#[test]
fn a_file_in_the_way_of_a_directory_is_an_error() {
    let fixture = Fixture::new();
    fs::write(fixture.path("in/a"), "old").unwrap();
    let archive = tar_of(&[Entry::file("a/b", "x"), Entry::file("good", "y")]);
    let errors = fixture.unpack(&Unpacker::new(), &archive);
    assert_eq!(errors.len(), 1);
    assert_error(
        &errors[0],
        Operation::Mkdir,
        Some(&fixture.path("in/a")),
        ErrorKind::NotADirectory,
    );
    assert_eq!(fs::read(fixture.path("in/a")).unwrap(), b"old");
}

#[test]
fn a_cancelled_unpacking_begins_nothing() {
    let fixture = Fixture::new();
    let control = Control::new();
    control.cancel();
    let mut unpacker = Unpacker::new();
    unpacker.control(&control);
    let archive = tar_of(&[
        Entry::file("a", "x"),
        Entry::of(EntryType::Symlink, "b", "a"),
    ]);
    assert!(fixture.unpack(&unpacker, &archive).is_empty());
    assert!(names(&fixture.path("in")).is_empty());
}

#[test]
fn a_cancelled_unpacking_reads_no_more_of_what_it_skips() {
    /// A large entry, in whose midst the caller cancels.
    struct Cancels<'a> {
        control: &'a Control,
        header: Cursor<Vec<u8>>,
        read: u64,
    }
    impl Read for Cancels<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = match self.header.read(buffer)? {
                0 => buffer.len(),
                count => count,
            };
            self.read += count as u64;
            if self.read > 8 << 20 {
                self.control.cancel();
            }
            Ok(count)
        }
    }
    let fixture = Fixture::new();
    let mut header = Header::new_gnu();
    header.set_path("large").unwrap();
    header.set_size(4 << 30);
    header.set_mode(0o644);
    header.set_cksum();
    let control = Control::new();
    let mut reader = Cancels {
        control: &control,
        header: Cursor::new(header.as_bytes().to_vec()),
        read: 0,
    };
    let mut unpacker = Unpacker::new();
    unpacker.control(&control).filter(|_| false);
    unpacker
        .unpack_from(&mut reader, fixture.path("in"))
        .unwrap();
    assert!(reader.read < 16 << 20, "{}", reader.read);
}

#[cfg(unix)]
#[test]
fn few_descriptors_are_enough() {
    run_child("few_descriptors_child", &Directory::new(), &[] as &[&str]);
}

#[cfg(unix)]
#[test]
#[ignore = "run by few_descriptors_are_enough"]
fn few_descriptors_child() {
    if !is_child() {
        return;
    }
    limit(libc::RLIMIT_NOFILE, 40);
    for strategy in strategies() {
        pack_and_unpack_many(strategy);
    }
    let names: Vec<String> = (0..600).map(|n| format!("d{}/{n}/file", n % 20)).collect();
    let entries: Vec<_> = names.iter().map(|name| Entry::file(name, "x")).collect();
    let archive = tar_of(&entries);
    for (number, strategy) in strategies().into_iter().enumerate() {
        let to = child_directory().join(number.to_string());
        Unpacker::new()
            .strategy(strategy)
            .unpack_from(&archive[..], &to)
            .unwrap();
        for name in &names {
            assert_eq!(fs::read(to.join(name)).unwrap(), b"x");
        }
    }
}

/// Packs files of many directories, and unpacks them again.
#[cfg(unix)]
fn pack_and_unpack_many(strategy: Strategy) {
    let directory = Directory::new();
    let tree = directory.path("tree");
    let names: Vec<String> = (0..300).map(|n| format!("d{}/{n}/file", n % 20)).collect();
    for name in &names {
        let path = tree.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
    for format in [Format::Tar, Format::Zip] {
        let archive = directory.path("archive");
        let mut packer = Packer::new();
        let report = packer
            .strategy(strategy)
            .pack(format, &archive, [(&tree, "")]);
        assert_eq!(report.unwrap().files, 300);
        let to = directory.path("to");
        let mut unpacker = Unpacker::new();
        unpacker.strategy(strategy).unpack(&archive, &to).unwrap();
        for name in &names {
            assert_eq!(fs::read(to.join(name)).unwrap(), name.as_bytes());
        }
        fs::remove_dir_all(to).unwrap();
    }
}

#[test]
fn deep_directories_need_no_stack_and_endless_names_are_refused() {
    let fixture = Fixture::new();
    // Wine takes many times as long for each level.
    let depth = if cfg!(windows) { 100 } else { 1000 };
    let deep = "a/".repeat(depth) + "file";
    let endless = "a/".repeat(100_000) + "file";
    let mut builder = Builder::new(Vec::new());
    for name in [&deep, &endless] {
        let mut header = Header::new_gnu();
        header.set_size(1);
        builder.append_data(&mut header, name, &b"x"[..]).unwrap();
    }
    let archive = builder.into_inner().unwrap();
    for strategy in strategies() {
        let mut unpacker = Unpacker::new();
        let errors = fixture.unpack(unpacker.strategy(strategy), &archive);
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].kind(), ErrorKind::InvalidFilename);
        assert_eq!(fs::read(fixture.path("in").join(&deep)).unwrap(), b"x");
    }
}

#[cfg(unix)]
#[test]
fn gnu_tar_and_unpack_give_back_what_pack_packed() {
    for seed in 0..2 {
        let directory = Directory::new();
        let from = directory.path("from");
        make_tree(&from, seed);
        let expected = describe(&from);
        let mut without_bits = expected.clone();
        for (_, mode, ..) in without_bits.values_mut() {
            *mode &= 0o777;
        }
        let compressed = [Format::TarGz, Format::TarZst].map(|format| (format, Strategy::Auto));
        let plain = strategies().map(|strategy| (Format::Tar, strategy));
        for (format, strategy) in plain.into_iter().chain(compressed) {
            let archive = directory.path("archive");
            let mut packer = Packer::new();
            packer.strategy(strategy);
            let report = packer.pack(format, &archive, [(&from, "")]).unwrap();
            assert_eq!(report.files + report.directories, expected.len() as u64);

            let to = directory.path("to");
            fs::create_dir(&to).unwrap();
            run(
                "tar",
                &["-xpf", archive.to_str().unwrap(), "-C", "to"],
                &directory.path("."),
            );
            assert!(describe(&to) == expected, "{format:?}, seed {seed}");
            assert_eq!(seconds(&to), seconds(&from), "{format:?}, seed {seed}");
            fs::remove_dir_all(&to).unwrap();

            let mut unpacker = Unpacker::new();
            unpacker.permissions(true).links_may_leave(true);
            unpacker.unpack(&archive, &to).unwrap();
            assert!(describe(&to) == without_bits, "{format:?}, seed {seed}");
            assert_eq!(seconds(&to), seconds(&from), "{format:?}, seed {seed}");
            fs::remove_dir_all(&to).unwrap();
        }
        // A zip has no hard links, and names in UTF-8 alone.
        let archive = directory.path("archive");
        let errors = errors(Packer::new().pack(Format::Zip, &archive, [(&from, "")]));
        let other_names = without_bits.keys().filter(|path| path.to_str().is_none());
        assert_eq!(errors.len(), other_names.count(), "{errors:?}");
        without_bits.retain(|path, _| path.to_str().is_some());
        let to = directory.path("to");
        let mut unpacker = Unpacker::new();
        unpacker.permissions(true).links_may_leave(true);
        unpacker.unpack(&archive, &to).unwrap();
        let contents = |described: common::trees::Described| -> Vec<_> {
            let entries = described.into_iter();
            entries
                .map(|(path, (kind, mode, contents, _))| (path, kind, mode, contents))
                .collect()
        };
        assert!(
            contents(describe(&to)) == contents(without_bits),
            "zip, seed {seed}"
        );
        // It has every second second of 1980 to 2107, in the time zone of this machine.
        let packed = seconds(&from);
        for (path, found) in seconds(&to) {
            let packed = packed[&path];
            let [first, end] = [315_532_800, 4_354_819_200];
            let is_right = if (first..end).contains(&packed) {
                found == packed & !1
            } else {
                (found - first).abs() <= 24 * 3600
            };
            assert!(is_right, "{path:?}: {found} of {packed}");
        }
    }
}

#[test]
fn reproducible_archives_depend_on_names_and_contents_alone() {
    let directory = Directory::new();
    for format in [Format::Tar, Format::TarGz, Format::TarZst, Format::Zip] {
        let mut archives = Vec::new();
        for (number, names) in [["a", "b/c", "b-d"], ["b-d", "a", "b/c"]]
            .iter()
            .enumerate()
        {
            let tree = directory.path(&format!("{format:?}{number}"));
            fs::create_dir_all(tree.join("b")).unwrap();
            for name in names {
                fs::write(tree.join(name), name).unwrap();
                let mode = if number == 0 { 0o644 } else { 0o600 };
                set_mode(&tree.join(name), mode);
            }
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 << number);
            fs::File::open(tree.join("a"))
                .unwrap()
                .set_modified(time)
                .unwrap();
            let mut archive = Vec::new();
            let mut packer = Packer::new();
            let sources = [(tree, "tree")];
            packer
                .reproducible(true)
                .pack_to(format, &mut archive, sources)
                .unwrap();
            archives.push(archive);
        }
        assert!(archives[0] == archives[1], "{format:?}");
    }
}

#[test]
fn a_higher_level_makes_a_smaller_archive() {
    let directory = Directory::new();
    let numbers: Vec<_> = (0..20_000).map(|number| number.to_string()).collect();
    fs::write(directory.path("numbers"), numbers.join(" ")).unwrap();
    for format in [Format::TarGz, Format::Zip] {
        let length = |level| {
            let mut archive = Vec::new();
            let sources = [(directory.path("numbers"), "numbers")];
            let mut packer = Packer::new();
            packer
                .level(level)
                .pack_to(format, &mut archive, sources)
                .unwrap();
            archive.len()
        };
        assert!(length(9) < length(1), "{format:?}");
        assert_eq!((length(0), length(100)), (length(1), length(9)));
    }
}

#[cfg(unix)]
#[test]
fn pack_reports_what_it_cannot_pack_and_packs_the_rest() {
    let fixture = Fixture::new();
    let tree = fixture.path("in");
    fs::write(tree.join("good"), "y").unwrap();
    common::unix::make_fifo(&tree.join("pipe"));
    fs::write(tree.join(OsStr::from_bytes(b"\xff")), "z").unwrap();
    let missing = fixture.path("missing");
    let archive = fixture.path("archive");
    let sources = [(tree.clone(), "in"), (missing.clone(), "missing")];
    for (format, count) in [(Format::Tar, 2), (Format::Zip, 3)] {
        let error = Packer::new()
            .pack(format, &archive, sources.clone())
            .unwrap_err();
        assert_eq!(error.report().files, 4 - count as u64);
        let errors = error.into_errors();
        assert_eq!(errors.len(), count, "{errors:?}");
        for (path, operation, kind) in [
            (tree.join("pipe"), Operation::Read, ErrorKind::Unsupported),
            (missing.clone(), Operation::Readdir, ErrorKind::NotFound),
        ] {
            let found = errors
                .iter()
                .find(|error| error.path() == Some(&path))
                .unwrap();
            assert_error(found, operation, Some(&path), kind);
        }
        fs::create_dir(fixture.path("to")).unwrap();
        Unpacker::new()
            .unpack(&archive, fixture.path("to"))
            .unwrap();
        assert_eq!(fs::read(fixture.path("to/in/good")).unwrap(), b"y");
        fs::remove_dir_all(fixture.path("to")).unwrap();
    }
}

#[test]
fn an_archive_in_its_own_tree_is_left_out() {
    let directory = Directory::new();
    let tree = directory.path("tree");
    fs::create_dir(&tree).unwrap();
    fs::write(tree.join("a"), "x").unwrap();
    // Killed processes have left files of this archive and of another one.
    let left = ["archive", "other"].map(|name| format!(".{name}.tar.0123456789abcdef.smallfry"));
    for name in &left {
        fs::write(tree.join(name), "half").unwrap();
    }
    // The second one replaces the first one.
    for _ in 0..2 {
        let archive = tree.join("archive.tar");
        let packer = Packer::new();
        let report = packer.pack(Format::Tar, &archive, [(&tree, "")]).unwrap();
        assert_eq!(report.files, 2);
        assert_eq!(names(&tree), [&left[0], &left[1], "a", "archive.tar"]);
        let to = directory.path("to");
        Unpacker::new().unpack(archive, &to).unwrap();
        assert_eq!(names(&to), [&left[1], "a"]);
    }
}

#[test]
fn a_cancelled_packing_leaves_no_archive_and_keeps_the_old_one() {
    let directory = Directory::new();
    let tree = directory.path("tree");
    fs::create_dir(&tree).unwrap();
    fs::write(tree.join("a"), "x").unwrap();
    fs::write(directory.path("old.tar"), "old").unwrap();
    let control = Control::new();
    control.cancel();
    let mut packer = Packer::new();
    packer.control(&control);
    for name in ["new.tar", "old.tar"] {
        packer
            .pack(Format::Tar, directory.path(name), [(&tree, "")])
            .unwrap();
    }
    assert_eq!(names(&directory.path(".")), ["old.tar", "tree"]);
    assert_eq!(fs::read(directory.path("old.tar")).unwrap(), b"old");
}

#[test]
fn errors_of_a_writer_end_the_packing() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let directory = Directory::new();
    fs::write(directory.path("a"), vec![1; 3 << 20]).unwrap();
    for format in [Format::Tar, Format::TarGz, Format::TarZst, Format::Zip] {
        let errors = errors(Packer::new().pack_to(format, Full, [(directory.path("a"), "a")]));
        assert_eq!(errors.len(), 1);
        assert_eq!(
            errors[0].kind(),
            ErrorKind::StorageFull,
            "{format:?} {}",
            errors[0]
        );
    }
}

/// Returns the number of generated cases.
fn cases() -> u64 {
    let usual = if cfg!(windows) { 40 } else { 400 };
    std::env::var("SMALLFRY_TEST_CASES").map_or(usual, |cases| cases.parse().unwrap())
}

/// Changes some bytes of an archive. The checksums of headers of tar are made right again, so that
/// the parser looks at what they say.
fn damage(archive: &mut Vec<u8>, random: &mut fastrand::Rng) {
    for _ in 0..random.usize(1..6) {
        let place = random.usize(..archive.len());
        match random.u32(..4) {
            0 => archive.truncate(place + 1),
            1 => archive[place] = random.u8(..),
            // Digits, separators and the kinds of entries are what headers are made of.
            2 => archive[place] = *random.choice(b"01234567/.LKxgSVD\0\xff =").unwrap(),
            _ => {
                let end = (place + random.usize(1..2000)).min(archive.len());
                let piece = archive[place..end].to_vec();
                let to = random.usize(..=archive.len());
                archive.splice(to..to, piece);
            }
        }
    }
    for block in archive.chunks_exact_mut(512) {
        let header: &mut [u8; 512] = block.try_into().unwrap();
        if &header[257..262] == b"ustar" {
            let mut header = Header::from_byte_slice(header).clone();
            header.set_cksum();
            block.copy_from_slice(header.as_bytes());
        }
    }
}

#[test]
fn damaged_archives_end_with_errors_and_touch_nothing_outside() {
    let contents = "0123456789".repeat(60);
    let entries = [
        Entry::of(EntryType::Directory, "d", ""),
        Entry::file("d/a", &contents),
        Entry::of(EntryType::Symlink, "d/link", "a"),
        Entry::of(EntryType::Link, "d/same", "d/a"),
        Entry::file("out", "x"),
    ];
    let tar = tar_of(&entries);
    let zip = zip_of(&[("d/a", &contents), ("link/b", "x"), ("../c", "y")]);
    // The headers of pax, and of sparse files.
    let fixture = Fixture::new();
    let tree = fixture.path("tree");
    fs::create_dir(&tree).unwrap();
    let sparse = fs::File::create(tree.join("sparse")).unwrap();
    sparse.set_len(1 << 16).unwrap();
    (&sparse).write_all(b"start").unwrap();
    drop(sparse);
    fs::write(tree.join("n".repeat(150)), "x").unwrap();
    let mut archives = vec![tar, zip];
    let formats: &[&str] = if cfg!(windows) { &[] } else { &["gnu", "pax"] };
    for format in formats {
        let format = format!("--format={format}");
        run("tar", &[&format, "-Scf", "../archive", "."], &tree);
        archives.push(fs::read(fixture.path("archive")).unwrap());
    }
    fs::remove_dir_all(&tree).unwrap();

    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut unpacker = Unpacker::new();
    // A damaged length may ask for any number of zeros.
    unpacker.max_bytes(1 << 20).links_may_leave(true);
    for _ in 0..cases() {
        let mut archive = random.choice(&archives).unwrap().clone();
        damage(&mut archive, &mut random);
        fixture.unpack(&unpacker, &archive);
        fixture.assert_nothing_outside_changed();
        smallfry::tree::Remover::new()
            .remove(fixture.path("in"))
            .unwrap();
        fs::create_dir(fixture.path("in")).unwrap();
    }
}

#[test]
fn the_map_of_a_sparse_file_that_does_not_end_is_an_error() {
    let mut builder = Builder::new(Vec::new());
    let records = [
        ("GNU.sparse.major", "1"),
        ("GNU.sparse.minor", "0"),
        ("GNU.sparse.realsize", "10"),
    ];
    let records = records.map(|(key, value)| (key, value.as_bytes()));
    builder.append_pax_extensions(records).unwrap();
    let mut header = Header::new_ustar();
    header.set_path("sparse").unwrap();
    header.set_size(2000);
    header.set_cksum();
    builder.append(&header, &[b'1'; 2000][..]).unwrap();
    let fixture = Fixture::new();
    let errors = fixture.unpack(&Unpacker::new(), &builder.into_inner().unwrap());
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].operation(), Operation::Read);
}

/// Replaces bytes everywhere.
fn replace(archive: &mut [u8], from: &[u8], to: &[u8]) {
    for start in 0..=archive.len() - from.len() {
        if archive[start..].starts_with(from) {
            archive[start..start + to.len()].copy_from_slice(to);
        }
    }
}

#[test]
fn a_zip_with_two_entries_of_one_name_is_an_error_and_the_last_is_unpacked() {
    let mut archive = zip_of(&[("first", "1"), ("other", "2"), ("third", "3")]);
    replace(&mut archive, b"other", b"first");
    let fixture = Fixture::new();
    let errors = fixture.unpack(&Unpacker::new(), &archive);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0]
            .to_string()
            .contains("several entries of one name")
    );
    assert_eq!(fs::read(fixture.path("in/first")).unwrap(), b"2");
    assert_eq!(fs::read(fixture.path("in/third")).unwrap(), b"3");
    let mut unpacker = Unpacker::new();
    assert!(
        fixture
            .unpack(unpacker.last_wins(true), &archive)
            .is_empty()
    );
}

#[test]
fn a_zip_of_dos_may_have_backslashes_as_separators() {
    let list_of = |archive: &[u8], system: u8| {
        let mut archive = archive.to_vec();
        for at in 0..archive.len() - 4 {
            if &archive[at..at + 4] == b"PK\x01\x02" {
                // The upper byte of "version made by".
                archive[at + 5] = system;
            }
        }
        archive
    };
    let archive = zip_of(&[("site\\css\\main.css", "1"), ("..\\out\\secret", "2")]);
    let fixture = Fixture::new();
    let errors = fixture.unpack(&Unpacker::new(), &list_of(&archive, 0));
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].to_string().contains("`..`"), "{errors:?}");
    let written = fs::read(fixture.path("in/site/css/main.css")).unwrap();
    assert_eq!(written, b"1");
    assert_eq!(fs::read(fixture.path("out/secret")).unwrap(), b"secret");
    if cfg!(unix) {
        // On Unix a name may have one.
        let fixture = Fixture::new();
        let errors = fixture.unpack(&Unpacker::new(), &list_of(&archive, 3));
        assert_eq!(errors.len(), 0, "{errors:?}");
        assert!(fixture.path("in/site\\css\\main.css").exists());
    }
}

#[test]
fn an_entry_of_a_tar_without_a_name_is_refused_alone() {
    let archive = tar_of(&[
        Entry::file("before", "1"),
        Entry::file("", "2"),
        Entry::file("after", "3"),
    ]);
    let fixture = Fixture::new();
    let errors = fixture.unpack(&Unpacker::new(), &archive);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].to_string().contains("no name"), "{errors:?}");
    assert_eq!(names(&fixture.path("in")), ["after", "before"]);
}

#[test]
fn a_zip_whose_entries_overlap_is_refused() {
    let mut archive = zip_of(&[("a", "the same bytes"), ("b", "the same bytes")]);
    // The list of entries says that both begin at the first byte.
    let list = archive.windows(4).rposition(|four| four == b"PK\x01\x02");
    archive[list.unwrap() + 42..][..4].fill(0);
    let fixture = Fixture::new();
    let errors = fixture.unpack(&Unpacker::new(), &archive);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].to_string().contains("overlap"));
    assert!(names(&fixture.path("in")).is_empty());
}
