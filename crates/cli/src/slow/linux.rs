//! What `slow` needs of Linux beside the mount.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, getppid, getrlimit, pidfd_open, setrlimit,
};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Calls it when the process that started this one ends. `known` is its number, if it told: should it have ended before
/// this looks, the parent is another one by now.
///
/// A descriptor of the parent and not `PR_SET_PDEATHSIG`, which comes when the *thread* that started us ends.
pub(super) fn when_orphaned(
    known: Option<u32>,
    call: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    let parent = getppid();
    let number = |parent: Pid| parent.as_raw_nonzero().get().unsigned_abs();
    if known.is_some() && known != parent.map(number) {
        call();
        return Ok(());
    }
    let Some(parent) = parent else {
        // It is outside our namespace of processes, where nobody can tell.
        return Ok(());
    };
    let opened = pidfd_open(parent, PidfdFlags::empty());
    if getppid() != Some(parent) {
        call();
        return Ok(());
    }
    let parent = opened?;
    std::thread::Builder::new()
        .name("parent".to_owned())
        .spawn(move || {
            let mut ended = [PollFd::new(&parent, PollFlags::IN)];
            while poll(&mut ended, None) == Err(Errno::INTR) {}
            call();
        })?;
    Ok(())
}

/// Each file that is open on the mount is open here too.
pub(super) fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    // Should it fail, opening fails when there are too many, and says so.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            ..limit
        },
    );
}

/// The terminal's signals, and those to all of our group, do not reach it.
pub(super) fn apart(command: &mut Command) {
    command.process_group(0);
}
