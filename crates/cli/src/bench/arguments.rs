//! The command line of `smallfry bench`.

use super::options::Options;
use super::scenarios::{self, Entry};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use serde::{Serialize, Serializer};

#[derive(Args, Debug, Serialize)]
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
        let mut chosen: Vec<Entry> = Vec::new();
        let unasked = |entry: &&Entry| self.options.all || entry.facts.unasked;
        let usual = scenarios::ALL.iter().filter(unasked);
        let usual = usual.filter(|_| self.scenarios.is_empty());
        for entry in self.scenarios.iter().chain(usual) {
            if chosen.iter().all(|other| other.name() != entry.name()) {
                chosen.push(*entry);
            }
        }
        chosen
    }
}

impl ValueEnum for Entry {
    fn value_variants<'a>() -> &'a [Self] {
        &scenarios::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.facts.help))
    }
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
