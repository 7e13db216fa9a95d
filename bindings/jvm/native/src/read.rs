//! Reads many files, piece by piece.

use crate::entry::{called, called_anywhere};
use crate::options::Bulk;
use crate::results;
use crate::sink::{self, Piece, Sink};
use crate::source::{Call, Paths, Source};
use jni::errors::{Error, Result};
use jni::objects::{JByteArray, JClass, JObject, JValue};
use jni::sys::{jboolean, jint, jlong};
use jni::{Env, EnvUnowned, jni_sig, jni_str};
use smallfry::bulk::{Contents, Control, Reader};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The maximum time that the first result of a piece waits for others.
const MAX_WAIT: Duration = Duration::from_millis(2);

/// The options of a batch of reads.
pub(crate) struct ReadOptions<'a, 'local> {
    pub(crate) source: &'a JObject<'local>,
    pub(crate) bulk: Bulk,
    pub(crate) max_file_size: jlong,
}

impl ReadOptions<'_, '_> {
    /// Makes a reader. `None` if the directory to stay beneath cannot be opened: the source gets
    /// the error.
    pub(crate) fn reader(&self, env: &mut Env<'_>) -> Result<Option<Reader>> {
        let error = match self.bulk.reader(self.max_file_size) {
            Ok(reader) => return Ok(Some(reader)),
            Err(error) => env.byte_array_from_slice(&results::error_alone(&error))?,
        };
        let arguments = [JValue::Object(&error)];
        env.call_method(
            self.source,
            jni_str!("failed"),
            jni_sig!("([B)V"),
            &arguments,
        )?;
        Ok(None)
    }
}

/// A reader of Java. Java has its address, and gives it back once.
struct Reading {
    control: Control,
    call: Call,
    contents: Mutex<Contents<Paths>>,
    is_text: bool,
}

impl Reading {
    fn begin(env: &mut Env<'_>, options: &ReadOptions<'_, '_>) -> Result<Option<Self>> {
        let Some(mut reader) = options.reader(env)? else {
            return Ok(None);
        };
        let (control, call) = (Control::new(), Call::default());
        let paths = Paths(Source::new(env, options.source, &call, &control)?);
        let contents = Mutex::new(reader.control(&control).read(paths));
        Ok(Some(Self {
            control,
            call,
            contents,
            is_text: options.bulk.is_text(),
        }))
    }

    /// Gives the results of one piece to `sink`. Returns whether there may be more.
    fn go_on(&self, env: &mut Env<'_>, source: &JObject<'_>, sink: &Sink<'_, '_>) -> Result<bool> {
        let accept = sink::accept(env, sink.object)?;
        let mut piece = Piece::new(accept, sink.memory.len(env)?, self.is_text);
        self.call.during(env, source, |env| {
            let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
            loop {
                let Some((index, result)) = contents.next() else {
                    piece.flush(env, sink)?;
                    return Ok(false);
                };
                let result = result.as_deref();
                let goes_on = piece.push(env, sink, index, result, MAX_WAIT)?;
                if goes_on == Some(false) {
                    self.control.cancel();
                }
                if goes_on.is_some() {
                    // The last one may have begun another piece.
                    piece.flush(env, sink)?;
                    return Ok(true);
                }
            }
        })
    }
}

/// Begins to read files. Returns the address of a `Reading`, or 0 if the source got the error.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_openReader<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    source: JObject<'local>,
    bits: jint,
    threads: jint,
    max_in_flight: jlong,
    max_file_size: jlong,
    within: JByteArray<'local>,
) -> jlong {
    called(environment, |env| -> Result<_> {
        let options = ReadOptions {
            source: &source,
            bulk: Bulk::new(env, bits, threads, max_in_flight, &within)?,
            max_file_size,
        };
        let reading = Reading::begin(env, &options)?.map(Box::new);
        Ok(reading.map_or(0, |reading| {
            (Box::into_raw(reading).expose_provenance() as u64).cast_signed()
        }))
    })
}

/// Gives one piece of results to `sink`. Returns whether there may be more.
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
        let sink = Sink {
            object: &sink,
            memory: &memory,
        };
        let more = reading(reader).go_on(env, &source, &sink)?;
        ended(env)?;
        Ok(more)
    })
}

/// Begins nothing more.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_cancelReader<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    reader: jlong,
) {
    called_anywhere(environment, |_| -> Result<_> {
        reading(reader).control.cancel();
        Ok(())
    });
}

/// Waits for files in flight, and frees everything.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_closeReader<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    reader: jlong,
) {
    called_anywhere(environment, |_| -> Result<_> {
        let address = std::ptr::with_exposed_provenance_mut::<Reading>(place(reader));
        // SAFETY: `dev.smallfry.ReadStream` passes what `openReader` made, for the last time, while
        // no other thread does.
        drop(unsafe { Box::from_raw(address) });
        Ok(())
    });
}

const fn place(address: jlong) -> usize {
    address.cast_unsigned() as usize
}

fn reading<'a>(address: jlong) -> &'a Reading {
    let address = std::ptr::with_exposed_provenance::<Reading>(place(address));
    // SAFETY: `dev.smallfry.ReadStream` passes what `openReader` made, and nothing once it is
    // closed.
    unsafe { &*address }
}

/// Returns an error if the source has thrown an exception, which then goes on.
fn ended(env: &Env<'_>) -> Result<()> {
    if env.exception_check() {
        return Err(Error::JavaException);
    }
    Ok(())
}
