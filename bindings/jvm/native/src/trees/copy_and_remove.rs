//! Copies and removes trees.

use super::arguments::{filter_of, path_of};
use super::outcome::outcome;
use super::watched::Events;
use crate::entry::called;
use crate::options;
use jni::EnvUnowned;
use jni::errors::Result;
use jni::objects::{JByteArray, JClass, JObject};
use jni::sys::{jboolean, jint};
use smallfry_options::OptionBits;

/// Copies a tree by the method of that number. Returns the outcome.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_copyTree<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    from: JByteArray<'local>,
    to: JByteArray<'local>,
    method: jint,
    bits: jint,
    threads: jint,
    exclude: JByteArray<'local>,
    asks: jboolean,
    watch: JObject<'local>,
) -> JByteArray<'local> {
    called(environment, |env| -> Result<_> {
        let (from, to) = (path_of(env, &from)?, path_of(env, &to)?);
        let mut copier = OptionBits::new(bits).copier();
        copier
            .strategy(options::strategy(threads))
            .method(OptionBits::method(method));
        let mut events = Events::new();
        if let Some(wanted) = filter_of(env, &exclude, asks, &mut events)? {
            copier.filter(wanted);
        }
        outcome(env, &watch, events, |control| {
            copier.control(control).copy(from, to)
        })
    })
}

/// Removes a tree. Returns the outcome.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_removeTree<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    path: JByteArray<'local>,
    bits: jint,
    threads: jint,
    watch: JObject<'local>,
) -> JByteArray<'local> {
    called(environment, |env| -> Result<_> {
        let path = path_of(env, &path)?;
        let mut remover = OptionBits::new(bits).remover();
        remover.strategy(options::strategy(threads));
        outcome(env, &watch, Events::new(), |control| {
            remover.control(control).remove(path)
        })
    })
}
