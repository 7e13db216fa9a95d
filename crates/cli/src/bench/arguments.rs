//! The command line of `smallfry bench`.

use super::options::Options;
use super::scenarios::{self, Entry};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use serde::{Serialize, Serializer};
use std::collections::HashSet;

#[derive(Args, Debug, Serialize)]
#[command(after_help = "\
Exit status: 0 if every row did its work, 1 if not, 130 after Ctrl-C.

Examples:
  smallfry bench --dir /mnt/data                           # a build, on that disk
  smallfry bench read-many --dir /mnt/nfs --html report.html
  smallfry bench build --tree ~/project --node node20 --node node24
  sudo smallfry bench write-many --disk nfs                # a simulated file server")]
pub(crate) struct Arguments {
    /// Scenarios to measure [default: build, and the cases of write-string that tell most]
    #[arg(value_enum)]
    pub(crate) scenarios: Vec<Entry>,

    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) options: Options,
}

impl Arguments {
    /// Returns the named scenarios once each, else those that run unasked, with `--all` all.
    pub(crate) fn scenarios(&self) -> Vec<Entry> {
        let mut chosen = self.scenarios.clone();
        if chosen.is_empty() {
            let is_usual = |entry: &&Entry| self.options.all || entry.facts.unasked;
            chosen.extend(scenarios::ALL.iter().filter(is_usual));
        }
        let mut seen = HashSet::new();
        chosen.retain(|entry| seen.insert(entry.facts.name));
        chosen
    }
}

impl ValueEnum for Entry {
    fn value_variants<'a>() -> &'a [Self] {
        scenarios::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.facts.name).help(self.facts.help))
    }
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.facts.name)
    }
}
