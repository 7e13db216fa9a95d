//! Shows a directory through a simulated disk: as slow, full or faulty as a test needs it.
//!
//! - Use [`Mount`] with a [`Profile`] to run a program on a disk that you do not have. The command
//!   `smallfry slow` does the same.
//! - Use [`Fault`] and [`Options::full_after`] to see what a program does when the disk fails or is
//!   full.
//! - Use [`crash`] to see what a program leaves when the machine crashes before everything was
//!   flushed.
//! - Use [`Device`] to ask the device model itself, in simulated time and without a mount.
//!
//! ```no_run
//! use smallfry_slowfs::{Mount, Options, Profile};
//!
//! let mut options = Options::new("hdd,seek=12ms".parse()?);
//! options.faults = vec!["write:100:EIO".parse()?];
//! let mut mount = Mount::new("site".as_ref(), None, &options)?;
//! // Programs that read site/ now wait as for a disk.
//! mount.unmount()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Design
//!
//! A FUSE file system (Linux, root) forwards every call to the real directory. It uses a descriptor
//! that was opened before the mount covered the directory. Once the real work is done, the answer
//! is held back until the [device model](device) releases it. One thread holds all answers and no
//! other thread waits, so a thousand requests can be in flight at once.
//!
//! # What is not promised
//!
//! - Reads that the kernel answers from its page cache do not reach the device; see
//!   [`Options::keep_cache`].
//! - A real disk that is slower than the simulated one adds its own delay. To measure, keep the
//!   directory in memory (`/dev/shm`).
//! - Extended attributes other than [`EMPTY_CACHE`] are refused (`EOPNOTSUPP`). Locks are known to
//!   this machine only.
//! - Faults do no damage: a failed write has written nothing, and a failed flush keeps what was
//!   written. Only a [`crash`] does damage.

mod error;
mod faults;
mod mount;
mod options;
mod parameters;
mod profile;
mod quantity;
mod unmounted;

pub mod crash;
pub mod device;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

pub use device::Device;
pub use error::Error;
pub use faults::{Call, Fault};
pub use mount::{Mount, clean_up};
pub use options::{EMPTY_CACHE, Options};
pub use parameters::{PARAMETERS, Parameter, Parameters};
pub use profile::Profile;
pub use quantity::{parse_bytes as bytes, parse_time as time};
pub use unmounted::Unmounted;

/// Its example is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
