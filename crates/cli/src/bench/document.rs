//! The JSON document: `"schema": "smallfry-bench/2"`.
//!
//! ```text
//! schema        "smallfry-bench/2"
//! version       of smallfry
//! finished, command_line, host, disk, warnings, comparisons
//!               as in every result file; docs/result.schema.json has them
//! arguments     as parsed
//! runtimes      [{name, binary, package, package_load_ns}]: the Node binaries
//! jvm           null, or {name, binary, flags}
//! skipped       [reason]: rows that are missing
//! build         null, or
//!   tree, files_found, files, bytes, assets, published, rounds,
//!   cached      part of a sample of the sources that was in the page cache at the end; null where
//!               the system does not tell
//!   rows        [{implementation, runtime, style, threads, error, runs}]
//!     runs      by round, null where there is none:
//!               {phases: [[name, ns]], files, bytes, usage: {wall_ns, user_ns, sys_ns, peak_kib}}
//!               phases: clean, walk, type, read, transform, write, close, assets, publish;
//!               no close where write closes
//! write_string  null, or
//!   rounds
//!   cells       [{cell: {length, text, function, data, target, addressing}, calls_per_sample, rows}]
//!     rows      [{implementation, runtime, error, percentiles, batches}]
//!       percentiles  nanoseconds per call; null when there are no samples
//!       batches      by round, null where there is none: {directory, samples: {ns, usage}}
//!         ns         one number a sample: nanoseconds for calls_per_sample calls
//! read_many     null, or {rounds, cases}
//!   cases       [{case: {files, bytes_per_file, directories, kept, cold, delay}, not_cold, rows}]
//!     kept      null (whole processes, nothing kept), "buffer" or "string"
//!     not_cold  null, or why the cache was warm although it should have been cold
//! write_many    null, or {rounds, cases}
//!   cases       [{case: {files, bytes_per_file, directories, data, new}, rows}]
//! close         null, or {rounds, cases}
//!   cases       [{case: {work, files, watched}, rows}]
//!     work      "write" (the glyphs' files, by one thread), "norad" or "norad-rayon" (a font loaded and saved)
//!     watched   a run in which the most handles, threads and memory were looked for: its time tells nothing
//! scale         null, or {rounds, cases}
//!   cases       [{case: {files, bytes_per_file, directories}, rows}]
//! fsync         null, or {rounds, cases}
//!   cases       [{case: {characters, writes}, rows}]
//!     writes    in a round
//! fsync_many    null, or {rounds, cases}
//!   cases       [{case: {files, bytes_per_file, directories, replaced}, rows}]
//! package_scope null, or {rounds, cases}
//!   cases       [{case: {place, files, directories, cold}, not_cold, rows}]
//!     place     "tree" (of packages), "deep" or "wide"
//!     directories  that there is to look into
//!
//! of these seven
//!   rows        [{implementation, runtime, style, threads, closing, error, flushes, runs}]
//!     closing   null, or the way of closing files, in `close`
//!     flushes   null, or system calls of one run that was not timed, in `fsync` (of all its writes) and `fsync_many`:
//!               {fsync, fsync_directory, fdatasync, syncfs, in_turn, sync_file_range}
//!               in_turn: how many of the first four had to be waited for one after the other
//!     runs      by round, null where there is none: {files, bytes, usage} and, where it was asked,
//!               cached: part of a sample of the files that was in the page cache before,
//!               gaps_us: microseconds between turns of an event loop asked to turn every 1,000,
//!               memory_kib: {before, peak, after}: the resident set,
//!               load_ns: the part of the time in which norad loaded,
//!               peaks: {handles, threads, resident_kib}: the most at once,
//!               samples_ns: nanoseconds of each write, in `fsync`,
//!               answers: a hash of the answers, in `package_scope`, where files counts look-ups and usage.wall_ns is their time alone
//! ```
//!
//! A batch is one process in one round: that, not the sample, is the unit for statistics. Usage
//! counts the whole batch, what is not timed included.

use super::arguments::Arguments;
use super::disk;
use super::runtime::jvm;
use super::scenarios::{ALL, Entry, Measured};
use super::session::Session;
use crate::export::Document;
use serde_json::{Map, Value, json};

const SCHEMA: &str = "smallfry-bench/2";

/// Returns the part that is the same for all result files.
pub(crate) fn of(session: &Session, results: &[(Entry, Measured)]) -> Document {
    let mut warnings = session.host.warnings();
    warnings.extend_from_slice(&session.skips.borrow());
    Document::now(
        SCHEMA,
        session.host.clone(),
        session.directories.profile().unwrap_or(disk::REAL),
        warnings,
        results
            .iter()
            .flat_map(|(_, measured)| measured.comparisons.clone())
            .collect(),
    )
}

/// Returns the rest.
pub(crate) fn more(
    arguments: &Arguments,
    session: &Session,
    results: &[(Entry, Measured)],
) -> Map<String, Value> {
    let runtimes = session.nodes.iter().map(|node| {
        let package = node.package.as_ref();
        json!({
            "name": node.runtime.name(),
            "binary": node.runtime.binary,
            "package": package.map(|package| &package.directory),
            "package_load_ns": package.map(|package| package.load_ns),
        })
    });
    let jvm = session
        .jvm
        .as_ref()
        .map(|jvm| json!({ "name": jvm.name(), "binary": jvm.binary, "flags": jvm::FLAGS }));
    let mut more = json!({
        "arguments": arguments,
        "runtimes": runtimes.collect::<Vec<_>>(),
        "jvm": jvm,
        "skipped": session.skips,
    });
    for scenario in ALL {
        let found = results
            .iter()
            .find(|(of, _)| of.facts.name == scenario.facts.name);
        more[scenario.facts.name.replace('-', "_")] = json!(found.map(|(_, it)| &it.json));
    }
    match more {
        Value::Object(more) => more,
        _ => Map::new(),
    }
}
