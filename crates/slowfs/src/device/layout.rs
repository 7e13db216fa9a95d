//! The place of a file on the simulated disk, computed from its inode number.
//!
//! The layout follows ext4. Inode numbers count along the disk, one for every 16 KiB (mke2fs's
//! default `inode_ratio`), and the data of files lie in that order. Files that were made one after
//! the other are therefore neighbours. One file in `scattered` lies elsewhere in the same 2 GiB
//! (ext4's flexible block group), because its place was taken when it was written. The inodes
//! themselves lie together at the beginning of each 128 MiB, and the system reads
//! [`INODES_AT_ONCE`].

use crate::parameters::Parameters;

/// The number of inodes that are read together: ext4's default `inode_readahead_blks`, 32 blocks of
/// 16.
pub const INODES_AT_ONCE: u64 = 512;

/// Bytes of disk for each inode.
const BYTES_PER_INODE: u64 = 16 << 10;
/// Bytes of an inode itself.
const INODE: u64 = 256;
/// Bytes of disk that have their inodes at the beginning.
const GROUP: u64 = 128 << 20;
/// Bytes of disk within which a scattered file lies.
const REGION: u64 = 2 << 30;

/// The first byte of the inodes that are read together with this one, and their number of bytes.
pub(super) fn table(inode: u64, parameters: &Parameters) -> (u64, u64) {
    let home = inode.wrapping_mul(BYTES_PER_INODE);
    let within = home % GROUP / BYTES_PER_INODE / INODES_AT_ONCE * INODES_AT_ONCE * INODE;
    let position = (home / GROUP * GROUP + within) % parameters.capacity.max(1);
    (position, INODES_AT_ONCE * INODE)
}

/// The byte of the disk at which the file begins.
pub(super) fn position(inode: u64, parameters: &Parameters) -> u64 {
    let home = inode.wrapping_mul(BYTES_PER_INODE);
    let mut random = fastrand::Rng::with_seed(inode ^ parameters.seed.rotate_left(32));
    let scattered = parameters.scattered > 0 && random.u32(..parameters.scattered) == 0;
    let position = if scattered {
        home / REGION * REGION + random.u64(..REGION)
    } else {
        home
    };
    position % parameters.capacity.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    #[test]
    fn neighbours_by_number_are_neighbours_on_the_disk() {
        let parameters = Profile::hdd().parameters;
        let near = (1000..2000)
            .filter(|&inode| {
                let (one, two) = (
                    position(inode, &parameters),
                    position(inode + 1, &parameters),
                );
                two == one + BYTES_PER_INODE
            })
            .count();
        let broken = 1000 - near;
        // A scattered file also separates its two neighbours.
        let expected = 2 * 1000 / parameters.scattered as usize;
        assert!(broken.abs_diff(expected) <= expected / 2, "{broken}");
    }

    #[test]
    fn a_place_depends_only_on_inode_and_seed() {
        let parameters = Profile::hdd().parameters;
        let other = Parameters {
            seed: 8,
            ..parameters
        };
        let places = |parameters| -> Vec<u64> {
            (0..10_000)
                .map(|inode| position(inode, parameters))
                .collect()
        };
        assert_eq!(places(&parameters), places(&parameters));
        assert_ne!(places(&parameters), places(&other));
        assert!(
            places(&parameters)
                .iter()
                .all(|&place| place < parameters.capacity)
        );
        assert!(position(u64::MAX, &parameters) < parameters.capacity);
    }
}
