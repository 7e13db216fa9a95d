//! Answers as text, and as JSON (`"schema": "smallfry-scope/1"`). `smallfry scope --help` describes
//! the fields.

use super::answer::{Answer, Facts, Failure, Nearest};
use super::words;
use crate::output::text::{width, wrap};
use serde::Serialize;
use smallfry_package_json::{Format, ModuleType};
use std::fmt::Write;
use std::path::Path;

const SCHEMA: &str = "smallfry-scope/1";
/// The width of the longest format, `commonjs`, and two spaces.
const INDENT: &str = "          ";

/// Formats the answers: format and file, with the explanation beneath.
pub(super) fn text(answers: &[Answer]) -> String {
    let columns = width();
    let mut text = String::new();
    for answer in answers {
        let file = words::path(Path::new(&answer.file));
        let _ = writeln!(text, "{:<10}{file}", words::format(answer));
        for sentence in words::why(answer) {
            let _ = writeln!(text, "{}", wrap(INDENT, &sentence, columns));
        }
    }
    text
}

pub(super) fn json(answers: &[Answer]) -> String {
    let document = Document {
        schema: SCHEMA,
        files: answers.iter().map(Told::of).collect(),
    };
    // Strings and numbers can always be written as JSON.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    files: Vec<Told>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    #[serde(rename = "file")]
    given: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    real_path: Option<String>,
    format: Option<&'static str>,
    r#type: Option<&'static str>,
    package_json: Option<String>,
    reason: &'static str,
    why: String,
    error: Option<Problem>,
}

#[derive(Serialize)]
struct Problem {
    code: &'static str,
    message: String,
    path: String,
    line: Option<usize>,
    column: Option<usize>,
}

impl Told {
    fn of(answer: &Answer) -> Self {
        let facts = answer.found.as_ref().ok();
        let package = facts.and_then(|facts| match &facts.package {
            Ok(Nearest::Says(package, _)) => Some(package.path()),
            Ok(Nearest::Nothing { .. }) => None,
            Err(failure) => Some(&failure.path),
        });
        let is_linked = |facts: &&Facts| facts.place.link.is_some();
        Self {
            given: lossy(Path::new(&answer.file)),
            real_path: facts
                .filter(is_linked)
                .map(|facts| lossy(&facts.place.path)),
            format: facts.and_then(|facts| facts.format).map(Format::name),
            r#type: facts.and_then(Facts::module_type).map(type_name),
            package_json: package.map(lossy),
            reason: facts.map_or("error", Facts::reason),
            why: words::why(answer).join(" "),
            error: answer.error().map(Problem::of),
        }
    }
}

impl Problem {
    fn of(failure: &Failure) -> Self {
        Self {
            code: failure.code,
            message: failure.message.clone(),
            path: lossy(&failure.path),
            line: failure.at.map(|(line, _)| line),
            column: failure.at.map(|(_, column)| column),
        }
    }
}

fn type_name(module_type: ModuleType) -> &'static str {
    match module_type {
        ModuleType::Module => "module",
        ModuleType::CommonJs => "commonjs",
        ModuleType::None => "none",
    }
}

/// JSON can hold only Unicode.
fn lossy(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
