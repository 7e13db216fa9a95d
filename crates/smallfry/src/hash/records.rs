//! The format of a file of cached digests.
//!
//! | bytes | meaning |
//! |---|---|
//! | 24 | `smallfry digest cache 1` and a line break |
//! | 81 for each digest | device, inode, length, time of modification, time of change, algorithm, digest |
//! | 32 | BLAKE3 of all bytes before |
//!
//! Numbers are little-endian. Times are 8 bytes of seconds since 1970 and 4 of nanoseconds. Shorter
//! digests end with zeros.

use super::algorithm::Algorithm;
use super::digest::Digest;
use crate::sys::Stamp;

/// The beginning of the file in any version of the format.
const NAME: &[u8] = b"smallfry digest cache ";
/// The beginning of the file.
const TAG: &[u8] = b"smallfry digest cache 1\n";
/// The length of a record in bytes.
const RECORD: usize = 81;
/// The length of the checksum in bytes.
const CHECKSUM: usize = 32;

/// The maximum number of records.
pub(super) const MAX_RECORDS: usize = 1 << 20;
/// The maximum length of the file in bytes.
pub(super) const MAX_BYTES: u64 = (TAG.len() + MAX_RECORDS * RECORD + CHECKSUM) as u64;

/// The file and the algorithm of a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    device: u64,
    inode: u64,
    algorithm: Algorithm,
}

impl Key {
    pub(super) fn new(algorithm: Algorithm, stamp: &Stamp) -> Self {
        Self {
            device: stamp.device,
            inode: stamp.inode,
            algorithm,
        }
    }
}

/// The digest of a file that had this stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) stamp: Stamp,
    pub(super) digest: Digest,
}

/// The contents of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Contents {
    Records(Vec<(Key, Record)>),
    /// It is damaged, cut off or of another version.
    Damaged,
    /// It was never a cache.
    Other,
}

const fn number_of(algorithm: Algorithm) -> u8 {
    match algorithm {
        Algorithm::Blake3 => 0,
        Algorithm::Sha256 => 1,
        Algorithm::Sha1 => 2,
        Algorithm::GitBlob => 3,
    }
}

const fn algorithm_of(number: u8) -> Option<Algorithm> {
    Some(match number {
        0 => Algorithm::Blake3,
        1 => Algorithm::Sha256,
        2 => Algorithm::Sha1,
        3 => Algorithm::GitBlob,
        _ => return None,
    })
}

/// Returns the contents of a file with these records.
pub(super) fn encode<'r>(records: impl Iterator<Item = (&'r Key, &'r Record)>) -> Vec<u8> {
    let mut bytes = TAG.to_vec();
    for (key, Record { stamp, digest }) in records {
        for number in [stamp.device, stamp.inode, stamp.size] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for (seconds, nanoseconds) in [stamp.modified, stamp.changed] {
            bytes.extend_from_slice(&seconds.to_le_bytes());
            bytes.extend_from_slice(&nanoseconds.to_le_bytes());
        }
        bytes.push(number_of(key.algorithm));
        let mut padded = [0; 32];
        padded[..digest.as_bytes().len()].copy_from_slice(digest.as_bytes());
        bytes.extend_from_slice(&padded);
    }
    bytes.extend_from_slice(blake3::hash(&bytes).as_bytes());
    bytes
}

/// Reads the contents of a file. An empty one has no records.
pub(super) fn decode(bytes: &[u8]) -> Contents {
    if bytes.is_empty() {
        return Contents::Records(Vec::new());
    }
    if !bytes.starts_with(NAME) {
        return Contents::Other;
    }
    records(bytes).map_or(Contents::Damaged, Contents::Records)
}

fn records(bytes: &[u8]) -> Option<Vec<(Key, Record)>> {
    let (bytes, checksum) = bytes.split_last_chunk::<CHECKSUM>()?;
    if blake3::hash(bytes).as_bytes() != checksum {
        return None;
    }
    let records = bytes.strip_prefix(TAG)?.chunks(RECORD);
    records.map(record).collect()
}

fn record(mut bytes: &[u8]) -> Option<(Key, Record)> {
    let bytes = &mut bytes;
    let device = u64::from_le_bytes(take(bytes)?);
    let inode = u64::from_le_bytes(take(bytes)?);
    let size = u64::from_le_bytes(take(bytes)?);
    let modified = time(bytes)?;
    let changed = time(bytes)?;
    let [number] = take(bytes)?;
    let algorithm = algorithm_of(number)?;
    let digest: [u8; 32] = take(bytes)?;
    let digest = match algorithm.digest_len() {
        20 => digest.first_chunk::<20>()?.into(),
        _ => (&digest).into(),
    };
    let stamp = Stamp {
        device,
        inode,
        size,
        modified,
        changed,
    };
    Some((Key::new(algorithm, &stamp), Record { stamp, digest }))
}

fn time(bytes: &mut &[u8]) -> Option<(i64, u32)> {
    let seconds = i64::from_le_bytes(take(bytes)?);
    Some((seconds, u32::from_le_bytes(take(bytes)?)))
}

/// Takes the next bytes.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn some_records(count: u64) -> Vec<(Key, Record)> {
        let algorithms = [
            Algorithm::Blake3,
            Algorithm::Sha256,
            Algorithm::Sha1,
            Algorithm::GitBlob,
        ];
        (0..count)
            .map(|index| {
                let algorithm = algorithms[index as usize % 4];
                let stamp = Stamp {
                    device: index,
                    inode: u64::MAX - index,
                    size: index << 40,
                    modified: (-1, 999_999_999),
                    changed: (i64::MAX, 0),
                };
                let digest = algorithm.hash(&index.to_le_bytes());
                (Key::new(algorithm, &stamp), Record { stamp, digest })
            })
            .collect()
    }

    fn encoded(records: &[(Key, Record)]) -> Vec<u8> {
        encode(records.iter().map(|(key, record)| (key, record)))
    }

    #[test]
    fn decode_reads_what_encode_writes() {
        for count in [0, 1, 9] {
            let records = some_records(count);
            let bytes = encoded(&records);
            let length = TAG.len() + records.len() * RECORD + CHECKSUM;
            assert_eq!(bytes.len(), length);
            assert_eq!(decode(&bytes), Contents::Records(records));
        }
        assert_eq!(decode(b""), Contents::Records(Vec::new()));
    }

    #[test]
    fn damage_at_any_byte_leaves_no_record() {
        let bytes = encoded(&some_records(3));
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert!(!matches!(decode(&damaged), Contents::Records(_)), "{at}");
            }
            let cut = decode(&bytes[..at]);
            assert!(at == 0 || !matches!(cut, Contents::Records(_)), "{at}");
        }
        let longer = [&bytes[..], b"x"].concat();
        assert_eq!(decode(&longer), Contents::Damaged);
    }

    #[test]
    fn files_of_other_kinds_are_not_taken_for_damaged_ones() {
        for other in [&b"{}"[..], b"smallfry", b"\0"] {
            assert_eq!(decode(other), Contents::Other);
        }
        let mut next_version = encoded(&some_records(1));
        next_version[NAME.len()] = b'2';
        assert_eq!(decode(&next_version), Contents::Damaged);
        // The checksum is right, but a record is cut off, or its algorithm is not known.
        let mut wrong = TAG.to_vec();
        wrong.extend_from_slice(&[0; RECORD - 1]);
        wrong.extend_from_slice(blake3::hash(&wrong).as_bytes());
        assert_eq!(decode(&wrong), Contents::Damaged);
        let mut wrong = TAG.to_vec();
        wrong.extend_from_slice(&[9; RECORD]);
        wrong.extend_from_slice(blake3::hash(&wrong).as_bytes());
        assert_eq!(decode(&wrong), Contents::Damaged);
    }
}
