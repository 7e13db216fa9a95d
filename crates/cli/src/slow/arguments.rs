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
  smallfry slow hdd site                      site/ behind a 7200-rpm disk, until Ctrl-C
  smallfry slow nfs --set round-trip=2ms --at /mnt site
  smallfry slow none --fail fsync:1:EIO site  the first flush fails
  smallfry slow none --then 5s:hdd site       fast for five seconds, then a disk
  smallfry slow --crash random --seed 3 site  what a crash leaves, after Ctrl-C

To crash a program: start it on DIR, and press Ctrl-C when you like. DIR then shows what survived,
until Ctrl-C again; the directory itself keeps everything that was done. A program says that
something is safe by looking for a file .smallfry-ack-NAME, which is never there: after the crash
you are told the NAMEs that came before it. docs/design.md has what can be lost, and when.

Needs Linux and root. Profiles, parameters and where their figures come from: smallfry slow --list")]
pub(crate) struct Arguments {
    /// The device: hdd, windows-close, nfs, slow-flush or none; with parameters if need be, as in hdd,seek=12ms
    #[arg(required_unless_present = "list", value_name = "PROFILE")]
    profile: Option<OsString>,

    /// The directory to show through it
    #[arg(required_unless_present_any = ["list", "crash"], value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Show it at this directory, and leave DIR as it is
    #[arg(long, value_name = "MOUNTPOINT")]
    pub(super) at: Option<PathBuf>,

    /// Set a parameter of the device; can be given again
    #[arg(long, value_name = "PARAMETER=VALUE")]
    set: Vec<String>,

    /// Become another device so long after mounting; can be given again
    #[arg(long, value_name = "TIME:PROFILE", value_parser = change)]
    then: Vec<(Duration, Profile)>,

    /// Fail the Nth call of an operation (3), the Nth and all later (3+), or each Nth (every3); can be given again
    #[arg(long, value_name = "OPERATION:N:ERRNO")]
    fail: Vec<Fault>,

    /// Be full (ENOSPC) once so many bytes were written
    #[arg(long, value_name = "BYTES", value_parser = smallfry_slowfs::bytes)]
    full_after: Option<u64>,

    /// Keep the system's page cache when a file is opened, so that only first reads reach the device
    #[arg(long)]
    keep_cache: bool,

    /// When unmounted, crash: after a random one of the operations that there were, or after the Nth; then show the survivors
    /// where DIR was, until unmounted again
    #[arg(long, value_name = "random|N")]
    crash: Option<Point>,

    /// What the crash chooses by; the same operations and seed leave the same [default: any]
    #[arg(long, requires = "crash", value_name = "NUMBER")]
    seed: Option<u64>,

    /// What the file system promised: ordered (as ext4 does) or weak (as POSIX does) [default: either]
    #[arg(long, requires = "crash")]
    model: Option<Model>,

    /// Put what survives the crash into this directory, which is empty or new, and end
    #[arg(long, requires = "crash", value_name = "DIRECTORY")]
    survivors: Option<PathBuf>,

    /// End when this process is not the parent, or no longer
    #[arg(long, hide = true, value_name = "PROCESS")]
    pub(super) parent: Option<u32>,

    /// List profiles, parameters and where their figures come from
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
                Error::Argument(format!("--set {setting}: PARAMETER=VALUE is expected"))
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

    /// What is to be done when it ends.
    pub(super) fn crashes(&self) -> Result<Option<Crashes>, Error> {
        let Some(point) = self.crash else {
            return Ok(None);
        };
        Crashes::new(point, self.model, self.seed, self.survivors.clone()).map(Some)
    }

    /// Who crashes something does not need it to be slow.
    fn profile_and_directory(&self) -> Result<(Option<&OsStr>, &Path), Error> {
        match (&self.profile, &self.directory) {
            (Some(profile), Some(directory)) => Ok((Some(profile), directory)),
            (Some(directory), None) if self.crash.is_some() => Ok((None, Path::new(directory))),
            _ => Err(missing()),
        }
    }
}

fn missing() -> Error {
    Error::Argument("PROFILE and DIR are needed, with --crash only DIR".to_owned())
}

fn change(text: &str) -> Result<(Duration, Profile), Error> {
    let (time, profile) = text
        .split_once(':')
        .ok_or_else(|| Error::Argument(format!("{text}: TIME:PROFILE is expected")))?;
    Ok((smallfry_slowfs::time(time)?, profile.parse()?))
}
