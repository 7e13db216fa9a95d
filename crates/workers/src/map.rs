//! All results of a batch at once.

use std::marker::PhantomData;

use crate::batch::Batch;
use crate::options::{BatchOptions, Strategy};
use crate::stream::Stream;
use crate::task::{Task, TaskContext};

/// The maximum number of results for which there is room from the start.
const MAX_ROOM: usize = 1 << 16;

/// Calls `work` with each input and returns the results in the order of inputs.
///
/// `work` may borrow: all threads end before this returns. A panic of `work` goes on in the caller.
///
/// ```
/// use smallfry_workers::{Strategy, map};
/// use std::time::Duration;
///
/// // Each waits for 1 ms, so several are in flight at once.
/// let squares = map(Strategy::Auto, 0..200_u64, |number| {
///     std::thread::sleep(Duration::from_millis(1));
///     number * number
/// });
/// assert_eq!(squares[199], 199 * 199);
/// ```
pub fn map<I: Send, O: Send>(
    strategy: Strategy,
    inputs: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> O + Send + Sync,
) -> Vec<O> {
    let task = Function {
        work,
        types: PhantomData,
    };
    let options = BatchOptions {
        strategy,
        ..BatchOptions::default()
    };
    run_all(task, options, inputs)
        .into_iter()
        .flatten()
        .collect()
}

/// Does a task for all inputs and returns the results in the order of inputs.
///
/// Inputs that a stopped batch did not begin have no result. All threads end before this returns,
/// so inputs may borrow.
///
/// ```
/// use smallfry_workers::{BatchOptions, Task, TaskContext, run_all};
///
/// /// Compresses blocks, with one buffer per worker.
/// struct Compress;
///
/// impl Task for Compress {
///     type Input = Vec<u8>;
///     type Output = usize;
///     type Scratch = Vec<u8>;
///
///     fn run(&self, buffer: &mut Vec<u8>, block: Vec<u8>, _: &mut TaskContext<'_>) -> usize {
///         buffer.clear();
///         buffer.extend(block.chunk_by(|a, b| a == b).flat_map(|run| [run.len() as u8, run[0]]));
///         buffer.len()
///     }
///
///     fn cancelled(&self, _: Vec<u8>) -> usize {
///         0
///     }
/// }
///
/// let sizes = run_all(Compress, BatchOptions::default(), [vec![0; 100], vec![1, 2, 3]]);
/// assert_eq!(sizes, [2, 6]);
/// ```
pub fn run_all<T: Task>(
    task: T,
    options: BatchOptions,
    inputs: impl IntoIterator<Item = T::Input>,
) -> Vec<T::Output> {
    let inputs = inputs.into_iter();
    // An endless iterator, which only `control` ends, promises more than there is memory for.
    let mut results = Vec::with_capacity(inputs.size_hint().0.min(MAX_ROOM));
    std::thread::scope(|scope| {
        let batch = Batch::new(task, options, scope);
        for (index, output) in Stream::new(batch, inputs, false) {
            if results.len() <= index {
                results.resize_with(index + 1, || None);
            }
            results[index] = Some(output);
        }
    });
    results.into_iter().flatten().collect()
}

/// A task that is a function.
struct Function<I, O, W> {
    work: W,
    types: PhantomData<fn(I) -> O>,
}

impl<I: Send, O: Send, W: Fn(I) -> O + Send + Sync> Task for Function<I, O, W> {
    type Input = I;
    /// `None` for an input that was cancelled. Nothing can cancel it.
    type Output = Option<O>;
    type Scratch = ();

    fn run(&self, (): &mut (), input: I, _: &mut TaskContext<'_>) -> Option<O> {
        Some((self.work)(input))
    }

    fn cancelled(&self, _: I) -> Option<O> {
        None
    }
}
