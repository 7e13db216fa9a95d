//! A batch of calls, each timed apart.

use super::prelude::*;

#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Batch {
    /// Calls before the first sample, untimed.
    pub(crate) warm_up: u32,
    pub(crate) samples: u32,
    /// Per sample.
    pub(crate) calls: u32,
}

impl Batch {
    /// Runs the warm-up, then the samples; `reset` follows so many calls, untimed. Generic so that
    /// each implementation's call is in the loop, not behind a pointer.
    pub(crate) fn time<T, E: Into<io::Error>>(
        self,
        target: &mut T,
        mut call: impl FnMut(&T) -> Result<(), E>,
        mut reset: impl FnMut(&mut T, u32) -> io::Result<()>,
    ) -> io::Result<Times> {
        for _ in 0..self.warm_up {
            call(target).map_err(Into::into)?;
            reset(target, 1)?;
        }
        let mut ns = Vec::with_capacity(self.samples as usize);
        let meter = Meter::start();
        for _ in 0..self.samples {
            let started = Instant::now();
            for _ in 0..self.calls {
                call(target).map_err(Into::into)?;
            }
            ns.push(nanoseconds(started.elapsed()));
            reset(target, self.calls)?;
        }
        let times = Times::of(ns.len(), 0, meter.stop());
        Ok(Times {
            samples_ns: ns,
            ..times
        })
    }
}
