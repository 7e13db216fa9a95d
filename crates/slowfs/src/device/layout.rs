//! Where a file lies on the simulated disk, from nothing but its inode number.
//!
//! As on ext4: inode numbers count along the disk, one for every 16 KiB (mke2fs's default `inode_ratio`), and a file's
//! data lie where its inode is. Files made one after the other are therefore neighbours. One file in `scattered` lies
//! somewhere else in the same 2 GiB (ext4's flexible block group): its place was taken when it was written.

use crate::Parameters;

/// Bytes of disk for each inode.
pub(super) const BYTES_PER_INODE: u64 = 16 << 10;
/// Bytes that a file which found its place taken is still near to.
const REGION: u64 = 2 << 30;

/// Byte of the disk at which the file begins.
pub(super) fn position(inode: u64, parameters: &Parameters) -> u64 {
    let home = inode.wrapping_mul(BYTES_PER_INODE);
    let mut luck = fastrand::Rng::with_seed(inode ^ parameters.seed.rotate_left(32));
    let scattered = parameters.scattered > 0 && luck.u32(..parameters.scattered) == 0;
    let position = if scattered {
        home / REGION * REGION + luck.u64(..REGION)
    } else {
        home
    };
    position % parameters.capacity.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

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
        // A scattered file is missing from between its neighbours too.
        let expected = 2 * 1000 / parameters.scattered as usize;
        assert!(broken.abs_diff(expected) <= expected / 2, "{broken}");
    }

    #[test]
    fn a_place_depends_on_the_seed_and_on_nothing_else() {
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
