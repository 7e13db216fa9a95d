//! Archives whose names mean something else on Windows. An entry that is written elsewhere than its
//! name says may overwrite a file, open a device, or hide in a stream of another file.
#![cfg(windows)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::io::{Cursor, ErrorKind, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use common::platform::{set_mode, set_modified};
use common::{Directory, names};
use smallfry::archive::{Format, Packer, Unpacker};
use tar::{Builder, EntryType, Header};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Makes a tar of files, without the checks that the crate makes of names.
fn tar_of(entries: &[(EntryType, &str, &str)]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (kind, name, target) in entries {
        let mut header = Header::new_gnu();
        header.set_entry_type(*kind);
        header.set_size(0);
        header.set_mode(0o755);
        header.set_mtime(1_000_000_000);
        let gnu = header.as_gnu_mut().unwrap();
        gnu.name[..name.len()].copy_from_slice(name.as_bytes());
        gnu.linkname[..target.len()].copy_from_slice(target.as_bytes());
        header.set_cksum();
        builder.append(&header, &b""[..]).unwrap();
    }
    builder.into_inner().unwrap()
}

/// Makes a zip as one of Unix. In one of DOS a backslash may separate names.
fn zip_of(names: &[&str]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for name in names {
        let options = SimpleFileOptions::default();
        writer.start_file(*name, options).unwrap();
        writer.write_all(b"").unwrap();
    }
    let mut archive = writer.finish().unwrap().into_inner();
    for at in 0..archive.len() - 4 {
        if &archive[at..at + 4] == b"PK\x01\x02" {
            // The upper byte of "version made by".
            archive[at + 5] = 3;
        }
    }
    archive
}

fn unpack(directory: &Directory, archive: &[u8]) -> Vec<smallfry::Error> {
    let path = directory.path("archive");
    fs::write(&path, archive).unwrap();
    let unpacked = Unpacker::new().unpack(&path, directory.path("in"));
    fs::remove_file(path).unwrap();
    unpacked
        .err()
        .map(|it| it.into_errors())
        .unwrap_or_default()
}

#[test]
fn names_with_another_meaning_are_refused_one_by_one() {
    const FILE: EntryType = EntryType::Regular;
    for (name, kind) in [
        (r"a\b", ErrorKind::InvalidInput),
        (r"..\x", ErrorKind::InvalidInput),
        (r"\x", ErrorKind::InvalidInput),
        ("C:/x", ErrorKind::PermissionDenied),
        ("C:x", ErrorKind::PermissionDenied),
        ("C:", ErrorKind::PermissionDenied),
        ("a/C:/x", ErrorKind::InvalidInput),
        ("a/C:x", ErrorKind::InvalidInput),
        ("//server/share/x", ErrorKind::PermissionDenied),
        ("good:stream", ErrorKind::InvalidInput),
        ("good::$DATA", ErrorKind::InvalidInput),
        ("NUL", ErrorKind::InvalidInput),
        ("d/con.txt", ErrorKind::InvalidInput),
        ("com1/x", ErrorKind::InvalidInput),
        ("dots...", ErrorKind::InvalidInput),
        ("d/space ", ErrorKind::InvalidInput),
        ("d ./x", ErrorKind::InvalidInput),
        ("what?", ErrorKind::InvalidInput),
    ] {
        let tars = [
            tar_of(&[(FILE, name, ""), (FILE, "good", "")]),
            tar_of(&[(EntryType::Directory, name, ""), (FILE, "good", "")]),
            tar_of(&[(FILE, "good", ""), (EntryType::Link, name, "good")]),
            tar_of(&[(FILE, "good", ""), (EntryType::Link, "link", name)]),
            tar_of(&[(FILE, "good", ""), (EntryType::Symlink, name, "good")]),
        ];
        for archive in tars.into_iter().chain([zip_of(&[name, "good"])]) {
            let directory = Directory::new();
            let errors = unpack(&directory, &archive);
            assert_eq!(errors.len(), 1, "{name}: {errors:?}");
            assert_eq!(errors[0].kind(), kind, "{name}: {errors:?}");
            assert_eq!(names(&directory.path("in")), ["good"], "{name}");
            assert_eq!(names(&directory.path(".")), ["in"], "{name}");
        }
    }
}

#[test]
fn names_that_are_not_utf8_are_refused() {
    let mut archive = tar_of(&[
        (EntryType::Regular, "x", ""),
        (EntryType::Regular, "good", ""),
    ]);
    archive[0] = 0xff;
    let mut header = Header::from_byte_slice(&archive[..512]).clone();
    header.set_cksum();
    archive[..512].copy_from_slice(header.as_bytes());
    let directory = Directory::new();
    let errors = unpack(&directory, &archive);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].kind(), ErrorKind::InvalidInput);
    assert_eq!(names(&directory.path("in")), ["good"]);
}

#[test]
fn targets_with_another_meaning_are_refused() {
    for target in [
        r"a\b",
        "NUL",
        "a:b",
        "x.",
        "C:/x",
        "C:x",
        "/x",
        "//server/share",
        "../x",
    ] {
        let archive = tar_of(&[
            (EntryType::Symlink, "link", target),
            (EntryType::Regular, "good", ""),
        ]);
        let directory = Directory::new();
        let errors = unpack(&directory, &archive);
        assert_eq!(errors.len(), 1, "{target}: {errors:?}");
        assert_eq!(names(&directory.path("in")), ["good"], "{target}");
    }
}

#[test]
fn a_link_is_made_or_is_an_error_of_its_own() {
    let archive = tar_of(&[
        (EntryType::Regular, "d/file", ""),
        (EntryType::Symlink, "d/to-file", "file"),
        (EntryType::Symlink, "to-directory", "./d"),
    ]);
    let directory = Directory::new();
    let errors = unpack(&directory, &archive);
    let place = directory.path("in");
    if errors.is_empty() {
        let target = |name: &str| fs::read_link(place.join(name)).unwrap();
        assert_eq!(target("d/to-file"), Path::new("file"));
        assert_eq!(target("to-directory"), Path::new(r".\d"));
        assert_eq!(names(&place.join("to-directory")), ["file", "to-file"]);
    } else {
        // Wine cannot make links, and not every process may.
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert_eq!(names(&place), ["d"]);
        assert_eq!(names(&place.join("d")), ["file"]);
    }
}

#[test]
fn a_second_name_that_differs_in_case_is_an_error() {
    let archive = tar_of(&[
        (EntryType::Regular, "d/File", ""),
        (EntryType::Regular, "D/fILE", ""),
        (EntryType::Regular, "D/other", ""),
    ]);
    let directory = Directory::new();
    let errors = unpack(&directory, &archive);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].kind(), ErrorKind::InvalidData);
    assert_eq!(names(&directory.path("in")), ["d"]);
    assert_eq!(names(&directory.path("in/d")), ["File", "other"]);
}

#[test]
fn what_pack_packed_is_unpacked_with_its_times() {
    let directory = Directory::new();
    let tree = directory.path("tree");
    fs::create_dir_all(tree.join("a/b")).unwrap();
    fs::create_dir_all(tree.join("empty")).unwrap();
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for name in ["a/b/read-only", "a/file", "ä 魚"] {
        fs::write(tree.join(name), name).unwrap();
        set_modified(&tree.join(name), at);
    }
    fs::hard_link(tree.join("a/file"), tree.join("z")).unwrap();
    set_mode(&tree.join("a/b/read-only"), 0o444);
    set_modified(&tree.join("empty"), at);
    for format in [Format::Tar, Format::TarGz, Format::TarZst, Format::Zip] {
        let archive = directory.path("archive");
        Packer::new().pack(format, &archive, [(&tree, "")]).unwrap();
        let to = directory.path("to");
        let report = Unpacker::new().unpack(&archive, &to).unwrap();
        assert_eq!((report.files, report.directories), (4, 3), "{format:?}");
        for name in ["a/b/read-only", "a/file", "ä 魚", "z"] {
            let read = |tree: &Path| fs::read(tree.join(name)).unwrap();
            assert_eq!(read(&to), read(&tree), "{format:?} {name}");
        }
        for name in ["a/b/read-only", "a/file", "empty"] {
            let modified = fs::metadata(to.join(name)).unwrap().modified().unwrap();
            assert_eq!(modified, at, "{format:?} {name}");
        }
        smallfry::tree::Remover::new().remove(&to).unwrap();
    }
}
