//! Mirrors trees.

use super::arguments::{filter_of, path_of};
use super::outcome::encoded;
use super::watched::{Events, watched};
use crate::entry::called;
use crate::{options, results, sys};
use jni::EnvUnowned;
use jni::errors::Result;
use jni::objects::{JByteArray, JClass, JObject};
use jni::sys::{jboolean, jint};
use smallfry::bulk::Control;
use smallfry::tree::Change;
use smallfry_options::OptionBits;

/// Mirrors a tree. Returns the outcome. If there is no error, the number of changes that a dry run
/// has found is behind it, and for each the number of a `dev.smallfry.Change` and the path.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_mirrorTree<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    from: JByteArray<'local>,
    to: JByteArray<'local>,
    bits: jint,
    threads: jint,
    exclude: JByteArray<'local>,
    asks: jboolean,
    watch: JObject<'local>,
) -> JByteArray<'local> {
    called(environment, |env| -> Result<_> {
        let (from, to) = (path_of(env, &from)?, path_of(env, &to)?);
        let (mut mirror, changes) = OptionBits::new(bits).mirror();
        mirror.strategy(options::strategy(threads));
        let mut events = Events::new();
        if let Some(wanted) = filter_of(env, &exclude, asks, &mut events)? {
            mirror.filter(wanted);
        }
        let work = |control: &Control| mirror.control(control).run(from, to);
        let bytes = match watched(env, &watch, events, work)? {
            Ok(report) => {
                let mut bytes = encoded(report, &[]);
                let changes = changes.take();
                results::push_number(&mut bytes, changes.len());
                for (change, path) in changes {
                    bytes.push(number_of(change));
                    results::push_field(&mut bytes, &sys::bytes_of(&path));
                }
                bytes
            }
            Err(error) => encoded(error.report(), error.errors()),
        };
        env.byte_array_from_slice(&bytes)
    })
}

/// Returns the number of a `dev.smallfry.Change`.
fn number_of(change: Change) -> u8 {
    match change {
        Change::Create => 0,
        Change::Update => 1,
        Change::Delete => 3,
        _ => 2,
    }
}
