//! Compares this crate with other parsers at reading the fields that module loaders need. Its table
//! is why this crate has its own parser.
//!
//! `cargo run --release -p smallfry-package-json --features peers --example compare_parsers --
//! DIRECTORY...`
//!
//! The program takes every package.json of 0.3 to 20 kB beneath the directories, holds them in
//! memory, and lets each parser make a [`Fields`] of each. All run in turn within each round, and
//! the first of one round is the last of the next, so a machine that slows down slows all of them.
//! A cell is the median over the rounds. A ratio compares with this crate in the same round, with
//! its minimum and maximum.
//!
//! Each parser runs at its best. It keeps what it can from file to file, it finds slack behind the
//! text if it wants some, and it need not give the text of `exports` if it cannot. Only simd-json
//! gets a copy each time, as it writes to its input. `differ` counts the files for which a parser
//! gives another result than this crate, or none.
//!
//! sonic-rs picks its instructions when it is compiled, so the command above gives it SSE2 where
//! others find AVX2 at run time. With `RUSTFLAGS='-C target-cpu=native'` it uses all that the
//! machine has.
//!
//! - `serde_json`, sonic-rs: a struct with only these fields, `exports` and `imports` unparsed.
//! - sonic-rs `get_many`: five paths at once.
//! - simd-json: its tape, which has all of the file.
//! - simdjson: the tape of the C++ library; no crate that builds offers more of it. Node uses
//!   On-Demand, which does less.

#![allow(unsafe_code, reason = "it calls other libraries")]

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::value::RawValue;
use simd_json::prelude::ValueAsScalar;
use smallfry_package_json::{Fields, ModuleType, Value};
use sonic_rs::{JsonValueTrait, LazyValue, PointerTree};

const ROUNDS: usize = 41;
const TIME_PER_SAMPLE: Duration = Duration::from_millis(2);
/// In bytes.
const CLASSES: [(usize, usize); 4] = [(300, 1000), (1000, 3000), (3000, 20_000), (300, 20_000)];

type Parser = Box<dyn FnMut(&File) -> Option<Fields>>;

/// A text, followed by as many zeros as simdjson may read.
struct File {
    padded: Vec<u8>,
    length: usize,
}

impl File {
    fn text(&self) -> &[u8] {
        &self.padded[..self.length]
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut files = Vec::new();
    for directory in std::env::args_os().skip(1) {
        collect(Path::new(&directory), &mut files)?;
    }
    println!("     kB   files  parser                ns/file   GB/s  ratio  (range)      differ");
    for (least, end) in CLASSES {
        let those = |file: &&File| (least..end).contains(&file.length);
        let files: Vec<&File> = files.iter().filter(those).collect();
        if !files.is_empty() {
            let label = format!("{}-{}", least as f64 / 1e3, end / 1000);
            measure(&label, &files);
        }
    }
    Ok(())
}

fn collect(directory: &Path, files: &mut Vec<File>) -> std::io::Result<()> {
    for entry in directory.read_dir()? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), files)?;
        } else if entry.file_name() == "package.json" {
            let mut padded = std::fs::read(entry.path())?;
            let length = padded.len();
            padded.resize(length + simdjson_sys::SIMDJSON_PADDING, 0);
            files.push(File { padded, length });
        }
    }
    Ok(())
}

/// All parsers, this crate's first.
fn parsers() -> Vec<(&'static str, Parser)> {
    vec![
        ("smallfry", Box::new(|file| Fields::parse(file.text()).ok())),
        ("serde_json", Box::new(|file| serde_json(file.text()))),
        ("simd-json", simd_json()),
        ("sonic-rs", Box::new(|file| sonic(file.text()))),
        ("sonic-rs get_many", sonic_get_many()),
        ("simdjson", simdjson()),
    ]
}

fn measure(label: &str, files: &[&File]) {
    let mut parsers = parsers();
    let count = parsers.len();
    let differ: Vec<usize> = parsers
        .iter_mut()
        .map(|(_, parse)| {
            let is_other = |file: &&&File| {
                let ours = Fields::parse(file.text()).ok();
                !is_same(ours.as_ref(), parse(file).as_ref())
            };
            files.iter().filter(is_other).count()
        })
        .collect();
    let mut times = vec![Vec::new(); count];
    for round in 0..ROUNDS {
        for turn in 0..count {
            let number = (round + turn) % count;
            times[number].push(sample(&mut parsers[number].1, files));
        }
    }
    let bytes: usize = files.iter().map(|file| file.length).sum();
    let mean_length = bytes as f64 / files.len() as f64;
    for (number, (name, _)) in parsers.iter().enumerate() {
        let ns = median(times[number].clone());
        let ratios = times[number].iter().zip(&times[0]);
        let ratios: Vec<f64> = ratios.map(|(theirs, ours)| theirs / ours).collect();
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = ratios.iter().copied().fold(0.0, f64::max);
        println!(
            "{label:>7} {:>7}  {name:<20} {ns:>8.0} {:>6.2} {:>6.2}  {:<13} {:>5}",
            files.len(),
            mean_length / ns,
            median(ratios),
            format!("({least:.2}-{greatest:.2})"),
            differ[number],
        );
    }
    println!();
}

/// Nanoseconds per file.
fn sample(parse: &mut Parser, files: &[&File]) -> f64 {
    let begin = Instant::now();
    let mut passes = 0;
    while begin.elapsed() < TIME_PER_SAMPLE {
        for file in files {
            black_box(parse(black_box(file)));
        }
        passes += 1;
    }
    begin.elapsed().as_nanos() as f64 / (passes * files.len()) as f64
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

/// Returns true if both results agree, as far as the other parser can tell.
fn is_same(ours: Option<&Fields>, theirs: Option<&Fields>) -> bool {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) => {
            (&ours.name, &ours.main) == (&theirs.name, &theirs.main)
                && ours.module_type == theirs.module_type
                && is_same_value(ours.exports.as_ref(), theirs.exports.as_ref())
                && is_same_value(ours.imports.as_ref(), theirs.imports.as_ref())
        }
        (ours, theirs) => ours.is_none() && theirs.is_none(),
    }
}

fn is_same_value(ours: Option<&Value>, theirs: Option<&Value>) -> bool {
    match (ours, theirs) {
        (Some(Value::Json(ours)), Some(Value::Json(theirs))) => {
            theirs.is_empty() || ours.trim_end() == theirs.trim_end()
        }
        (ours, theirs) => ours == theirs,
    }
}

/// `type`, without a copy.
#[derive(Default, Deserialize)]
enum Type {
    #[serde(rename = "commonjs")]
    CommonJs,
    #[serde(rename = "module")]
    Module,
    #[default]
    #[serde(other)]
    Other,
}

impl From<Type> for ModuleType {
    fn from(of: Type) -> Self {
        match of {
            Type::Other => Self::None,
            Type::CommonJs => Self::CommonJs,
            Type::Module => Self::Module,
        }
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "Json: Deserialize<'de>"))]
struct Wanted<Json> {
    name: Option<Box<str>>,
    main: Option<Box<str>>,
    #[serde(default, rename = "type")]
    module_type: Type,
    exports: Option<Json>,
    imports: Option<Json>,
}

impl<Json> Wanted<Json> {
    fn fields(self, value: impl Fn(Json) -> Option<Value>) -> Fields {
        Fields {
            name: self.name,
            main: self.main,
            module_type: self.module_type.into(),
            exports: self.exports.and_then(&value),
            imports: self.imports.and_then(&value),
        }
    }
}

fn module_type(text: Option<&str>) -> ModuleType {
    match text {
        Some("commonjs") => ModuleType::CommonJs,
        Some("module") => ModuleType::Module,
        _ => ModuleType::None,
    }
}

fn serde_json(text: &[u8]) -> Option<Fields> {
    let wanted: Wanted<Box<RawValue>> = serde_json::from_slice(text).ok()?;
    Some(wanted.fields(|json| match json.get().as_bytes()[0] {
        b'"' => Some(Value::Text(serde_json::from_str(json.get()).ok()?)),
        b'{' | b'[' => Some(Value::Json(json.into())),
        _ => None,
    }))
}

fn simd_json() -> Parser {
    let mut copy = Vec::new();
    let mut buffers = simd_json::Buffers::default();
    Box::new(move |file| {
        copy.clear();
        copy.extend_from_slice(file.text());
        let tape = simd_json::to_tape_with_buffers(&mut copy, &mut buffers).ok()?;
        let mut fields = Fields::default();
        let value = |of: &simd_json::tape::Value<'_, '_>| match of.as_str() {
            Some(text) => Some(Value::Text(text.into())),
            None => (of.is_object() || of.is_array()).then(|| Value::Json("".into())),
        };
        for (key, of) in &tape.as_value().as_object()? {
            match key {
                "name" => fields.name = Some(of.as_str()?.into()),
                "main" => fields.main = of.as_str().map(Box::from),
                "type" => fields.module_type = module_type(of.as_str()),
                "exports" => fields.exports = value(&of),
                "imports" => fields.imports = value(&of),
                _ => {}
            }
        }
        Some(fields)
    })
}

fn sonic_value(json: &LazyValue<'_>) -> Option<Value> {
    match json.as_raw_str().as_bytes()[0] {
        b'"' => Some(Value::Text(json.as_str()?.into())),
        b'{' | b'[' => Some(Value::Json(json.as_raw_str().into())),
        _ => None,
    }
}

fn sonic(text: &[u8]) -> Option<Fields> {
    let wanted: Wanted<LazyValue<'_>> = sonic_rs::from_slice(text).ok()?;
    Some(wanted.fields(|json| sonic_value(&json)))
}

fn sonic_get_many() -> Parser {
    let mut tree = PointerTree::new();
    for name in ["name", "main", "type", "exports", "imports"] {
        tree.add_path(&[name]);
    }
    Box::new(move |file| {
        let values = sonic_rs::get_many(file.text(), &tree).ok()?;
        let text = |number: usize| values[number].as_ref().and_then(|json| json.as_str());
        let value = |number: usize| values[number].as_ref().and_then(sonic_value);
        Some(Fields {
            name: text(0).map(Box::from),
            main: text(1).map(Box::from),
            module_type: module_type(text(2)),
            exports: value(3),
            imports: value(4),
        })
    })
}

fn simdjson() -> Parser {
    use simdjson_rust::tape::{TapeRef, TapeType};
    let mut parser = simdjson_rust::dom::Parser::default();
    let text = |tape: &TapeRef<'_>| match tape.tape_type() {
        Some(TapeType::String) => tape.get_string().ok().map(Box::from),
        _ => None,
    };
    let value = move |tape: &TapeRef<'_>| match tape.tape_type()? {
        TapeType::StartObject | TapeType::StartArray => Some(Value::Json("".into())),
        _ => text(tape).map(Value::Text),
    };
    Box::new(move |file| {
        // SAFETY: this many initialized bytes follow the text, in the same allocation.
        let mut tape = unsafe { parser.parse_bytes_with_padding(file.text()) }.ok()?;
        // From the root to the outermost object, and to its first key.
        tape.skip(1);
        let end = tape.scope_close_idx();
        tape.skip(1);
        let mut fields = Fields::default();
        while tape.pos() < end {
            let key = tape.get_string().ok()?;
            tape.skip(1);
            match key {
                "name" => fields.name = text(&tape),
                "main" => fields.main = text(&tape),
                "type" => fields.module_type = module_type(text(&tape).as_deref()),
                "exports" => fields.exports = value(&tape),
                "imports" => fields.imports = value(&tape),
                _ => {}
            }
            match tape.tape_type()? {
                TapeType::StartObject | TapeType::StartArray => {
                    tape.seek_public(tape.scope_close_idx() + 1);
                }
                TapeType::Int64 | TapeType::Uint64 | TapeType::Double => tape.skip(2),
                _ => tape.skip(1),
            }
        }
        Some(fields)
    })
}
