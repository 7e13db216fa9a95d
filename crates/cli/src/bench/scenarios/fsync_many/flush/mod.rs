//! Writing a file's pages to the device, and flushing a whole file system.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
pub(super) use linux::{file_system, max_open, start_writeback};
#[cfg(not(target_os = "linux"))]
pub(super) use other::{file_system, max_open, start_writeback};
