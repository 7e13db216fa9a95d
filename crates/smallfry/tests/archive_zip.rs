//! Zips as other programs and strangers write them, byte for byte. The crate `zip` is the judge
//! where there is one.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, ErrorKind, Read as _, Write as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use common::archives::{Fixture, errors};
use common::{Directory, names};
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use smallfry::Operation;
use smallfry::archive::{Format, Packer, Unpacker};
use zip::ZipArchive;

const DEFLATED: u16 = 8;
const UNIX: u16 = 3;
/// The first day of 2024.
const DATE: u16 = 44 << 9 | 1 << 5 | 1;

/// An entry with whatever is stated of it.
#[derive(Clone)]
struct Entry {
    name: Vec<u8>,
    system: u16,
    flags: u16,
    method: u16,
    date: u16,
    checksum: u32,
    size: u32,
    contents: Vec<u8>,
    extra: Vec<u8>,
    attributes: u32,
}

impl Entry {
    fn stored(name: &str, contents: &str) -> Self {
        let mut checksum = Crc::new();
        checksum.update(contents.as_bytes());
        Self {
            name: name.into(),
            system: UNIX,
            flags: 0,
            method: 0,
            date: DATE,
            checksum: checksum.sum(),
            size: u32::try_from(contents.len()).unwrap(),
            contents: contents.into(),
            extra: Vec::new(),
            attributes: 0,
        }
    }

    fn deflated(name: &str, contents: &str) -> Self {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(contents.as_bytes()).unwrap();
        Self {
            method: DEFLATED,
            contents: encoder.finish().unwrap(),
            ..Self::stored(name, contents)
        }
    }

    fn extra(mut self, id: u16, field: &[u8]) -> Self {
        let length = u16::try_from(field.len()).unwrap();
        self.extra.extend(id.to_le_bytes());
        self.extra.extend(length.to_le_bytes());
        self.extra.extend(field);
        self
    }

    fn common(&self) -> Vec<u8> {
        let sizes = [u32::try_from(self.contents.len()).unwrap(), self.size];
        [
            &20_u16.to_le_bytes()[..],
            &self.flags.to_le_bytes(),
            &self.method.to_le_bytes(),
            &[0; 2],
            &self.date.to_le_bytes(),
            &self.checksum.to_le_bytes(),
            &sizes[0].to_le_bytes(),
            &sizes[1].to_le_bytes(),
            &u16::try_from(self.name.len()).unwrap().to_le_bytes(),
        ]
        .concat()
    }

    fn header(&self) -> Vec<u8> {
        [b"PK\x03\x04", &*self.common(), &[0; 2], &self.name].concat()
    }

    fn list_header(&self, position: usize) -> Vec<u8> {
        [
            b"PK\x01\x02",
            &(self.system << 8).to_le_bytes()[..],
            &self.common(),
            &u16::try_from(self.extra.len()).unwrap().to_le_bytes(),
            &[0; 6],
            &self.attributes.to_le_bytes(),
            &u32::try_from(position).unwrap().to_le_bytes(),
            &self.name,
            &self.extra,
        ]
        .concat()
    }
}

/// A zip, and the list of its entries, which ends it.
#[derive(Default)]
struct Zip {
    contents: Vec<u8>,
    list: Vec<u8>,
    count: usize,
}

impl Zip {
    fn of(entries: &[Entry]) -> Self {
        let mut zip = Self::default();
        for entry in entries {
            zip.list(entry, zip.contents.len());
            zip.contents.extend(entry.header());
            zip.contents.extend(&entry.contents);
        }
        zip
    }

    /// Adds an entry to the list only.
    fn list(&mut self, entry: &Entry, position: usize) {
        self.list.extend(entry.list_header(position));
        self.count += 1;
    }

    fn end(&self) -> Vec<u8> {
        let [size, start] = [self.list.len(), self.contents.len()];
        let count = (self.count as u16).to_le_bytes();
        [
            b"PK\x05\x06\0\0\0\0",
            &count[..],
            &count,
            &u32::try_from(size).unwrap().to_le_bytes(),
            &u32::try_from(start).unwrap().to_le_bytes(),
            &[0; 2],
        ]
        .concat()
    }

    /// Returns the records of the end with numbers of 64 bits.
    fn large_end(&self) -> Vec<u8> {
        let [count, size, start] = [self.count, self.list.len(), self.contents.len()];
        let eight = |number: usize| (number as u64).to_le_bytes();
        [
            b"PK\x06\x06",
            &eight(44)[..],
            &[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &eight(count),
            &eight(count),
            &eight(size),
            &eight(start),
            b"PK\x06\x07\0\0\0\0",
            &eight(start + size),
            &[1, 0, 0, 0],
            b"PK\x05\x06\0\0\0\0",
            &[0xff; 12],
            &[0; 2],
        ]
        .concat()
    }

    fn bytes(&self) -> Vec<u8> {
        [&self.contents[..], &self.list, &self.end()].concat()
    }
}

fn zip_of(entries: &[Entry]) -> Vec<u8> {
    Zip::of(entries).bytes()
}

/// Unpacks from a file and from memory, which must be the same. Returns the errors, and the files.
fn unpack(unpacker: &Unpacker, archive: &[u8]) -> (Vec<smallfry::Error>, BTreeMap<String, String>) {
    let fixture = Fixture::new();
    let found = fixture.unpack(unpacker, archive);
    fixture.assert_nothing_outside_changed();
    let read = |name: String| {
        let contents = fs::read_to_string(fixture.path("in").join(&name));
        (name, contents.unwrap_or_default())
    };
    let files: BTreeMap<_, _> = names(&fixture.path("in")).into_iter().map(read).collect();
    let other = Directory::new();
    let in_memory = errors(unpacker.unpack_bytes(archive, other.path("")));
    let reasons =
        |errors: &[smallfry::Error]| errors.iter().map(smallfry::Error::kind).collect::<Vec<_>>();
    assert_eq!(reasons(&in_memory), reasons(&found));
    assert!(files.keys().eq(&names(&other.path(""))));
    (found, files)
}

/// Unpacks a zip that has one error and the file "good".
#[track_caller]
fn unpack_bad(archive: &[u8], kind: ErrorKind, reason: &str) {
    let (errors, files) = unpack(&Unpacker::new(), archive);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].operation(), Operation::Read, "{}", errors[0]);
    assert_eq!(errors[0].kind(), kind, "{}", errors[0]);
    assert!(errors[0].to_string().contains(reason), "{}", errors[0]);
    assert!(files.keys().eq(["good"]), "{files:?}");
}

fn unpack_whole(archive: &[u8]) -> BTreeMap<String, String> {
    let (errors, files) = unpack(&Unpacker::new(), archive);
    assert!(errors.is_empty(), "{errors:?}");
    files
}

#[cfg(not(windows))]
#[test]
fn names_are_utf_8_or_of_code_page_437() {
    let mut entries = vec![Entry::stored("täglich", "1")];
    for upper in 128..=255 {
        let mut entry = Entry::stored("", "2");
        entry.name = vec![b'x', upper];
        entries.push(entry);
    }
    let archive = zip_of(&entries);
    let zip = ZipArchive::new(Cursor::new(&archive)).unwrap();
    let mut names: Vec<_> = zip
        .file_names()
        .map(|it| it.unwrap().into_owned())
        .collect();
    names.sort();
    assert_eq!(names.len(), 129);
    assert!(unpack_whole(&archive).keys().eq(&names), "{names:?}");
}

#[test]
fn a_second_name_counts_if_it_is_of_the_first() {
    let field = |first: &str, name: &[u8]| {
        let mut checksum = Crc::new();
        checksum.update(first.as_bytes());
        [&[1], &checksum.sum().to_le_bytes()[..], name].concat()
    };
    let entry =
        |name, first, second: &[u8]| Entry::stored(name, "x").extra(0x7075, &field(first, second));
    let archive = zip_of(&[
        entry("a", "a", "ä".as_bytes()),
        entry("b", "other", b"not b"),
        entry("c", "c", b"no UTF-8: \xff"),
        Entry::stored("d", "x").extra(0x7075, &[1, 2]),
    ]);
    assert!(unpack_whole(&archive).keys().eq(["b", "c", "d", "ä"]));
}

#[test]
fn encrypted_entries_and_other_methods_are_errors_of_these_entries() {
    let good = Entry::deflated("good", "x");
    let mut encrypted = Entry::stored("bad", "x");
    encrypted.flags = 1;
    let archive = zip_of(&[encrypted.clone(), good.clone()]);
    unpack_bad(
        &archive,
        ErrorKind::Unsupported,
        "bad: the entry is encrypted",
    );
    // A link's target is read before it is made.
    encrypted.attributes = 0o120_777 << 16;
    let archive = zip_of(&[encrypted, good.clone()]);
    unpack_bad(
        &archive,
        ErrorKind::Unsupported,
        "bad: the entry is encrypted",
    );
    for (method, name) in [(14, "LZMA"), (93, "ZSTD"), (1000, "1000")] {
        let mut other = Entry::stored("bad", "x");
        other.method = method;
        let archive = zip_of(&[other, good.clone()]);
        unpack_bad(&archive, ErrorKind::Unsupported, name);
    }
}

#[test]
fn contents_of_another_size_or_checksum_are_errors() {
    let contents = "contents ".repeat(50_000);
    let good = Entry::stored("good", "x");
    for entry in [
        Entry::stored("bad", &contents),
        Entry::deflated("bad", &contents),
    ] {
        assert_eq!(
            unpack_whole(&zip_of(std::slice::from_ref(&entry)))["bad"],
            contents
        );
        let archive = |change: fn(&mut Entry)| {
            let mut entry = entry.clone();
            change(&mut entry);
            zip_of(&[entry, good.clone()])
        };
        let smaller = archive(|it| it.size -= 1);
        unpack_bad(&smaller, ErrorKind::InvalidData, "larger than it states");
        let larger = archive(|it| it.size += 1);
        unpack_bad(&larger, ErrorKind::UnexpectedEof, "bad: ");
        let damaged = archive(|it| it.checksum ^= 1);
        unpack_bad(&damaged, ErrorKind::InvalidData, "checksum");
        let cut_off = archive(|it| it.contents.truncate(100));
        unpack_bad(&cut_off, ErrorKind::UnexpectedEof, "bad: ");
    }
    let mut damaged = Entry::deflated("bad", &contents);
    damaged.contents[0] = 7;
    let archive = zip_of(&[damaged, good]);
    unpack_bad(&archive, ErrorKind::InvalidData, "bad: ");
}

/// `zip` writes such an entry for its standard input, and `unzip` makes a file of it.
#[test]
fn the_contents_of_a_pipe_become_a_file() {
    let mut pipe = Entry::stored("-", "x");
    pipe.attributes = 0o010_600 << 16;
    let files = unpack_whole(&zip_of(std::slice::from_ref(&pipe)));
    assert_eq!(files, [("-".to_owned(), "x".to_owned())].into());
    for kind in [0o020_000, 0o060_000, 0o140_000] {
        pipe.attributes = (kind | 0o600) << 16;
        let (errors, files) = unpack(&Unpacker::new(), &zip_of(std::slice::from_ref(&pipe)));
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].to_string().contains("devices, pipes and sockets"));
        assert!(files.is_empty());
    }
}

#[test]
fn a_link_with_a_long_target_is_not_read() {
    let mut link = Entry::deflated("bad", &"x".repeat(5_000_000));
    link.attributes = 0o120_777 << 16;
    let archive = zip_of(&[link, Entry::stored("good", "x")]);
    unpack_bad(&archive, ErrorKind::InvalidData, "too long");
}

#[test]
fn an_entry_without_a_header_is_an_error_even_of_a_directory() {
    for name in ["bad", "bad/"] {
        let good = Entry::stored("good", "x");
        let mut zip = Zip::of(&[good.clone(), Entry::stored(name, "")]);
        zip.contents[good.header().len() + 1] = b'Q';
        unpack_bad(&zip.bytes(), ErrorKind::InvalidData, "bad");
    }
}

#[test]
fn entries_that_overlap_are_refused_beside_one_that_is_unreadable() {
    let entries = [Entry::stored("a", "1"), Entry::stored("b", "2")];
    let refused = |zip: &Zip| {
        let (errors, files) = unpack(&Unpacker::new(), &zip.bytes());
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].to_string().contains("overlap"), "{errors:?}");
        assert!(files.is_empty());
    };
    let mut zip = Zip::of(&entries);
    zip.list(&Entry::stored("c", "1"), 0);
    refused(&zip);
    zip.list(&Entry::stored("unreadable", "1"), 5);
    refused(&zip);
    // The contents of the last one go into the list.
    let mut zip = Zip::of(&entries);
    let last = Entry::stored("b", "2 and more");
    (zip.list, zip.count) = (Vec::new(), 0);
    zip.list(&last, entries[0].header().len() + 1);
    refused(&zip);
}

#[test]
fn of_several_entries_of_one_name_the_last_is_unpacked() {
    let entries = ["1", "2", "3"].map(|contents| Entry::stored("a", contents));
    let mut zip = Zip::of(&[&entries[..], &[Entry::stored("b", "4")]].concat());
    // An entry that is replaced may be anywhere, and its bytes are no others'.
    let other = Entry::stored("b", "1");
    zip.list(&other, 0);
    let (errors, files) = unpack(&Unpacker::new(), &zip.bytes());
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0]
            .to_string()
            .contains("several entries of one name")
    );
    assert_eq!(
        files,
        [("a", "3"), ("b", "1")]
            .map(|(a, b)| (a.into(), b.into()))
            .into()
    );
    let mut unpacker = Unpacker::new();
    let (errors, others) = unpack(unpacker.last_wins(true), &zip.bytes());
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(others, files);
}

#[test]
fn bytes_before_and_after_a_zip_are_passed_over() {
    let first = Zip::of(&[Entry::stored("a", "1"), Entry::stored("b", "2")]);
    let second = Zip::of(&[Entry::stored("c", "3"), Entry::stored("d", "4")]);
    let large = [&second.contents[..], &second.list, &second.large_end()].concat();
    assert!(unpack_whole(&large).keys().eq(["c", "d"]));
    let whole = [first.bytes(), second.bytes()].concat();
    assert!(unpack_whole(&whole).keys().eq(["c", "d"]));
    let whole = [first.bytes(), large.clone()].concat();
    assert!(unpack_whole(&whole).keys().eq(["c", "d"]));
    let whole = [large.clone(), large.clone()].concat();
    assert!(unpack_whole(&whole).keys().eq(["c", "d"]));
    let whole = [&b"PK\x03\x04 and more"[..], &large].concat();
    assert!(unpack_whole(&whole).keys().eq(["c", "d"]));
    // What looks like an end, but has no list.
    let after = [&b"PK\x05\x06"[..], &[7; 40], b"PK\x05\x06"].concat();
    for archive in [second.bytes(), large] {
        let whole = [&archive[..], &after].concat();
        assert!(unpack_whole(&whole).keys().eq(["c", "d"]));
        let whole = [&archive[..], &vec![0; 60_000]].concat();
        assert!(unpack_whole(&whole).keys().eq(["c", "d"]));
    }
}

#[test]
fn of_two_zips_the_first_does_not_take_the_place_of_a_damaged_one() {
    let first = Zip::of(&[Entry::stored("first", "1")]);
    let mut second = Zip::of(&[Entry::stored("second", "1")]);
    // A comment of the entry that is longer than the list.
    second.list[33] = 1;
    let (errors, files) = unpack(&Unpacker::new(), &[first.bytes(), second.bytes()].concat());
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].operation(), Operation::Read);
    assert!(files.is_empty());
}

#[test]
fn an_empty_zip_is_no_error() {
    assert!(unpack_whole(&zip_of(&[])).is_empty());
}

#[test]
fn a_zip_in_several_files_is_refused() {
    let mut archive = zip_of(&[Entry::stored("a", "1")]);
    let end = archive.len() - 22;
    archive[end + 4] = 1;
    let (errors, files) = unpack(&Unpacker::new(), &archive);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(files.is_empty());
}

#[test]
fn a_list_that_ends_early_is_an_error_and_the_entries_before_are_unpacked() {
    let mut zip = Zip::of(&[Entry::stored("good", "1")]);
    zip.count = 2;
    unpack_bad(&zip.bytes(), ErrorKind::UnexpectedEof, "cut off");
    zip.list.extend([7; 60]);
    unpack_bad(&zip.bytes(), ErrorKind::InvalidData, "damaged");
}

/// Python, unzip and bsdtar unpack them, too. To leave them out would hide them from a scanner.
#[test]
fn a_list_may_have_any_number_of_entries_more_than_it_states() {
    let entries = ["a", "b", "c"].map(|name| Entry::stored(name, "x"));
    for count in [0, 1, 2] {
        let mut zip = Zip::of(&entries);
        zip.count = count;
        assert!(unpack_whole(&zip.bytes()).keys().eq(["a", "b", "c"]));
    }
    // The last of them is cut off, or followed by something else.
    for (lost, more, count) in [(1, 0, 2), (0, 60, 2), (1, 0, 1)] {
        let mut zip = Zip::of(&entries);
        zip.list.truncate(zip.list.len() - lost);
        zip.list.extend(vec![7; more]);
        zip.count = count;
        let (errors, files) = unpack(&Unpacker::new(), &zip.bytes());
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].to_string().contains("damaged"), "{}", errors[0]);
        assert_eq!(files.len(), 3 - lost, "{files:?}");
    }
}

/// Java before version 7 and macOS write such ones.
#[test]
fn a_list_may_have_65_536_entries_more_than_it_states() {
    let entries: Vec<_> = (0..65_537)
        .map(|number| Entry::stored(&number.to_string(), ""))
        .collect();
    let archive = zip_of(&entries);
    let mut unpacker = Unpacker::new();
    unpacker.filter(|path| path == Path::new("65536"));
    let (errors, files) = unpack(&unpacker, &archive);
    assert!(errors.is_empty(), "{errors:?}");
    assert!(files.keys().eq(["65536"]));
}

#[test]
fn times_are_stated_twice() {
    let exact = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_001);
    let field = [&[1][..], &1_000_000_001_u32.to_le_bytes()].concat();
    let mut none = Entry::stored("none", "");
    none.date = 0;
    let archive = zip_of(&[
        Entry::stored("exact", "").extra(0x5455, &field),
        Entry::stored("short", "").extra(0x5455, &[1]),
        none,
    ]);
    let fixture = Fixture::new();
    let start = SystemTime::now() - Duration::from_secs(60);
    assert!(fixture.unpack(&Unpacker::new(), &archive).is_empty());
    let modified = |name: &str| {
        let status = fs::metadata(fixture.path("in").join(name)).unwrap();
        status.modified().unwrap()
    };
    assert_eq!(modified("exact"), exact);
    let year = Duration::from_secs(366 * 24 * 3600);
    let first = SystemTime::UNIX_EPOCH + Duration::from_secs(1_704_067_200);
    let short = modified("short");
    assert!(short > first - year && short < first + year, "{short:?}");
    assert!(modified("none") > start);
}

#[cfg(unix)]
#[test]
fn attributes_of_dos_and_unix_are_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let entry = |name, system, attributes| {
        let mut entry = Entry::stored(name, "");
        (entry.system, entry.attributes) = (system, attributes);
        entry
    };
    let archive = zip_of(&[
        entry("read-only", 0, 0x01),
        entry("archived", 0, 0x20),
        entry("directory", 0, 0x10),
        entry("unix", 3, 0o100_640 << 16),
        entry("unix-directory", 3, 0o040_750 << 16),
        entry("special", 3, 0o104_755 << 16),
        entry("macos", 19, 0o100_600 << 16),
        entry("none", 10, 0),
    ]);
    let fixture = Fixture::new();
    let errors = fixture.unpack(Unpacker::new().permissions(true), &archive);
    assert!(errors.is_empty(), "{errors:?}");
    let mode = |name: &str| {
        let status = fs::metadata(fixture.path("in").join(name)).unwrap();
        (status.is_dir(), status.permissions().mode() & 0o7777)
    };
    assert_eq!(mode("read-only"), (false, 0o444));
    assert_eq!(mode("archived"), (false, 0o664));
    assert_eq!(mode("directory"), (true, 0o775));
    assert_eq!(mode("unix"), (false, 0o640));
    assert_eq!(mode("unix-directory"), (true, 0o750));
    assert_eq!(mode("special"), (false, 0o755));
    assert_eq!(mode("macos"), (false, 0o600));
    assert_eq!(mode("none"), (false, 0o666));
}

#[test]
fn a_long_list_is_packed_whole() {
    let directory = Directory::new();
    let tree = directory.path("tree");
    for number in 0..6000 {
        let inner = tree.join(format!("a-directory-with-a-name-{}", number % 20));
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join(format!("täglich-{number}")), number.to_string()).unwrap();
    }
    let mut archive = Vec::new();
    let packed = Packer::new().pack_to(Format::Zip, &mut archive, [(&tree, "")]);
    packed.unwrap();
    let mut zip = ZipArchive::new(Cursor::new(&archive)).unwrap();
    assert_eq!(zip.len(), 6020);
    zip.validate_header_consistency().unwrap();
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).unwrap();
        let mut contents = String::new();
        entry.read_to_string(&mut contents).unwrap();
        let path = tree.join(&*entry.name().unwrap());
        assert!(path.exists(), "{}", path.display());
        assert!(path.is_dir() || fs::read_to_string(path).unwrap() == contents);
    }
}

#[test]
fn a_name_that_two_sources_have_is_an_error_and_an_older_archive_stays() {
    let directory = Directory::new();
    for source in ["one", "two"] {
        fs::create_dir(directory.path(source)).unwrap();
        fs::write(directory.path(source).join("same"), source).unwrap();
    }
    let archive = directory.path("archive");
    fs::write(&archive, "old").unwrap();
    let sources = ["one", "two"].map(|source| (directory.path(source), ""));
    let errors = errors(Packer::new().pack(Format::Zip, &archive, sources));
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].operation(), Operation::Write);
    assert_eq!(errors[0].kind(), ErrorKind::InvalidData);
    assert!(errors[0].to_string().contains("same"), "{}", errors[0]);
    assert_eq!(fs::read(&archive).unwrap(), b"old");
    assert_eq!(names(&directory.path("")), ["archive", "one", "two"]);
}
