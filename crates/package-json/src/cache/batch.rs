//! Many look-ups in one call.

use std::path::Path;
use std::sync::Arc;

use hashbrown::HashMap;
use smallfry_workers::{BatchOptions, Task, TaskContext, run_all};

use super::directory::{Checked, Directory, Manner};
use super::table::{Table, is_directly_in, plain_parent};
use crate::error::Error;

type Answer = Result<Checked, Error>;

/// The answers for many paths.
pub(super) struct Answers {
    /// The index of the answer for each path.
    directories: Vec<Result<usize, Error>>,
    answers: Vec<Answer>,
}

impl Answers {
    /// Finds the package.json of each path. Each directory is checked once, however many of the
    /// paths lead through it, by as many threads as make it faster.
    pub(super) fn find<'p>(
        table: &Table,
        manner: Manner<'_>,
        paths: impl ExactSizeIterator<Item = &'p Path>,
    ) -> Self {
        let mut distinct: Vec<Arc<Directory>> = Vec::new();
        let mut numbers: HashMap<*const Directory, usize> = HashMap::new();
        let mut directories = Vec::with_capacity(paths.len());
        // Files often come in the order of a tree.
        let mut before: Option<(&[u8], usize)> = None;
        for path in paths {
            if let Some((key, number)) = before
                && is_directly_in(path, key)
            {
                directories.push(Ok(number));
                continue;
            }
            let number = table.of_file(path).map(|directory| {
                *numbers.entry(Arc::as_ptr(&directory)).or_insert_with(|| {
                    distinct.push(directory);
                    distinct.len() - 1
                })
            });
            before = plain_parent(path).zip(number.as_ref().ok().copied());
            directories.push(number);
        }
        let answers = if distinct
            .iter()
            .all(|directory| directory.is_answered(manner))
        {
            let nearest = |directory: &Arc<Directory>| directory.nearest(manner);
            distinct.iter().map(nearest).collect()
        } else {
            run_all(Look(manner), BatchOptions::default(), &distinct)
        };
        Self {
            directories,
            answers,
        }
    }

    /// The answer for each path, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Result<&Checked, &Error>> {
        self.directories
            .iter()
            .map(|directory| self.answers[*directory.as_ref()?].as_ref())
    }
}

/// Finds the nearest package.json of one directory.
struct Look<'cache>(Manner<'cache>);

impl<'cache> Task for Look<'cache> {
    type Input = &'cache Arc<Directory>;
    type Output = Answer;
    type Scratch = ();

    fn run(&self, (): &mut (), directory: Self::Input, _: &mut TaskContext<'_>) -> Answer {
        directory.nearest(self.0)
    }

    fn cancelled(&self, directory: Self::Input) -> Answer {
        // Nothing cancels this batch.
        directory.nearest(self.0)
    }

    fn failed(&self, answer: &Answer) -> bool {
        answer.is_err()
    }
}
