//! The one head of a disk: its position, the time that it takes to move, the request that it serves
//! next, and the data that the disk read ahead.
//!
//! The time to begin a request is seek plus rotation. A seek costs the settling time and then grows
//! with the square root of the distance, as for an arm that speeds up half the way and slows down
//! the other half (Ruemmler and Wilkes, "An introduction to disk drive modeling", 1994). The angle
//! of the platter is a function of the time, and the angle of a byte a function of its position.
//! The waiting request that can begin soonest is served first (shortest positioning time first, the
//! purpose of native command queueing), unless the oldest has waited too long.
//!
//! An idle head goes on reading where it is, into the disk's cache. A neighbour is then in the
//! cache already, or passes by. A disk with waiting requests does not read ahead, with one
//! exception: after a request that followed the head, the head waits a moment for the reader's next
//! request before it moves elsewhere (anticipatory scheduling: Iyer and Druschel, "Deceptive
//! idleness", 2001; Linux's BFQ does it for such disks).

use super::request::{Extent, RequestId};
use crate::parameters::{Parameters, at_rate};
use std::collections::VecDeque;
use std::time::Duration;

/// The number of runs that the cache holds.
const SEGMENTS: u64 = 32;
/// The maximum distance from the end of a run at which a reader still counts as following it. This
/// is the window that Linux reads ahead.
const NEAR: u64 = 128 << 10;
/// The mean square root of the distance between two random places, as a share of the disk: 8/15.
const MEAN_ROOT: f64 = 8.0 / 15.0;
/// The size of a track where the transfer rate is unlimited, to compute the platter's angle.
const NOMINAL_TRACK: f64 = 1_048_576.0;

#[derive(Clone, Copy, Debug)]
struct Waiting {
    request: RequestId,
    extent: Extent,
    since: Duration,
}

/// A run of bytes that the head reads along.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: u64,
    /// The first byte after everything that was asked for.
    asked: u64,
    /// When a reader was last seen to follow the head.
    followed: Option<Duration>,
}

#[derive(Debug)]
pub(super) struct Head {
    waiting: Vec<Waiting>,
    current: Option<(Duration, RequestId)>,
    /// The first byte that the head had not passed when it last ended a request.
    position: u64,
    ended: Duration,
    run: Option<Run>,
    /// First and last bytes of earlier runs that are still in the cache, the latest last.
    cached: VecDeque<(u64, u64)>,
    /// The end of the time for which the head stays although requests wait elsewhere.
    stays: Option<Duration>,
}

impl Head {
    pub(super) fn new() -> Self {
        Self {
            waiting: Vec::new(),
            current: None,
            position: 0,
            ended: Duration::ZERO,
            run: None,
            cached: VecDeque::new(),
            stays: None,
        }
    }

    /// Takes a request. Returns whether the cache answers it at once.
    pub(super) fn arrive(
        &mut self,
        now: Duration,
        request: RequestId,
        extent: Extent,
        parameters: &Parameters,
    ) -> bool {
        if self.has(now, extent, parameters) {
            self.follow(now, extent, parameters);
            return true;
        }
        self.waiting.push(Waiting {
            request,
            extent,
            since: now,
        });
        if self.current.is_none() {
            self.start(now, parameters);
        }
        false
    }

    /// Empties the cache, including the run that the head reads along.
    pub(super) fn forget(&mut self) {
        self.cached.clear();
        self.run = None;
    }

    /// When the head ends a request, or ends its wait.
    pub(super) fn next(&self) -> Option<Duration> {
        self.current.map(|(end, _)| end).or(self.stays)
    }

    /// Ends the current request and begins the next.
    pub(super) fn finish(&mut self, parameters: &Parameters) -> Option<RequestId> {
        let Some((end, request)) = self.current.take() else {
            if let Some(end) = self.stays.take() {
                self.start(end, parameters);
            }
            return None;
        };
        self.start(end, parameters);
        Some(request)
    }

    /// Returns true if the whole extent is in the cache.
    fn has(&self, now: Duration, extent: Extent, parameters: &Parameters) -> bool {
        let within = |start: u64, end: u64| {
            start <= extent.position && extent.position + extent.bytes <= end
        };
        !extent.write
            && (self
                .run
                .is_some_and(|run| within(run.start, self.passed(now, parameters)))
                || self.cached.iter().any(|&(start, end)| within(start, end)))
    }

    /// The first byte that the head has not passed at `now`. An idle head reads ahead.
    fn passed(&self, now: Duration, parameters: &Parameters) -> u64 {
        if self.run.is_none() || self.current.is_some() {
            return self.position;
        }
        let idle = now.saturating_sub(self.ended).as_nanos();
        let ahead = idle * u128::from(parameters.rate) / 1_000_000_000;
        self.position + ahead.min(segment(parameters).into()) as u64
    }

    fn start(&mut self, now: Duration, parameters: &Parameters) {
        self.stays = None;
        let Some(index) = self.choose(now, parameters) else {
            return;
        };
        let Waiting { extent, since, .. } = self.waiting[index];
        if !self.follows(extent, parameters)
            && let Some(until) = self.linger(parameters)
            && now < until
            && since + parameters.patience >= now
        {
            self.stays = Some(until);
            return;
        }
        let request = self.waiting.remove(index).request;
        self.ended = now + self.go(now, extent, parameters);
        self.follow(self.ended, extent, parameters);
        self.current = Some((self.ended, request));
    }

    /// Moves the head over the extent and returns the time that it takes.
    fn go(&mut self, now: Duration, extent: Extent, parameters: &Parameters) -> Duration {
        let passed = self.passed(now, parameters);
        let end = extent.position + extent.bytes;
        if self.follows(extent, parameters) {
            self.position = end.max(passed);
            return transfer(end.saturating_sub(passed), parameters);
        }
        let positioning = self.positioning(now, extent, parameters);
        self.leave(passed);
        self.position = end;
        if !extent.write && segment(parameters) > 0 {
            let goes_on = self
                .cached
                .iter()
                .any(|&(_, left)| (left..=left + NEAR).contains(&extent.position));
            self.run = Some(Run {
                start: extent.position,
                asked: if goes_on { extent.position } else { end },
                followed: None,
            });
        }
        positioning + transfer(extent.bytes, parameters)
    }

    /// Notes a reader that follows the head.
    fn follow(&mut self, now: Duration, extent: Extent, parameters: &Parameters) {
        let end = extent.position + extent.bytes;
        let follows = self.follows(extent, parameters);
        if let Some(run) = self.run.as_mut().filter(|run| follows && end > run.asked) {
            run.asked = end;
            run.followed = Some(now);
        }
    }

    /// The end of the wait for the reader that follows the head.
    fn linger(&self, parameters: &Parameters) -> Option<Duration> {
        Some(self.run?.followed? + parameters.linger)
    }

    /// Keeps the current run in the cache before the head moves elsewhere.
    fn leave(&mut self, passed: u64) {
        if let Some(run) = self.run.take() {
            self.cached.push_back((run.start, passed));
            if self.cached.len() as u64 >= SEGMENTS {
                self.cached.pop_front();
            }
        }
    }

    /// The index of the request to serve next.
    fn choose(&self, now: Duration, parameters: &Parameters) -> Option<usize> {
        let oldest = self.waiting.first()?;
        if oldest.since + parameters.patience < now {
            return Some(0);
        }
        (0..self.waiting.len().min(parameters.queue.max(1) as usize))
            .min_by_key(|&index| self.positioning(now, self.waiting[index].extent, parameters))
    }

    /// Returns true if the head reaches the extent, or has passed it, by going on reading.
    fn follows(&self, extent: Extent, parameters: &Parameters) -> bool {
        self.run.is_some_and(|run| {
            let reach = self.position + segment(parameters);
            !extent.write && (run.start..reach).contains(&extent.position)
        })
    }

    /// The time until the head is at the first byte that is not in the cache.
    fn positioning(&self, now: Duration, extent: Extent, parameters: &Parameters) -> Duration {
        let passed = self.passed(now, parameters);
        if self.follows(extent, parameters) {
            return transfer(extent.position.saturating_sub(passed), parameters);
        }
        let seek = seek(passed.abs_diff(extent.position), parameters);
        seek + rotation(now + seek, extent.position, parameters)
    }
}

/// The maximum number of bytes that the head reads ahead.
fn segment(parameters: &Parameters) -> u64 {
    parameters.cache / SEGMENTS
}

fn transfer(bytes: u64, parameters: &Parameters) -> Duration {
    at_rate(bytes, parameters.rate)
}

fn track(parameters: &Parameters) -> f64 {
    let bytes = parameters.rate as f64 * parameters.rotation.as_secs_f64();
    if bytes >= 1.0 { bytes } else { NOMINAL_TRACK }
}

/// The time for the arm to move that far and settle.
fn seek(distance: u64, parameters: &Parameters) -> Duration {
    if (distance as f64) < track(parameters) {
        return Duration::ZERO;
    }
    let share = (distance as f64 / parameters.capacity.max(1) as f64).min(1.0);
    let travel = parameters.seek.saturating_sub(parameters.settle);
    parameters.settle + travel.mul_f64(share.sqrt() / MEAN_ROOT)
}

/// The time until the platter has brought the byte to a head that is on its track at `now`.
fn rotation(now: Duration, position: u64, parameters: &Parameters) -> Duration {
    if parameters.rotation.is_zero() {
        return Duration::ZERO;
    }
    let angle = now.as_secs_f64() / parameters.rotation.as_secs_f64();
    let target = position as f64 / track(parameters);
    parameters
        .rotation
        .mul_f64((target - angle).rem_euclid(1.0))
}
