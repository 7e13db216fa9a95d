//! Profiles: named devices, with the sources of their figures.

use crate::error::Error;
use crate::parameters::{PARAMETERS, Parameters};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A named set of parameters that models a real device.
///
/// Parsed from text, parameters may follow the name: `hdd,seek=12ms,seed=3`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Profile {
    /// The name on the command line.
    pub name: &'static str,
    /// The device that it models.
    pub about: &'static str,
    /// The sources of its figures.
    pub source: &'static str,
    /// The figures.
    pub parameters: Parameters,
}

impl Profile {
    /// All profiles.
    pub fn all() -> [Self; 5] {
        [
            Self::hdd(),
            Self::windows_close(),
            Self::nfs(),
            Self::slow_flush(),
            Self::none(),
        ]
    }

    /// A 7200-rpm disk.
    pub fn hdd() -> Self {
        Self {
            name: "hdd",
            about: "a 7200-rpm disk with one head: reads of neighbouring files are cheap, all others expensive",
            source: "data sheets of 7200-rpm desktop disks: average seek 8.5 ms, track to track 1 ms, 8.33 ms per turn, \
                     150 MB/s, 64 MiB cache, 32 queued commands. patience: the Linux deadline scheduler's limit for \
                     reads. linger: BFQ waits up to 8 ms, and less for quick readers. flush: one turn, since a \
                     journal's commit follows its blocks. scattered: fitted to 10,000 files of 10 kB, read one by \
                     one in 4.2 s from such a disk",
            parameters: Parameters {
                seek: Duration::from_micros(8500),
                settle: Duration::from_millis(1),
                rotation: Duration::from_nanos(60_000_000_000 / 7200),
                rate: 150_000_000,
                command: Duration::from_micros(50),
                queue: 32,
                patience: Duration::from_millis(500),
                linger: Duration::from_millis(2),
                capacity: 1_000_000_000_000,
                cache: 64 << 20,
                scattered: 38,
                flush: Duration::from_nanos(60_000_000_000 / 7200),
                ..Self::none().parameters
            },
        }
    }

    /// Windows, where a scanner checks each written file as it is closed.
    pub fn windows_close() -> Self {
        Self {
            name: "windows-close",
            about: "closing a written file takes 1 to 10 ms, four at a time, as under a Windows virus scanner",
            source: "measurements published with close_already, rustup and Mercurial: 1-10 ms per close on Windows, and \
                     more than four threads do not help",
            parameters: Parameters {
                close: Duration::from_millis(1),
                close_spread: Duration::from_millis(9),
                closers: 4,
                ..Self::none().parameters
            },
        }
    }

    /// A file server in the same building.
    pub fn nfs() -> Self {
        Self {
            name: "nfs",
            about: "a file server: one round trip per look-up, open, read, change of names and close of a written file",
            source: "round trip: 0.5-1 ms in a local network with a server that answers from memory; bandwidth: \
                     gigabit Ethernet; names: nfs(5), acregmin",
            parameters: Parameters {
                round_trip: Duration::from_micros(750),
                bandwidth: 117_000_000,
                names: Duration::from_secs(3),
                ..Self::none().parameters
            },
        }
    }

    /// A disk that is fast, except for flushes.
    pub fn slow_flush() -> Self {
        Self {
            name: "slow-flush",
            about: "a flush takes 5 ms; flushes that wait for it share the next one",
            source: "the median of 1,000 synced writes, 5.1 ms, published for the JVM's FileDescriptor.sync; sharing: \
                     as ext4's journal commits",
            parameters: Parameters {
                flush: Duration::from_millis(5),
                ..Self::none().parameters
            },
        }
    }

    /// No device. Shows what the mount itself costs.
    pub fn none() -> Self {
        Self {
            name: "none",
            about: "no delay: shows what the mount itself costs",
            source: "names: libfuse's default",
            parameters: Parameters {
                seed: 1,
                names: Duration::from_secs(1),
                ..Parameters::default()
            },
        }
    }
}

impl FromStr for Profile {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut parts = text.split(',');
        let name = parts.next().unwrap_or_default();
        let mut profile = Self::all()
            .into_iter()
            .find(|profile| profile.name == name)
            .ok_or_else(|| {
                let names = Self::all().map(|profile| profile.name);
                Error::Argument(format!(
                    "unknown profile {name:?}; the profiles are {}",
                    names.join(", ")
                ))
            })?;
        for part in parts {
            let (name, value) = part.split_once('=').ok_or_else(|| {
                Error::Argument(format!(
                    "{part:?}: expected PARAMETER=VALUE, as in seek=12ms"
                ))
            })?;
            profile.parameters.set(name, value)?;
        }
        Ok(profile)
    }
}

/// Prints the name and the parameters that are not zero, so that a run can be repeated.
impl fmt::Display for Profile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)?;
        for parameter in PARAMETERS {
            let value = parameter.of(&self.parameters);
            if value != "0" {
                write!(formatter, ",{}={value}", parameter.name)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_profile_parses_to_the_same() {
        for profile in Profile::all() {
            let mut again: Profile = profile.to_string().parse().unwrap();
            // They are printed as whole nanoseconds.
            again.parameters.rotation = profile.parameters.rotation;
            again.parameters.flush = profile.parameters.flush;
            assert_eq!(again, profile);
        }
    }

    #[test]
    fn parameters_follow_the_name() {
        let profile: Profile = "nfs,round-trip=2ms,seek=9ms,seed=5".parse().unwrap();
        assert_eq!(profile.parameters.round_trip, Duration::from_millis(2));
        assert_eq!(profile.parameters.seek, Duration::from_millis(9));
        assert_eq!(profile.parameters.seed, 5);
    }

    #[test]
    fn wrong_profiles_are_explained() {
        for (text, told) in [
            (
                "floppy",
                "unknown profile \"floppy\"; the profiles are hdd, ",
            ),
            (
                "hdd,speed=1",
                "unknown parameter speed; the parameters are seed, ",
            ),
            ("hdd,seek", "\"seek\": expected PARAMETER=VALUE"),
            ("hdd,seek=8", "seek=8: expected a time such as 8.5ms"),
            ("hdd,rate=fast", "rate=fast: expected bytes"),
            ("hdd,queue=-1", "queue=-1: expected a whole number"),
        ] {
            let error = text.parse::<Profile>().unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }
}
