//! The order in which files come to workers. An archive has the files of a directory one after the
//! other, and only one thread at a time can create a name in a directory. So consecutive files are
//! taken from different directories.

use std::collections::{HashMap, VecDeque};
use std::iter::Fuse;
use std::path::{Path, PathBuf};

use super::entry::{Input, Meta};

/// The maximum number of files that wait for their turn.
const MAX_WAITING: usize = 1024;
/// The maximum number of their bytes in memory.
const MAX_BYTES: u64 = 16 << 20;

/// Hands out entries, files of different directories in turn.
pub(super) struct Spread<I: Iterator, C, W> {
    inputs: Fuse<I>,
    weight: W,
    waiting: HashMap<PathBuf, VecDeque<(Meta, C)>>,
    /// The directories of waiting files. Each is there once.
    turns: VecDeque<PathBuf>,
    count: usize,
    bytes: u64,
}

impl<C, I, W> Spread<I, C, W>
where
    I: Iterator<Item = Input<C>>,
    W: Fn(&C) -> u64,
{
    /// Takes the entries of `inputs`. `weight` returns the bytes of memory that contents take.
    pub(super) fn new(inputs: I, weight: W) -> Self {
        Self {
            inputs: inputs.fuse(),
            weight,
            waiting: HashMap::new(),
            turns: VecDeque::new(),
            count: 0,
            bytes: 0,
        }
    }

    fn push(&mut self, meta: Meta, contents: C) {
        self.count += 1;
        self.bytes += (self.weight)(&contents);
        let directory = meta.path.parent().unwrap_or(Path::new(""));
        if let Some(waiting) = self.waiting.get_mut(directory) {
            waiting.push_back((meta, contents));
            return;
        }
        let directory = directory.to_owned();
        self.turns.push_back(directory.clone());
        self.waiting
            .insert(directory, VecDeque::from([(meta, contents)]));
    }

    fn pop(&mut self) -> Option<Input<C>> {
        let directory = self.turns.pop_front()?;
        let waiting = self.waiting.get_mut(&directory)?;
        let (meta, contents) = waiting.pop_front()?;
        if waiting.is_empty() {
            self.waiting.remove(&directory);
        } else {
            self.turns.push_back(directory);
        }
        self.count -= 1;
        self.bytes -= (self.weight)(&contents);
        Some(Input::File(meta, contents))
    }
}

impl<C, I, W> Iterator for Spread<I, C, W>
where
    I: Iterator<Item = Input<C>>,
    W: Fn(&C) -> u64,
{
    type Item = Input<C>;

    fn next(&mut self) -> Option<Input<C>> {
        // Two for one, so that workers need not wait until there are many.
        for _ in 0..2 {
            if self.count >= MAX_WAITING || self.bytes >= MAX_BYTES {
                break;
            }
            match self.inputs.next() {
                Some(Input::File(meta, contents)) => self.push(meta, contents),
                Some(other) => return Some(other),
                None => break,
            }
        }
        self.pop()
    }
}
