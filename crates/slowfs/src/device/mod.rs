//! The device model, which decides when each request is answered.
//!
//! It has no clock and does no I/O, so a test simulates a second of a disk's time in a millisecond,
//! and the same requests at the same times always get the same answers.
//!
//! A request passes through one or two *stations* (`head.rs`, `lanes.rs`, `flushes.rs`), each with
//! its own queue. The caller calls [`Device::submit`] when a request arrives, and
//! [`Device::advance`] at the time that [`Device::next`] names. It then answers the requests that
//! `advance` returns.
//!
//! The costs of each operation:
//!
//! | operation | disk | network | closing | flush |
//! |---|---|---|---|---|
//! | look-up | 512 inodes, unless the system has them | a trip | | |
//! | open, attributes, a change of names | | a trip | | |
//! | listing a directory | 4 KiB, unless the system has it | a trip | | |
//! | read | the bytes | a trip with the bytes | | |
//! | write | | | | |
//! | close of a written file | | a trip with the bytes written | one scan | |
//! | flush | the bytes written, then the journal | a trip with the bytes written | | one, shared |
//!
//! Writes are free because a system keeps them in memory, here as on a real disk. Changes of names
//! are free because a journal keeps them. The flush pays for both.

mod flushes;
mod head;
mod lanes;
mod layout;
mod request;

use crate::parameters::{self, Parameters};
use flushes::Flushes;
use head::Head;
use lanes::Lanes;
pub use layout::INODES_AT_ONCE;
use request::Extent;
pub use request::RequestId;
use std::collections::HashMap;
use std::time::Duration;

/// Bytes read to list a directory.
const BLOCK: u64 = 4096;

/// A request to the device, reduced to what the device can see.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operation {
    /// A name is looked up.
    Lookup {
        /// The inode that was found, unless the system has it in memory. The system has all or none
        /// of the [`INODES_AT_ONCE`] that are read together.
        cold: Option<u64>,
    },
    /// A file is opened, attributes are read or changed, or a name is made, changed or removed.
    Name,
    /// A directory is read.
    List {
        /// The directory, unless the system has it in memory.
        cold: Option<u64>,
    },
    /// Bytes are read.
    Read {
        /// The file.
        inode: u64,
        /// The offset in the file.
        offset: u64,
        /// The number of bytes.
        bytes: u64,
    },
    /// A written file is closed.
    Close {
        /// Bytes written since the last flush or close of the file.
        bytes: u64,
    },
    /// A file or directory is flushed.
    Flush {
        /// The file or directory.
        inode: u64,
        /// Bytes written to it since its last flush.
        bytes: u64,
    },
}

/// A visit of a request to a station.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Command,
    Head(Extent),
    Trip,
    Link { bytes: u64 },
    Close,
    Flush,
}

/// The simulated device; see the module.
#[derive(Debug)]
pub struct Device {
    parameters: Parameters,
    random: fastrand::Rng,
    requests: RequestId,
    commands: Lanes,
    head: Head,
    network: Lanes,
    link: Lanes,
    closing: Lanes,
    flushes: Flushes,
    /// The stages that each request still has to visit, the next one last.
    ahead: HashMap<RequestId, Vec<Stage>>,
    answered: Vec<RequestId>,
}

impl Device {
    /// An idle device at time zero.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            random: fastrand::Rng::with_seed(parameters.seed),
            requests: 0,
            commands: Lanes::default(),
            head: Head::new(),
            network: Lanes::default(),
            link: Lanes::default(),
            closing: Lanes::default(),
            flushes: Flushes::default(),
            ahead: HashMap::new(),
            answered: Vec::new(),
        }
    }

    /// The current parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Replaces the device from `now` on. Requests that are being served end as they would have.
    pub fn change(&mut self, now: Duration, parameters: Parameters) {
        self.run(now);
        if self.parameters.seed != parameters.seed {
            self.random = fastrand::Rng::with_seed(parameters.seed);
        }
        self.parameters = parameters;
    }

    /// Empties the device's own cache at `now`. A system that drops its caches cannot reach this
    /// one.
    pub fn empty_cache(&mut self, now: Duration) {
        self.run(now);
        self.head.forget();
    }

    /// Takes a request at `now`, which must not be before the time of an earlier call. Returns
    /// `None` if the request costs nothing and is answered at once.
    pub fn submit(&mut self, now: Duration, operation: Operation) -> Option<RequestId> {
        let stages = self.route(operation);
        if stages.is_empty() {
            return None;
        }
        self.run(now);
        self.requests += 1;
        let request = self.requests;
        self.ahead.insert(request, stages);
        self.proceed(now, request);
        Some(request)
    }

    /// The time at which to call [`advance`](Self::advance).
    pub fn next(&self) -> Option<Duration> {
        if self.answered.is_empty() {
            self.next_event().map(|(time, _)| time)
        } else {
            Some(Duration::ZERO)
        }
    }

    /// Advances the time to `now` and returns the requests to be answered, in order.
    pub fn advance(&mut self, now: Duration) -> Vec<RequestId> {
        self.run(now);
        std::mem::take(&mut self.answered)
    }

    /// The stages of an operation, the last one first.
    fn route(&self, operation: Operation) -> Vec<Stage> {
        let parameters = &self.parameters;
        let mut stages = Vec::new();
        let data = |inode| layout::position(inode, parameters);
        let disk = |stages: &mut Vec<Stage>, position: u64, bytes: u64, write: bool| {
            if parameters.has_disk() {
                stages.push(Stage::Head(Extent {
                    position,
                    bytes,
                    write,
                }));
                stages.push(Stage::Command);
            }
        };
        match operation {
            Operation::Lookup { cold: Some(inode) } => {
                let (position, bytes) = layout::table(inode, parameters);
                disk(&mut stages, position, bytes, false);
            }
            Operation::List { cold: Some(inode) } => {
                disk(&mut stages, data(inode), BLOCK, false);
            }
            Operation::Read {
                inode,
                offset,
                bytes,
            } => disk(&mut stages, data(inode) + offset, bytes, false),
            Operation::Close { .. } if parameters.has_closing() => {
                stages.push(Stage::Close);
            }
            Operation::Flush { inode, bytes } => {
                if !parameters.flush.is_zero() {
                    stages.push(Stage::Flush);
                }
                if bytes > 0 {
                    disk(&mut stages, data(inode), bytes, true);
                }
            }
            Operation::Lookup { .. }
            | Operation::List { .. }
            | Operation::Name
            | Operation::Close { .. } => {}
        }
        if parameters.has_network() {
            let bytes = match operation {
                Operation::Read { bytes, .. }
                | Operation::Close { bytes }
                | Operation::Flush { bytes, .. } => bytes,
                _ => 0,
            };
            if bytes > 0 && parameters.bandwidth > 0 {
                stages.push(Stage::Link { bytes });
            }
            stages.push(Stage::Trip);
        }
        stages
    }

    /// Processes all events up to `now`.
    fn run(&mut self, now: Duration) {
        while let Some((time, station)) = self.next_event() {
            if time > now {
                break;
            }
            self.happen(time, station);
        }
    }

    fn next_event(&self) -> Option<(Duration, Station)> {
        [
            (self.commands.next(), Station::Commands),
            (self.head.next(), Station::Head),
            (self.network.next(), Station::Network),
            (self.link.next(), Station::Link),
            (self.closing.next(), Station::Closing),
            (self.flushes.next(), Station::Flushes),
        ]
        .into_iter()
        .filter_map(|(time, station)| Some((time?, station)))
        .min_by_key(|(time, _)| *time)
    }

    fn happen(&mut self, time: Duration, station: Station) {
        let parameters = &self.parameters;
        let served = match station {
            Station::Commands => self.commands.finish(0).into_iter().collect(),
            Station::Head => self.head.finish(parameters).into_iter().collect(),
            Station::Network => self
                .network
                .finish(parameters.servers)
                .into_iter()
                .collect(),
            Station::Link => self.link.finish(1).into_iter().collect(),
            Station::Closing => self
                .closing
                .finish(parameters.closers)
                .into_iter()
                .collect(),
            Station::Flushes => self.flushes.finish(parameters.flush),
        };
        for request in served {
            self.proceed(time, request);
        }
    }

    /// Sends a request to its next station, or answers it.
    fn proceed(&mut self, now: Duration, request: RequestId) {
        while let Some(stage) = self.ahead.get_mut(&request).and_then(Vec::pop) {
            if !self.visit(now, request, stage) {
                return;
            }
        }
        self.ahead.remove(&request);
        self.answered.push(request);
    }

    /// Visits a station. Returns whether the request can proceed at once.
    fn visit(&mut self, now: Duration, request: RequestId, stage: Stage) -> bool {
        let parameters = &self.parameters;
        match stage {
            Stage::Command => self.commands.arrive(now, request, parameters.command, 0),
            Stage::Head(extent) => return self.head.arrive(now, request, extent, parameters),
            Stage::Trip => {
                self.network
                    .arrive(now, request, parameters.round_trip, parameters.servers);
            }
            Stage::Link { bytes } => {
                let service = parameters::at_rate(bytes, parameters.bandwidth);
                self.link.arrive(now, request, service, 1);
            }
            Stage::Close => {
                let service = parameters.close + parameters.close_spread.mul_f64(self.random.f64());
                self.closing
                    .arrive(now, request, service, parameters.closers);
            }
            Stage::Flush => self.flushes.arrive(now, request, parameters.flush),
        }
        false
    }
}

#[derive(Clone, Copy)]
enum Station {
    Commands,
    Head,
    Network,
    Link,
    Closing,
    Flushes,
}
