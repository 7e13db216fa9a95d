//! Writes many files in one call.

use crate::entry::called;
use crate::options::Bulk;
use crate::results;
use crate::source::{Call, Entries, Source};
use jni::EnvUnowned;
use jni::errors::{Error, Result};
use jni::objects::{JByteArray, JClass, JObject};
use jni::sys::{jint, jlong};
use smallfry::Outcome;
use smallfry::bulk::Control;

const WRITTEN: u8 = 0;
const UNCHANGED: u8 = 1;
const FAILED: u8 = 2;

/// Writes the entries of `source`. Returns the number of results, one byte for each, and the errors
/// of the entries that failed. If nothing could begin, returns -1 and the error.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_writeAll<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    source: JObject<'local>,
    bits: jint,
    threads: jint,
    max_in_flight: jlong,
    within: JByteArray<'local>,
) -> JByteArray<'local> {
    called(environment, |env| -> Result<_> {
        let control = Control::new();
        let mut writer = match Bulk::new(env, bits, threads, max_in_flight, &within)?.writer() {
            Ok(writer) => writer,
            Err(error) => {
                let mut bytes = (-1_i32).to_ne_bytes().to_vec();
                results::push_error(&mut bytes, &error);
                return env.byte_array_from_slice(&bytes);
            }
        };
        writer.control(&control);
        let call = Call::default();
        let entries = Entries(Source::new(env, &source, &call, &control)?);
        let report = call.during(env, &source, |_| writer.write(entries));
        if env.exception_check() {
            return Err(Error::JavaException);
        }
        env.byte_array_from_slice(&encoded(report.results()))
    })
}

fn encoded(outcomes: &[std::result::Result<Outcome, smallfry::Error>]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of::<i32>() + outcomes.len());
    results::push_number(&mut bytes, outcomes.len());
    bytes.extend(outcomes.iter().map(|outcome| match outcome {
        Ok(Outcome::Written) => WRITTEN,
        Ok(Outcome::Unchanged) => UNCHANGED,
        Err(_) => FAILED,
    }));
    for error in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        results::push_error(&mut bytes, error);
    }
    bytes
}
