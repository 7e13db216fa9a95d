//! A disk's one head: where it is, how long it takes to get elsewhere, which waiting request it goes to next, and what
//! the disk read ahead meanwhile.
//!
//! The time to begin a request is seek and rotation. A seek costs the settling time and then grows with the square root
//! of the distance, as an arm that speeds up half the way and slows down the other half does (Ruemmler and Wilkes, "An
//! introduction to disk drive modeling", 1994). The platter's angle is a function of the time, and a byte's of its
//! position. Of the waiting requests the one that takes least time to begin goes first (shortest positioning time
//! first, which native command queueing is for), unless the oldest has waited too long.
//!
//! A head with nothing to do goes on reading where it is, into the disk's cache: a neighbour is then there already, or
//! comes by. A disk that has requests waiting does not read ahead, but for a moment: where a reader went along with the
//! head, the head waits for its next request before it goes elsewhere (anticipatory scheduling: Iyer and Druschel,
//! "Deceptive idleness", 2001; Linux's BFQ does it for such disks).

use super::request::{Extent, RequestId};
use crate::parameters::{Parameters, at_rate};
use std::collections::VecDeque;
use std::time::Duration;

/// Runs of bytes that the cache is divided into.
const SEGMENTS: u64 = 32;
/// How far from a run's end a reader still counts as going on with it: the window that Linux reads ahead.
const NEAR: u64 = 128 << 10;
/// The mean of the square root of the distance of two random places, as a share of the whole: 8/15.
const MEAN_ROOT: f64 = 8.0 / 15.0;
/// A track where the transfer rate is unlimited, for the platter's angle.
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
    /// First byte after all that was asked for.
    asked: u64,
    /// When a reader was last seen to go along, if one was.
    followed: Option<Duration>,
}

#[derive(Debug)]
pub(super) struct Head {
    waiting: Vec<Waiting>,
    current: Option<(Duration, RequestId)>,
    /// First byte that the head had not passed when it last ended a request.
    position: u64,
    ended: Duration,
    run: Option<Run>,
    /// First and last bytes of runs read before and still in the cache, the latest last.
    cached: VecDeque<(u64, u64)>,
    /// Until when the head stays where it is although requests wait elsewhere.
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

    /// Whether it is answered at once, from the disk's cache.
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

    /// Empties the cache, of what the head reads along with too.
    pub(super) fn forget(&mut self) {
        self.cached.clear();
        self.run = None;
    }

    /// When the head is next done with a request, or with staying.
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

    /// Whether all of it is in the disk's cache.
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

    /// First byte that the head has not passed at `now`: while it is idle, it reads ahead.
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

    /// Moves the head over the extent and gives the time that it takes.
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

    /// Notices a reader that goes along with the head.
    fn follow(&mut self, now: Duration, extent: Extent, parameters: &Parameters) {
        let end = extent.position + extent.bytes;
        let follows = self.follows(extent, parameters);
        if let Some(run) = self.run.as_mut().filter(|run| follows && end > run.asked) {
            run.asked = end;
            run.followed = Some(now);
        }
    }

    /// Until when the head waits for the reader that goes along.
    fn linger(&self, parameters: &Parameters) -> Option<Duration> {
        Some(self.run?.followed? + parameters.linger)
    }

    /// Keeps in the cache what the head read before it goes elsewhere.
    fn leave(&mut self, passed: u64) {
        if let Some(run) = self.run.take() {
            self.cached.push_back((run.start, passed));
            if self.cached.len() as u64 >= SEGMENTS {
                self.cached.pop_front();
            }
        }
    }

    /// Index of the request to serve next.
    fn choose(&self, now: Duration, parameters: &Parameters) -> Option<usize> {
        let oldest = self.waiting.first()?;
        if oldest.since + parameters.patience < now {
            return Some(0);
        }
        (0..self.waiting.len().min(parameters.queue.max(1) as usize))
            .min_by_key(|&index| self.positioning(now, self.waiting[index].extent, parameters))
    }

    /// Whether the head reaches it, or has passed it, by going on as it does.
    fn follows(&self, extent: Extent, parameters: &Parameters) -> bool {
        self.run.is_some_and(|run| {
            let reach = self.position + segment(parameters);
            !extent.write && (run.start..reach).contains(&extent.position)
        })
    }

    /// Time until the head is at the first byte that is not in the cache.
    fn positioning(&self, now: Duration, extent: Extent, parameters: &Parameters) -> Duration {
        let passed = self.passed(now, parameters);
        if self.follows(extent, parameters) {
            return transfer(extent.position.saturating_sub(passed), parameters);
        }
        let seek = seek(passed.abs_diff(extent.position), parameters);
        seek + rotation(now + seek, extent.position, parameters)
    }
}

/// Bytes that the head reads ahead at most.
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

/// Time for the arm to move that far and come to rest.
fn seek(distance: u64, parameters: &Parameters) -> Duration {
    if (distance as f64) < track(parameters) {
        return Duration::ZERO;
    }
    let share = (distance as f64 / parameters.capacity.max(1) as f64).min(1.0);
    let travel = parameters.seek.saturating_sub(parameters.settle);
    parameters.settle + travel.mul_f64(share.sqrt() / MEAN_ROOT)
}

/// Time until the platter has brought the byte to a head that is on its track at `now`.
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
