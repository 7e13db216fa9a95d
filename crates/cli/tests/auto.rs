//! `Auto` against fixed numbers of workers on real mounts of slow disks whose parameters are drawn
//! at random, and which become other disks in mid-run. What the simulated time of `smallfry`'s own
//! tests leaves out is here: threads that must be started, a kernel in between, a machine that does
//! other things too.
//!
//! A measurement, for an idle machine, as root: `cargo test --release -p smallfry-cli --test auto
//! -- --ignored --nocapture`. `SMALLFRY_TEST_SEEDS=30` draws more disks; `SMALLFRY_TEST_FIRST=7`
//! begins with the seventh.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::can_mount;
use smallfry::bulk::{Reader, Strategy, Writer};
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SMALLFRY: &str = env!("CARGO_BIN_EXE_smallfry");
const FIXED: [usize; 6] = [2, 4, 8, 16, 32, 64];
const MAX_FILES: usize = 10_000;
const FILES_PER_DIRECTORY: usize = 100;
/// The time that 16 workers should take for a batch, in seconds.
const LENGTH: f64 = 1.0;
const ROUNDS: usize = 3;

#[test]
#[ignore = "a measurement: meaningful with --release and an idle machine"]
fn auto_on_drawn_disks() {
    if !can_mount() {
        return;
    }
    let number = |name, usual| std::env::var(name).map_or(usual, |text| text.parse().unwrap());
    let first: u64 = number("SMALLFRY_TEST_FIRST", 1);
    let directories = Directories::make();
    let mut scores = Vec::new();
    for seed in first..first + number("SMALLFRY_TEST_SEEDS", 12) {
        scores.push(score(&Drawn::new(seed), &directories, seed));
    }
    let mean = scores.iter().map(|score| score.min(1.0)).sum::<f64>() / scores.len() as f64;
    scores.sort_by(f64::total_cmp);
    println!("mean {mean:.3}, least {:.3}", scores[0]);
}

/// The best fixed number's time, by medians, as a part of Auto's.
fn score(drawn: &Drawn, directories: &Directories, seed: u64) -> f64 {
    let sixteen = Strategy::Threads(NonZeroUsize::new(16).unwrap());
    let probe = drawn.time(directories, sixteen, 200);
    let files = (1..=MAX_FILES / 100)
        .map(|hundreds| hundreds * 100)
        .find(|files| *files as f64 * probe >= 200.0 * LENGTH)
        .unwrap_or(MAX_FILES)
        .max(300);
    let mut times = vec![Vec::new(); FIXED.len() + 1];
    for _ in 0..ROUNDS {
        for (times, workers) in times.iter_mut().zip(FIXED) {
            let strategy = Strategy::Threads(NonZeroUsize::new(workers).unwrap());
            times.push(drawn.time(directories, strategy, files));
        }
        times[FIXED.len()].push(drawn.time(directories, Strategy::Auto, files));
    }
    let medians: Vec<f64> = times.into_iter().map(median).collect();
    let auto = medians[FIXED.len()];
    let (best, workers) = medians
        .iter()
        .zip(FIXED)
        .min_by(|a, b| a.0.total_cmp(b.0))
        .unwrap();
    let score = best / auto;
    let mut all = String::new();
    for (time, workers) in medians.iter().zip(FIXED) {
        let _ = write!(all, " {workers}: {:.0}", time * 1e3);
    }
    println!(
        "{score:.3}  {seed}: {drawn}, {files} files; best {workers}; ms: Auto {:.0},{all}",
        auto * 1e3
    );
    score
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// A disk, what it becomes, and what is done on it.
struct Drawn {
    profile: String,
    then: Option<String>,
    writes: bool,
}

impl std::fmt::Display for Drawn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = if self.writes { "write" } else { "read" };
        write!(f, "{what} on {}", self.profile)?;
        match &self.then {
            Some(then) => write!(f, ", then {then}"),
            None => Ok(()),
        }
    }
}

impl Drawn {
    fn new(seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let kind = random.usize(..3);
        let profile = profile(&mut random, kind);
        let changes = random.u8(..3) == 0;
        Self {
            profile,
            then: changes.then(|| profile_at_half(&mut random, kind)),
            writes: kind == 2 || kind == 1 && random.bool(),
        }
    }

    /// Seconds for a batch with a cold cache.
    fn time(&self, directories: &Directories, strategy: Strategy, files: usize) -> f64 {
        let mount = Mount::new(directories, &self.profile, self.then.as_deref());
        let start = Instant::now();
        if self.writes {
            let mut writer = Writer::new();
            writer.strategy(strategy).create_parents(true);
            let entries =
                (0..files).map(|index| (directories.file("written", index), [b'x'; 1_000]));
            writer.write(entries).into_result().unwrap();
        } else {
            let mut reader = Reader::new();
            reader.strategy(strategy);
            let paths = (0..files).map(|index| directories.file("read", index));
            for (_, contents) in reader.read(paths) {
                assert_eq!(contents.unwrap().len(), 10_000);
            }
        }
        let time = start.elapsed().as_secs_f64();
        drop(mount);
        let _ = fs::remove_dir_all(directories.beneath().join("written"));
        time
    }
}

fn profile_at_half(random: &mut fastrand::Rng, kind: usize) -> String {
    format!("{}ms:{}", LENGTH * 500.0, profile(random, kind))
}

fn profile(random: &mut fastrand::Rng, kind: usize) -> String {
    // One in four heads does not wait for neighbours, and on one in four disks no file lies apart.
    let [linger, scattered] = [(); 2].map(|()| f64::from(u8::from(random.u8(..4) > 0)));
    let mut between = |low: f64, high: f64| low * (high / low).powf(random.f64());
    match kind {
        0 => format!(
            "hdd,seek={:.1}ms,settle={:.2}ms,queue={:.0},linger={:.1}ms,scattered={:.0},cache=0",
            between(2.0, 15.0),
            between(0.3, 2.0),
            between(4.0, 64.0),
            linger * between(0.5, 4.0),
            scattered * between(10.0, 100.0),
        ),
        1 => format!(
            "nfs,round-trip={:.0}us,servers={:.0},bandwidth={:.0}MB",
            between(100.0, 4_000.0),
            between(2.0, 64.0),
            between(20.0, 500.0),
        ),
        _ => format!(
            "windows-close,close={:.2}ms,close-spread={:.2}ms,closers={:.0}",
            between(0.2, 3.0),
            between(0.5, 10.0),
            between(1.0, 32.0),
        ),
    }
}

/// Files in memory, and where the slow disk shows them.
struct Directories {
    root: tempfile::TempDir,
}

impl Directories {
    fn make() -> Self {
        let memory = Path::new("/dev/shm");
        let root = tempfile::Builder::new().tempdir_in(memory).unwrap();
        let directories = Self { root };
        fs::create_dir(directories.mounted()).unwrap();
        for index in 0..MAX_FILES {
            let path = directories.beneath().join(name("read", index));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, [b'x'; 10_000]).unwrap();
        }
        directories
    }

    fn beneath(&self) -> PathBuf {
        self.root.path().join("beneath")
    }

    fn mounted(&self) -> PathBuf {
        self.root.path().join("mounted")
    }

    fn file(&self, kind: &str, index: usize) -> PathBuf {
        self.mounted().join(name(kind, index))
    }
}

fn name(kind: &str, index: usize) -> String {
    format!("{kind}/{}/{index}", index / FILES_PER_DIRECTORY)
}

struct Mount(Child);

impl Mount {
    fn new(directories: &Directories, profile: &str, then: Option<&str>) -> Self {
        let mut command = Command::new(SMALLFRY);
        command.args(["slow", profile]).arg(directories.beneath());
        command.arg("--at").arg(directories.mounted());
        if let Some(then) = then {
            command.args(["--then", then]);
        }
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let output = child.stdout.as_mut().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        assert!(line.starts_with("mounted"), "{line}");
        Self(child)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let id = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process(id, rustix::process::Signal::INT);
        let _ = self.0.wait();
        // Its threads and pages are gone a moment later.
        std::thread::sleep(Duration::from_millis(20));
    }
}
