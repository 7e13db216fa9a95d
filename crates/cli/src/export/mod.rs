//! Result files in several formats: a file each. All show the [`Document`], the part that is the
//! same for `bench` and `try`.

mod charts;
mod csv;
pub(crate) mod document;
mod file;
mod html;
pub(crate) mod hyperfine;
mod markdown;
mod options;
mod svg;
mod words;

pub(crate) use document::Document;
pub(crate) use file::File;
pub(crate) use options::ExportOptions;

use crate::failure::Failure;
use serde_json::{Map, Value};

/// A format, as text, of a document and of all that the scenario knows.
type Format = fn(&Document, &Value) -> Result<String, String>;

/// JSON, CSV, Markdown, HTML and SVG.
const FORMATS: [Format; 5] = [
    |_, whole| Ok(format!("{whole}\n")),
    |document, _| csv::of(document).map_err(|error| error.to_string()),
    |document, _| Ok(markdown::of(document)),
    html::of,
    |document, _| svg::of(document),
];

/// The files that the user wants. They can be written to, which is known before measuring.
pub(crate) struct Exports(Vec<(File, Format)>);

impl Exports {
    pub(crate) fn create(options: &ExportOptions) -> Result<Self, Failure> {
        let ExportOptions {
            json,
            csv,
            markdown,
            html,
            svg,
        } = options;
        let paths = [json, csv, markdown, html, svg];
        let named = paths
            .into_iter()
            .zip(FORMATS)
            .filter_map(|(path, format)| Some((path.as_deref()?, format)));
        let files = named.map(|(path, format)| Ok((File::create(path)?, format)));
        Ok(Self(files.collect::<Result<_, Failure>>()?))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes them. `more` is what the scenario knows beside the document.
    pub(crate) fn put(self, document: &Document, more: Map<String, Value>) -> Result<(), Failure> {
        if self.0.is_empty() {
            return Ok(());
        }
        let whole = whole(document, more);
        for (file, format) in self.0 {
            let text = format(document, &whole)
                .map_err(|reason| Failure::said(format!("cannot make the report: {reason}")))?;
            file.put(&text)?;
        }
        Ok(())
    }
}

/// Returns the document with what the scenario knows beside it.
fn whole(document: &Document, more: Map<String, Value>) -> Value {
    let mut whole = serde_json::to_value(document).unwrap_or_default();
    if let Value::Object(fields) = &mut whole {
        fields.extend(more);
    }
    whole
}

#[cfg(fuzzing)]
pub(crate) fn in_every_format(document: &Document) -> [Result<String, String>; 5] {
    let whole = whole(document, Map::new());
    FORMATS.map(|format| format(document, &whole))
}
