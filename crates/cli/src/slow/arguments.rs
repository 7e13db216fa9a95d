//! The command line of `smallfry slow`.

use super::crash::{Crashes, Point};
use smallfry_slowfs::crash::Model;
use smallfry_slowfs::{Error, Fault, Options, Profile};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
#[command(override_usage = "\
smallfry slow [OPTIONS] PROFILE DIR
       smallfry slow [OPTIONS] --crash random|N [PROFILE] DIR
       smallfry slow --list")]
#[command(after_help = "\
Examples:
  smallfry slow hdd site                      site/ on a 7200-rpm disk, until Ctrl-C
  smallfry slow nfs --set round-trip=2ms --at /mnt site
  smallfry slow none --fail fsync:1:EIO site  the first flush fails
  smallfry slow none --then 5s:hdd site       fast for five seconds, then a disk
  smallfry slow --crash random --seed 3 site  what a crash leaves, after Ctrl-C

To crash a program: mount DIR with --crash, run the program on it, and press Ctrl-C at any time. DIR
then shows what survived, until the next Ctrl-C. The directory itself keeps everything that was
written. A program can report that data is safe: it looks up a file .smallfry-ack-NAME, which never
exists. After the crash the command prints the NAMEs that were looked up before it. docs/slow.md
tells what can be lost, and when.

Needs Linux and root. smallfry slow --list prints the profiles, the parameters and their sources.")]
pub(crate) struct Arguments {
    /// Simulated device: hdd, windows-close, nfs, slow-flush or none
    ///
    /// Parameters may follow the name, as in hdd,seek=12ms.
    #[arg(required_unless_present = "list", value_name = "PROFILE")]
    profile: Option<OsString>,

    /// Directory to show through the device
    #[arg(required_unless_present_any = ["list", "crash"], value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Mount at this directory instead of over DIR
    #[arg(long, value_name = "MOUNTPOINT")]
    pub(super) at: Option<PathBuf>,

    /// Set a parameter of the device; may be repeated
    #[arg(long, value_name = "PARAMETER=VALUE")]
    set: Vec<String>,

    /// Switch to another device this long after mounting; may be repeated
    #[arg(long, value_name = "TIME:PROFILE", value_parser = change)]
    then: Vec<(Duration, Profile)>,

    /// Fail calls of an operation with this error; may be repeated
    ///
    /// N selects the calls: 3 is the third call, 3+ the third and all later ones, every3 every
    /// third. The operation any counts all calls.
    #[arg(long, value_name = "OPERATION:N:ERRNO")]
    fail: Vec<Fault>,

    /// Fail writes with ENOSPC once this many bytes were written
    #[arg(long, value_name = "BYTES", value_parser = smallfry_slowfs::bytes)]
    full_after: Option<u64>,

    /// Keep file contents in the page cache, so that only first reads reach the device
    #[arg(long)]
    keep_cache: bool,

    /// When unmounted, simulate a crash after a random operation, or after the Nth
    ///
    /// The survivors of the crash are then mounted in place of DIR, until they are unmounted in
    /// turn.
    #[arg(long, value_name = "random|N")]
    crash: Option<Point>,

    /// Seed of the crash: the same operations and seed leave the same [default: random]
    #[arg(long, requires = "crash", value_name = "NUMBER")]
    seed: Option<u64>,

    /// Promises of the file system: ordered (ext4) or weak (POSIX) [default: either]
    #[arg(long, requires = "crash")]
    model: Option<Model>,

    /// Write what survives the crash to this directory (empty or new), then exit
    #[arg(long, requires = "crash", value_name = "DIRECTORY")]
    survivors: Option<PathBuf>,

    /// Ends when this process is not, or no longer, the parent
    #[arg(long, hide = true, value_name = "PROCESS")]
    pub(super) parent: Option<u32>,

    /// List profiles and parameters, and the sources of their figures
    #[arg(long)]
    pub(super) list: bool,
}

impl Arguments {
    pub(super) fn options(&self) -> Result<Options, Error> {
        let mut profile = match self.profile_and_directory()?.0 {
            Some(profile) => profile.to_string_lossy().parse()?,
            None => Profile::none(),
        };
        for setting in &self.set {
            let (name, value) = setting.split_once('=').ok_or_else(|| {
                Error::Argument(format!(
                    "--set {setting}: expected PARAMETER=VALUE, as in seek=12ms"
                ))
            })?;
            profile.parameters.set(name, value)?;
        }
        Ok(Options {
            changes: self.then.clone(),
            faults: self.fail.clone(),
            full_after: self.full_after,
            keep_cache: self.keep_cache,
            record: self.crash.is_some(),
            ..Options::new(profile)
        })
    }

    pub(super) fn directory(&self) -> Result<&Path, Error> {
        Ok(self.profile_and_directory()?.1)
    }

    /// The crash to simulate when the mount ends.
    pub(super) fn crashes(&self) -> Result<Option<Crashes>, Error> {
        let Some(point) = self.crash else {
            return Ok(None);
        };
        Crashes::new(point, self.model, self.seed, self.survivors.clone()).map(Some)
    }

    /// With `--crash` the profile may be left out, since a crash does not need a slow device.
    fn profile_and_directory(&self) -> Result<(Option<&OsStr>, &Path), Error> {
        match (&self.profile, &self.directory) {
            (Some(profile), Some(directory)) => Ok((Some(profile), directory)),
            (Some(directory), None) if self.crash.is_some() => Ok((None, Path::new(directory))),
            _ => Err(missing()),
        }
    }
}

fn missing() -> Error {
    Error::Argument("expected PROFILE and DIR; with --crash, DIR is enough".to_owned())
}

fn change(text: &str) -> Result<(Duration, Profile), Error> {
    let (time, profile) = text.split_once(':').ok_or_else(|| {
        Error::Argument(format!(
            "--then {text}: expected TIME:PROFILE, as in 5s:hdd"
        ))
    })?;
    Ok((smallfry_slowfs::time(time)?, profile.parse()?))
}
