//! Mounting and unmounting.
//!
//! The FUSE library would unmount by path, whatever is mounted there. If the user's directory is
//! itself a mount, that could be the user's disk. This module therefore unmounts itself, and
//! recognizes a mount by its source, which names this process.

use super::backing::Backing;
use super::clock::Clock;
use super::filesystem::SlowFilesystem;
use super::pool::Pool;
use super::record::Recorder;
use super::table::{self, Place};
use crate::crash::Log;
use crate::error::Error;
use crate::faults::Faults;
use crate::options::Options;
use crate::profile::Profile;
use crate::unmounted::Unmounted;
use fuser::{BackgroundSession, Config, SessionACL};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Threads that take requests from the kernel. They do not wait for the device, but sometimes for
/// the real disk.
const THREADS: usize = 4;

/// The type of the file system, as `mount` prints it.
const KIND: &str = "fuse.smallfry";

static MOUNTS: AtomicU32 = AtomicU32::new(0);

pub(crate) struct Session {
    source: String,
    clock: Arc<Clock>,
    served: Option<BackgroundSession>,
    recorder: Option<Arc<Recorder>>,
    faults: Arc<Faults>,
}

impl Session {
    pub(crate) fn start(directory: &Path, at: &Path, options: &Options) -> Result<Self, Error> {
        let failed = |step, path: &Path| {
            let path = path.to_owned();
            move |source: io::Error| Error::System { step, path, source }
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // Opened before the mount covers it.
        let root = open(directory, flags, Mode::empty())
            .map_err(io::Error::from)
            .map_err(failed("open", directory))?;
        let point = std::fs::canonicalize(at).map_err(failed("open", at))?;
        refuse_inside(directory, &point)?;
        let recorder = if options.record {
            Some(Arc::new(Recorder::of(directory)?))
        } else {
            None
        };
        let profile = &options.profile;
        let changes = options
            .changes
            .iter()
            .map(|(time, profile)| (*time, profile.parameters))
            .collect();
        let clock = Clock::start(profile.parameters, changes).map_err(failed("mount", at))?;
        let clock = Arc::new(clock);
        let faults = Arc::new(Faults::new(&options.faults, options.full_after));
        let filesystem = SlowFilesystem {
            backing: Arc::new(
                Backing::new(root)
                    .map_err(io::Error::from)
                    .map_err(failed("open", directory))?,
            ),
            clock: Arc::clone(&clock),
            faults: Arc::clone(&faults),
            flushes: Pool::start().map_err(failed("mount", at))?,
            keep_cache: options.keep_cache,
            recorder: recorder.clone(),
        };
        let number = MOUNTS.fetch_add(1, Ordering::Relaxed);
        let source = format!("{}:{}:{number}", profile.name, std::process::id());
        let device = attach(&source, &point).map_err(failed("mount", &point))?;
        let served = serve(filesystem, device).map_err(|error| {
            let _ = release(&source);
            failed("serve", &point)(error)
        })?;
        Ok(Self {
            source,
            clock,
            served: Some(served),
            recorder,
            faults,
        })
    }

    pub(crate) fn change(&self, profile: &Profile) {
        self.clock.change(profile.parameters);
    }

    pub(crate) fn log(&self) -> Option<Log> {
        self.recorder.as_ref().map(|recorder| recorder.log())
    }

    pub(crate) fn failed_calls(&self) -> u64 {
        self.faults.failed()
    }

    pub(crate) fn is_mounted(&self) -> bool {
        self.served
            .as_ref()
            .is_some_and(|served| !served.guard.is_finished())
    }

    /// Waits for the threads only if this call has unmounted. The threads of a covered mount serve
    /// on. The threads of a mount that another program detached end when its last file is closed.
    pub(crate) fn unmount(&mut self) -> io::Result<Unmounted> {
        let outcome = release(&self.source)?;
        match (
            outcome,
            self.served.take_if(|_| outcome != Unmounted::Covered),
        ) {
            (Unmounted::Clean | Unmounted::Busy, Some(served)) => served.join()?,
            (Unmounted::Covered | Unmounted::Already, _) | (_, None) => {}
        }
        Ok(outcome)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Callers who want the outcome call `unmount`.
        let _ = self.unmount();
    }
}

/// Refuses a mount point inside the tree that it would show, since such a mount would wait for
/// itself.
fn refuse_inside(directory: &Path, point: &Path) -> Result<(), Error> {
    let directory = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    if point != directory && point.starts_with(&directory) {
        return Err(Error::Argument(format!(
            "cannot mount at {}: it is inside {}; choose a directory outside of it",
            point.display(),
            directory.display()
        )));
    }
    Ok(())
}

/// Unmounts the mount with this source, if it exists and is not covered by another mount.
fn release(source: &str) -> io::Result<Unmounted> {
    let point = match table::find(source)? {
        Place::Top(point) => point,
        Place::Covered => return Ok(Unmounted::Covered),
        Place::Nowhere => return Ok(Unmounted::Already),
    };
    match unmount(&point, UnmountFlags::NOFOLLOW) {
        Ok(()) => Ok(Unmounted::Clean),
        Err(Errno::BUSY) => {
            // Open files fail from now on, instead of waiting for a disk that is gone.
            unmount(
                &point,
                UnmountFlags::NOFOLLOW | UnmountFlags::FORCE | UnmountFlags::DETACH,
            )?;
            Ok(Unmounted::Busy)
        }
        // Another program was faster.
        Err(Errno::INVAL | Errno::NOENT) => Ok(Unmounted::Already),
        Err(error) => Err(error.into()),
    }
}

/// Unmounts what an ended process left mounted. Returns `false` if something is still covered.
pub(crate) fn clean_up(process: u32) -> io::Result<bool> {
    let process = process.to_string();
    let mut all_gone = true;
    for source in table::sources(KIND)? {
        if source.split(':').nth(1) == Some(&process) {
            all_gone &= release(&source)? != Unmounted::Covered;
        }
    }
    Ok(all_gone)
}

/// Mounts: mount(2), with the options of fuse(4).
fn attach(source: &str, point: &PathBuf) -> io::Result<OwnedFd> {
    let device = open("/dev/fuse", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    let options = format!(
        "fd={},rootmode=40000,user_id={},group_id={},allow_other,default_permissions",
        device.as_raw_fd(),
        rustix::process::getuid().as_raw(),
        rustix::process::getgid().as_raw(),
    );
    let options = CString::new(options)?;
    let flags = MountFlags::NODEV | MountFlags::NOSUID;
    mount(source, point, KIND, flags, options.as_c_str())?;
    Ok(device)
}

fn serve(filesystem: SlowFilesystem, device: OwnedFd) -> io::Result<BackgroundSession> {
    let mut config = Config::default();
    config.n_threads = Some(THREADS);
    fuser::Session::from_fd(filesystem, device, SessionACL::All, config)?.spawn()
}
