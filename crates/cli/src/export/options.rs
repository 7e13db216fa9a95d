//! The options that name result files.

use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

#[derive(Args, Clone, Debug, Default, Serialize)]
pub(crate) struct ExportOptions {
    /// Write every sample, and what is computed from them, to FILE
    #[arg(long, value_name = "FILE", visible_alias = "export-json")]
    pub(crate) json: Option<PathBuf>,

    /// Write a report with charts to FILE: one page that needs no network
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Write the medians of the first comparisons as a picture to FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Write tables for a pull request to FILE
    #[arg(long, value_name = "FILE", visible_alias = "export-markdown")]
    pub(crate) markdown: Option<PathBuf>,

    /// Write a line for each sample to FILE
    #[arg(long, value_name = "FILE", visible_alias = "export-csv")]
    pub(crate) csv: Option<PathBuf>,
}
