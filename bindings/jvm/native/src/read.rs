//! Many files in one call, and piece by piece.

use crate::options::Bulk;
use crate::source::{Call, Paths, Source};
use crate::{called, results};
use jni::errors::{Error, Result};
use jni::ids::JMethodID;
use jni::objects::{JByteArray, JClass, JObject, JValue};
use jni::signature::{Primitive, ReturnType};
use jni::sys::{jboolean, jint, jlong};
use jni::{Env, EnvUnowned, jni_sig, jni_str};
use smallfry::bulk::{Bytes, Contents, Control};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So long the first result of a piece waits for others, where somebody waits for it.
const PATIENCE: Duration = Duration::from_millis(2);
/// So long where nobody does, so that an interrupt is seen.
const LOOK: Duration = Duration::from_millis(20);

/// How a batch of reads may be done.
struct Terms<'a, 'local> {
    source: &'a JObject<'local>,
    bulk: Bulk,
    largest: jlong,
}

/// Files that are being read. Java has its address, and gives it back once.
struct Reading {
    control: Control,
    call: Call,
    contents: Mutex<Contents<Paths>>,
}

impl Reading {
    /// None if the directory to stay beneath cannot be opened: then the source has been told.
    fn begin(env: &mut Env<'_>, terms: &Terms<'_, '_>) -> Result<Option<Self>> {
        let mut reader = match terms.bulk.reader(terms.largest) {
            Ok(reader) => reader,
            Err(error) => {
                let error = env.byte_array_from_slice(&results::error_alone(&error))?;
                let arguments = [JValue::Object(&error)];
                env.call_method(
                    terms.source,
                    jni_str!("failed"),
                    jni_sig!("([B)V"),
                    &arguments,
                )?;
                return Ok(None);
            }
        };
        let (control, call) = (Control::new(), Call::default());
        let paths = Paths(Source::new(env, terms.source, &call, &control)?);
        let contents = Mutex::new(reader.control(&control).read(paths));
        Ok(Some(Self {
            control,
            call,
            contents,
        }))
    }

    /// Gives results to `sink`: all of them, or those of one piece. Whether there may be more.
    fn go_on(
        &self,
        env: &mut Env<'_>,
        source: &JObject<'_>,
        sink: &JObject<'_>,
        memory: &JByteArray<'_>,
        to_end: bool,
    ) -> Result<bool> {
        let mut sink = Sink::new(env, sink, memory)?;
        self.call.during(env, source, |env| {
            let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
            let patience = if to_end { LOOK } else { PATIENCE };
            loop {
                let Some((index, result)) = contents.next() else {
                    sink.flush(env)?;
                    return Ok(false);
                };
                let goes_on = sink.push(env, index, result, patience)?;
                if goes_on == Some(false) {
                    self.control.cancel();
                }
                if goes_on.is_some() && !to_end {
                    // The last one may have begun another piece.
                    sink.flush(env)?;
                    return Ok(true);
                }
            }
        })
    }
}

/// Takes results for Java: contents one behind the other in an array of Java's, and a table of them. For each that has the number of
/// the path and the length of the contents; or the number, -1 and the error. Contents that are too large come in an array of
/// their own, which the last of the table is then about.
struct Sink<'a, 'local> {
    object: &'a JObject<'local>,
    memory: &'a JByteArray<'local>,
    room: usize,
    accept: JMethodID,
    used: usize,
    table: Vec<u8>,
    count: usize,
    began: Instant,
}

impl<'a, 'local> Sink<'a, 'local> {
    fn new(
        env: &mut Env<'_>,
        object: &'a JObject<'local>,
        memory: &'a JByteArray<'local>,
    ) -> Result<Self> {
        let class = env.get_object_class(object)?;
        Ok(Self {
            object,
            memory,
            room: memory.len(env)?,
            accept: env.get_method_id(&class, jni_str!("accept"), jni_sig!("([BI[B)Z"))?,
            used: 0,
            table: Vec::new(),
            count: 0,
            began: Instant::now(),
        })
    }

    /// If Java was given something, whether it wants more.
    fn push(
        &mut self,
        env: &mut Env<'_>,
        index: usize,
        result: std::result::Result<Bytes, smallfry::Error>,
        patience: Duration,
    ) -> Result<Option<bool>> {
        let length = result.as_ref().map_or(0, |contents| contents.len());
        let is_apart = length > self.room / 2;
        let mut wants_more = None;
        if !is_apart && length > self.room - self.used {
            wants_more = Some(self.give(env, None)?);
        }
        if self.count == 0 {
            self.began = Instant::now();
        }
        self.count += 1;
        results::push_number(&mut self.table, index);
        match result {
            Ok(contents) => {
                results::push_number(&mut self.table, length);
                if is_apart {
                    let wants_this = self.give(env, Some(&contents))?;
                    return Ok(Some(wants_this && wants_more != Some(false)));
                }
                // Contents are gone at once: memory that few have to share is used again while the processor has it at hand.
                self.memory
                    .set_region(env, results::int(self.used), signed(&contents))?;
                self.used += length;
            }
            Err(error) => {
                self.table.extend_from_slice(&(-1_i32).to_ne_bytes());
                results::push_error(&mut self.table, &error);
            }
        }
        if self.table.len() > self.room || self.began.elapsed() > patience {
            let wants_this = self.give(env, None)?;
            wants_more = Some(wants_this && wants_more != Some(false));
        }
        Ok(wants_more)
    }

    fn flush(&mut self, env: &mut Env<'_>) -> Result<()> {
        if self.count > 0 {
            self.give(env, None)?;
        }
        Ok(())
    }

    /// Has Java take what was gathered.
    fn give(&mut self, env: &mut Env<'_>, apart: Option<&[u8]>) -> Result<bool> {
        if env.exception_check() {
            return Err(Error::JavaException);
        }
        let table = env.byte_array_from_slice(&self.table)?;
        let apart = match apart {
            Some(contents) => env.byte_array_from_slice(contents)?,
            None => JByteArray::default(),
        };
        let arguments = [
            JValue::Object(&table).as_jni(),
            JValue::Int(results::int(self.count)).as_jni(),
            JValue::Object(&apart).as_jni(),
        ];
        let kind = ReturnType::Primitive(Primitive::Boolean);
        // SAFETY: the method was looked up by this signature in the class of this object.
        let answer =
            unsafe { env.call_method_unchecked(self.object, self.accept, kind, &arguments) };
        env.delete_local_ref(table);
        env.delete_local_ref(apart);
        self.table.clear();
        (self.used, self.count) = (0, 0);
        answer?.z()
    }
}

fn signed(bytes: &[u8]) -> &[i8] {
    // SAFETY: both are one byte, and every value of the one is one of the other.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
}

/// Reads all files that `source` gives, and gives what came of each to `sink`.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_readAll<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    source: JObject<'local>,
    sink: JObject<'local>,
    memory: JByteArray<'local>,
    flags: jint,
    threads: jint,
    most_in_flight: jlong,
    largest: jlong,
    within: JByteArray<'local>,
) {
    called(environment, |env| -> Result<_> {
        let terms = Terms {
            source: &source,
            bulk: Bulk::new(env, flags, threads, most_in_flight, &within)?,
            largest,
        };
        if let Some(reading) = Reading::begin(env, &terms)? {
            reading.go_on(env, &source, &sink, &memory, true)?;
        }
        ended(env)
    });
}

/// Begins to read files: the address of a `Reading`, or 0 if the source was told why not.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_openReader<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    source: JObject<'local>,
    flags: jint,
    threads: jint,
    most_in_flight: jlong,
    largest: jlong,
    within: JByteArray<'local>,
) -> jlong {
    called(environment, |env| -> Result<_> {
        let terms = Terms {
            source: &source,
            bulk: Bulk::new(env, flags, threads, most_in_flight, &within)?,
            largest,
        };
        let reading = Reading::begin(env, &terms)?.map(Box::new);
        Ok(reading.map_or(0, |reading| {
            (Box::into_raw(reading).expose_provenance() as u64).cast_signed()
        }))
    })
}

/// Gives one piece of results to `sink`. Whether there may be more.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_nextPiece<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    reader: jlong,
    source: JObject<'local>,
    sink: JObject<'local>,
    memory: JByteArray<'local>,
) -> jboolean {
    called(environment, |env| -> Result<_> {
        let more = reading(reader).go_on(env, &source, &sink, &memory, false)?;
        ended(env)?;
        Ok(more)
    })
}

/// Has nothing more begun.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_cancelReader<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    reader: jlong,
) {
    called(environment, |_| -> Result<_> {
        reading(reader).control.cancel();
        Ok(())
    });
}

/// Waits for what is under way, and gives all up.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_closeReader<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    reader: jlong,
) {
    called(environment, |_| -> Result<_> {
        let address = std::ptr::with_exposed_provenance_mut::<Reading>(place(reader));
        // SAFETY: `dev.smallfry.ReadStream` passes what `openReader` made, for the last time, while no other thread does.
        drop(unsafe { Box::from_raw(address) });
        Ok(())
    });
}

const fn place(address: jlong) -> usize {
    address.cast_unsigned() as usize
}

fn reading<'a>(address: jlong) -> &'a Reading {
    let address = std::ptr::with_exposed_provenance::<Reading>(place(address));
    // SAFETY: `dev.smallfry.ReadStream` passes what `openReader` made, and nothing once it is closed.
    unsafe { &*address }
}

/// An exception that the source has thrown goes on.
fn ended(env: &Env<'_>) -> Result<()> {
    if env.exception_check() {
        return Err(Error::JavaException);
    }
    Ok(())
}
