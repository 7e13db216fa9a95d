//! The archives that published advisories tell of: one that writes, links, or changes permissions
//! outside of the directory that it is unpacked into, or that holds other files for one program
//! than for another. Each is unpacked without options, and with all that a caller may allow.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs::{self, Permissions};
use std::io::{Cursor, ErrorKind, Write as _};
use std::path::{MAIN_SEPARATOR, Path};
use std::time::SystemTime;

use common::archives::{Entry, Fixture, tar_of, zip_of};
use common::platform::names_of;
use common::strategies;
use smallfry::archive::Unpacker;
use tar::EntryType::{self, Directory, GNULongName, Link, Symlink, XHeader};
use tar::{Builder, Header};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// An archive of an advisory.
struct Advisory {
    /// Its names, and the program.
    name: &'static str,
    /// Archives that are unpacked one after the other.
    archives: Vec<Vec<u8>>,
    /// The number of errors; `None` if that depends on the order in which threads work.
    errors: Option<usize>,
    /// The kind of all errors, if it is one.
    kind: Option<ErrorKind>,
    /// The paths that are unpacked. Directories end in a slash.
    unpacked: &'static [&'static str],
    /// It has links, or names that mean something else on Windows.
    is_of_unix: bool,
}

impl Advisory {
    fn tar(name: &'static str, entries: &[Entry<'_>]) -> Self {
        Self {
            name,
            archives: vec![tar_of(entries)],
            errors: Some(1),
            kind: None,
            unpacked: &[],
            is_of_unix: false,
        }
    }

    fn zip(name: &'static str, archive: Vec<u8>) -> Self {
        Self {
            archives: vec![archive],
            ..Self::tar(name, &[])
        }
    }

    /// A file that goes elsewhere by its name, and a good one, in a tar and in a zip.
    fn file(name: &'static str, path: &str) -> Self {
        let entries = [Entry::file(path, "x"), Entry::file("good", "y")];
        let zip = zip_of(&[(path, "x"), ("good", "y")]);
        Self {
            archives: vec![tar_of(&entries), zip],
            errors: Some(2),
            kind: Some(ErrorKind::PermissionDenied),
            unpacked: &["good"],
            ..Self::tar(name, &[])
        }
    }

    fn then(mut self, entries: &[Entry<'_>]) -> Self {
        self.archives.push(tar_of(entries));
        self
    }

    fn errors(self, errors: impl Into<Option<usize>>) -> Self {
        Self {
            errors: errors.into(),
            ..self
        }
    }

    fn unpacks(self, unpacked: &'static [&'static str]) -> Self {
        Self { unpacked, ..self }
    }

    fn of_unix(self) -> Self {
        Self {
            is_of_unix: true,
            ..self
        }
    }
}

fn link<'e>(name: &'e str, target: &'e str) -> Entry<'e> {
    Entry::of(Symlink, name, target)
}

fn hard_link<'e>(name: &'e str, target: &'e str) -> Entry<'e> {
    Entry::of(Link, name, target)
}

fn directory(name: &str) -> Entry<'_> {
    Entry::of(Directory, name, "")
}

/// Makes a zip of a link and a file.
fn zip_with_link(link: (&str, &str), file: &str) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    writer.add_symlink(link.0, link.1, options).unwrap();
    writer.start_file(file, options).unwrap();
    writer.write_all(b"overwritten").unwrap();
    writer.finish().unwrap().into_inner()
}

/// Archives whose names lead out. `out` is the absolute path of the directory outside.
fn names_that_lead_out(out: &str) -> Vec<Advisory> {
    vec![
        // `..` at the start of a name.
        Advisory::file("CVE-2001-1267 of GNU tar, CVE-2001-1268 of UnZip", ".."),
        Advisory::file("CVE-2007-4559 of Python", "../in/inside"),
        Advisory::file("Zip Slip (Snyk, 2018)", "../../../../../../out/new"),
        Advisory::file("Zip Slip (Snyk, 2018)", "../out/new"),
        // `..` that is left when a slash or a dot before it is dropped.
        Advisory::file("CVE-2002-0399 of GNU tar", "/../out/new"),
        Advisory::file("CVE-2002-0399 of GNU tar", "./../out/new"),
        // `..` in the middle: what is before it was dropped, and the rest unpacked elsewhere.
        Advisory::file("CVE-2016-6321 of GNU tar", "a/../../out/new"),
        Advisory::file("CVE-2016-6321 of GNU tar", "a/.."),
        // A slash at the start of a name.
        Advisory::file(
            "CVE-2001-1269 of UnZip, CVE-2007-4559 of Python",
            &format!("{out}/new"),
        ),
        // Several slashes, of which one was dropped.
        Advisory::file("CVE-2021-32804 of node-tar", &format!("///{out}/new")),
        // The current directory of a drive.
        Advisory::tar(
            "CVE-2021-37713 of node-tar",
            &[Entry::file("C:../out/new", "x")],
        )
        .errors(0)
        .unpacks(&["C:../", "C:../out/", "C:../out/new"])
        .of_unix(),
    ]
}

/// Archives that write through a link which they have made before.
fn files_behind_links(out: &str) -> Vec<Advisory> {
    let secret = format!("{out}/secret");
    vec![
        // A link out, and a file below it.
        Advisory::tar(
            "CVE-2015-8860 of node-tar",
            &[link("x", "../out"), Entry::file("x/secret", "overwritten")],
        )
        .unpacks(&["x/", "x/secret"]),
        Advisory::zip(
            "CVE-2025-29787 of zip",
            zip_with_link(("x", "../out"), "x/secret"),
        )
        .unpacks(&["x/", "x/secret"]),
        // The target looks relative on Unix and is absolute on Windows.
        Advisory::zip(
            "CVE-2025-11001 of 7-Zip",
            zip_with_link(("x", r"C:\out"), "x/secret"),
        )
        .unpacks(&["x/", "x/secret"]),
        // The same in two archives.
        Advisory::tar("CVE-2025-45582 of GNU tar", &[link("x", "../out")])
            .then(&[Entry::file("x/secret", "overwritten")])
            .unpacks(&["x/", "x/secret"]),
        // A link to a file, and a file of the same name.
        Advisory::tar(
            "CVE-2018-20990 of tar-rs, CVE-2018-12015 of Archive::Tar",
            &[link("x", "../out/secret"), Entry::file("x", "overwritten")],
        )
        .errors(2),
        Advisory::tar(
            "CVE-2018-20990 of tar-rs",
            &[hard_link("x", &secret), Entry::file("x", "overwritten")],
        )
        .errors(2),
        // Directories were made behind the link before the file was refused.
        Advisory::tar(
            "CVE-2021-38511 of tar-rs",
            &[link("x", "../out"), Entry::file("x/new/deep/file", "x")],
        )
        .unpacks(&["x/", "x/new/", "x/new/deep/", "x/new/deep/file"]),
        // A directory that was remembered as one, and a link in its place.
        Advisory::tar(
            "CVE-2021-32803 of node-tar",
            &[
                directory("x"),
                link("x", "../out"),
                Entry::file("x/secret", "overwritten"),
            ],
        )
        .unpacks(&["x/", "x/secret"]),
        // The same with another separator, another case, or another form of a letter in the link.
        Advisory::tar(
            "CVE-2021-37701 of node-tar",
            &[
                directory("a/x"),
                link(r"a\x", "../out"),
                Entry::file("a/x/secret", "x"),
            ],
        )
        .unpacks(&["a/", "a/x/", "a/x/secret"]),
        Advisory::tar(
            "CVE-2021-37701 of node-tar",
            &[
                directory("X"),
                link("x", "../out"),
                Entry::file("X/secret", "x"),
            ],
        )
        .unpacks(&["X/", "X/secret"]),
        Advisory::tar(
            "CVE-2021-37712 of node-tar",
            &[
                directory("\u{e9}"),
                link("e\u{301}", "../out"),
                Entry::file("\u{e9}/secret", "x"),
            ],
        )
        .unpacks(&["\u{e9}/", "\u{e9}/secret"]),
        Advisory::tar(
            "CVE-2026-23950 of node-tar",
            &[link("ss", "../out/secret"), Entry::file("\u{df}", "x")],
        )
        .unpacks(&["\u{df}"]),
        // A kind of entry that holds a list of links to be made.
        Advisory::tar(
            "CVE-2006-6097 of GNU tar",
            &[
                Entry {
                    kind: EntryType::new(b'N'),
                    ..Entry::file("x", "Symlink ../out to x\n")
                },
                Entry::file("x/secret", "overwritten"),
            ],
        )
        .unpacks(&["x/", "x/secret"]),
    ]
}

/// Archives that make a link out of the directory, which another program may then follow.
fn links_that_lead_out(out: &str) -> Vec<Advisory> {
    let secret = format!("{out}/secret");
    vec![
        Advisory::tar(
            "CVE-2026-23745 of node-tar",
            &[hard_link("hard", &secret), link("symbolic", out)],
        )
        .errors(2),
        // The target was checked as one below the directory of the link, and taken as one below
        // the root.
        Advisory::tar(
            "CVE-2026-24842 of node-tar",
            &[hard_link("a/b/c/x", "../out/secret")],
        ),
        // Links that stay in the directory, and that lead out one behind the other.
        Advisory::tar(
            "CVE-2026-26960 of node-tar",
            &[
                link("a/b/c/up", "../.."),
                link("a/b/escape", "c/up/../.."),
                hard_link("x", "a/b/escape/out/secret"),
            ],
        )
        .errors(2)
        .unpacks(&["a/", "a/b/", "a/b/c/", "a/b/c/up"]),
        // The drive of a target, which hides its `..`.
        Advisory::tar(
            "CVE-2026-29786 and CVE-2026-31802 of node-tar",
            &[
                hard_link("hard", "C:../out/secret"),
                link("symbolic", "C:../out"),
            ],
        )
        .unpacks(&["symbolic"]),
        // `..` behind a link to the directory itself.
        Advisory::tar(
            "CVE-2025-4138 and CVE-2025-4330 of Python",
            &[link("current", "."), link("parent", "current/..")],
        )
        .unpacks(&["current"]),
        // So many names that the target could not be resolved, and was not checked.
        Advisory::zip("CVE-2025-4517 of Python", endless_links()).errors(None),
        // Another name of a link, in a directory further up.
        Advisory::tar(
            "a hard link to a symbolic link",
            &[
                link("a/b/x", "../../out"),
                hard_link("x", "a/b/x"),
                directory("out"),
            ],
        )
        .unpacks(&["a/", "a/b/", "a/b/x", "out/"]),
        Advisory::tar(
            "a hard link to a symbolic link",
            &[
                link("a/x", "../out"),
                hard_link("x", "a/x"),
                directory("out"),
            ],
        )
        .unpacks(&["a/", "a/x", "out/"]),
    ]
}

/// Archives that change the permissions or times of a file behind a link.
fn attributes_behind_links() -> Vec<Advisory> {
    let mut open = directory("x");
    open.mode = 0o777;
    let mut open_parent = directory("parent");
    open_parent.mode = 0o777;
    let mut inside = directory("x");
    inside.mode = 0o711;
    vec![
        // A link, and a directory of the same name.
        Advisory::tar("CVE-2026-33056 of tar-rs", &[link("x", "../out"), open]).unpacks(&["x/"]),
        Advisory::tar(
            "CVE-2024-12718 of Python",
            &[
                link("current", "."),
                link("parent", "current/../out"),
                open_parent,
            ],
        )
        .unpacks(&["current", "parent/"]),
        // A directory whose permissions are set at the end, and a link in its place.
        Advisory::tar(
            "CVE-2021-31566 of libarchive",
            &[inside, link("x", "../out")],
        )
        .unpacks(&["x/"]),
    ]
}

/// Archives that hold other entries for one program than for another.
fn sizes_that_disagree() -> Vec<Advisory> {
    let records = |entries: &[Entry<'_>]| {
        let mut tar = tar_of(entries);
        tar.truncate(tar.len() - 1024);
        tar
    };
    let inner = records(&[Entry::file("smuggled", "x")]);
    let size = format!("13 size={}\n", inner.len());
    assert_eq!(size.len(), 13);
    let extended = Entry {
        kind: XHeader,
        ..Entry::file("pax", &size)
    };
    let extended = records(&[extended]);
    // The header of a file whose contents are not counted, or only in part.
    let header = |length: usize| {
        let contents = "x".repeat(length);
        records(&[Entry::file("file", &contents)])[..512].to_vec()
    };
    let last = tar_of(&[Entry::file("last", "y")]);
    let long_name = Entry {
        kind: GNULongName,
        ..Entry::file("././@LongLink", "long\0")
    };
    let of = |name, parts: &[&[u8]]| {
        let archive = Advisory::zip(name, parts.concat());
        archive.errors(0)
    };
    vec![
        // The size in a pax header is right, and that of the old header is 0.
        of(
            "CVE-2025-62518 of async-tar",
            &[&extended, &header(0), &inner, &last],
        )
        .unpacks(&["file", "last"]),
        // That of the old header is another one.
        of(
            "CVE-2026-33055 of tar-rs",
            &[&extended, &header(512), &inner, &last],
        )
        .unpacks(&["file", "last"]),
        // A long name in between has a size of its own.
        of(
            "CVE-2026-53655 of node-tar",
            &[&extended, &records(&[long_name]), &header(0), &inner, &last],
        )
        .unpacks(&["last", "long"]),
    ]
}

/// Makes a tar with a path of links to names of 247 letters, which is longer than the system
/// resolves. A link goes up from there, and a hard link through that.
fn endless_links() -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    let mut add = |kind, path: &str, target: &str| {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(0o755);
        header.set_size(0);
        builder.append_link(&mut header, path, target).unwrap();
    };
    let long = "d".repeat(247);
    let mut place = String::new();
    let mut links = String::new();
    for letter in 'a'..='p' {
        add(Directory, &format!("{place}{long}"), ".");
        add(Symlink, &format!("{place}{letter}"), &long);
        place = format!("{place}{long}/");
        links = format!("{links}{letter}/");
    }
    let up = format!("{links}{}", "l".repeat(254));
    add(Symlink, &up, &"../".repeat(16));
    add(Symlink, "escape", &format!("{up}/../../../out"));
    add(Link, "file", "escape/secret");
    let mut header = Header::new_gnu();
    header.set_mode(0o644);
    header.set_size(11);
    let contents = &b"overwritten"[..];
    builder.append_data(&mut header, "file", contents).unwrap();
    builder.into_inner().unwrap()
}

/// All that an archive may not change of a directory outside.
fn state(path: &Path) -> (Permissions, SystemTime, u64) {
    let status = fs::metadata(path).unwrap();
    let modified = status.modified().unwrap();
    (status.permissions(), modified, names_of(path))
}

/// Returns the paths below a directory, sorted, with a slash at the end of directories. No link may
/// lead out of it.
fn list(root: &Path) -> Vec<String> {
    let real = root.canonicalize().unwrap();
    let mut found = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let mut name = path
                .strip_prefix(root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            if path.is_symlink() {
                let leads_to = path.canonicalize();
                assert!(
                    leads_to.map_or(true, |it| it.starts_with(&real)),
                    "{name} leads out"
                );
            } else if path.is_dir() {
                name.push('/');
                directories.push(path);
            }
            found.push(name.replace(MAIN_SEPARATOR, "/"));
        }
    }
    found.sort();
    found
}

fn assert_stays_inside(advisory: impl Fn(&str) -> Advisory, unpacker: &Unpacker, is_usual: bool) {
    let fixture = Fixture::new();
    let [out, secret] = ["out", "out/secret"].map(|name| fixture.path(name));
    let absolute = out.to_str().unwrap().replace(MAIN_SEPARATOR, "/");
    let advisory = advisory(&absolute);
    let name = advisory.name;
    if cfg!(windows) && advisory.is_of_unix {
        return;
    }
    let before = [state(&out), state(&secret)];
    let mut errors = Vec::new();
    for archive in &advisory.archives {
        errors.extend(fixture.unpack(unpacker, archive));
    }
    fixture.assert_nothing_outside_changed();
    assert_eq!([state(&out), state(&secret)], before, "{name}");
    for error in &errors {
        let is_expected = advisory.kind.is_none_or(|kind| error.kind() == kind);
        assert!(is_expected, "{name}: {error}");
    }
    if is_usual {
        let list = list(&fixture.path("in"));
        if let Some(expected) = advisory.errors {
            assert_eq!(errors.len(), expected, "{name}: {errors:?}");
            assert_eq!(list, advisory.unpacked, "{name}: {errors:?}");
        }
    }
}

fn assert_all_stay_inside(advisories: impl Fn(&str) -> Vec<Advisory>) {
    for strategy in strategies() {
        for index in 0..advisories("/").len() {
            let advisory = |out: &str| advisories(out).swap_remove(index);
            let mut unpacker = Unpacker::new();
            assert_stays_inside(advisory, unpacker.strategy(strategy), true);
            unpacker
                .links_may_leave(true)
                .last_wins(true)
                .permissions(true);
            assert_stays_inside(advisory, &unpacker, false);
        }
    }
}

#[test]
fn names_that_lead_out_are_refused_and_the_rest_is_unpacked() {
    assert_all_stay_inside(names_that_lead_out);
}

#[cfg_attr(windows, ignore = "links take a privilege")]
#[test]
fn files_are_never_written_through_links() {
    assert_all_stay_inside(files_behind_links);
}

#[cfg_attr(windows, ignore = "links take a privilege")]
#[test]
fn links_that_lead_out_are_refused() {
    assert_all_stay_inside(links_that_lead_out);
}

#[cfg_attr(windows, ignore = "links take a privilege")]
#[test]
fn attributes_are_never_set_through_links() {
    assert_all_stay_inside(|_| attributes_behind_links());
}

#[test]
fn sizes_that_disagree_smuggle_no_entries() {
    assert_all_stay_inside(|_| sizes_that_disagree());
}
