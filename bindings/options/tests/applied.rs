//! Guards against a bit that is in the table and is not applied, or is applied as another option.

#[cfg(unix)]
use smallfry::archive::Format;
use smallfry::{Durability, Outcome};
#[cfg(unix)]
use smallfry_options::table::{
    ABSOLUTE_LINKS, COMPARE_CONTENTS, DELETE, DRY_RUN, FOLLOW_LINKS, HARD_LINKS, KEEP_EXISTING,
    LAST_WINS, LINKS_MAY_LEAVE, LINKS_REPLACE_NOTHING, MISSING_OK, MOUNTS, NO_CLONE, OWNER,
    PERMISSIONS, REPRODUCIBLE, TIMES,
};
use smallfry_options::table::{
    APPEND, CREATE_NEW, CREATE_PARENTS, FAIL_FAST, FLUSH_DATA, FLUSH_FILE, FLUSH_FULL,
    FLUSH_NOTHING, ONLY_IF_CHANGED, REPLACE,
};
use smallfry_options::{Flush, OptionBits};
use std::fs;
use std::io::ErrorKind;

#[test]
fn flush_levels_are_one_field() {
    for (bits, flush, durability) in [
        (FLUSH_NOTHING, Flush::Nothing, Durability::None),
        (FLUSH_DATA, Flush::Data, Durability::Data),
        (FLUSH_FILE, Flush::File, Durability::Full),
        (FLUSH_FULL, Flush::Full, Durability::Full),
    ] {
        for others in [0, REPLACE, !FLUSH_FULL] {
            let options = OptionBits::new(bits | others);
            assert_eq!(options.flush(), flush);
            assert_eq!(options.durability(), durability);
        }
    }
}

#[test]
fn with_adds_bits_only_if_the_condition_holds() {
    let options = OptionBits::new(FLUSH_DATA)
        .with(APPEND, true)
        .with(REPLACE, false);
    assert!(options.has(APPEND));
    assert!(!options.has(REPLACE));
    assert_eq!(options.flush(), Flush::Data);
}

#[test]
fn write_options_do_what_the_bits_say() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    let write = |bits: i32, text: &str| OptionBits::new(bits).write_options().write(&file, text);

    assert_eq!(write(0, "a").unwrap(), Outcome::Written);
    assert_eq!(write(APPEND, "b").unwrap(), Outcome::Written);
    assert_eq!(fs::read_to_string(&file).unwrap(), "ab");
    assert_eq!(write(ONLY_IF_CHANGED, "ab").unwrap(), Outcome::Unchanged);
    let error = write(CREATE_NEW, "c").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);

    let link = directory.path().join("link");
    fs::hard_link(&file, &link).unwrap();
    write(REPLACE, "new").unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    assert_eq!(fs::read_to_string(&link).unwrap(), "ab");

    let below = directory.path().join("a/b");
    let options = OptionBits::new(CREATE_PARENTS | FLUSH_FULL);
    options.write_options().write(&below, "x").unwrap();
    assert_eq!(fs::read_to_string(&below).unwrap(), "x");
}

#[test]
fn writers_and_readers_do_what_the_bits_say() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let write = |bits: i32| {
        let writer = OptionBits::new(bits).writer();
        writer.write([(at("a/b"), "x"), (at("c"), "x")])
    };

    let report = write(CREATE_PARENTS | REPLACE | FLUSH_DATA);
    assert_eq!((report.written(), report.unchanged()), (2, 0));
    let report = write(ONLY_IF_CHANGED);
    assert_eq!((report.written(), report.unchanged()), (0, 2));
    assert_eq!(write(CREATE_NEW).errors().count(), 2);

    let missing = ["none", "c", "c"].map(at);
    for (bits, successes) in [(0, 2), (FAIL_FAST, 0)] {
        let mut reader = OptionBits::new(bits).reader();
        reader.strategy(smallfry::bulk::Strategy::CallingThread);
        let read = reader.read(&missing);
        assert_eq!(
            read.filter(|(_, contents)| contents.is_ok()).count(),
            successes
        );
    }
}

#[cfg(unix)]
#[test]
fn copiers_and_removers_do_what_the_bits_say() {
    use std::os::unix::fs::MetadataExt;

    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::create_dir(at("a")).unwrap();
    fs::write(at("a/file"), "new").unwrap();
    fs::hard_link(at("a/file"), at("a/name")).unwrap();
    std::os::unix::fs::symlink("file", at("a/link")).unwrap();
    let copy = |bits: i32, to: &str| OptionBits::new(bits).copier().copy(at("a"), at(to));

    assert!(copy(0, "above/b").is_err());
    let report = copy(CREATE_PARENTS | ABSOLUTE_LINKS, "above/b").unwrap();
    assert_eq!((report.files, report.bytes), (3, 6));
    assert_eq!(fs::read_link(at("above/b/link")).unwrap(), at("a/file"));
    assert_eq!(copy(HARD_LINKS | NO_CLONE, "c").unwrap().bytes, 3);
    assert_eq!(fs::read_link(at("c/link")).unwrap().to_str(), Some("file"));

    fs::write(at("c/file"), "old").unwrap();
    assert!(copy(CREATE_NEW, "c").is_err());
    copy(KEEP_EXISTING, "c").unwrap();
    assert_eq!(fs::read_to_string(at("c/file")).unwrap(), "old");
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    fs::File::open(at("a/file"))
        .unwrap()
        .set_modified(long_ago)
        .unwrap();
    copy(TIMES, "c").unwrap();
    assert_eq!(fs::read_to_string(at("c/file")).unwrap(), "new");
    assert_eq!(
        fs::metadata(at("c/file")).unwrap().modified().unwrap(),
        long_ago
    );

    let owner = |name: &str| fs::metadata(at(name)).unwrap().uid();
    // Only root may give files away.
    let is_root = std::os::unix::fs::chown(at("a/file"), Some(1), None).is_ok();
    copy(0, "own").unwrap();
    copy(FOLLOW_LINKS | OWNER, "followed").unwrap();
    assert!(fs::symlink_metadata(at("followed/link")).unwrap().is_file());
    assert_eq!(owner("followed/file"), owner("a/file"));
    assert_eq!(owner("own/file") != owner("a/file"), is_root);

    fs::remove_file(at("c/link")).unwrap();
    fs::write(at("c/link"), "file").unwrap();
    assert!(copy(LINKS_REPLACE_NOTHING, "c").is_err());
    copy(0, "c").unwrap();
    assert!(copy(LINKS_REPLACE_NOTHING, "c").is_err());

    let remove = |bits: i32, name: &str| OptionBits::new(bits).remover().remove(at(name));
    assert_eq!(remove(MOUNTS, "c").unwrap().files, 3);
    assert!(remove(0, "c").is_err());
    assert_eq!(remove(MISSING_OK, "c").unwrap().files, 0);
}

#[cfg(unix)]
#[test]
fn mirrors_do_what_the_bits_say() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::create_dir(at("a")).unwrap();
    fs::write(at("a/file"), "new").unwrap();
    fs::hard_link(at("a/file"), at("a/name")).unwrap();
    let mirror = |bits: i32| OptionBits::new(bits).mirror().0.run(at("a"), at("b"));

    assert_eq!(mirror(DRY_RUN).unwrap().bytes, 6);
    assert!(!at("b").exists());
    assert_eq!(mirror(HARD_LINKS | NO_CLONE).unwrap().bytes, 3);
    let modified = fs::metadata(at("a/file")).unwrap().modified().unwrap();
    fs::write(at("b/file"), "old").unwrap();
    let file = fs::File::options().write(true).open(at("b/file")).unwrap();
    file.set_modified(modified).unwrap();
    fs::write(at("b/gone"), "").unwrap();
    assert_eq!(mirror(0).unwrap().files, 0);
    assert_eq!(mirror(COMPARE_CONTENTS).unwrap().files, 2);
    assert_eq!(mirror(DELETE | MOUNTS).unwrap().deleted, 1);
}

#[cfg(unix)]
#[test]
fn packers_and_unpackers_do_what_the_bits_say() {
    use std::os::unix::fs::PermissionsExt;
    use std::time::SystemTime;

    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::create_dir(at("a")).unwrap();
    fs::write(at("a/file"), "text").unwrap();
    fs::set_permissions(at("a/file"), PermissionsExt::from_mode(0o606)).unwrap();
    std::os::unix::fs::symlink("/out", at("a/link")).unwrap();
    let modified = |name: &str| fs::metadata(at(name)).unwrap().modified().unwrap();
    let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode() & 0o777;
    let pack = |bits: i32, archive: &str| {
        let sources = [(at("a"), ""), (at("a/file"), "file")];
        let packer = OptionBits::new(bits).packer();
        packer.pack(Format::Tar, at(archive), sources).unwrap();
    };
    let unpack = |bits: i32, archive: &str, to: &str| {
        let unpacked = OptionBits::new(bits).unpacker().unpack(at(archive), at(to));
        unpacked.map_or_else(|error| error.errors().len(), |_| 0)
    };

    pack(0, "tar");
    // The link leads out, and there are two files of one name.
    assert_eq!(unpack(0, "tar", "b"), 2);
    assert_ne!(modified("b/file"), modified("a/file"));
    assert_eq!(unpack(LINKS_MAY_LEAVE, "tar", "c"), 1);
    assert_eq!(unpack(LAST_WINS, "tar", "d"), 1);
    let all = LINKS_MAY_LEAVE | LAST_WINS | PERMISSIONS | TIMES;
    assert_eq!(unpack(all, "tar", "e"), 0);
    assert_eq!(mode("e/file"), 0o606);
    assert_eq!(unpack(all | KEEP_EXISTING, "tar", "e"), 0);
    assert!(unpack(all | CREATE_NEW, "tar", "e") > 0);
    pack(REPRODUCIBLE, "reproducible");
    assert_eq!(unpack(all, "reproducible", "f"), 0);
    assert_eq!(mode("f/file"), 0o644);
    assert_eq!(modified("f/file"), SystemTime::UNIX_EPOCH);
}
