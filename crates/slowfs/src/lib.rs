//! A directory behind a disk as slow, full or faulty as you need it.
//!
//! - To see how a program fares on a disk that you do not have: [`Mount`] with a [`Profile`], or `smallfry slow` on the
//!   command line.
//! - To see what it does when the disk fails: [`Fault`]s, and [`Options::full_after`].
//! - To see what it leaves when the machine crashes, whatever was not flushed: [`crash`].
//! - To ask the device itself, without mounting anything: [`Device`], in simulated time.
//!
//! ```no_run
//! use smallfry_slowfs::{Mount, Options, Profile};
//!
//! let mut options = Options::new("hdd,seek=12ms".parse()?);
//! options.faults = vec!["write:100:EIO".parse()?];
//! let mut mount = Mount::new("site".as_ref(), None, &options)?;
//! // Whatever reads site/ now waits as for a disk.
//! mount.unmount()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Design
//!
//! A FUSE file system (Linux, root) hands every call on to the real directory, through a descriptor that was opened before
//! anything was mounted over it. When the real work is done the answer is held back until the [device model](device)
//! says that its time has come. One thread holds all answers, and no other waits, so a thousand requests may be
//! under way at once.
//!
//! # What is not promised
//!
//! - Reads that the kernel answers from its page cache do not reach the device; see [`Options::keep_cache`].
//! - A real disk below that is slower than the simulated one shows through: keep the directory in memory (`/dev/shm`) to
//!   measure with.
//! - Extended attributes but [`EMPTY_CACHE`] are refused (`EOPNOTSUPP`), and locks are known to this machine only.
//! - Faults are answers, not damage: a failed write has written nothing, a failed flush leaves what was written. Damage is
//!   what a [`crash`] leaves.

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

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(not(target_os = "linux"))]
use other as platform;

pub use device::Device;
pub use error::Error;
pub use faults::{Call, Fault};
pub use mount::{Mount, clean_up};
pub use options::{EMPTY_CACHE, Options};
pub use parameters::{PARAMETERS, Parameter, Parameters};
pub use profile::Profile;
pub use quantity::{parse_bytes as bytes, parse_time as time};
pub use unmounted::Unmounted;
