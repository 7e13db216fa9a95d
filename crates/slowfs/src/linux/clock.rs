//! The device's time, and the one thread that gives answers when the device releases them.
//!
//! No other thread waits. A thread that handles a request does the real work, leaves the answer
//! here and takes the next request.

use crate::device::{Device, Operation, RequestId};
use crate::parameters::Parameters;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::num::NonZeroU64;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

type Answer = Box<dyn FnOnce() + Send>;

/// The clock of a device. Dropping it gives all answers that are still held.
pub(super) struct Clock {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    began: Instant,
    state: Mutex<State>,
    wake: Condvar,
}

struct State {
    device: Device,
    /// The answer to give at a request's time. `None`: the real work is not done yet.
    answers: HashMap<RequestId, Option<Answer>>,
    /// Later devices, with the time at which each takes over.
    changes: VecDeque<(Duration, Parameters)>,
    /// When the thread wakes by itself.
    wakes: Duration,
    stop: bool,
}

impl Clock {
    pub(super) fn start(
        parameters: Parameters,
        mut changes: Vec<(Duration, Parameters)>,
    ) -> io::Result<Self> {
        changes.sort_by_key(|(time, _)| *time);
        let shared = Arc::new(Shared {
            began: Instant::now(),
            state: Mutex::new(State {
                device: Device::new(parameters),
                answers: HashMap::new(),
                changes: changes.into(),
                wakes: Duration::ZERO,
                stop: false,
            }),
            wake: Condvar::new(),
        });
        let thread = std::thread::Builder::new()
            .name("slowfs-clock".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || shared.run()
            })?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Replaces the device now.
    pub(super) fn change(&self, parameters: Parameters) {
        let mut state = self.shared.lock();
        let now = self.shared.began.elapsed();
        state.device.change(now, parameters);
        self.shared.wake.notify_one();
    }

    /// Empties the device's cache.
    pub(super) fn empty_cache(&self) {
        let mut state = self.shared.lock();
        let now = self.shared.began.elapsed();
        state.device.empty_cache(now);
        self.shared.wake.notify_one();
    }

    /// The time for which the kernel may cache names and attributes.
    pub(super) fn names(&self) -> Duration {
        self.shared.lock().device.parameters().names
    }

    /// Starts a request on the device. Returns `None` if the request costs nothing.
    pub(super) fn begin(&self, operation: Operation) -> Option<RequestId> {
        let mut state = self.shared.lock();
        let now = self.shared.began.elapsed();
        let request = state.device.submit(now, operation)?;
        state.answers.insert(request, None);
        if state.device.next().is_some_and(|next| next < state.wakes) {
            self.shared.wake.notify_one();
        }
        Some(request)
    }

    /// Gives the answer once the device is done with the request, or at once if it already is.
    pub(super) fn answer(
        &self,
        request: Option<RequestId>,
        answer: impl FnOnce() + Send + 'static,
    ) {
        if let Some(request) = request
            && let Some(place) = self.shared.lock().answers.get_mut(&request)
        {
            *place = Some(Box::new(answer));
            return;
        }
        answer();
    }

    /// Starts a request whose real work is done, and gives its answer in time.
    pub(super) fn after(&self, operation: Operation, answer: impl FnOnce() + Send + 'static) {
        let request = self.begin(operation);
        self.answer(request, answer);
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            // The thread panics only if an answer panics, and that is reported there.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is complete before anything that can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        // Otherwise the kernel may wake the thread 50 us late, half a close's time on a fast
        // network.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let mut state = self.lock();
        loop {
            let due = state.due(self.began.elapsed());
            let stop = state.stop;
            if !due.is_empty() {
                drop(state);
                for answer in due {
                    answer();
                }
                state = self.lock();
                continue;
            }
            if stop {
                return;
            }
            state = self.sleep(state);
        }
    }

    fn sleep<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let Some(next) = state.next() else {
            state.wakes = Duration::MAX;
            return self
                .wake
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        };
        state.wakes = next;
        let left = next.saturating_sub(self.began.elapsed());
        if left.is_zero() {
            return state;
        }
        let (state, _) = self
            .wake
            .wait_timeout(state, left)
            .unwrap_or_else(PoisonError::into_inner);
        state
    }
}

impl State {
    fn next(&self) -> Option<Duration> {
        let change = self.changes.front().map(|(time, _)| *time);
        self.device.next().into_iter().chain(change).min()
    }

    /// Takes the answers whose time has come.
    fn due(&mut self, now: Duration) -> Vec<Answer> {
        while let Some((time, parameters)) = self.changes.front().copied() {
            if time > now {
                break;
            }
            self.changes.pop_front();
            self.device.change(now, parameters);
        }
        let mut due: Vec<Answer> = self
            .device
            .advance(now)
            .into_iter()
            .filter_map(|request| self.answers.remove(&request).flatten())
            .collect();
        if self.stop {
            due.extend(self.answers.drain().filter_map(|(_, answer)| answer));
        }
        due
    }
}
