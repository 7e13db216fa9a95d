//! Results of reads for Java: contents one behind the other in a Java array, and a table of them.
//!
//! The table has the numbers of the paths, then a row for each: its kind (one byte), and an error
//! or the length of the contents. Contents that are too large for the array come in an array of
//! their own, and are then those of the last row.

use crate::results;
use jni::Env;
use jni::errors::{Error, Result};
use jni::ids::JMethodID;
use jni::objects::{JByteArray, JObject, JValue};
use jni::signature::{Primitive, ReturnType};
use jni::{jni_sig, jni_str};
use std::time::{Duration, Instant};

/// The kinds of rows, as `dev.smallfry.Sink` reads them.
const FAILED: u8 = 0;
const CONTENTS: u8 = 1;
/// Contents that need no decoding.
const ASCII: u8 = 2;

/// A `dev.smallfry.Sink`, and an array for contents.
pub(crate) struct Sink<'a, 'local> {
    pub(crate) object: &'a JObject<'local>,
    pub(crate) memory: &'a JByteArray<'local>,
}

/// Finds the method that takes results.
pub(crate) fn accept(env: &mut Env<'_>, sink: &JObject<'_>) -> Result<JMethodID> {
    let class = env.get_object_class(sink)?;
    env.get_method_id(&class, jni_str!("accept"), jni_sig!("([B[BI[B)Z"))
}

/// Results that Java has not been given yet.
pub(crate) struct Piece {
    accept: JMethodID,
    /// Contents become text.
    is_text: bool,
    /// The length of the array in bytes, and the bytes of it that are used.
    room: usize,
    used: usize,
    indices: Vec<u8>,
    rows: Vec<u8>,
    count: usize,
    began: Instant,
}

impl Piece {
    pub(crate) fn new(accept: JMethodID, room: usize, is_text: bool) -> Self {
        Self {
            accept,
            is_text,
            room,
            used: 0,
            indices: Vec::new(),
            rows: Vec::new(),
            count: 0,
            began: Instant::now(),
        }
    }

    /// Adds a result, and gives all to Java if the array is full or the first one has waited for
    /// longer than `max_delay`. If it gave something to Java, returns whether Java wants more.
    pub(crate) fn push(
        &mut self,
        env: &mut Env<'_>,
        sink: &Sink<'_, '_>,
        index: usize,
        result: std::result::Result<&[u8], &smallfry::Error>,
        max_delay: Duration,
    ) -> Result<Option<bool>> {
        let length = result.map_or(0, <[u8]>::len);
        let is_apart = length > self.room / 2;
        let mut wants_more = None;
        if !is_apart && length > self.room - self.used {
            wants_more = Some(self.give(env, sink, None)?);
        }
        if self.count == 0 {
            self.began = Instant::now();
        }
        self.count += 1;
        results::push_number(&mut self.indices, index);
        match result {
            Ok(contents) => {
                // The contents are still in the processor's cache, and Java need not look at them
                // again.
                let is_ascii = self.is_text && contents.is_ascii();
                self.rows.push(if is_ascii { ASCII } else { CONTENTS });
                results::push_number(&mut self.rows, length);
                if is_apart {
                    let wants_this = self.give(env, sink, Some(contents))?;
                    return Ok(Some(wants_this && wants_more != Some(false)));
                }
                // Contents are copied at once, so that their memory is reused while it is in the
                // processor's cache.
                sink.memory
                    .set_region(env, results::int(self.used), signed(contents))?;
                self.used += length;
            }
            Err(error) => {
                self.rows.push(FAILED);
                results::push_error(&mut self.rows, error);
            }
        }
        let is_full = self.indices.len() + self.rows.len() > self.room;
        if is_full || self.began.elapsed() > max_delay {
            let wants_this = self.give(env, sink, None)?;
            wants_more = Some(wants_this && wants_more != Some(false));
        }
        Ok(wants_more)
    }

    /// Gives Java the results that are left, if there are any.
    pub(crate) fn flush(&mut self, env: &mut Env<'_>, sink: &Sink<'_, '_>) -> Result<()> {
        if self.count > 0 {
            self.give(env, sink, None)?;
        }
        Ok(())
    }

    fn give(
        &mut self,
        env: &mut Env<'_>,
        sink: &Sink<'_, '_>,
        apart: Option<&[u8]>,
    ) -> Result<bool> {
        if env.exception_check() {
            return Err(Error::JavaException);
        }
        self.indices.append(&mut self.rows);
        let table = env.byte_array_from_slice(&self.indices)?;
        let apart = match apart {
            Some(contents) => env.byte_array_from_slice(contents)?,
            None => JByteArray::default(),
        };
        let arguments = [
            JValue::Object(sink.memory).as_jni(),
            JValue::Object(&table).as_jni(),
            JValue::Int(results::int(self.count)).as_jni(),
            JValue::Object(&apart).as_jni(),
        ];
        let kind = ReturnType::Primitive(Primitive::Boolean);
        // SAFETY: the method was looked up by this signature in the class of this object.
        let answer =
            unsafe { env.call_method_unchecked(sink.object, self.accept, kind, &arguments) };
        env.delete_local_ref(table);
        env.delete_local_ref(apart);
        self.indices.clear();
        (self.used, self.count) = (0, 0);
        answer?.z()
    }
}

fn signed(bytes: &[u8]) -> &[i8] {
    // SAFETY: both are one byte, and every value of the one is one of the other.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
}
