//! Reads the same five fields of real package.json files with several parsers, in turn, from memory:
//!
//! `cargo run --release -p smallfry-package-json --features peers --example compare_parsers -- node_modules...`
//!
//! Prints for files of 300 to 20,000 bytes, and by size, the median of the rounds: nanoseconds for each file, gigabytes per second, and
//! the time as a multiple of ours with its range over rounds. Each parser is used as its documentation shows for this: into a struct of
//! the five fields where it knows serde, `exports` and `imports` left raw where it can; else what it makes of the whole file,
//! and the fields looked up in that. Buffers are kept between files where it allows that. None but ours accepts and refuses what
//! Node does.

#![allow(clippy::print_stdout, reason = "that is its purpose")]

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Deserialize;
use serde_json::value::RawValue;
use simdjson_rust::tape::Value;
use smallfry_package_json::Fields;

const ROUNDS: usize = 31;
const CLASSES: [(usize, usize); 4] = [(300, 20_000), (300, 1_000), (1_000, 3_000), (3_000, 20_000)];

type Parser = (&'static str, Box<dyn FnMut(&[u8])>);

#[derive(Deserialize)]
struct Raw<'a> {
    name: Option<String>,
    main: Option<String>,
    #[serde(rename = "type")]
    module_type: Option<String>,
    #[serde(borrow)]
    exports: Option<&'a RawValue>,
    #[serde(borrow)]
    imports: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Lazy<'a> {
    name: Option<String>,
    main: Option<String>,
    #[serde(rename = "type")]
    module_type: Option<String>,
    #[serde(borrow)]
    exports: Option<sonic_rs::LazyValue<'a>>,
    #[serde(borrow)]
    imports: Option<sonic_rs::LazyValue<'a>>,
}

fn parsers() -> Vec<Parser> {
    let mut copy = Vec::new();
    let mut buffers = simd_json::Buffers::default();
    let mut simdjson = simdjson_rust::dom::Parser::default();
    vec![
        (
            "smallfry",
            Box::new(|bytes| drop(black_box(Fields::parse(bytes).ok()))),
        ),
        (
            "serde_json",
            Box::new(|bytes| {
                let Ok(raw) = serde_json::from_slice::<Raw<'_>>(bytes) else {
                    return;
                };
                let own = |raw: Option<&RawValue>| raw.map(|raw| raw.get().to_owned());
                black_box((own(raw.exports), own(raw.imports)));
                black_box((raw.name, raw.main, raw.module_type));
            }),
        ),
        (
            "sonic-rs",
            Box::new(|bytes| {
                let Ok(lazy) = sonic_rs::from_slice::<Lazy<'_>>(bytes) else {
                    return;
                };
                let own = |lazy: Option<sonic_rs::LazyValue<'_>>| {
                    lazy.map(|lazy| lazy.as_raw_str().to_owned())
                };
                black_box((own(lazy.exports), own(lazy.imports)));
                black_box((lazy.name, lazy.main, lazy.module_type));
            }),
        ),
        (
            "simd-json",
            Box::new(move |bytes| {
                use simd_json::prelude::*;
                // It writes into what it reads.
                copy.clear();
                copy.extend_from_slice(bytes);
                let Ok(tape) = simd_json::to_tape_with_buffers(&mut copy, &mut buffers) else {
                    return;
                };
                let root = tape.as_value();
                for field in ["name", "main", "type"] {
                    black_box(root.get_str(field).map(str::to_owned));
                }
                for field in ["exports", "imports"] {
                    black_box(root.get(field).is_some());
                }
            }),
        ),
        (
            "simdjson (C++)",
            Box::new(move |bytes| {
                let Ok(value) = simdjson.parse_bytes_to_value(bytes) else {
                    return;
                };
                for field in ["name", "main", "type"] {
                    black_box(value.get(field).and_then(Value::as_str).map(str::to_owned));
                }
                for field in ["exports", "imports"] {
                    black_box(value.get(field).is_some());
                }
            }),
        ),
    ]
}

fn collect(folder: &Path, found: &mut Vec<Vec<u8>>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            collect(&entry.path(), found)?;
        } else if kind.is_file() && entry.file_name() == "package.json" {
            found.push(fs::read(entry.path())?);
        }
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut files = Vec::new();
    for folder in std::env::args_os().skip(1).map(PathBuf::from) {
        collect(&folder, &mut files)?;
    }
    for (least, most) in CLASSES {
        let files: Vec<&Vec<u8>> = files
            .iter()
            .filter(|file| (least..most).contains(&file.len()))
            .collect();
        if files.is_empty() {
            continue;
        }
        let bytes: usize = files.iter().map(|file| file.len()).sum();
        println!(
            "{} files of {least} to {most} bytes, {} on average",
            files.len(),
            bytes / files.len()
        );
        let mut parsers = parsers();
        let mut times = vec![Vec::new(); parsers.len()];
        for round in 0..=ROUNDS {
            for turn in 0..parsers.len() {
                let which = (turn + round) % parsers.len();
                let started = Instant::now();
                for file in &files {
                    (parsers[which].1)(file);
                }
                let each = started.elapsed().as_secs_f64() * 1e9 / files.len() as f64;
                // The first round is to get warm.
                if round > 0 {
                    times[which].push(each);
                }
            }
        }
        for ((name, _), own) in parsers.iter().zip(&times) {
            let mut ratios: Vec<f64> = own
                .iter()
                .zip(&times[0])
                .map(|(own, ours)| own / ours)
                .collect();
            ratios.sort_unstable_by(f64::total_cmp);
            let each = median(own.clone());
            println!(
                "  {name:<15} {each:>7.0} ns {:>5.2} GB/s  {:>5.2}x ({:.2} to {:.2})",
                bytes as f64 / files.len() as f64 / each,
                ratios[ratios.len() / 2],
                ratios[0],
                ratios[ratios.len() - 1],
            );
        }
    }
    Ok(())
}
