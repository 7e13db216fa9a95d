//! The image of a disk after a crash of the machine. If a flushed block were missing, any file
//! system would look broken. If always all later blocks were there, or none, no file system would
//! be tested.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use smallfry_slowfs::crash::{Attributes, Inode, Kind, Log};
use std::collections::BTreeSet;
use std::fs;

fn image(log: &mut Log, bytes: &[u8]) -> Inode {
    let (name, plain) = ("disk".as_ref(), Attributes::default());
    let image = log.make(Inode::ROOT, name, Kind::File, plain).unwrap();
    log.write(image, 0, bytes).unwrap();
    image
}

#[test]
fn an_image_has_flushed_blocks_and_any_of_the_later_ones() {
    const BLOCK: usize = 4096;
    const BLOCKS: usize = 64;
    let mut log = Log::default();
    let image = image(&mut log, &vec![1; BLOCK * BLOCKS]);
    log.set_baseline();
    log.write(image, 0, &vec![2; BLOCK * 8]).unwrap();
    log.zero(image, 8 * BLOCK as u64, BLOCK as u64).unwrap();
    log.flush(image, true).unwrap();
    let flushed = log.len();
    log.write(image, 0, &vec![3; BLOCK * BLOCKS]).unwrap();
    let at = |point, seed| {
        let into = tempfile::NamedTempFile::new().unwrap();
        log.image(image, point, seed, into.as_file()).unwrap();
        fs::read(into.path()).unwrap()
    };
    let wanted = |block: usize| match block {
        0..8 => 2,
        8 => 0,
        _ => 1,
    };
    let mut seen = BTreeSet::new();
    for seed in 0..8 {
        for (block, bytes) in at(flushed, seed).chunks(BLOCK).enumerate() {
            assert_eq!(bytes, [wanted(block); BLOCK]);
        }
        let later = at(log.len(), seed);
        assert_eq!(later.len(), BLOCK * BLOCKS);
        assert_eq!(later, at(log.len(), seed));
        for (block, bytes) in later.chunks(BLOCK).enumerate() {
            assert!(bytes == [3; BLOCK] || bytes == [wanted(block); BLOCK]);
            seen.insert((block, bytes[0] == 3));
        }
    }
    assert!(seen.len() > BLOCKS * 3 / 2);
}

#[test]
fn an_image_of_hundreds_of_megabytes_is_written_sparsely() {
    let mut log = Log::default();
    let image = image(&mut log, b"");
    log.resize(image, 300 << 20).unwrap();
    log.set_baseline();
    for number in 0..1000_u64 {
        log.write(image, number * (300 << 10), &[number as u8 | 1; 8192])
            .unwrap();
    }
    let into = tempfile::tempfile().unwrap();
    log.image(image, log.len(), 1, &into).unwrap();
    let stat = into.metadata().unwrap();
    assert_eq!(stat.len(), 300 << 20);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        assert!(stat.blocks() * 512 < 16 << 20);
    }
}
