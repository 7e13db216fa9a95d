//! `smallfry slow --crash`: simulates a crash of the machine when the mount ends.

use smallfry_slowfs::Error;
use smallfry_slowfs::crash::{Crash, Log, Model, Survivors};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use tempfile::TempDir;

/// The moment of the crash.
#[derive(Clone, Copy)]
pub(super) enum Point {
    Random,
    /// After this number of operations, or after the last one.
    After(usize),
}

impl FromStr for Point {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "random" {
            return Ok(Self::Random);
        }
        let number = text.parse();
        number
            .map(Self::After)
            .map_err(|_| "expected random or a number of operations".to_owned())
    }
}

/// A crash to be simulated.
pub(super) struct Crashes {
    point: Point,
    model: Option<Model>,
    seed: u64,
    /// The directory for the survivors, if they are not to be mounted.
    directory: Option<PathBuf>,
}

impl Crashes {
    pub(super) fn new(
        point: Point,
        model: Option<Model>,
        seed: Option<u64>,
        directory: Option<PathBuf>,
    ) -> Result<Self, Error> {
        if let Some(directory) = &directory {
            refuse_full(directory)?;
        }
        Ok(Self {
            point,
            model,
            // Short, so that it is easy to type again.
            seed: seed.unwrap_or_else(|| fastrand::u16(..).into()),
            directory,
        })
    }

    pub(super) fn crash<'log>(&'log self, log: &'log Log) -> Crashed<'log> {
        let mut random = fastrand::Rng::with_seed(self.seed);
        // Both are always drawn, so that giving one does not change the other.
        let (point, model) = (random.usize(..=log.len()), random.choice(Model::ALL));
        let crash = Crash {
            point: match self.point {
                Point::Random => point,
                Point::After(point) => point.min(log.len()),
            },
            model: self.model.or(model).unwrap_or(Model::Weak),
            seed: self.seed,
        };
        let survivors = log.crash(crash);
        Crashed {
            told: tell(log, &survivors),
            survivors,
            directory: self.directory.as_deref(),
        }
    }
}

/// A crash that was simulated.
pub(super) struct Crashed<'log> {
    /// A description on one line.
    pub(super) told: String,
    survivors: Survivors<'log>,
    directory: Option<&'log Path>,
}

impl Crashed<'_> {
    /// Writes the survivors to the directory that was asked for, or to a temporary directory to be
    /// mounted.
    pub(super) fn restore(&self) -> Result<Option<TempDir>, Error> {
        if let Some(directory) = self.directory {
            refuse_full(directory)?;
            fs::create_dir_all(directory).map_err(|source| failed("make", directory, source))?;
            self.survivors.restore(directory)?;
            return Ok(None);
        }
        let made = TempDir::with_prefix("smallfry-crash-");
        let directory =
            made.map_err(|source| failed("make a directory in", &std::env::temp_dir(), source))?;
        self.survivors.restore(directory.path())?;
        Ok(Some(directory))
    }
}

/// Describes a crash, with the options that repeat it if the program does the same again.
fn tell(log: &Log, survivors: &Survivors) -> String {
    let Crash { point, model, seed } = survivors.of();
    let last = point
        .checked_sub(1)
        .and_then(|last| log.describe(last))
        .map(|last| format!(", the last being: {last}"));
    let acknowledged: Vec<_> = survivors
        .acknowledged()
        .iter()
        .map(|name| name.to_string_lossy())
        .collect();
    let acknowledged = if acknowledged.is_empty() {
        "nothing".into()
    } else {
        acknowledged.join(" ")
    };
    format!(
        "crashed after {point} of {} operations{}; acknowledged: {acknowledged}. To repeat: --crash {point} --model {model} --seed \
         {seed}",
        log.len(),
        last.unwrap_or_default(),
    )
}

fn refuse_full(directory: &Path) -> Result<(), Error> {
    match fs::read_dir(directory) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(Error::Argument(format!(
                "{} is not empty: --survivors needs an empty or new directory",
                directory.display()
            ))),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed("read", directory, error)),
    }
}

fn failed(step: &'static str, path: &Path, source: io::Error) -> Error {
    let path = path.to_owned();
    Error::System { step, path, source }
}
