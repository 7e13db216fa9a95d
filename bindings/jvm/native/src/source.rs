//! Entries from Java: paths, or paths and contents, in pieces of memory that Java fills through a
//! direct buffer.
//!
//! An entry is the length of its path and that of its contents, as `int`s in the byte order of the
//! processor, then both.

use crate::{results, sys};
use jni::errors::Result;
use jni::ids::JMethodID;
use jni::jni_sig;
use jni::jni_str;
use jni::objects::{JObject, JValue};
use jni::signature::{Primitive, ReturnType};
use jni::{Env, EnvUnowned};
use smallfry::bulk::Control;
use std::cell::{Cell, UnsafeCell};
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The room of a piece, unless one entry needs more. In bytes.
const PIECE: usize = 256 << 10;
/// The interval at which Java is asked if the thread was interrupted.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(20);

/// Memory that Java fills.
struct Piece(Box<[UnsafeCell<u8>]>);

// SAFETY: it is written only while it has one owner, through the buffer that `Source::fill` makes,
// which is not used after that; all other uses read.
unsafe impl Sync for Piece {}

impl Piece {
    /// `None` if there is no memory: the process would end with an allocation that fails.
    fn new(room: usize) -> Option<Arc<Self>> {
        let mut cells = Vec::new();
        cells.try_reserve_exact(room).ok()?;
        cells.resize_with(room, || UnsafeCell::new(0));
        Some(Arc::new(Self(cells.into_boxed_slice())))
    }

    fn bytes(&self, range: &Range<usize>) -> &[u8] {
        let cells = &self.0[range.clone()];
        // SAFETY: every caller holds a slice of the piece, so it is not written to.
        unsafe { std::slice::from_raw_parts(cells.as_ptr().cast(), cells.len()) }
    }
}

/// A part of a piece.
pub(crate) struct Slice {
    piece: Arc<Piece>,
    range: Range<usize>,
}

impl AsRef<[u8]> for Slice {
    fn as_ref(&self) -> &[u8] {
        self.piece.bytes(&self.range)
    }
}

/// The Java call that is running, for iterators that outlive it.
///
/// The iterators are used only during such a call, on its own thread. Between calls there is none.
#[derive(Clone, Default)]
pub(crate) struct Call(Rc<Cell<Option<(*mut jni::sys::JNIEnv, jni::sys::jobject)>>>);

impl Call {
    /// Runs `body`, which can take entries of `source`.
    pub(crate) fn during<T>(
        &self,
        env: &mut Env<'_>,
        source: &JObject<'_>,
        body: impl FnOnce(&mut Env<'_>) -> T,
    ) -> T {
        struct Ended<'a>(&'a Call);
        impl Drop for Ended<'_> {
            fn drop(&mut self) {
                self.0.0.set(None);
            }
        }
        self.0.set(Some((env.get_raw(), source.as_raw())));
        let ended = Ended(self);
        let result = body(env);
        drop(ended);
        result
    }
}

/// Entries, asked for as they are needed.
pub(crate) struct Source {
    call: Call,
    /// The pieces that were filled. A piece that nothing else holds can be filled again.
    pieces: Vec<Arc<Piece>>,
    current: Option<Arc<Piece>>,
    /// The part of the current piece that has not been given.
    rest: Range<usize>,
    control: Control,
    looked: Instant,
    ended: bool,
    fill: JMethodID,
    is_interrupted: JMethodID,
}

// SAFETY: the call is reached from inside of native methods only, which hold the lock under which
// the source is.
unsafe impl Send for Source {}

impl Source {
    /// Makes a source of the entries that a `dev.smallfry.Source` gives while `call` is running.
    pub(crate) fn new(
        env: &mut Env<'_>,
        source: &JObject<'_>,
        call: &Call,
        control: &Control,
    ) -> Result<Self> {
        let class = env.get_object_class(source)?;
        Ok(Self {
            call: call.clone(),
            pieces: Vec::new(),
            current: None,
            rest: 0..0,
            control: control.clone(),
            looked: Instant::now(),
            ended: false,
            fill: env.get_method_id(
                &class,
                jni_str!("fill"),
                jni_sig!("(Ljava/nio/ByteBuffer;)I"),
            )?,
            is_interrupted: env.get_method_id(
                &class,
                jni_str!("isInterrupted"),
                jni_sig!("()Z"),
            )?,
        })
    }

    /// Takes the next entry: its path, and the slice with its contents.
    fn entry(&mut self) -> Option<(PathBuf, Slice)> {
        self.look_for_interrupt();
        if self.rest.is_empty() && !self.refill() {
            return None;
        }
        let piece = Arc::clone(self.current.as_ref()?);
        let path = self.number(&piece)?;
        let contents = self.number(&piece)?;
        let path = sys::path_in(piece.bytes(&self.take(path))).into_owned();
        let range = self.take(contents);
        Some((path, Slice { piece, range }))
    }

    fn number(&mut self, piece: &Piece) -> Option<usize> {
        let bytes = piece.bytes(&self.take(size_of::<i32>()));
        usize::try_from(i32::from_ne_bytes(bytes.try_into().ok()?)).ok()
    }

    fn take(&mut self, length: usize) -> Range<usize> {
        let start = self.rest.start;
        self.rest.start = start.saturating_add(length).min(self.rest.end);
        start..self.rest.start
    }

    /// Cancels the batch if the thread was interrupted. Asks Java once in [`INTERRUPT_INTERVAL`].
    fn look_for_interrupt(&mut self) {
        if self.looked.elapsed() < INTERRUPT_INTERVAL {
            return;
        }
        self.looked = Instant::now();
        let method = self.is_interrupted;
        let answer = self.ask(|env, source| {
            // SAFETY: the method was looked up by this signature in the class of this object.
            unsafe { env.call_method_unchecked(source, method, boolean(), &[]) }?.z()
        });
        if answer == Some(true) {
            self.control.cancel();
        }
    }

    /// Has Java fill a piece. Returns `false` if there are no more entries.
    fn refill(&mut self) -> bool {
        self.current = None;
        let mut room = PIECE;
        while !self.ended {
            let Some(piece) = self.empty_piece(room) else {
                self.no_memory(room);
                break;
            };
            let filled = self.fill(&piece);
            match usize::try_from(filled) {
                Ok(0) => break,
                Ok(filled) => {
                    self.rest = 0..filled.min(piece.0.len());
                    self.current = Some(piece);
                    return true;
                }
                // The negative number of bytes that one entry needs.
                Err(_) => room = filled.unsigned_abs() as usize,
            }
        }
        self.ended = true;
        false
    }

    /// Returns a piece that nothing else holds. `None` if there is no memory for it.
    fn empty_piece(&mut self, room: usize) -> Option<Arc<Piece>> {
        if room > PIECE {
            return Piece::new(room);
        }
        let mut free = self.pieces.iter_mut();
        let free = free.find_map(|piece| Arc::get_mut(piece).is_some().then(|| Arc::clone(piece)));
        free.or_else(|| {
            let piece = Piece::new(PIECE)?;
            self.pieces.push(Arc::clone(&piece));
            Some(piece)
        })
    }

    /// Ends the entries, and tells the source. It throws when the entries before are done.
    fn no_memory(&mut self, room: usize) {
        self.ask(|env, source| {
            let room = [JValue::Int(results::int(room))];
            env.call_method(source, jni_str!("noMemory"), jni_sig!("(I)V"), &room)?
                .v()
        });
    }

    fn fill(&mut self, piece: &Piece) -> i32 {
        let method = self.fill;
        let (start, room) = (piece.0.as_ptr(), piece.0.len());
        let filled = self.ask(|env, source| {
            // SAFETY: the memory outlives the call, and `dev.smallfry.Source` does not keep the
            // buffer.
            let buffer = unsafe { env.new_direct_byte_buffer(start.cast_mut().cast(), room) }?;
            let arguments = [JValue::Object(&buffer).as_jni()];
            // SAFETY: as above.
            let filled = unsafe { env.call_method_unchecked(source, method, int(), &arguments) };
            env.delete_local_ref(buffer);
            filled?.i()
        });
        filled.unwrap_or(0)
    }

    /// Calls Java. Returns `None` if Java has thrown, which ends the batch. The caller finds the
    /// exception pending.
    fn ask<T>(
        &mut self,
        question: impl FnOnce(&mut Env<'_>, &JObject<'_>) -> Result<T>,
    ) -> Option<T> {
        if self.ended {
            return None;
        }
        let (env, source) = self.call.0.get()?;
        // SAFETY: a call is running, on this thread, so both are valid.
        let mut unowned = unsafe { EnvUnowned::from_raw(env) };
        let answer = unowned.with_env(|env| -> Result<T> {
            // SAFETY: as above; the caller's reference is not given up, since nothing is done when
            // a `JObject` is dropped.
            let source = unsafe { JObject::from_raw(env, source) };
            question(env, &source)
        });
        if let jni::Outcome::Ok(answer) = answer.into_outcome() {
            return Some(answer);
        }
        self.ended = true;
        self.control.cancel();
        None
    }
}

const fn boolean() -> ReturnType {
    ReturnType::Primitive(Primitive::Boolean)
}

const fn int() -> ReturnType {
    ReturnType::Primitive(Primitive::Int)
}

/// Entries that are paths.
pub(crate) struct Paths(pub(crate) Source);

impl Iterator for Paths {
    type Item = PathBuf;

    fn next(&mut self) -> Option<PathBuf> {
        self.0.entry().map(|(path, _)| path)
    }
}

/// Entries that are paths and contents.
pub(crate) struct Entries(pub(crate) Source);

impl Iterator for Entries {
    type Item = (PathBuf, Slice);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.entry()
    }
}
