//! The command line of `smallfry slow`.

use smallfry_slowfs::{Error, Fault, Options, Profile};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  smallfry slow hdd site                      site/ behind a 7200-rpm disk, until Ctrl-C
  smallfry slow nfs --set round-trip=2ms --at /mnt site
  smallfry slow none --fail fsync:1:EIO site  the first flush fails
  smallfry slow none --then 5s:hdd site       fast for five seconds, then a disk

Needs Linux and root. Profiles, parameters and where their figures come from: smallfry slow --list")]
pub(crate) struct Arguments {
    /// The device: hdd, windows-close, nfs, slow-flush or none; with parameters if need be, as in hdd,seek=12ms
    #[arg(required_unless_present = "list", value_name = "PROFILE")]
    profile: Option<Profile>,

    /// The directory to show through it
    #[arg(required_unless_present = "list", value_name = "DIR")]
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

    /// End when this process is not the parent, or no longer
    #[arg(long, hide = true, value_name = "PROCESS")]
    pub(super) parent: Option<u32>,

    /// List profiles, parameters and where their figures come from
    #[arg(long)]
    pub(super) list: bool,
}

impl Arguments {
    pub(super) fn options(&self) -> Result<Options, Error> {
        let mut profile = self.profile.clone().ok_or_else(missing)?;
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
            ..Options::new(profile)
        })
    }

    pub(super) fn directory(&self) -> Result<&Path, Error> {
        self.directory.as_deref().ok_or_else(missing)
    }
}

fn missing() -> Error {
    Error::Argument("PROFILE and DIR are needed".to_owned())
}

fn change(text: &str) -> Result<(Duration, Profile), Error> {
    let (time, profile) = text
        .split_once(':')
        .ok_or_else(|| Error::Argument(format!("{text}: TIME:PROFILE is expected")))?;
    Ok((smallfry_slowfs::time(time)?, profile.parse()?))
}
