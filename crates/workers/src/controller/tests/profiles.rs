//! The machines, devices and changes of devices that the controller is tried on.
//!
//! One measured disk takes 0.42 ms for one file after another and 0.18 ms for many at once. Closing
//! a file on Windows takes 1 to 10 ms. The device that collapses is fastest with 2 files at a time
//! and takes 4.5 times as long with 24, as one installer measured. Reads and writes look the same
//! here.

use super::simulator::{Device, Stretch, Times, World};
use Times::{Bursts, Even, Exponential, HeavyTailed};

pub(super) struct Profile {
    pub(super) name: String,
    pub(super) world: World,
    /// The least mean score. Not asked of batches that are over in a few steps of any search.
    pub(super) required: f64,
}

/// Microseconds.
const US: f64 = 1e-6;
/// Milliseconds.
const MS: f64 = 1e-3;

const MEMORY: Device = Device::Memory;
const HDD: Device = Device::Reordering {
    rest: 0.146 * MS,
    saved: 0.274 * MS,
};
const COLLAPSING: Device = Device::Collapsing {
    best: 2,
    mean: 0.8 * MS,
    slope: 0.16,
};

/// One thread is the best number, and eight take twice as long.
const CLONES: Device = Device::Contended {
    count: 1,
    mean: 0.2 * MS,
    slope: 1.0 / 7.0,
};
/// Two threads are the best number, and 24 take four times as long.
const LINKS: Device = Device::Contended {
    count: 2,
    mean: MS,
    slope: 3.0 / 22.0,
};

const fn distant(mean: f64) -> Device {
    Device::Distant { mean }
}

const fn servers(count: usize, mean: f64) -> Device {
    Device::Servers { count, mean }
}

const fn gathering(fewest: usize) -> Device {
    Device::Gathering {
        fewest,
        mean: 0.2 * MS,
    }
}

const fn lock(held: f64, spins: bool) -> Device {
    Device::Lock { held, spins }
}

fn profile(name: &str, cores: usize, operations: usize, stretches: Vec<Stretch>) -> Profile {
    Profile {
        name: name.to_owned(),
        world: World {
            cores,
            operations,
            mean_bytes: 10_000,
            interruptions: 0.0,
            stretches,
            counted: true,
        },
        required: if operations < 10_000 { 0.85 } else { 0.95 },
    }
}

fn stretch(from: usize, compute: f64, device: Device, times: Times) -> Stretch {
    Stretch {
        from,
        compute,
        device,
        times,
    }
}

/// Files in memory: 6 us each and the copying.
pub(super) fn warm(cores: usize, operations: usize) -> Profile {
    let stretches = vec![stretch(0, 6.0 * US, MEMORY, Even)];
    profile("warm", cores, operations, stretches)
}

/// A disk that is slow unless so many requests wait.
pub(super) fn gathering_disk(fewest: usize) -> Profile {
    let stretches = vec![stretch(0, 15.0 * US, gathering(fewest), Exponential)];
    profile("hdd, gathering", 2, 10_000, stretches)
}

/// Objects of a store whose answers take `latency`, in seconds. A request takes 100 us of processor
/// time.
pub(super) fn store(latency: f64, operations: usize) -> World {
    let stretches = vec![stretch(0, 100.0 * US, distant(latency), Even)];
    profile("store", 2, operations, stretches).world
}

pub(super) fn profiles() -> Vec<Profile> {
    let sizes = [1_000, 10_000];
    let mut all = Vec::new();
    for cores in [1, 2, 8] {
        all.extend(sizes.map(|files| warm(cores, files)));
    }
    all.extend([interrupted(), uncounted()]);
    all.extend([2, 8].map(slower_by_turns));
    for (name, cores, compute, device, times) in unchanging() {
        let of = |files| {
            let mut profile = profile(name, cores, files, vec![stretch(0, compute, device, times)]);
            if matches!((times, device), (Bursts, Device::Distant { .. })) {
                // The whole batch is some eighty bursts long: which number is the best shows in
                // hindsight.
                profile.required = if files < 10_000 { 0.65 } else { 0.85 };
            }
            if matches!(device, Device::Contended { .. }) {
                // One wrong trial costs as much as many operations.
                profile.required = if files < 10_000 { 0.75 } else { 0.9 };
            }
            profile
        };
        all.extend(sizes.map(of));
    }
    for (name, cores, devices) in changing() {
        let length = 10_000 / devices.len();
        let stretches = (0..).zip(devices).map(|(index, &device)| {
            let compute = if matches!(device, Device::Memory) {
                6.0
            } else {
                15.0
            };
            stretch(index * length, compute * US, device, Exponential)
        });
        all.push(profile(name, cores, 10_000, stretches.collect()));
    }
    all
}

fn interrupted() -> Profile {
    let mut interrupted = warm(2, 10_000);
    interrupted.name = "warm, interrupted".to_owned();
    interrupted.world.interruptions = 3e-4;
    // Three interruptions; only hindsight tells how many workers would have been there to fill
    // them.
    interrupted.required = 0.9;
    interrupted
}

/// As where memory is used again, then fresh, then used again: there is three times as much to
/// compute, and nothing to gain by any other number.
fn slower_by_turns(cores: usize) -> Profile {
    let stretches = (0..20).map(|index| {
        let compute = [6.0, 20.0][index % 2];
        stretch(index * 500, compute * US, MEMORY, Even)
    });
    let mut slower = profile("warm, slower by turns", cores, 10_000, stretches.collect());
    slower.required = 0.98;
    slower
}

fn uncounted() -> Profile {
    let mut uncounted = warm(2, 10_000);
    uncounted.name = "warm, count unknown".to_owned();
    uncounted.world.counted = false;
    uncounted
}

type Unchanging = (&'static str, usize, f64, Device, Times);

fn unchanging() -> [Unchanging; 21] {
    let collapsing_later = Device::Collapsing {
        best: 4,
        mean: 0.8 * MS,
        slope: 0.18,
    };
    let ssd = servers(32, 90.0 * US);
    let (name, compute) = ("collapsing beyond 4", 20.0 * US);
    [
        ("a spinning lock", 8, 2.0 * US, lock(20.0 * US, true), Even),
        ("a sleeping lock", 8, 2.0 * US, lock(20.0 * US, false), Even),
        ("hdd, even", 2, 15.0 * US, HDD, Even),
        ("hdd, uneven", 2, 15.0 * US, HDD, Exponential),
        ("nfs, 1 ms", 2, 30.0 * US, distant(MS), Even),
        (
            "nfs, 3 ms, uneven",
            2,
            30.0 * US,
            distant(3.0 * MS),
            Exponential,
        ),
        (
            "nfs, 2 ms, 8 at a time",
            2,
            30.0 * US,
            servers(8, 2.0 * MS),
            Exponential,
        ),
        (
            "nfs, 2 ms, 64 at a time",
            8,
            30.0 * US,
            servers(64, 2.0 * MS),
            HeavyTailed,
        ),
        (
            "windows-close",
            2,
            40.0 * US,
            servers(4, 4.0 * MS),
            HeavyTailed,
        ),
        ("nvme, cold", 2, 15.0 * US, ssd, Exponential),
        ("nvme, cold", 8, 15.0 * US, ssd, Exponential),
        ("hdd, bursts", 2, 15.0 * US, HDD, Bursts),
        ("hdd, gathering 3", 2, 15.0 * US, gathering(3), Bursts),
        ("hdd, gathering 6", 2, 15.0 * US, gathering(6), Bursts),
        ("nfs, 1 ms, bursts", 2, 30.0 * US, distant(MS), Bursts),
        ("collapsing beyond 2", 2, compute, COLLAPSING, Even),
        (name, 2, compute, collapsing_later, Exponential),
        ("clones on APFS", 2, compute, CLONES, Exponential),
        ("clones on APFS", 8, compute, CLONES, Exponential),
        ("links under a scanner", 2, compute, LINKS, Exponential),
        ("links under a scanner", 8, compute, LINKS, Exponential),
    ]
}

fn changing() -> [(&'static str, usize, &'static [Device]); 8] {
    const NFS: Device = distant(2.0 * MS);
    const NEAR: Device = distant(MS);
    const FAR: Device = distant(5.0 * MS);
    const FEW: Device = servers(4, 4.0 * MS);
    const MANY: Device = servers(64, 4.0 * MS);
    [
        ("warm, cold hdd, warm", 2, &[MEMORY, HDD, MEMORY]),
        ("warm, cold nfs, warm", 8, &[MEMORY, NFS, MEMORY]),
        ("4 at a time, then 64", 2, &[FEW, MANY]),
        ("64 at a time, then 4", 2, &[MANY, FEW]),
        ("1 ms, then 5 ms", 2, &[NEAR, FAR]),
        ("5 ms, then 1 ms", 2, &[FAR, NEAR]),
        ("nfs, then collapsing", 2, &[NFS, COLLAPSING]),
        ("collapsing, then nfs", 2, &[COLLAPSING, NFS]),
    ]
}

/// A machine and a device drawn at random, or two or three devices one after the other.
pub(super) fn random_profile(seed: u64) -> Profile {
    let mut random = fastrand::Rng::with_seed(seed);
    let cores = [1, 2, 4, 8, 16][random.usize(..5)];
    let devices = [1, 1, 2, 3][random.usize(..4)];
    let operations = 10_000;
    let stretches = (0..devices).map(|index| {
        let compute = between(&mut random, 4.0 * US, 40.0 * US);
        let device = random_device(&mut random, cores);
        let times = [Even, Exponential, HeavyTailed, Bursts][random.usize(..4)];
        stretch(index * operations / devices, compute, device, times)
    });
    let stretches = stretches.collect();
    profile(&format!("random {seed}."), cores, operations, stretches)
}

fn random_device(random: &mut fastrand::Rng, cores: usize) -> Device {
    // On one core no worker waits for a lock.
    match random.u8(..if cores > 1 { 7 } else { 6 }) {
        0 => MEMORY,
        1 => distant(between(random, 0.3 * MS, 5.0 * MS)),
        2 => servers(random.usize(2..=64), between(random, 0.1 * MS, 10.0 * MS)),
        3 => Device::Reordering {
            rest: between(random, 0.05 * MS, 2.0 * MS),
            saved: between(random, 0.05 * MS, 4.0 * MS),
        },
        4 => Device::Collapsing {
            best: random.usize(2..=6),
            mean: between(random, 0.2 * MS, 3.0 * MS),
            slope: between(random, 0.02, 0.2),
        },
        5 => Device::Gathering {
            fewest: random.usize(2..=8),
            mean: between(random, 0.05 * MS, 1.0 * MS),
        },
        _ => lock(between(random, 5.0 * US, 50.0 * US), random.bool()),
    }
}

/// Evenly spread over the orders of magnitude.
fn between(random: &mut fastrand::Rng, low: f64, high: f64) -> f64 {
    low * (high / low).powf(random.f64())
}
