//! The cases and the rows that the user has selected.

use super::scenario::Scenario;
use crate::bench::options::Extent;
use crate::bench::runtime::{Kind, Row};
use crate::bench::session::Session;
use crate::failure::Failure;

/// Returns the cases whose names hold all the words of `--cells`.
pub(super) fn cases<S: Scenario>(session: &Session) -> Result<Vec<S::Case>, Failure> {
    let mut cases = S::cases(session);
    let words = session.options.cells.as_deref();
    let Some(words) = words.filter(|_| !S::FACTS.is_single) else {
        return Ok(cases);
    };
    let example = cases.first().map(ToString::to_string).unwrap_or_default();
    cases.retain(|case| has_words(&case.to_string(), words));
    if cases.is_empty() {
        let name = S::FACTS.name;
        return Err(Failure::said(format!(
            "no case of {name} has all the words {words:?}; one has {example:?}"
        )));
    }
    Ok(cases)
}

/// Returns true if a name has all the words. Commas do not count.
fn has_words(name: &str, words: &str) -> bool {
    parts(words).all(|word| parts(name).any(|part| part == word))
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', ',']).filter(|part| !part.is_empty())
}

/// Returns the rows that `--rows` selects, and what shows how far equal rows differ: a baseline, in
/// a runtime of these rows if there is one, and the row that is the same once more. A text that is
/// a whole name selects that row alone.
pub(super) fn rows<S: Scenario>(session: &Session, case: &S::Case) -> Vec<Row> {
    let mut rows = with_doubles(&S::rows(session, case), session.extent);
    let texts = &session.options.rows;
    if !texts.is_empty() && !S::FACTS.is_single {
        let names: Vec<String> = rows.iter().map(|row| row.label.clone()).collect();
        let is_selected = |row: &Row| {
            texts.iter().map(|text| text.trim()).any(|text| {
                let is_name = names.iter().any(|name| name == text);
                row.label == text || !is_name && row.label.contains(text)
            })
        };
        let selected: Vec<&Row> = rows.iter().filter(|row| is_selected(row)).collect();
        let noise = noise_rows(&rows, &selected);
        let kept: Vec<bool> = rows
            .iter()
            .map(|row| is_selected(row) || noise.contains(&row.label))
            .collect();
        let mut kept = kept.into_iter();
        rows.retain(|_| kept.next().unwrap_or(false));
    }
    rows
}

/// Puts the first row of each runtime once more behind it, unless a row of that runtime runs twice
/// already, or there is no other to compare with. A quick look has no time for one in the JVM.
fn with_doubles(rows: &[Row], extent: Extent) -> Vec<Row> {
    let mut found = Vec::with_capacity(rows.len() + 3);
    for row in rows {
        found.push(row.clone());
        let is_own = |it: &&Row| it.runtime.name() == row.runtime.name();
        let own: Vec<&Row> = rows.iter().filter(is_own).collect();
        let runs_twice = own.iter().any(|it| it.original().is_some())
            || extent == Extent::Quick && row.runtime.kind == Kind::Jvm;
        if std::ptr::eq(own[0], row) && !runs_twice && own.len() > 1 {
            found.push(row.once_more());
        }
    }
    found
}

/// Returns the labels of a baseline and of the row that is the same once more, if rows are selected
/// and have no such pair.
fn noise_rows(rows: &[Row], selected: &[&Row]) -> Vec<String> {
    let pairs = || {
        rows.iter().filter_map(|itself| {
            let is_it = |row: &&Row| itself.is_once_more(row);
            Some([rows.iter().find(is_it)?, itself])
        })
    };
    let is_among = |row: &Row| selected.iter().any(|it| it.label == row.label);
    let is_alike = |row: &Row| {
        selected
            .iter()
            .any(|it| it.runtime.name() == row.runtime.name())
    };
    if selected.is_empty() || pairs().any(|pair| pair.into_iter().all(is_among)) {
        return Vec::new();
    }
    let mut own = pairs().filter(|[baseline, _]| is_alike(baseline));
    let begun = pairs().find(|[baseline, _]| is_among(baseline));
    let found = begun.or_else(|| own.next()).or_else(|| pairs().next());
    found.map_or(Vec::new(), |pair| pair.map(|row| row.label.clone()).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::runtime::protocol::{Functions, Style};

    #[test]
    fn every_runtime_with_something_to_compare_runs_a_row_twice() {
        let rust = |name| Row::native(Functions::Std, name, Style::Sync);
        let command = |name| Row::command(name, None);
        let found = |rows: &[Row]| -> Vec<String> {
            let rows = with_doubles(rows, Extent::Core).into_iter();
            rows.map(|row| row.implementation).collect()
        };
        let rows = [command("cp"), command("rsync"), rust("std"), rust("raw")];
        assert_eq!(
            found(&rows),
            ["cp", "cp A/A", "rsync", "std", "std A/A", "raw"]
        );
        // One that the scenario has chosen, and one that nothing is compared with.
        let rows = [rust("std"), rust("raw"), rust("raw A/A"), command("cp")];
        assert_eq!(found(&rows), ["std", "raw", "raw A/A", "cp"]);
    }

    #[test]
    fn has_words_takes_whole_words_and_no_commas() {
        for (words, is_it) in [
            ("tree", true),
            ("tar tree", true),
            ("tree, tar", true),
            ("tar.gz", false),
            ("tre", false),
        ] {
            assert_eq!(has_words("tree, tar", words), is_it, "{words}");
        }
    }
}
