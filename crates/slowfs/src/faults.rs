//! Faults: which call of which operation fails, and when the disk is full.

use crate::error::Error;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

/// Errors by name, with Linux's numbers. `ENOSYS` is missing on purpose: after it the kernel never
/// sends the request again.
const ERRORS: &[(&str, i32)] = &[
    ("EPERM", 1),
    ("ENOENT", 2),
    ("EINTR", 4),
    ("EIO", 5),
    ("ENXIO", 6),
    ("EAGAIN", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EBUSY", 16),
    ("EEXIST", 17),
    ("EXDEV", 18),
    ("ENODEV", 19),
    ("ENOTDIR", 20),
    ("EISDIR", 21),
    ("EINVAL", 22),
    ("ENFILE", 23),
    ("EMFILE", 24),
    ("EFBIG", 27),
    ("ENOSPC", 28),
    ("EROFS", 30),
    ("EMLINK", 31),
    ("ENAMETOOLONG", 36),
    ("ENOTEMPTY", 39),
    ("ELOOP", 40),
    ("EOPNOTSUPP", 95),
    ("ETIMEDOUT", 110),
    ("ESTALE", 116),
    ("EDQUOT", 122),
];

macro_rules! calls {
    ($($call:ident $name:literal)*) => {
        /// A call that a program makes and that reaches the file system.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        #[allow(missing_docs, reason = "they are the system calls' names")]
        pub enum Call { $($call),* }

        impl Call {
            /// All calls.
            pub const ALL: &[Self] = &[$(Self::$call),*];

            /// The name of the call on the command line.
            pub fn name(self) -> &'static str {
                match self { $(Self::$call => $name),* }
            }
        }
    };
}

calls! {
    Lookup "lookup"
    Getattr "getattr"
    Setattr "setattr"
    Readlink "readlink"
    Mknod "mknod"
    Mkdir "mkdir"
    Unlink "unlink"
    Rmdir "rmdir"
    Symlink "symlink"
    Rename "rename"
    Link "link"
    Open "open"
    Create "create"
    Read "read"
    Write "write"
    Close "close"
    Fsync "fsync"
    Opendir "opendir"
    Readdir "readdir"
    Fsyncdir "fsyncdir"
    Statfs "statfs"
    Fallocate "fallocate"
    Lseek "lseek"
    CopyFileRange "copy_file_range"
}

/// The calls that fail.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Which {
    Nth(u64),
    From(u64),
    Every(u64),
}

/// The operation that stands for all of them.
const ANY: &str = "any";

/// One fault.
///
/// `write:3:EIO` fails the third write, `write:3+:EIO` the third and all later ones,
/// `write:every3:EIO` every third, and `any:3:EIO` the third call, whatever it is. A close counts
/// only if it closes a written file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Fault {
    /// `None` for every call.
    call: Option<Call>,
    which: Which,
    errno: i32,
}

impl FromStr for Fault {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |what: &str| Error::Argument(format!("{text}: {what}"));
        let mut parts = text.split(':');
        let (Some(call), Some(which), Some(errno), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(wrong("expected OPERATION:N:ERRNO, as in write:3:EIO"));
        };
        let known = Call::ALL.iter().copied();
        let call = match known.clone().find(|known| known.name() == call) {
            None if call != ANY => {
                let names: Vec<&str> = known.map(Call::name).chain([ANY]).collect();
                return Err(wrong(&format!("the operations are {}", names.join(", "))));
            }
            call => call,
        };
        let which = which_from(which).ok_or_else(|| wrong("N is 3, 3+ or every3"))?;
        let errno = ERRORS
            .iter()
            .find(|(name, _)| *name == errno)
            .map(|(_, number)| *number)
            .ok_or_else(|| {
                let names: Vec<&str> = ERRORS.iter().map(|(name, _)| *name).collect();
                wrong(&format!("the errors are {}", names.join(", ")))
            })?;
        Ok(Self { call, which, errno })
    }
}

fn which_from(text: &str) -> Option<Which> {
    let (which, number): (fn(u64) -> Which, &str) = if let Some(number) = text.strip_prefix("every")
    {
        (Which::Every, number)
    } else if let Some(number) = text.strip_suffix('+') {
        (Which::From, number)
    } else {
        (Which::Nth, text)
    };
    let number = number.parse().ok().filter(|&number| number > 0)?;
    Some(which(number))
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errno = ERRORS
            .iter()
            .find(|(_, number)| *number == self.errno)
            .map_or("EIO", |(name, _)| name);
        let name = self.call.map_or(ANY, Call::name);
        match self.which {
            Which::Nth(number) => write!(formatter, "{name}:{number}:{errno}"),
            Which::From(number) => write!(formatter, "{name}:{number}+:{errno}"),
            Which::Every(number) => write!(formatter, "{name}:every{number}:{errno}"),
        }
    }
}

/// The faults of a mount, each with the number of its calls so far.
#[derive(Debug)]
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "only a mount has faults")
)]
pub(crate) struct Faults {
    planned: Vec<(Fault, AtomicU64)>,
    /// Calls that have failed by a fault.
    failed: AtomicU64,
    /// Bytes that can still be written before the disk is full, if it is to become full.
    room: Option<AtomicU64>,
}

#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "only a mount has faults")
)]
impl Faults {
    pub(crate) fn new(faults: &[Fault], room: Option<u64>) -> Self {
        Self {
            planned: faults
                .iter()
                .map(|fault| (*fault, AtomicU64::new(0)))
                .collect(),
            failed: AtomicU64::new(0),
            room: room.map(AtomicU64::new),
        }
    }

    /// Counts a call. `Err` is the error number with which the call fails.
    pub(crate) fn meet(&self, call: Call) -> Result<(), i32> {
        let mut outcome = Ok(());
        let is_meant = |fault: &Fault| fault.call.is_none_or(|meant| meant == call);
        for (fault, met) in self.planned.iter().filter(|(fault, _)| is_meant(fault)) {
            let count = met.fetch_add(1, Ordering::Relaxed) + 1;
            let fails = match fault.which {
                Which::Nth(number) => count == number,
                Which::From(number) => count >= number,
                Which::Every(number) => count % number == 0,
            };
            if fails && outcome.is_ok() {
                outcome = Err(fault.errno);
                self.failed.fetch_add(1, Ordering::Relaxed);
            }
        }
        outcome
    }

    /// Returns the number of calls that have failed by a fault.
    pub(crate) fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Takes room for up to `bytes` bytes and returns how many fit. Returns `None` when the disk is
    /// full.
    pub(crate) fn take_room(&self, bytes: u64) -> Option<u64> {
        let Some(room) = &self.room else {
            return Some(bytes);
        };
        let before = room
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| {
                Some(room.saturating_sub(bytes))
            })
            .unwrap_or_else(|room| room);
        (before > 0 || bytes == 0).then(|| bytes.min(before))
    }

    /// Takes room for all `bytes`, and returns whether they fit.
    pub(crate) fn take_all_room(&self, bytes: u64) -> bool {
        self.room.as_ref().is_none_or(|room| {
            room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| {
                room.checked_sub(bytes)
            })
            .is_ok()
        })
    }

    /// Returns room that was taken and then not used.
    pub(crate) fn give_back(&self, bytes: u64) {
        if let Some(room) = &self.room {
            room.fetch_add(bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing(fault: &str, calls: u64) -> Vec<u64> {
        let faults = Faults::new(&[fault.parse().unwrap()], None);
        (1..=calls)
            .filter(|_| {
                faults.meet(Call::Read).unwrap();
                faults.meet(Call::Write) == Err(5)
            })
            .collect()
    }

    #[test]
    fn only_the_named_calls_fail() {
        assert_eq!(failing("write:3:EIO", 6), [3]);
        assert_eq!(failing("write:3+:EIO", 6), [3, 4, 5, 6]);
        assert_eq!(failing("write:every3:EIO", 7), [3, 6]);
    }

    #[test]
    fn any_counts_every_call() {
        let faults = Faults::new(&["any:3:EIO".parse().unwrap()], None);
        let calls = [Call::Read, Call::Write, Call::Close, Call::Read];
        assert_eq!(
            calls.map(|call| faults.meet(call)),
            [Ok(()), Ok(()), Err(5), Ok(())]
        );
        assert_eq!(faults.failed(), 1);
    }

    #[test]
    fn a_printed_fault_parses_to_the_same() {
        for text in ["close:1:EDQUOT", "rename:2+:EXDEV", "any:every7:EIO"] {
            assert_eq!(text.parse::<Fault>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn wrong_faults_are_explained() {
        for (text, told) in [
            ("write", "OPERATION:N:ERRNO"),
            ("write:3:EIO:4", "OPERATION:N:ERRNO"),
            ("scribble:3:EIO", "the operations are lookup, "),
            ("write:0:EIO", "N is 3, 3+ or every3"),
            ("write:every:EIO", "N is 3, 3+ or every3"),
            ("write:3:ENOSYS", "the errors are EPERM, "),
        ] {
            let error = text.parse::<Fault>().unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn a_filling_disk_takes_what_fits() {
        let faults = Faults::new(&[], Some(10));
        assert_eq!(faults.take_room(6), Some(6));
        assert_eq!(faults.take_room(6), Some(4));
        assert_eq!(faults.take_room(1), None);
        assert_eq!(faults.take_room(0), Some(0));
        faults.give_back(5);
        assert!(!faults.take_all_room(6));
        assert!(faults.take_all_room(5));
        assert_eq!(faults.take_room(1), None);
    }
}
