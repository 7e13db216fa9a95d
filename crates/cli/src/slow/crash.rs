//! `smallfry slow --crash`: what is left when the mount ends as if the machine had crashed.

use smallfry_slowfs::Error;
use smallfry_slowfs::crash::{Crash, Log, Model, Survivors};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use tempfile::TempDir;

/// When it crashes.
#[derive(Clone, Copy)]
pub(super) enum Point {
    Random,
    /// After so many operations, or all if there are fewer.
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

/// A crash to come.
pub(super) struct Crashes {
    point: Point,
    model: Option<Model>,
    seed: u64,
    /// Where the survivors go, if not onto a mount.
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
            // Short enough to be typed again.
            seed: seed.unwrap_or_else(|| fastrand::u16(..).into()),
            directory,
        })
    }

    pub(super) fn crash<'log>(&'log self, log: &'log Log) -> Crashed<'log> {
        let mut chance = fastrand::Rng::with_seed(self.seed);
        // Both are drawn in each case, so that to name one does not change the other.
        let (point, model) = (chance.usize(..=log.len()), chance.choice(Model::ALL));
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

/// A crash that was.
pub(super) struct Crashed<'log> {
    /// It, on one line.
    pub(super) told: String,
    survivors: Survivors<'log>,
    directory: Option<&'log Path>,
}

impl Crashed<'_> {
    /// Puts the survivors where they were asked for, or into a temporary directory to be shown.
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

/// With what makes it again, should the program do the same again.
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
