//! The machines, devices and changes that the controller is tried on.

use super::simulator::{Device, Stretch, Times, World};

pub(super) struct Profile {
    pub(super) name: String,
    pub(super) world: World,
    pub(super) required: f64,
}

const MEMORY: Device = Device::Memory;
const HDD: Device = Device::Reordering {
    rest: 0.146e-3,
    saved: 0.274e-3,
};

fn stretch(from: usize, compute: f64, device: Device, times: Times) -> Stretch {
    Stretch {
        from,
        compute,
        device,
        times,
    }
}

fn profile(name: &str, cores: usize, operations: usize, stretches: Vec<Stretch>) -> Profile {
    Profile {
        name: format!("{name}, {operations} files, {cores} cores"),
        world: World {
            cores,
            operations,
            mean_bytes: 10_000,
            interruptions: 0.0,
            stretches,
            counted: true,
        },
        required: if operations < 10_000 { 0.9 } else { 0.95 },
    }
}

pub(super) fn profiles() -> Vec<Profile> {
    use Times::{Even, Exponential, HeavyTailed};
    let mut all = Vec::new();
    for cores in [1, 2, 8] {
        for count in [1_000, 10_000] {
            all.push(profile(
                "warm",
                cores,
                count,
                vec![stretch(0, 6e-6, MEMORY, Even)],
            ));
        }
    }
    let mut interrupted = profile(
        "warm, interrupted",
        2,
        10_000,
        vec![stretch(0, 6e-6, MEMORY, Even)],
    );
    interrupted.world.interruptions = 3e-4;
    all.push(interrupted);
    let mut uncounted = profile(
        "warm, count unknown",
        2,
        10_000,
        vec![stretch(0, 6e-6, MEMORY, Even)],
    );
    uncounted.world.counted = false;
    all.push(uncounted);
    for (name, cores, compute, device, times) in [
        (
            "one lock, spinning",
            8,
            2e-6,
            Device::Lock {
                held: 20e-6,
                spins: true,
            },
            Even,
        ),
        (
            "one lock, sleeping",
            8,
            2e-6,
            Device::Lock {
                held: 20e-6,
                spins: false,
            },
            Even,
        ),
        ("hdd", 2, 15e-6, HDD, Even),
        ("hdd", 2, 15e-6, HDD, Exponential),
        (
            "nfs 1 ms, any number",
            2,
            30e-6,
            Device::Distant { mean: 1e-3 },
            Even,
        ),
        (
            "nfs 3 ms, any number",
            2,
            30e-6,
            Device::Distant { mean: 3e-3 },
            Exponential,
        ),
        (
            "nfs 2 ms, 8 at a time",
            2,
            30e-6,
            Device::Servers {
                count: 8,
                mean: 2e-3,
            },
            Exponential,
        ),
        (
            "nfs 2 ms, 64 at a time",
            8,
            30e-6,
            Device::Servers {
                count: 64,
                mean: 2e-3,
            },
            HeavyTailed,
        ),
        (
            "windows-close",
            2,
            40e-6,
            Device::Servers {
                count: 4,
                mean: 4e-3,
            },
            HeavyTailed,
        ),
        (
            "nvme, cold",
            2,
            15e-6,
            Device::Servers {
                count: 32,
                mean: 90e-6,
            },
            Exponential,
        ),
        (
            "nvme, cold",
            8,
            15e-6,
            Device::Servers {
                count: 32,
                mean: 90e-6,
            },
            Exponential,
        ),
        (
            "collapsing beyond 2",
            2,
            20e-6,
            Device::Collapsing {
                best: 2,
                mean: 0.8e-3,
                slope: 0.16,
            },
            Even,
        ),
        (
            "collapsing beyond 4",
            2,
            20e-6,
            Device::Collapsing {
                best: 4,
                mean: 0.8e-3,
                slope: 0.18,
            },
            Exponential,
        ),
    ] {
        for count in [1_000, 10_000] {
            all.push(profile(
                name,
                cores,
                count,
                vec![stretch(0, compute, device, times)],
            ));
        }
    }
    let nfs = Device::Distant { mean: 2e-3 };
    for (name, cores, devices) in [
        (
            "warm, cold hdd, warm",
            2,
            vec![(6e-6, MEMORY), (15e-6, HDD), (6e-6, MEMORY)],
        ),
        (
            "warm, cold nfs, warm",
            8,
            vec![(6e-6, MEMORY), (15e-6, nfs), (6e-6, MEMORY)],
        ),
        (
            "4 at a time, then 64",
            2,
            vec![
                (
                    20e-6,
                    Device::Servers {
                        count: 4,
                        mean: 4e-3,
                    },
                ),
                (
                    20e-6,
                    Device::Servers {
                        count: 64,
                        mean: 4e-3,
                    },
                ),
            ],
        ),
        (
            "64 at a time, then 4",
            2,
            vec![
                (
                    20e-6,
                    Device::Servers {
                        count: 64,
                        mean: 4e-3,
                    },
                ),
                (
                    20e-6,
                    Device::Servers {
                        count: 4,
                        mean: 4e-3,
                    },
                ),
            ],
        ),
        (
            "1 ms, then 5 ms",
            2,
            vec![
                (20e-6, Device::Distant { mean: 1e-3 }),
                (20e-6, Device::Distant { mean: 5e-3 }),
            ],
        ),
        (
            "5 ms, then 1 ms",
            2,
            vec![
                (20e-6, Device::Distant { mean: 5e-3 }),
                (20e-6, Device::Distant { mean: 1e-3 }),
            ],
        ),
        (
            "nfs, then collapsing",
            2,
            vec![
                (20e-6, nfs),
                (
                    20e-6,
                    Device::Collapsing {
                        best: 2,
                        mean: 0.8e-3,
                        slope: 0.16,
                    },
                ),
            ],
        ),
        (
            "collapsing, then nfs",
            2,
            vec![
                (
                    20e-6,
                    Device::Collapsing {
                        best: 2,
                        mean: 0.8e-3,
                        slope: 0.16,
                    },
                ),
                (20e-6, nfs),
            ],
        ),
    ] {
        let parts = devices.len();
        let stretches = devices
            .into_iter()
            .enumerate()
            .map(|(index, (compute, device))| {
                stretch(index * 10_000 / parts, compute, device, Exponential)
            })
            .collect();
        all.push(profile(name, cores, 10_000, stretches));
    }
    all
}
