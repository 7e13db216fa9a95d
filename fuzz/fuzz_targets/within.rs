//! Whatever the paths are, a batch beneath a directory writes and reads nothing outside of it.
#![no_main]

use std::fs;
use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use smallfry::bulk;

/// The parts of paths for which bytes of the input stand, so that paths mean something.
const PARTS: [&str; 16] = [
    "/", "..", ".", "a", "b", "in", "out", "inside", "up", "loop", "secret", "//", "\0", "é", " ",
    "-",
];

fuzz_target!(|bytes: &[u8]| {
    let directory = tempfile::tempdir().expect("there is room");
    let within = directory.path().join("in");
    fs::create_dir_all(within.join("a/b")).expect("there is room");
    let secret = directory.path().join("secret");
    fs::write(&secret, "secret").expect("there is room");
    for (target, name) in [
        ("..", "up"),
        ("../secret", "out"),
        ("a", "inside"),
        ("loop", "loop"),
    ] {
        std::os::unix::fs::symlink(target, within.join(name)).expect("there is room");
    }
    let paths: Vec<PathBuf> = bytes
        .split(|&byte| byte == 0xff)
        .map(|path| {
            path.iter()
                .map(|&byte| PARTS[usize::from(byte % 16)])
                .collect::<String>()
                .into()
        })
        .collect();
    let mut writer = bulk::Writer::new();
    writer.create_parents(true);
    writer.within(&within).expect("it is there");
    let _ = writer
        .write(paths.iter().map(|path| (path, "written")))
        .into_result();
    let mut reader = bulk::Reader::new();
    reader.within(&within).expect("it is there");
    for (_, contents) in reader.read(&paths) {
        assert!(contents.map_or(true, |contents| &contents[..] != b"secret"));
    }
    assert_eq!(fs::read(&secret).expect("it is there"), b"secret");
    let mut names: Vec<_> = fs::read_dir(directory.path())
        .expect("it is there")
        .map(|entry| entry.expect("it is there").file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["in", "secret"]);
});
