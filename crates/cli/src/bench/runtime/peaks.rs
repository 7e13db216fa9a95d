//! The maximum of handles, threads and memory that a process has at once, looked up from outside
//! while it runs. close(2) takes a handle out of the table before it waits, so a handle whose
//! closing has begun is not counted.
//!
//! <https://man7.org/linux/man-pages/man5/proc_pid_fd.5.html>,
//! <https://man7.org/linux/man-pages/man5/proc_pid_status.5.html>. The highest resident set is the
//! kernel's own count since the program began; that of `getrusage` may be the one of the process
//! that started it.

use super::protocol::Peaks;
use crate::host::number;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The pause between two looks. Queues that grow long do so for longer.
const PAUSE: Duration = Duration::from_millis(1);

/// True if this system tells.
pub(crate) fn are_told() -> bool {
    Path::new("/proc/self/fd").is_dir()
}

/// Knows what the process had open before it worked.
pub(crate) struct Watch {
    directory: PathBuf,
    handles_before: usize,
}

impl Watch {
    pub(crate) fn of(process: u32) -> Self {
        let directory = PathBuf::from(format!("/proc/{process}"));
        Self {
            handles_before: handles(&directory),
            directory,
        }
    }

    /// Looks from another thread until `work` is done.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> (T, Peaks) {
        let (working, done) = channel::<()>();
        let look = move || {
            let mut peaks = Peaks::default();
            while done.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                self.look(&mut peaks);
            }
            // A last look after the end: the highest resident set covers all the time before.
            self.look(&mut peaks);
            peaks
        };
        std::thread::scope(|scope| {
            let looking = scope.spawn(look);
            let result = work();
            drop(working);
            (result, looking.join().unwrap_or_default())
        })
    }

    fn look(&self, peaks: &mut Peaks) {
        let open = handles(&self.directory).saturating_sub(self.handles_before);
        peaks.handles = peaks.handles.max(open);
        // A process that has ended has no status any more. The maximum so far stays.
        let status = self.directory.join("status");
        let number = |name| number(&status, name).unwrap_or(0);
        peaks.threads = peaks.threads.max(number("Threads") as usize);
        peaks.resident_kib = peaks.resident_kib.max(number("VmHWM"));
    }
}

fn handles(process: &Path) -> usize {
    std::fs::read_dir(process.join("fd")).map_or(0, Iterator::count)
}
