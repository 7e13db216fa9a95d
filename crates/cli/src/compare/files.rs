//! Result files, and several of them merged.

use crate::export::Document;
use crate::export::document::{Bucket, Comparison, Row};
use crate::failure::Failure;
use crate::stats::interval;
use crate::stats::percentiles::median;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Reads a result file, or all those of a directory as one.
pub(super) fn read(path: &Path) -> Result<Document, Failure> {
    if !path.is_dir() {
        return Document::read(path);
    }
    let list = std::fs::read_dir(path).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let entries = list.map_err(Failure::at("list", path))?;
    let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "json")
    });
    files.sort();
    let documents = files.iter().map(|file| Document::read(file));
    let mut documents = documents.collect::<Result<Vec<_>, _>>()?.into_iter();
    let Some(mut merged) = documents.next() else {
        return Err(Failure::at("compare", path)("it holds no .json files"));
    };
    for (document, file) in documents.zip(&files[1..]) {
        let differences = super::host::differences(&merged, &document);
        if !differences.is_empty() {
            let reason = format!(
                "it is of another machine than the others:\n  {}",
                differences.join("\n  ")
            );
            return Err(Failure::at("merge", file)(reason));
        }
        merge(&mut merged, document);
    }
    Ok(merged)
}

/// Adds samples and histograms, and computes anew what comes of them.
pub(super) fn merge(into: &mut Document, other: Document) {
    into.finished = into.finished.max(other.finished);
    into.warnings.extend(other.warnings);
    for comparison in other.comparisons {
        let found = into.comparisons.iter_mut().find(|it| {
            it.title() == comparison.title()
                && it.rows.first().map(|row| &row.name)
                    == comparison.rows.first().map(|row| &row.name)
        });
        match found {
            Some(found) => merge_rows(found, comparison),
            None => into.comparisons.push(comparison),
        }
    }
}

fn merge_rows(into: &mut Comparison, other: Comparison) {
    let before = into.rounds;
    into.rounds += other.rounds;
    // Each run's own noise has been seen; the larger one counts.
    if other.decider().reach() > into.decider().reach() {
        into.noise = other.noise;
    }
    for row in other.rows {
        if let Some(found) = into.rows.iter_mut().find(|it| it.name == row.name) {
            found.samples_ns.resize(before, None);
            found.samples_ns.extend(row.samples_ns);
            found.histogram = added(&found.histogram, &row.histogram);
            found.error = found.error.take().or(row.error);
        } else {
            let mut samples_ns = vec![None; before];
            samples_ns.extend(row.samples_ns);
            into.rows.push(Row { samples_ns, ..row });
        }
    }
    let noise = into.decider();
    let baseline = into.rows[0].samples_ns.clone();
    for (index, row) in into.rows.iter_mut().enumerate() {
        row.samples_ns.resize(into.rounds, None);
        row.median_ns = median(row.samples());
        row.ratio = (index > 0)
            .then(|| interval::ratio(&baseline, &row.samples_ns))
            .flatten();
        row.claim = row.ratio.map(|ratio| noise.claim(ratio));
    }
}

fn added(a: &[Bucket], b: &[Bucket]) -> Vec<Bucket> {
    let mut counts = BTreeMap::new();
    for bucket in a.iter().chain(b) {
        *counts.entry(bucket.ns).or_insert(0) += bucket.count;
    }
    let buckets = counts.into_iter();
    buckets.map(|(ns, count)| Bucket { ns, count }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_are_added() {
        let bucket = |ns, count| Bucket { ns, count };
        let sum = added(&[bucket(1, 2), bucket(5, 1)], &[bucket(5, 3), bucket(9, 1)]);
        assert_eq!(sum, [bucket(1, 2), bucket(5, 4), bucket(9, 1)]);
    }
}
