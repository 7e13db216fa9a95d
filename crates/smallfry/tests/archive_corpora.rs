//! Archives that other projects test their own programs with: in a directory that
//! `scripts/corpora.sh` fills, and in the package of the crate `rawzip`. What GNU tar, unzip or
//! bsdtar unpack without an error is unpacked in the same way, or refused for a reason that is
//! listed here.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Directory, names, skip};
use rustix::fs::{SeekFrom, seek};
use smallfry::archive::Unpacker;
use smallfry::tree::TreeError;

/// The archives that are refused in whole or in part although others unpack them, and why.
const REFUSED: &[(&str, &str)] = &[
    // A directory takes the place of a file of the same archive.
    ("dupdir.zip", "a directory"),
    // Two headers of the same kind for one entry.
    ("gnu-multi-hdrs.tar", "duplicate GNU long name entry"),
    ("pax-multi-hdrs.tar", "duplicate PAX extended header"),
    // A NUL in a name, where others end it.
    ("gnu-long-nul.tar", "invalid input parameter"),
    ("pax-nul-path.tar", "invalid input parameter"),
    // They end after the last entry, as an archive that was cut off.
    ("gnu-incremental.tar", "no mark of its end"),
    ("nil-uid.tar", "no mark of its end"),
    ("pax-bad-mtime-file.tar", "no mark of its end"),
    ("pax-path-hdr.tar", "no mark of its end"),
    ("pax-pos-size-file.tar", "no mark of its end"),
    ("ustar-file-reg.tar", "no mark of its end"),
    // A program comes before the zip, or a copy of its list.
    ("test-prefix.zip", "neither a tar nor a zip"),
    ("omni-mini.ja", "neither a tar nor a zip"),
    // Sums of signed bytes, as old programs of Sun and HP made them.
    ("testtar.tar", "checksum mismatch"),
    ("testtar.tar.xz", "xz is not supported"),
];

/// The archives whose names others write as the bytes of an old code page, or take from the header
/// before the contents, not from the list.
const OTHER_NAMES: &[&str] = &["zip_cp437_header.zip", "filename_mismatch_test.zip"];

/// The bytes of a file that are compared at a time.
const BLOCK: usize = 4096;

#[derive(Debug, PartialEq)]
enum Entry {
    Directory,
    Link(PathBuf),
    /// Its length in bytes, and the blocks that are not zero. Some files are 60 GB of holes.
    File(u64, BTreeMap<u64, Vec<u8>>),
    Special,
}

fn read(path: &Path) -> Entry {
    let file = File::open(path).unwrap();
    let length = file.metadata().unwrap().len();
    let mut blocks = BTreeMap::new();
    let mut position = 0;
    // The position of the next byte that is in no hole.
    while let Ok(data) = seek(&file, SeekFrom::Data(position)) {
        let hole = seek(&file, SeekFrom::Hole(data)).unwrap();
        position = data / BLOCK as u64 * BLOCK as u64;
        while position < hole {
            let mut block = vec![0; BLOCK];
            let count = file.read_at(&mut block, position).unwrap();
            block.truncate(count);
            if block.iter().any(|&byte| byte != 0) {
                blocks.insert(position, block);
            }
            position += BLOCK as u64;
        }
    }
    Entry::File(length, blocks)
}

fn entries(root: &Path) -> BTreeMap<PathBuf, Entry> {
    let mut found = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_owned();
            let kind = fs::symlink_metadata(&path).unwrap().file_type();
            let entry = if kind.is_symlink() {
                Entry::Link(fs::read_link(&path).unwrap())
            } else if kind.is_dir() {
                directories.push(path);
                Entry::Directory
            } else if kind.is_file() {
                read(&path)
            } else {
                Entry::Special
            };
            found.insert(name, entry);
        }
    }
    found
}

/// Unpacks an archive by another program. `None` if that is missing or fails.
fn unpacked_by(
    program: &str,
    archive: &Path,
    excluded: &[PathBuf],
) -> Option<BTreeMap<PathBuf, Entry>> {
    let directory = Directory::new();
    let to = directory.path("");
    let mut command = Command::new(program);
    if program == "unzip" {
        command.arg("-qqo").arg(archive).arg("-d").arg(&to);
    } else {
        command.args(["--no-same-owner", "-C"]).arg(&to);
        for path in excluded {
            command.arg("--exclude").arg(path);
        }
        command.arg("-xf").arg(archive);
    }
    command.env("LC_ALL", "C.UTF-8");
    let quiet = [(); 3].map(|()| Stdio::null());
    let [input, output, error] = quiet;
    let status = command.stdin(input).stdout(output).stderr(error).status();
    status
        .is_ok_and(|status| status.success())
        .then(|| entries(&to))
}

/// Returns what an archive is unpacked as, its errors, and the paths of devices, which are refused.
fn unpacked(archive: &Path) -> (BTreeMap<PathBuf, Entry>, Vec<String>, Vec<PathBuf>) {
    let directory = Directory::new();
    let to = directory.path("in");
    fs::create_dir(&to).unwrap();
    let mut unpacker = Unpacker::new();
    unpacker.links_may_leave(true).last_wins(true);
    let result = unpacker.unpack(archive, &to);
    assert_eq!(names(&directory.path("")), ["in"]);
    let (devices, errors): (Vec<_>, Vec<_>) = result
        .err()
        .map(TreeError::into_errors)
        .unwrap_or_default()
        .into_iter()
        .partition(|error| error.to_string().contains("devices, pipes and sockets"));
    let devices = devices.iter().map(|error| {
        let path = error.path().unwrap();
        path.strip_prefix(&to).unwrap().to_owned()
    });
    let errors = errors.iter().map(ToString::to_string).collect();
    (entries(&to), errors, devices.collect())
}

fn is_zip(name: &str) -> bool {
    [".zip", ".jar", ".ja"].iter().any(|end| name.contains(end))
}

/// Checks an archive. Returns true if another program unpacks it.
fn check(archive: &Path) -> bool {
    let name = archive.file_name().unwrap().to_str().unwrap();
    let (own, errors, devices) = unpacked(archive);
    let programs = if is_zip(name) {
        ["unzip", "bsdtar"]
    } else {
        ["tar", "bsdtar"]
    };
    let others: Vec<_> = programs
        .iter()
        .filter_map(|program| unpacked_by(program, archive, &devices))
        .collect();
    if others.is_empty() || OTHER_NAMES.contains(&name) {
        return !others.is_empty();
    }
    let refused = REFUSED.iter().find(|(refused, _)| *refused == name);
    // Of an archive that is refused in part, files are compared with files.
    let is_same = |path: &PathBuf, entry: &Entry, other: &BTreeMap<_, _>| match other.get(path) {
        Some(other @ Entry::File(..)) if refused.is_some() => entry == other,
        other => refused.is_some() || other == Some(entry),
    };
    if let Some((_, reason)) = refused {
        assert!(
            errors.iter().any(|error| error.contains(reason)),
            "{name}: {errors:?}"
        );
    } else {
        assert!(errors.is_empty(), "{name}: {errors:?}");
    }
    let is_that_of = |other: &BTreeMap<_, _>| {
        let mut own = own.iter();
        let has_all = refused.is_some() || own.len() == other.len();
        has_all && own.all(|(path, entry)| is_same(path, entry, other))
    };
    assert!(others.iter().any(is_that_of), "{name}: {:?}", own.keys());
    true
}

#[test]
fn archives_of_other_projects_are_unpacked_as_others_do() {
    let test = "archives_of_other_projects_are_unpacked_as_others_do";
    let Some(corpora) = std::env::var_os("SMALLFRY_TEST_CORPORA") else {
        return println!("skipped {test}: SMALLFRY_TEST_CORPORA names no directory");
    };
    let corpora = PathBuf::from(corpora);
    if !corpora.join("ready").exists() {
        return skip(test, "the archives are missing");
    }
    let corpora = corpora.join("usr");
    let files = entries(&corpora).into_iter();
    let files = files.filter(|(_, entry)| matches!(entry, Entry::File(..)));
    let archives: Vec<_> = files.map(|(path, _)| corpora.join(path)).collect();
    let count = archives.iter().filter(|archive| check(archive)).count();
    println!(
        "{count} of {} files were unpacked by others, too",
        archives.len()
    );
    assert!(count >= 60, "only {count} archives are there");
}

/// Returns the directory of the zips that the crate `rawzip` has for its own tests. `None` if cargo
/// does not run this test.
fn assets_of_rawzip() -> Option<PathBuf> {
    let cargo = std::env::var_os("CARGO")?;
    let options = ["metadata", "--format-version=1"];
    let metadata = Command::new(cargo).args(options).output().ok()?;
    let metadata = String::from_utf8(metadata.stdout).ok()?;
    let manifest = metadata
        .split('"')
        .find(|text| text.contains("/rawzip-") && text.ends_with("/Cargo.toml"))?;
    Some(Path::new(manifest).with_file_name("assets"))
}

#[test]
fn zips_of_rawzip_are_unpacked_as_others_do() {
    let Some(assets) = assets_of_rawzip().filter(|assets| assets.is_dir()) else {
        let reason = "cargo does not tell where rawzip is";
        return skip("zips_of_rawzip_are_unpacked_as_others_do", reason);
    };
    // Of an encrypted one, other programs ask the terminal for the password.
    let asks = |name: &str| {
        ["aes", "zipcrypto"]
            .iter()
            .any(|start| name.starts_with(start))
    };
    let zips = names(&assets).into_iter();
    let zips: Vec<_> = zips.filter(|name| is_zip(name) && !asks(name)).collect();
    let count = zips.iter().filter(|name| check(&assets.join(name)));
    let count = count.count();
    println!(
        "{count} of {} zips were unpacked by others, too",
        zips.len()
    );
    assert!(zips.len() >= 25, "only {} zips are there", zips.len());
}
