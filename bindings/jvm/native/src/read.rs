//! Many files in one call, and piece by piece.

use crate::options::Bulk;
use crate::source::{Call, Paths, Source};
use crate::{called, results};
use jni::errors::{Error, Result};
use jni::ids::JMethodID;
use jni::objects::{JByteArray, JByteBuffer, JClass, JObject, JValue};
use jni::signature::{Primitive, ReturnType};
use jni::sys::{jboolean, jint, jlong};
use jni::{Env, EnvUnowned, jni_sig, jni_str};
use smallfry::bulk::{Bytes, Contents, Control};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How much is gathered before Java gets it, in bytes. Larger files go as they are.
const PIECE: usize = 256 << 10;
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
        to_end: bool,
    ) -> Result<bool> {
        let mut sink = Sink::new(env, sink)?;
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
                    return Ok(true);
                }
            }
        })
    }
}

/// Takes results for Java, one behind the other: the number of the path, the length of the contents, and these; or the
/// number, -1 and the error.
struct Sink<'a, 'local> {
    object: &'a JObject<'local>,
    accept: JMethodID,
    bytes: Vec<u8>,
    count: usize,
    began: Instant,
}

impl<'a, 'local> Sink<'a, 'local> {
    fn new(env: &mut Env<'_>, object: &'a JObject<'local>) -> Result<Self> {
        let class = env.get_object_class(object)?;
        let signature = jni_sig!("(Ljava/nio/ByteBuffer;ILjava/nio/ByteBuffer;)Z");
        Ok(Self {
            object,
            accept: env.get_method_id(&class, jni_str!("accept"), signature)?,
            bytes: Vec::with_capacity(PIECE + PIECE / 8),
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
        if self.count == 0 {
            self.began = Instant::now();
        }
        self.count += 1;
        results::push_number(&mut self.bytes, index);
        match result {
            Ok(contents) if contents.len() > PIECE / 2 => {
                results::push_number(&mut self.bytes, contents.len());
                return self.give(env, Some(&contents)).map(Some);
            }
            Ok(contents) => {
                results::push_number(&mut self.bytes, contents.len());
                self.bytes.extend_from_slice(&contents);
            }
            Err(error) => {
                self.bytes.extend_from_slice(&(-1_i32).to_ne_bytes());
                results::push_error(&mut self.bytes, &error);
            }
        }
        if self.bytes.len() < PIECE && self.began.elapsed() < patience {
            return Ok(None);
        }
        self.give(env, None).map(Some)
    }

    fn flush(&mut self, env: &mut Env<'_>) -> Result<()> {
        if self.count > 0 {
            self.give(env, None)?;
        }
        Ok(())
    }

    /// Has Java take what was gathered; the last one's contents may be apart.
    fn give(&mut self, env: &mut Env<'_>, apart: Option<&Bytes>) -> Result<bool> {
        if env.exception_check() {
            return Err(Error::JavaException);
        }
        let gathered = buffer_over(env, &self.bytes)?;
        let apart = match &apart {
            Some(contents) => buffer_over(env, contents)?,
            None => JByteBuffer::default(),
        };
        let arguments = [
            JValue::Object(&gathered).as_jni(),
            JValue::Int(i32::try_from(self.count).unwrap_or(i32::MAX)).as_jni(),
            JValue::Object(&apart).as_jni(),
        ];
        let kind = ReturnType::Primitive(Primitive::Boolean);
        // SAFETY: the method was looked up by this signature in the class of this object.
        let answer =
            unsafe { env.call_method_unchecked(self.object, self.accept, kind, &arguments) };
        env.delete_local_ref(gathered);
        env.delete_local_ref(apart);
        self.bytes.clear();
        self.count = 0;
        answer?.z()
    }
}

/// A buffer for Java to read these bytes, until they are moved, changed or dropped.
fn buffer_over<'local>(env: &mut Env<'local>, bytes: &[u8]) -> Result<JByteBuffer<'local>> {
    // SAFETY: `dev.smallfry.Sink` reads only, and does not keep the buffer beyond the call that is given it.
    unsafe { env.new_direct_byte_buffer(bytes.as_ptr().cast_mut(), bytes.len()) }
}

/// Reads all files that `source` gives, and gives what came of each to `sink`.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_readAll<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    source: JObject<'local>,
    sink: JObject<'local>,
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
            reading.go_on(env, &source, &sink, true)?;
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
            Box::into_raw(reading).expose_provenance() as jlong
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
) -> jboolean {
    called(environment, |env| -> Result<_> {
        let more = reading(reader).go_on(env, &source, &sink, false)?;
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
        let address = std::ptr::with_exposed_provenance_mut::<Reading>(reader as usize);
        // SAFETY: `dev.smallfry.ReadStream` passes what `openReader` made, for the last time, while no other thread does.
        drop(unsafe { Box::from_raw(address) });
        Ok(())
    });
}

fn reading<'a>(address: jlong) -> &'a Reading {
    let address = std::ptr::with_exposed_provenance::<Reading>(address as usize);
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
