//! Measures the memory that each remembered package.json takes, compared with a JSON parser's
//! result for the whole file:
//!
//! `cargo run --release -p smallfry-package-json --features peers --example memory -- node_modules`
//!
//! Counts the bytes that are allocated and not freed, with dhat. The cache is asked for a file in
//! every directory with a package.json, so its part includes the table and the directories above.
//! Directories without a package.json that were asked for are counted apart.

#![allow(clippy::print_stdout, reason = "that is its purpose")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use smallfry_package_json::Cache;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

fn held() -> usize {
    dhat::HeapStats::get().curr_bytes
}

/// Directories with a package.json, and those without.
fn collect(directory: &Path, found: &mut [Vec<PathBuf>; 2]) -> std::io::Result<()> {
    let mut has_one = false;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            collect(&entry.path(), found)?;
        }
        has_one |= kind.is_file() && entry.file_name() == "package.json";
    }
    found[usize::from(!has_one)].push(directory.join("index.js"));
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let _profiler = dhat::Profiler::builder().testing().build();
    let mut found = [Vec::new(), Vec::new()];
    for directory in std::env::args_os().skip(1) {
        collect(&fs::canonicalize(directory)?, &mut found)?;
    }
    let [packages, others] = found;
    let texts = packages
        .iter()
        .map(|file| fs::read(file.with_file_name("package.json")));
    let texts = texts.collect::<Result<Vec<_>, _>>()?;
    let bytes: usize = texts.iter().map(Vec::len).sum();
    let each = |bytes: usize, count: usize| bytes as f64 / count.max(1) as f64;
    println!(
        "{} packages, {:.0} bytes of JSON each",
        packages.len(),
        each(bytes, packages.len())
    );

    let before = held();
    let cache = Cache::new();
    for file in &packages {
        // Some packages in tests of other projects are invalid on purpose.
        drop(cache.nearest(file));
    }
    println!(
        "  smallfry's cache      {:>6.0} bytes each",
        each(held() - before, packages.len())
    );
    let before = held();
    for file in &others {
        drop(cache.nearest(file));
    }
    println!(
        "  and for each of {} directories without one {:.0} bytes",
        others.len(),
        each(held() - before, others.len())
    );

    let before = held();
    let parsed: Vec<serde_json::Value> = texts
        .iter()
        .filter_map(|text| serde_json::from_slice(text).ok())
        .collect();
    println!(
        "  serde_json::Value     {:>6.0} bytes each",
        each(held() - before, parsed.len())
    );
    Ok(())
}
