//! Auto against the best fixed number of workers, in simulated time.
//!
//! A controller can fail in two ways: by choosing badly, and by spending on its search what the choice gains. Both show in
//! one figure: the time that the best of 1, 2, 4 ... 64 workers takes for a batch, divided by Auto's time for the same
//! batch. The machines and devices are in `profiles`; what is known of them beforehand is in the simulator only.

mod profiles;
mod simulator;

use profiles::{Profile, profiles};

const FIXED: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

struct Score {
    best: usize,
    best_time: f64,
    mean: f64,
    least: f64,
}

fn seeds() -> u64 {
    std::env::var("SMALLFRY_TEST_SEEDS").map_or(3, |seeds| seeds.parse().unwrap())
}

fn score(profile: &Profile) -> Score {
    let (mut scores, mut best, mut best_time) = (Vec::new(), 0, 0.0);
    for seed in 0..seeds() {
        let auto = profile.world.auto(seed, 64);
        let (time, workers) = FIXED
            .iter()
            .map(|workers| (profile.world.fixed(seed, *workers).time, *workers))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap();
        scores.push(time / auto.time);
        (best, best_time) = (workers, time);
    }
    Score {
        best,
        best_time,
        mean: scores.iter().sum::<f64>() / scores.len() as f64,
        least: scores.iter().copied().fold(f64::INFINITY, f64::min),
    }
}

#[test]
fn auto_is_near_the_best_fixed_number() {
    println!(
        "{:<44} {:>5} {:>10} {:>6} {:>6}",
        "", "best", "its time", "mean", "least"
    );
    let mut bad = Vec::new();
    for profile in profiles() {
        let score = score(&profile);
        println!(
            "{:<44} {:>5} {:>8.1} ms {:>6.3} {:>6.3}{}",
            profile.name,
            score.best,
            score.best_time * 1e3,
            score.mean,
            score.least,
            if score.mean < profile.required {
                "  <<<"
            } else {
                ""
            },
        );
        if score.mean < profile.required {
            bad.push(profile.name);
        }
    }
    assert!(bad.is_empty(), "{bad:?}");
}

#[test]
#[ignore]
fn history() {
    let name = std::env::var("PROFILE").unwrap();
    let seed = std::env::var("SEED").map_or(0, |seed| seed.parse().unwrap());
    for profile in profiles().into_iter().filter(|p| p.name.contains(&name)) {
        println!("{}", profile.name);
        for workers in FIXED {
            println!(
                "  {workers}: {:.2} ms",
                profile.world.fixed(seed, workers).time * 1e3
            );
        }
        let run = profile.world.auto(seed, 64);
        println!("  auto: {:.2} ms", run.time * 1e3);
        for (time, workers) in run.history {
            println!("    {:.2} ms {workers}", time * 1e3);
        }
    }
}
