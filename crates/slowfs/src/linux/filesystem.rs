//! The kernel's requests. Each is counted for its faults, done on the real tree, sent to the
//! device, and answered when the device releases it.
//!
//! A real flush may take long, so it runs on threads of its own, and the device hears of it first.
//! Everything else is a system call on the real tree, made by the thread that took the request from
//! the kernel.

use super::attributes::{attributes, kind};
use super::backing::{Backing, Changes, Owner, drop_privileges};
use super::clock::Clock;
use super::handles::{Directory, File};
use super::pool::Pool;
use super::record::{Recorder, can_be_recorded};
use super::tree::{Found, Id};
use crate::device::Operation;
use crate::faults::{Call, Faults};
use crate::options::EMPTY_CACHE;
use fuser::{
    AccessFlags, BsdFileFlags, CopyFileRangeFlags, FileHandle, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, IoctlFlags, KernelConfig, LockOwner, OpenAccMode, OpenFlags, RenameFlags,
    ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyIoctl,
    ReplyLseek, ReplyOpen, ReplyStatfs, ReplyWrite, ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::{self, FallocateFlags, OFlags, SeekFrom, Stat, Timespec, Timestamps};
use rustix::io::{self, Errno, Result};
use std::ffi::OsStr;
use std::io as std_io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The maximum size of a write from the kernel. The kernel's own default limit is the same.
const MAX_WRITE: u32 = 1 << 20;
/// The maximum number of background requests, such as read-ahead. The kernel's default of 12 would
/// limit the disk's queue.
const MAX_BACKGROUND: u16 = 1024;
/// The maximum size of one copy, which limits how long a copy occupies a thread.
const MAX_COPY: u64 = 64 << 20;
const UTIME_NOW: i64 = 0x3fff_ffff;
const TRUNCATE: i32 = OFlags::TRUNC.bits().cast_signed();
const UTIME_OMIT: i64 = 0x3fff_fffe;

pub(super) struct SlowFilesystem {
    pub(super) backing: Arc<Backing>,
    pub(super) clock: Arc<Clock>,
    pub(super) faults: Arc<Faults>,
    pub(super) flushes: Pool,
    /// True if the page cache survives an open, as on a real disk.
    pub(super) keep_cache: bool,
    pub(super) recorder: Option<Arc<Recorder>>,
}

impl SlowFilesystem {
    fn meet(&self, call: Call) -> Result<()> {
        self.faults.meet(call).map_err(Errno::from_raw_os_error)
    }

    fn file(&self, handle: FileHandle) -> Result<Arc<File>> {
        self.backing.files.get(handle.0).ok_or(Errno::BADF)
    }

    fn directory(&self, handle: FileHandle) -> Result<Arc<Directory>> {
        self.backing
            .open_directories
            .get(handle.0)
            .ok_or(Errno::BADF)
    }

    /// Answers with an inode that was found or made.
    fn entry(&self, reply: ReplyEntry, made: bool, outcome: Result<(Found, Stat)>) {
        let operation = match &outcome {
            _ if made => Operation::Name,
            Ok((found, _)) => Operation::Lookup {
                cold: found.cold.then_some(found.id),
            },
            Err(_) => Operation::Lookup { cold: None },
        };
        let names = self.clock.names();
        self.clock.after(operation, move || match outcome {
            Ok((found, stat)) => {
                let attributes = attributes(found.id, &stat);
                reply.entry(&names, &attributes, Generation(found.generation));
            }
            Err(error) => reply.error(number(error)),
        });
    }

    fn attributes(&self, reply: ReplyAttr, id: Id, outcome: Result<Stat>) {
        let names = self.clock.names();
        self.clock.after(Operation::Name, move || match outcome {
            Ok(stat) => reply.attr(&names, &attributes(id, &stat)),
            Err(error) => reply.error(number(error)),
        });
    }

    fn done(&self, reply: ReplyEmpty, operation: Operation, outcome: Result<()>) {
        self.clock.after(operation, move || finish(reply, outcome));
    }

    /// Starts a flush on the device, and does the real flush of `open`, if it is open, at the same
    /// time. The answer is given after the later of the two. `bytes` were written since the last
    /// flush.
    fn flush<T: Send + Sync + 'static>(
        &self,
        reply: ReplyEmpty,
        inode: Id,
        (open, bytes): (Result<Arc<T>>, u64),
        descriptor: fn(&T) -> &OwnedFd,
        datasync: bool,
    ) {
        let operation = Operation::Flush { inode, bytes };
        let open = match open {
            Ok(open) => open,
            Err(error) => return self.done(reply, operation, Err(error)),
        };
        let request = self.clock.begin(operation);
        let clock = Arc::clone(&self.clock);
        let recorder = self.recorder.clone();
        let begun = recorder
            .as_ref()
            .and_then(|recorder| recorder.lock().flushes(inode));
        self.flushes.run(move || {
            let descriptor = descriptor(&open);
            let outcome = if datasync {
                fs::fdatasync(descriptor)
            } else {
                fs::fsync(descriptor)
            };
            if let (Ok(()), Some(recorder), Some(begun)) = (outcome, recorder, begun) {
                recorder.lock().flushed(begun, datasync);
            }
            clock.answer(request, move || finish(reply, outcome));
        });
    }

    /// Writes as much as there is room for. Room for bytes that were not written is returned.
    fn write_at(&self, file: &File, offset: u64, data: &[u8], flags: WriteFlags) -> Result<u32> {
        let room = self
            .faults
            .take_room(data.len() as u64)
            .ok_or(Errno::NOSPC)?;
        let data = &data[..usize::try_from(room).unwrap_or(data.len())];
        let outcome = self.write_recorded(file, offset, data);
        let done = *outcome.as_ref().unwrap_or(&0);
        self.faults.give_back((data.len() - done) as u64);
        outcome?;
        file.change(done as u64);
        if flags.contains(WriteFlags::FUSE_WRITE_KILL_SUIDGID) {
            drop_privileges(file.descriptor.as_fd())?;
        }
        Ok(done as u32)
    }

    fn open_flags(&self, flags: OpenFlags) -> FopenFlags {
        let mut answer = FopenFlags::empty();
        if self.keep_cache {
            answer |= FopenFlags::FOPEN_KEEP_CACHE;
        }
        if flags.acc_mode() == OpenAccMode::O_RDONLY {
            // Such a close changes nothing, and on a real disk it does not leave the system.
            answer |= FopenFlags::FOPEN_NOFLUSH;
        }
        answer
    }
}

impl Filesystem for SlowFilesystem {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std_io::Result<()> {
        // Asks only for what this kernel has: the kernel refuses a set as a whole.
        for wanted in [
            InitFlags::FUSE_PARALLEL_DIROPS,
            InitFlags::FUSE_ATOMIC_O_TRUNC,
            InitFlags::FUSE_ASYNC_DIO,
            // Otherwise the kernel asks for an extended attribute before each write.
            InitFlags::FUSE_HANDLE_KILLPRIV_V2,
        ] {
            let _ = config.add_capabilities(wanted);
        }
        let _ = config.set_max_write(MAX_WRITE);
        let _ = config.set_max_background(MAX_BACKGROUND);
        let _ = config.set_congestion_threshold(MAX_BACKGROUND);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let outcome = self
            .meet(Call::Lookup)
            .and_then(|()| self.find(parent.0, name));
        self.entry(reply, false, outcome);
    }

    fn forget(&self, _: &Request, ino: INodeNo, lookups: u64) {
        self.backing.forget(ino.0, lookups);
    }

    fn getattr(&self, _: &Request, ino: INodeNo, fh: Option<FileHandle>, reply: ReplyAttr) {
        let outcome = self
            .meet(Call::Getattr)
            .and_then(|()| self.backing.stat(ino.0, fh.map(Into::into)));
        self.attributes(reply, ino.0, outcome);
    }

    fn setattr(
        &self,
        request: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _: Option<SystemTime>,
        fh: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let times = (atime.is_some() || mtime.is_some()).then(|| Timestamps {
            last_access: timespec(atime),
            last_modification: timespec(mtime),
        });
        let changes = Changes {
            mode,
            user: uid,
            group: gid,
            size,
            times,
            unprivileged: request.uid() != 0,
        };
        let change = || self.backing.change(ino.0, fh.map(Into::into), &changes);
        let outcome = self.meet(Call::Setattr).and_then(|()| {
            self.recorded(change, |recording, stat| {
                if let Some(size) = size {
                    recording.resized(ino.0, size);
                }
                recording.changed(ino.0, stat);
            })
        });
        self.attributes(reply, ino.0, outcome);
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        let outcome = self
            .meet(Call::Readlink)
            .and_then(|()| self.backing.readlink(ino.0));
        self.clock.after(Operation::Name, move || match outcome {
            Ok(target) => reply.data(target.as_bytes()),
            Err(error) => reply.error(number(error)),
        });
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        rdev: u32,
        reply: ReplyEntry,
    ) {
        let make = || {
            self.backing
                .mknod((parent.0, name), mode, rdev, owner(request))
        };
        let outcome = self.meet(Call::Mknod).and_then(|()| {
            self.allow(name)?;
            self.recorded(make, |recording, (found, stat)| {
                recording.made(parent.0, name, found.id, stat);
            })
        });
        self.entry(reply, true, outcome);
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        let make = || self.backing.mkdir((parent.0, name), mode, owner(request));
        let outcome = self.meet(Call::Mkdir).and_then(|()| {
            self.allow(name)?;
            self.recorded(make, |recording, (found, stat)| {
                recording.made(parent.0, name, found.id, stat);
            })
        });
        self.entry(reply, true, outcome);
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let remove = || self.backing.unlink(parent.0, name);
        let outcome = self.meet(Call::Unlink).and_then(|()| {
            self.recorded(remove, |recording, ()| recording.removed(parent.0, name))
        });
        self.done(reply, Operation::Name, outcome);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let remove = || self.backing.rmdir(parent.0, name);
        let outcome = self.meet(Call::Rmdir).and_then(|()| {
            self.recorded(remove, |recording, ()| recording.removed(parent.0, name))
        });
        self.done(reply, Operation::Name, outcome);
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let make = || {
            self.backing
                .symlink((parent.0, name), target, owner(request))
        };
        let outcome = self.meet(Call::Symlink).and_then(|()| {
            self.allow(name)?;
            self.recorded(make, |recording, (found, stat)| {
                recording.made_link(parent.0, name, found.id, stat, target);
            })
        });
        self.entry(reply, true, outcome);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let flags = fs::RenameFlags::from_bits_retain(flags.bits());
        let (from, to) = ((parent.0, name), (newparent.0, newname));
        let rename = || self.backing.rename(from, to, flags);
        let outcome = self.meet(Call::Rename).and_then(|()| {
            self.allow(newname)?;
            if self.recorder.is_some() && flags.contains(fs::RenameFlags::WHITEOUT) {
                return Err(Errno::INVAL);
            }
            let exchange = flags.contains(fs::RenameFlags::EXCHANGE);
            self.recorded(rename, |recording, ()| {
                recording.renamed(from, to, exchange);
            })
        });
        self.done(reply, Operation::Name, outcome);
    }

    fn link(
        &self,
        _: &Request,
        ino: INodeNo,
        newparent: INodeNo,
        newname: &OsStr,
        reply: ReplyEntry,
    ) {
        let link = || self.backing.link(ino.0, (newparent.0, newname));
        let outcome = self.meet(Call::Link).and_then(|()| {
            self.allow(newname)?;
            self.recorded(link, |recording, _| {
                recording.linked(ino.0, newparent.0, newname);
            })
        });
        self.entry(reply, true, outcome);
    }

    fn open(&self, request: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let open = || self.backing.open(ino.0, flags.0, request.uid() != 0);
        let outcome = self.meet(Call::Open).and_then(|()| {
            if flags.0 & TRUNCATE == 0 {
                return open();
            }
            self.recorded(open, |recording, _| recording.resized(ino.0, 0))
        });
        let answer = self.open_flags(flags);
        self.clock.after(Operation::Name, move || match outcome {
            Ok(handle) => reply.opened(FileHandle(handle), answer),
            Err(error) => reply.error(number(error)),
        });
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let create = || {
            self.backing
                .create((parent.0, name), mode, flags, owner(request))
        };
        let outcome = self.meet(Call::Create).and_then(|()| {
            self.allow(name)?;
            self.recorded(create, |recording, (found, stat, _)| {
                let new = recording.made(parent.0, name, found.id, stat);
                if !new && flags & TRUNCATE != 0 {
                    recording.resized(found.id, 0);
                }
            })
        });
        let names = self.clock.names();
        let answer = self.open_flags(OpenFlags(flags)) - FopenFlags::FOPEN_NOFLUSH;
        self.clock.after(Operation::Name, move || match outcome {
            Ok((found, stat, handle)) => reply.created(
                &names,
                &attributes(found.id, &stat),
                Generation(found.generation),
                FileHandle(handle),
                answer,
            ),
            Err(error) => reply.error(number(error)),
        });
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        fh: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let outcome = self
            .meet(Call::Read)
            .and_then(|()| read_at(&*self.file(fh)?, offset, size));
        let operation = Operation::Read {
            inode: ino.0,
            offset,
            bytes: outcome.as_ref().map_or(0, |data| data.len() as u64),
        };
        self.clock.after(operation, move || match outcome {
            Ok(data) => reply.data(&data),
            Err(error) => reply.error(number(error)),
        });
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        offset: u64,
        data: &[u8],
        write_flags: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let outcome = self
            .meet(Call::Write)
            .and_then(|()| self.write_at(&*self.file(fh)?, offset, data, write_flags));
        match outcome {
            Ok(bytes) => reply.written(bytes),
            Err(error) => reply.error(number(error)),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, fh: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        match self.file(fh) {
            Ok(file) if file.take_changed() => {
                let bytes = file.take_written();
                let outcome = self.meet(Call::Close);
                self.done(reply, Operation::Close { bytes }, outcome);
            }
            Ok(_) => reply.ok(),
            Err(error) => reply.error(number(error)),
        }
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.backing.files.remove(fh.0);
        reply.ok();
    }

    fn fsync(&self, _: &Request, ino: INodeNo, fh: FileHandle, datasync: bool, reply: ReplyEmpty) {
        let file = self.meet(Call::Fsync).and_then(|()| self.file(fh));
        let bytes = file.as_ref().map_or(0, |file| file.take_written());
        self.flush(
            reply,
            ino.0,
            (file, bytes),
            |file| &file.descriptor,
            datasync,
        );
    }

    fn opendir(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let outcome = self
            .meet(Call::Opendir)
            .and_then(|()| self.backing.open_directory(ino.0));
        match outcome {
            Ok(handle) => reply.opened(FileHandle(handle), FopenFlags::empty()),
            Err(error) => reply.error(number(error)),
        }
    }

    fn readdir(
        &self,
        _: &Request,
        ino: INodeNo,
        fh: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let entries = self.meet(Call::Readdir).and_then(|()| {
            let directory = self.directory(fh)?;
            if offset == 0 {
                directory.read()
            } else {
                Ok(directory.entries())
            }
        });
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let entries = match entries {
            Ok(entries) => entries,
            Err(error) => {
                let answer = move || reply.error(number(error));
                self.clock.after(Operation::List { cold: None }, answer);
                return;
            }
        };
        if offset > 0 && offset >= entries.len() {
            // The previous answer was the last one.
            reply.ok();
            return;
        }
        for (index, entry) in entries.iter().enumerate().skip(offset) {
            let next = index as u64 + 1;
            let inode = INodeNo(entry.inode);
            if reply.add(inode, next, kind(entry.kind), &entry.name) {
                break;
            }
        }
        let cold = self.backing.list(ino.0).then_some(ino.0);
        self.clock
            .after(Operation::List { cold }, move || reply.ok());
    }

    fn releasedir(&self, _: &Request, _: INodeNo, fh: FileHandle, _: OpenFlags, reply: ReplyEmpty) {
        self.backing.open_directories.remove(fh.0);
        reply.ok();
    }

    fn fsyncdir(
        &self,
        _: &Request,
        ino: INodeNo,
        fh: FileHandle,
        datasync: bool,
        reply: ReplyEmpty,
    ) {
        let directory = self.meet(Call::Fsyncdir).and_then(|()| self.directory(fh));
        self.flush(
            reply,
            ino.0,
            (directory, 0),
            |directory| &directory.descriptor,
            datasync,
        );
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let outcome = self.meet(Call::Statfs).and_then(|()| self.backing.statfs());
        self.clock.after(Operation::Name, move || match outcome {
            Ok(stat) => reply.statfs(
                stat.f_blocks,
                stat.f_bfree,
                stat.f_bavail,
                stat.f_files,
                stat.f_ffree,
                stat.f_bsize as u32,
                stat.f_namemax as u32,
                stat.f_frsize as u32,
            ),
            Err(error) => reply.error(number(error)),
        });
    }

    fn setxattr(
        &self,
        _: &Request,
        _: INodeNo,
        name: &OsStr,
        _: &[u8],
        _: i32,
        _: u32,
        reply: ReplyEmpty,
    ) {
        if name == EMPTY_CACHE {
            self.clock.empty_cache();
            reply.ok();
        } else {
            reply.error(fuser::Errno::EOPNOTSUPP);
        }
    }

    // After this answer the kernel returns EOPNOTSUPP by itself. It asks for
    // security.capability at each write, which no local disk waits for.
    fn getxattr(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, reply: ReplyXattr) {
        reply.error(fuser::Errno::ENOSYS);
    }

    fn listxattr(&self, _: &Request, _: INodeNo, _: u32, reply: ReplyXattr) {
        reply.error(fuser::Errno::ENOSYS);
    }

    fn removexattr(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEmpty) {
        reply.error(fuser::Errno::ENOSYS);
    }

    fn access(&self, _: &Request, _: INodeNo, _: AccessFlags, reply: ReplyEmpty) {
        // The kernel checks permissions itself and does not ask.
        reply.ok();
    }

    fn ioctl(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _: IoctlFlags,
        _: u32,
        _: &[u8],
        _: u32,
        reply: ReplyIoctl,
    ) {
        reply.error(fuser::Errno::ENOTTY);
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let outcome = self.meet(Call::Fallocate).and_then(|()| {
            let file = self.file(fh)?;
            let mode = FallocateFlags::from_bits_retain(mode.cast_unsigned());
            let frees = FallocateFlags::PUNCH_HOLE | FallocateFlags::COLLAPSE_RANGE;
            let room = if mode.intersects(frees) { 0 } else { length };
            if self.recorder.is_some() && !can_be_recorded(mode) {
                return Err(Errno::OPNOTSUPP);
            }
            if !self.faults.take_all_room(room) {
                return Err(Errno::NOSPC);
            }
            self.recorded(
                || fs::fallocate(&file.descriptor, mode, offset, length),
                |recording, ()| recording.allocated(file.id, mode, offset, length),
            )
            .inspect_err(|_| self.faults.give_back(room))?;
            file.change(0);
            Ok(())
        });
        finish(reply, outcome);
    }

    fn lseek(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        offset: i64,
        whence: i32,
        reply: ReplyLseek,
    ) {
        // The kernel asks only for holes, and knows the rest.
        let outcome = self.meet(Call::Lseek).and_then(|()| {
            let offset = u64::try_from(offset).map_err(|_| Errno::NXIO)?;
            let target = match whence {
                3 => SeekFrom::Data(offset),
                4 => SeekFrom::Hole(offset),
                _ => return Err(Errno::INVAL),
            };
            fs::seek(&self.file(fh)?.descriptor, target)
        });
        match outcome {
            Ok(offset) => reply.offset(offset.cast_signed()),
            Err(error) => reply.error(number(error)),
        }
    }

    fn copy_file_range(
        &self,
        _: &Request,
        ino_in: INodeNo,
        fh_in: FileHandle,
        offset_in: u64,
        _: INodeNo,
        fh_out: FileHandle,
        offset_out: u64,
        len: u64,
        _: CopyFileRangeFlags,
        reply: ReplyWrite,
    ) {
        let outcome = self.meet(Call::CopyFileRange).and_then(|()| {
            let (from, to) = (self.file(fh_in)?, self.file(fh_out)?);
            let room = self
                .faults
                .take_room(len.min(MAX_COPY))
                .ok_or(Errno::NOSPC)?;
            let outcome = self.copy((&from, offset_in), (&to, offset_out), room);
            self.faults
                .give_back(room - outcome.map_or(0, |bytes| bytes as u64));
            let bytes = outcome?;
            to.change(bytes as u64);
            Ok(bytes as u32)
        });
        let operation = Operation::Read {
            inode: ino_in.0,
            offset: offset_in,
            bytes: outcome.map_or(0, u64::from),
        };
        self.clock.after(operation, move || match outcome {
            Ok(bytes) => reply.written(bytes),
            Err(error) => reply.error(number(error)),
        });
    }
}

fn number(error: Errno) -> fuser::Errno {
    fuser::Errno::from_i32(error.raw_os_error())
}

fn finish(reply: ReplyEmpty, outcome: Result<()>) {
    match outcome {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(number(error)),
    }
}

fn owner(request: &Request) -> Owner {
    Owner {
        user: request.uid(),
        group: request.gid(),
    }
}

pub(super) fn read_at(file: &File, offset: u64, size: u32) -> Result<Vec<u8>> {
    let mut data = vec![0; size as usize];
    let mut done = 0;
    while done < data.len() {
        match io::pread(&file.descriptor, &mut data[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(bytes) => done += bytes,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    data.truncate(done);
    Ok(data)
}

/// Writes `data` and returns the number of written bytes: fewer than all after an error on the way.
/// An error at the first byte is returned.
pub(super) fn write_at(file: &File, offset: u64, data: &[u8]) -> Result<usize> {
    let mut done = 0;
    while done < data.len() {
        match io::pwrite(&file.descriptor, &data[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(bytes) => done += bytes,
            Err(Errno::INTR) => {}
            Err(error) if done == 0 => return Err(error),
            Err(_) => break,
        }
    }
    Ok(done)
}

fn timespec(time: Option<TimeOrNow>) -> Timespec {
    let special = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
    match time {
        None => special(UTIME_OMIT),
        Some(TimeOrNow::Now) => special(UTIME_NOW),
        Some(TimeOrNow::SpecificTime(time)) => match time.duration_since(UNIX_EPOCH) {
            Ok(since) => at(since),
            Err(before) => at_before(before.duration()),
        },
    }
}

fn at(since: Duration) -> Timespec {
    Timespec {
        tv_sec: since.as_secs().cast_signed(),
        tv_nsec: i64::from(since.subsec_nanos()),
    }
}

/// Seconds round down, since nanoseconds count up.
fn at_before(before: Duration) -> Timespec {
    let seconds = before.as_secs().cast_signed();
    match i64::from(before.subsec_nanos()) {
        0 => Timespec {
            tv_sec: -seconds,
            tv_nsec: 0,
        },
        nanoseconds => Timespec {
            tv_sec: -seconds - 1,
            tv_nsec: 1_000_000_000 - nanoseconds,
        },
    }
}
