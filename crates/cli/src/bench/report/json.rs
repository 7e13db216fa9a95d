//! The JSON file: `"schema": "smallfry-bench/1"`.
//!
//! ```text
//! schema        "smallfry-bench/1"
//! version       of smallfry
//! finished      seconds since 1970
//! arguments     as parsed
//! host          facts about the machine and the file system of the directory; null where unknown
//! disk          "real", or the slow disk that was simulated on that file system
//! runtimes      [{name, binary, package, package_load_ns}]: the Node binaries
//! skipped       [reason]: rows that are missing
//! build         null, or
//!   tree, files_found, files, bytes, published, rounds,
//!   cached      part of a sample of the sources that was in the kernel's cache at the end; null where the system does not tell
//!   rows        [{implementation, runtime, style, threads, error, runs}]
//!     runs      by round, null where there is none:
//!               {phases: [[name, ns]], files, bytes, usage: {wall_ns, user_ns, sys_ns, peak_kib}}
//!               phases: walk, type, read, transform, write, close, publish; no close where write closes
//! write_string  null, or
//!   rounds
//!   cells       [{cell: {length, text, function, data, target, addressing}, calls_per_sample, rows}]
//!     rows      [{implementation, runtime, error, percentiles, batches}]
//!       percentiles  nanoseconds per call; null when there are no samples
//!       batches      by round, null where there is none: {directory, samples: {ns, usage}}
//!         ns         one number a sample: nanoseconds for calls_per_sample calls
//! read_many     null, or {rounds, cases}
//!   cases       [{case: {files, bytes_per_file, kept, cold, delay}, not_cold, rows}]
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
//! sync          null, or {rounds, cases}
//!   cases       [{case: {characters, writes}, rows}]
//!     writes    in a round
//! sync_many     null, or {rounds, cases}
//!   cases       [{case: {files, bytes_per_file, directories, replaced}, rows}]
//! package_scope null, or {rounds, cases}
//!   cases       [{case: {place, files, directories, cold}, not_cold, rows}]
//!     place     "tree" (of packages), "deep" or "wide"
//!     directories  that there is to look into
//!
//! of these seven
//!   rows        [{implementation, runtime, style, threads, closing, error, flushes, runs}]
//!     closing   null, or who closes files, in `close`
//!     flushes   null, or system calls of one run that was not timed, in `sync` (of all its writes) and `sync_many`:
//!               {fsync, fsync_directory, fdatasync, syncfs, in_turn, sync_file_range}
//!               in_turn: how many of the first four had to be waited for one after the other
//!     runs      by round, null where there is none: {files, bytes, usage} and, where it was asked,
//!               cached: part of a sample of the files that was in the kernel's cache before,
//!               gaps_us: microseconds between turns of an event loop asked to turn every 1,000,
//!               memory_kib: {before, peak, after}: the resident set,
//!               load_ns: the part of the time in which norad loaded,
//!               peaks: {handles, threads, resident_kib}: the most at once,
//!               samples_ns: nanoseconds of each write, in `sync`,
//!               answers: a hash of the answers, in `package_scope`, where files counts look-ups and usage.wall_ns is their time alone
//! ```
//!
//! A batch is one process in one round: that, not the sample, is the unit for statistics. Usage counts the whole batch, what
//! is not timed included.

use crate::bench::Results;
use crate::bench::disk;
use crate::bench::failure::Failure;
use crate::bench::runtime::{Row, Runtime, jvm};
use crate::bench::scenario::runs::RowResult;
use crate::bench::scenario::{build, many, write_string};
use crate::bench::session::Session;
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use tempfile::NamedTempFile;

const SCHEMA: &str = "smallfry-bench/1";

/// Opened before measuring, so that a path that cannot be written to is known at once; it appears when it is whole.
pub(crate) struct File {
    temporary: NamedTempFile,
    path: PathBuf,
}

impl File {
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        if path.is_dir() {
            return Err(Failure::said(format!(
                "cannot write {}: it is a directory",
                path.display()
            )));
        }
        let directory = path
            .parent()
            .filter(|directory| !directory.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let temporary = builder
            .prefix(".smallfry-bench-")
            .tempfile_in(directory)
            .map_err(|error| {
                Failure::said(format!("cannot write {}: {}", path.display(), error.kind()))
            })?;
        Ok(Self {
            temporary,
            path: path.to_owned(),
        })
    }

    pub(crate) fn write(self, session: &Session, results: &Results) -> Result<(), Failure> {
        self.put(&document(session, results))
    }

    pub(crate) fn put(self, document: &Value) -> Result<(), Failure> {
        let Self { temporary, path } = self;
        let mut output = BufWriter::new(&temporary);
        serde_json::to_writer(&mut output, document).map_err(Failure::at("write", &path))?;
        output
            .write_all(b"\n")
            .and_then(|()| output.flush())
            .map_err(Failure::at("write", &path))?;
        drop(output);
        temporary
            .persist(&path)
            .map_err(|error| Failure::at("write", &path)(error.error))?;
        Ok(())
    }
}

fn document(session: &Session, results: &Results) -> Value {
    let finished = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs());
    json!({
        "schema": SCHEMA,
        "version": env!("CARGO_PKG_VERSION"),
        "finished": finished,
        "arguments": session.arguments,
        "host": session.host,
        "disk": session.directories.profile().unwrap_or(disk::REAL),
        "runtimes": session.nodes.iter().map(|node| json!({
            "name": node.runtime.name(),
            "binary": binary(&node.runtime),
            "package": node.package.as_ref().map(|package| &package.directory),
            "package_load_ns": node.package.as_ref().map(|package| package.load_ns),
        })).collect::<Vec<_>>(),
        "jvm": session.jvm.as_ref().map(|jvm| json!({
            "name": jvm.name(),
            "binary": binary(jvm),
            "flags": jvm::FLAGS,
        })),
        "skipped": session.skips,
        "build": results.build.as_ref().map(build),
        "write_string": results.write_string.as_ref().map(write_string),
        "read_many": results.read_many.as_ref().map(many),
        "write_many": results.write_many.as_ref().map(many),
        "close": results.close.as_ref().map(many),
        "scale": results.scale.as_ref().map(many),
        "sync": results.sync.as_ref().map(many),
        "sync_many": results.sync_many.as_ref().map(many),
        "package_scope": results.package_scope.as_ref().map(many),
    })
}

fn binary(runtime: &Runtime) -> Option<&Path> {
    match runtime {
        Runtime::Native => None,
        Runtime::Node { binary, .. } => Some(binary),
        Runtime::Jvm(jvm) => Some(&jvm.binary),
        Runtime::Norad(program) => Some(program.binary()),
    }
}

fn build(results: &build::Results) -> Value {
    json!({
        "tree": results.tree,
        "files_found": results.found,
        "files": results.files,
        "bytes": results.bytes,
        "published": results.published,
        "cached": results.cached,
        "rounds": results.rounds,
        "rows": runs(&results.rows, &results.outcomes),
    })
}

fn many<C: Serialize>(results: &many::Results<C>) -> Value {
    let case = |result: &many::CaseResult<C>| {
        json!({
            "case": result.case,
            "not_cold": result.not_cold,
            "rows": runs(&result.rows, &result.outcomes),
        })
    };
    json!({
        "rounds": results.rounds,
        "cases": results.cases.iter().map(case).collect::<Vec<_>>(),
    })
}

fn runs<T: Serialize>(rows: &[Row], outcomes: &[RowResult<T>]) -> Vec<Value> {
    let row = |(row, outcome): (&Row, &RowResult<T>)| {
        json!({
            "implementation": row.implementation,
            "runtime": row.runtime.name(),
            "style": row.way.style,
            "threads": row.way.threads,
            "closing": row.launch.closing,
            "error": outcome.error,
            "flushes": outcome.flushes,
            "runs": outcome.runs,
        })
    };
    rows.iter().zip(outcomes).map(row).collect()
}

fn write_string(results: &write_string::Results) -> Value {
    let cell = |cell: &write_string::CellResult| {
        let row = |(index, row): (usize, &Row)| {
            let outcome = cell.row(index)?;
            Some(json!({
                "implementation": row.implementation,
                "runtime": row.runtime.name(),
                "error": outcome.error,
                "percentiles": cell.percentiles(index),
                "batches": outcome.batches,
            }))
        };
        json!({
            "cell": cell.cell,
            "calls_per_sample": cell.calls,
            "rows": results.rows.iter().enumerate().filter_map(row).collect::<Vec<_>>(),
        })
    };
    json!({ "rounds": results.rounds, "cells": results.cells.iter().map(cell).collect::<Vec<_>>() })
}
