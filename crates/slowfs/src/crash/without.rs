//! Logs with missing flushes, to check that a test would notice them.

use super::log::Log;
use super::node::Kind;
use super::operation::Operation;
use std::ffi::OsStr;

impl Log {
    /// Returns the same log without some flushes. `is_missing` is called for each flush, with the
    /// last name of the inode (empty for the directory that the log is about), its kind, and
    /// whether only its data were flushed.
    #[must_use]
    pub fn without_flushes(&self, is_missing: impl Fn(&OsStr, &Kind, bool) -> bool) -> Self {
        let is_kept = |&index: &usize| {
            let Operation::Flush {
                inode, data_only, ..
            } = self.entries[index].operation
            else {
                return true;
            };
            let Ok(node) = self.node(inode) else {
                return true;
            };
            let name = node.place.as_ref().map(|place| place.name.as_os_str());
            !is_missing(name.unwrap_or_default(), &node.kind, data_only)
        };
        let mut log = self.clone();
        log.flushes.retain(is_kept);
        for node in &mut log.nodes {
            node.flushes.retain(is_kept);
        }
        log
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Attributes, Crash, Inode, Model};
    use super::*;
    use std::path::Path;

    #[test]
    fn data_without_their_flush_can_be_lost() {
        let mut log = Log::default();
        let make = |log: &mut Log, name: &str| {
            let file = log.make(
                Inode::ROOT,
                name.as_ref(),
                Kind::File,
                Attributes::default(),
            );
            let file = file.unwrap();
            log.write(file, 0, b"text").unwrap();
            log.flush(file, false).unwrap();
        };
        make(&mut log, "a");
        make(&mut log, "b");
        log.flush(Inode::ROOT, false).unwrap();
        let is_lost = |log: &Log, name: &str| {
            (0..100).any(|seed| {
                let crash = Crash {
                    point: log.len(),
                    model: Model::Weak,
                    seed,
                };
                let survivors = log.crash(crash);
                survivors.read(Path::new(name)).ok().as_deref() != Some(b"text")
            })
        };
        assert!(!is_lost(&log, "a") && !is_lost(&log, "b"));
        let without = log.without_flushes(|name, _, _| name == "a");
        assert!(is_lost(&without, "a") && !is_lost(&without, "b"));
        let without =
            log.without_flushes(|name, kind, _| name.is_empty() && *kind == Kind::Directory);
        assert!(is_lost(&without, "a") && is_lost(&without, "b"));
    }
}
