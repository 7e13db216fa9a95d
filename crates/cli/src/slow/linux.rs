//! Functions for `slow` that only Linux has.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, getppid, getrlimit, pidfd_open, setrlimit,
};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Calls `call` when the parent process ends.
///
/// `known` is the parent's process ID, if the parent gave it. If that process ended before this
/// call, the current parent is another one.
///
/// It uses a descriptor of the parent, since `PR_SET_PDEATHSIG` sends its signal when the *thread*
/// that started this process ends.
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
        // The parent is outside of our PID namespace, so its end cannot be seen.
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

/// Raises the limit of descriptors, since each file that is open on the mount is open here too.
pub(super) fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    // If it fails, opening too many files reports an error later.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            ..limit
        },
    );
}

/// Shields the command from signals of the terminal and to our process group.
pub(crate) fn apart(command: &mut Command) {
    command.process_group(0);
}
