//! Processor time.

use serde::Serialize;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(in crate::trial) struct Processor {
    pub(in crate::trial) user_ns: u64,
    pub(in crate::trial) sys_ns: u64,
}
