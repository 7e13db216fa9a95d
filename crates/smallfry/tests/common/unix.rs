//! Helpers of several test files on Unix.

#![allow(unsafe_code, reason = "it calls the system")]

use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::{Directory, skip};

pub(crate) use std::os::unix::fs::symlink;

/// The starts of names. Most of them are unusual, and all are allowed.
pub(crate) const NAMES: &[&[u8]] = &[
    b"",
    "ä 魚\n".as_bytes(),
    b"-x",
    &[b'l'; LONG],
    // Apple's file systems have only names in Unicode.
    if cfg!(target_vendor = "apple") {
        b"y"
    } else {
        b"\xff\xfe"
    },
];
/// Longer than the header of a tar has room for: 100 bytes of a name, and 155 of what is before it.
pub(crate) const LONG: usize = 105;
/// The seconds since 1970 of times of modification: some are before it, or need more than 32 bits.
pub(crate) const SECONDS: &[i64] = &[
    -5_000_000_000,
    -1,
    0,
    1_000_000_000,
    2_147_483_648,
    5_000_000_000,
];
/// The permissions that files and directories may have.
pub(crate) const FILE_MODES: &[u32] = &[0o644, 0o755, 0o600, 0o4711, 0o666];
pub(crate) const DIRECTORY_MODES: &[u32] = &[0o755, 0o700, 0o777, 0o1755];

/// Returns a name that starts with bytes of [`NAMES`].
pub(crate) fn name_of(start: &[u8], rest: &str) -> OsString {
    let mut name = OsStr::from_bytes(start).to_owned();
    name.push(rest);
    name
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Returns the permissions of an entry.
pub(crate) fn mode_of(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

/// Returns the number that all names of a file share.
pub(crate) fn number_of(path: &Path) -> u64 {
    fs::symlink_metadata(path).unwrap().ino()
}

/// Returns the number of hard links.
pub(crate) fn names_of(path: &Path) -> u64 {
    fs::symlink_metadata(path).unwrap().nlink()
}

pub(crate) fn set_modified(path: &Path, time: SystemTime) {
    File::open(path).unwrap().set_modified(time).unwrap();
}

pub(crate) fn is_root() -> bool {
    // SAFETY: has no preconditions.
    unsafe { libc::geteuid() == 0 }
}

pub(crate) fn make_fifo(path: &Path) {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: the path is a NUL-terminated string that outlives the call.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

/// A file system in memory, mounted in a directory of the test's own. Dropping it unmounts it.
pub(crate) struct SmallDisk<'directory>(&'directory Path);

impl<'directory> SmallDisk<'directory> {
    pub(crate) fn mount(path: &'directory Path, options: &str) -> Result<Self, String> {
        Self::mount_type("tmpfs", path, options)
    }

    /// Mounts a file system of another type that is in memory.
    pub(crate) fn mount_type(
        kind: &str,
        path: &'directory Path,
        options: &str,
    ) -> Result<Self, String> {
        let flags = ["-t", kind, "-o", options];
        Self::mount_by(&flags, Path::new("smallfry-test"), path)
    }

    /// Mounts a directory once more.
    pub(crate) fn bind(source: &Path, path: &'directory Path) -> Result<Self, String> {
        Self::mount_by(&["--bind"], source, path)
    }

    fn mount_by(flags: &[&str], source: &Path, path: &'directory Path) -> Result<Self, String> {
        if !cfg!(target_os = "linux") || !is_root() {
            return Err("only root on Linux may mount".into());
        }
        fs::create_dir(path).unwrap();
        let output = Command::new("mount")
            .args(flags)
            .args([source, path])
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(Self(path))
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.0
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let status = Command::new("umount").arg(self.0).status();
        assert!(
            status.is_ok_and(|status| status.success()),
            "umount {}",
            self.0.display()
        );
    }
}

/// Runs `body` in a copy of this process, and returns the copy's ID.
pub(crate) fn fork(body: impl FnOnce()) -> libc::pid_t {
    // SAFETY: the child does what is tested, and ends without returning from here.
    match unsafe { libc::fork() } {
        0 => {
            // A child that hangs is killed. SAFETY: a plain call.
            unsafe { libc::alarm(60) };
            let is_well = catch_unwind(AssertUnwindSafe(body)).is_ok();
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(i32::from(!is_well)) }
        }
        child => child,
    }
}

#[track_caller]
pub(crate) fn assert_ends_well(child: libc::pid_t) {
    let mut status = 0;
    // SAFETY: waits for a child of this process.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
}

/// Set in children, where ignored tests of this binary run.
const CHILD: &str = "SMALLFRY_TEST_CHILD";
/// The time after which a child counts as hanging. One with a million files takes minutes.
const WATCHDOG: Duration = Duration::from_secs(1200);

/// Returns true if this process was started by [`run_child`].
pub(crate) fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs the ignored test of this name in a process of its own and checks that it succeeds. It can
/// work in the directory, as [`child_directory`]. `under` is the command that runs it, if any.
#[track_caller]
pub(crate) fn run_child(test: &str, directory: &Directory, under: &[impl AsRef<OsStr>]) {
    let output = output_of_child(test, &directory.path(""), under);
    assert!(output.contains("1 passed"), "{test}\n{output}");
}

/// Does the same for a test that ends its process, and returns the printed text.
#[track_caller]
pub(crate) fn output_of_child(test: &str, directory: &Path, under: &[impl AsRef<OsStr>]) -> String {
    let exe = std::env::current_exe().unwrap();
    let mut command = under.iter().map(AsRef::as_ref).chain([exe.as_os_str()]);
    let (status, output) = run(Command::new(command.next().unwrap())
        .args(command)
        .args([
            test,
            "--exact",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(CHILD, directory));
    assert!(status.success(), "{test}: {status}\n{output}");
    output
}

/// The directory that [`run_child`] was given.
pub(crate) fn child_directory() -> std::path::PathBuf {
    std::env::var_os(CHILD).unwrap().into()
}

/// Runs a command to its end. Fails if it takes too long.
#[track_caller]
fn run(command: &mut Command) -> (ExitStatus, String) {
    let directory = Directory::new();
    let output = File::create(directory.path("output")).unwrap();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(output.try_clone().unwrap())
        .stderr(output)
        .process_group(0)
        .spawn()
        .unwrap();
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if began.elapsed() > WATCHDOG {
            // SAFETY: the child leads this group and has not been waited for, so the ID still
            // belongs to it.
            unsafe { libc::kill(-child.id().cast_signed(), libc::SIGKILL) };
            child.wait().unwrap();
            break None;
        }
        thread::sleep(Duration::from_millis(5));
    };
    let output = fs::read(directory.path("output")).unwrap();
    let output = String::from_utf8_lossy(&output).into_owned();
    (
        status.unwrap_or_else(|| panic!("{command:?} hangs\n{output}")),
        output,
    )
}

/// Returns true if a program is installed.
fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// strace as a command that runs a child, with a log in the directory. Only the traced system calls
/// stop the child, which makes it several times as fast.
pub(crate) fn strace<'a>(
    directory: &Directory,
    options: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    let log = directory.path("log").to_str().unwrap().to_owned();
    let mut command: Vec<_> = ["strace", "-f", "--seccomp-bpf", "-qq", "-o", &log]
        .map(str::to_owned)
        .into();
    command.extend(options.into_iter().map(str::to_owned));
    command
}

/// Returns true if [`strace`] is here. If not, the test prints that.
pub(crate) fn can_trace(test: &str) -> bool {
    let can = cfg!(target_os = "linux") && is_installed("strace");
    if !can {
        skip(test, "no strace");
    }
    can
}

/// C libraries disagree about its type.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
type Resource = libc::c_int;

/// Limits a resource of this process.
pub(crate) fn limit(resource: Resource, max: u64) {
    let limit = libc::rlimit {
        rlim_cur: max,
        rlim_max: max,
    };
    // SAFETY: the structure is initialised and outlives the call.
    assert_eq!(unsafe { libc::setrlimit(resource, &raw const limit) }, 0);
}
