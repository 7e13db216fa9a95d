//! Parameters of a device, with their units and meanings.
//!
//! One set of parameters describes every device. A network's profile has no disk, but setting a
//! disk's parameters gives it one.

use crate::error::Error;
use crate::quantity;
use std::time::Duration;

/// Parameters of a simulated device. Zero means no delay and no limit.
///
/// [`Profile`](crate::Profile) has the sets that model real devices.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[allow(
    missing_docs,
    reason = "PARAMETERS says what each is, for the command too"
)]
pub struct Parameters {
    pub seed: u64,
    pub names: Duration,

    pub seek: Duration,
    pub settle: Duration,
    pub rotation: Duration,
    pub rate: u64,
    pub command: Duration,
    pub queue: u32,
    pub patience: Duration,
    pub linger: Duration,
    pub capacity: u64,
    pub cache: u64,
    pub scattered: u32,

    pub round_trip: Duration,
    pub bandwidth: u64,
    pub servers: u32,

    pub close: Duration,
    pub close_spread: Duration,
    pub closers: u32,

    pub flush: Duration,
}

impl Parameters {
    /// Sets one parameter by its name on the command line: `("seek", "8ms")`.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), Error> {
        let Some(parameter) = PARAMETERS.iter().find(|parameter| parameter.name == name) else {
            let known: Vec<&str> = PARAMETERS.iter().map(|known| known.name).collect();
            return Err(Error::Argument(format!(
                "unknown parameter {name}; the parameters are {}",
                known.join(", ")
            )));
        };
        parameter
            .field
            .put(self, value)
            .map_err(|expected| Error::Argument(format!("{name}={value}: expected {expected}")))
    }

    pub(crate) fn has_disk(&self) -> bool {
        let times = [self.seek, self.settle, self.rotation, self.command];
        self.rate > 0 || times.iter().any(|time| !time.is_zero())
    }

    pub(crate) fn has_network(&self) -> bool {
        !self.round_trip.is_zero() || self.bandwidth > 0
    }

    pub(crate) fn has_closing(&self) -> bool {
        !self.close.is_zero() || !self.close_spread.is_zero()
    }
}

/// The time for `bytes` at a rate of `per_second`.
pub(crate) fn at_rate(bytes: u64, per_second: u64) -> Duration {
    if per_second == 0 {
        return Duration::ZERO;
    }
    Duration::from_secs_f64(bytes as f64 / per_second as f64)
}

/// A parameter, to be listed.
#[derive(Debug)]
pub struct Parameter {
    /// The name on the command line.
    pub name: &'static str,
    /// The meaning.
    pub about: &'static str,
    field: Field,
}

impl Parameter {
    /// The value in `parameters`, as it could be set.
    pub fn of(&self, parameters: &Parameters) -> String {
        self.field.show(*parameters)
    }
}

#[derive(Debug)]
enum Field {
    Time(fn(&mut Parameters) -> &mut Duration),
    Bytes(fn(&mut Parameters) -> &mut u64),
    Number(fn(&mut Parameters) -> &mut u64),
    Count(fn(&mut Parameters) -> &mut u32),
}

impl Field {
    /// Sets the value. `Err` names what was expected.
    fn put(&self, parameters: &mut Parameters, value: &str) -> Result<(), &'static str> {
        match self {
            Self::Time(field) => {
                *field(parameters) = quantity::time(value).ok_or("a time such as 8.5ms")?;
            }
            Self::Bytes(field) => {
                *field(parameters) = quantity::bytes(value).ok_or("bytes such as 64MiB")?;
            }
            Self::Number(field) => {
                *field(parameters) = value.parse().map_err(|_| "a whole number")?;
            }
            Self::Count(field) => {
                *field(parameters) = value.parse().map_err(|_| "a whole number")?;
            }
        }
        Ok(())
    }

    fn show(&self, mut parameters: Parameters) -> String {
        match self {
            Self::Time(field) => quantity::show_time(*field(&mut parameters)),
            Self::Bytes(field) => quantity::show_bytes(*field(&mut parameters)),
            Self::Number(field) => field(&mut parameters).to_string(),
            Self::Count(field) => field(&mut parameters).to_string(),
        }
    }
}

/// All parameters, in the order in which to list them.
pub static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "seed",
        about: "seed of the random delays and places",
        field: Field::Number(|p| &mut p.seed),
    },
    Parameter {
        name: "names",
        about: "how long the system caches names and attributes",
        field: Field::Time(|p| &mut p.names),
    },
    Parameter {
        name: "seek",
        about: "average seek, between two random places",
        field: Field::Time(|p| &mut p.seek),
    },
    Parameter {
        name: "settle",
        about: "shortest seek, to the next track",
        field: Field::Time(|p| &mut p.settle),
    },
    Parameter {
        name: "rotation",
        about: "one turn of the platter",
        field: Field::Time(|p| &mut p.rotation),
    },
    Parameter {
        name: "rate",
        about: "bytes per second under the head",
        field: Field::Bytes(|p| &mut p.rate),
    },
    Parameter {
        name: "command",
        about: "overhead of each request, apart from the head",
        field: Field::Time(|p| &mut p.command),
    },
    Parameter {
        name: "queue",
        about: "number of waiting requests among which the disk chooses the nearest",
        field: Field::Count(|p| &mut p.queue),
    },
    Parameter {
        name: "patience",
        about: "a request that has waited longer than this comes next",
        field: Field::Time(|p| &mut p.patience),
    },
    Parameter {
        name: "linger",
        about: "how long the head waits for a request nearby before it moves elsewhere",
        field: Field::Time(|p| &mut p.linger),
    },
    Parameter {
        name: "capacity",
        about: "size of the disk",
        field: Field::Bytes(|p| &mut p.capacity),
    },
    Parameter {
        name: "cache",
        about: "memory of the disk, which an idle head fills by reading ahead",
        field: Field::Bytes(|p| &mut p.cache),
    },
    Parameter {
        name: "scattered",
        about: "one file in this many does not lie beside its neighbours",
        field: Field::Count(|p| &mut p.scattered),
    },
    Parameter {
        name: "round-trip",
        about: "time to the server and back",
        field: Field::Time(|p| &mut p.round_trip),
    },
    Parameter {
        name: "bandwidth",
        about: "bytes per second on the link, shared by all requests",
        field: Field::Bytes(|p| &mut p.bandwidth),
    },
    Parameter {
        name: "servers",
        about: "requests that the server handles at once; 0 is no limit",
        field: Field::Count(|p| &mut p.servers),
    },
    Parameter {
        name: "close",
        about: "shortest time to close a written file",
        field: Field::Time(|p| &mut p.close),
    },
    Parameter {
        name: "close-spread",
        about: "maximum random time added to a close",
        field: Field::Time(|p| &mut p.close_spread),
    },
    Parameter {
        name: "closers",
        about: "closes that run at once; 0 is no limit",
        field: Field::Count(|p| &mut p.closers),
    },
    Parameter {
        name: "flush",
        about: "time of one flush; flushes that wait for it share the next one",
        field: Field::Time(|p| &mut p.flush),
    },
];
