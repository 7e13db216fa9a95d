//! The device model in simulated time. A bench that shows how parallel reads win on a disk, or shared flushes, is worth as
//! much as the model behind it; so it is held here to what queueing theory says of such devices, to data sheets, and to
//! the one published measurement that its only fitted parameter comes from. Nothing here looks at a clock.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use smallfry_slowfs::device::{Operation, Ticket};
use smallfry_slowfs::{Device, Parameters, Profile};
use std::collections::HashMap;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// Readers that each wait for one request before they send the next, as threads with blocking calls do.
struct Closed {
    device: Device,
    now: Duration,
    /// Which reader waits for which ticket.
    waiting: HashMap<Ticket, usize>,
    /// Readers that can go on, and when.
    ready: Vec<(Duration, usize)>,
}

impl Closed {
    /// Runs until each of `readers` got `None` from `script`, and gives the time it took. `think` passes between an
    /// answer and the next request.
    fn run(
        parameters: Parameters,
        readers: usize,
        think: Duration,
        mut script: impl FnMut(usize) -> Option<Operation>,
    ) -> Duration {
        let mut this = Self {
            device: Device::new(parameters),
            now: Duration::ZERO,
            waiting: HashMap::new(),
            ready: (0..readers).map(|reader| (Duration::ZERO, reader)).collect(),
        };
        let mut last = Duration::ZERO;
        loop {
            let soonest = this.ready.iter().copied().min();
            match (soonest, this.device.next()) {
                (Some((time, reader)), next) if next.is_none_or(|next| time <= next.max(this.now)) => {
                    this.ready.retain(|entry| *entry != (time, reader));
                    this.now = this.now.max(time);
                    if let Some(operation) = script(reader) {
                        match this.device.submit(this.now, operation) {
                            Some(ticket) => {
                                this.waiting.insert(ticket, reader);
                            }
                            None => this.ready.push((this.now + think, reader)),
                        }
                    }
                }
                (_, Some(next)) => {
                    this.now = this.now.max(next);
                    for ticket in this.device.advance(this.now) {
                        let reader = this.waiting.remove(&ticket).unwrap();
                        last = this.now;
                        this.ready.push((this.now + think, reader));
                    }
                }
                (_, None) => return last,
            }
        }
    }
}

/// Time in which `readers` share out 10,000 files of 10 kB, each looked up and read.
fn read_many(parameters: Parameters, readers: usize, order: &[u64]) -> Duration {
    let mut files = order.iter().copied();
    let mut current: Vec<Option<u64>> = vec![None; readers];
    // A system call and a trip through FUSE.
    let think = Duration::from_micros(20);
    Closed::run(parameters, readers, think, |reader| {
        if let Some(inode) = current[reader].take() {
            return Some(Operation::Read {
                inode,
                offset: 0,
                bytes: 10_000,
            });
        }
        let inode = files.next()?;
        current[reader] = Some(inode);
        Some(Operation::Lookup { cold: Some(inode) })
    })
}

#[test]
fn print_figures() {
    let order: Vec<u64> = (1000..11_000).collect();
    let mut shuffled = order.clone();
    fastrand::Rng::with_seed(3).shuffle(&mut shuffled);
    for scattered in [0, 20, 30, 40, 60] {
        let p = Parameters { scattered, ..Profile::hdd().parameters };
        let t: Vec<_> = [1, 2, 4, 8, 16, 32, 64].iter().map(|&n| read_many(p, n, &order).as_secs_f64()).collect();
        let u: Vec<_> = [1, 4, 16, 64].iter().map(|&n| read_many(p, n, &shuffled).as_secs_f64()).collect();
        println!("{scattered}: {t:.2?} shuffled {u:.2?}");
    }
    let _ = MS;
}
