//! The functions that Java calls.

use super::outcome::push_outcome;
use super::watched::watched;
use crate::entry::called;
use crate::{options, sys};
use jni::errors::Result;
use jni::objects::{JByteArray, JClass, JObject};
use jni::sys::jint;
use jni::{Env, EnvUnowned};
use smallfry::bulk::Control;
use smallfry::tree::{Report, TreeError};
use smallfry_options::OptionBits;
use std::path::PathBuf;

fn path_of(env: &Env<'_>, path: &JByteArray<'_>) -> Result<PathBuf> {
    let bytes = env.convert_byte_array(path)?;
    Ok(sys::path_in(&bytes).into_owned())
}

/// Does `work` while `watch` watches it. Returns its outcome.
fn outcome<'local>(
    env: &mut Env<'local>,
    watch: &JObject<'_>,
    work: impl FnOnce(&Control) -> std::result::Result<Report, TreeError> + Send,
) -> Result<JByteArray<'local>> {
    let mut bytes = Vec::new();
    push_outcome(&mut bytes, &watched(env, watch, work)?);
    env.byte_array_from_slice(&bytes)
}

/// Copies a tree. Returns the outcome.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_copyTree<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    from: JByteArray<'local>,
    to: JByteArray<'local>,
    bits: jint,
    threads: jint,
    watch: JObject<'local>,
) -> JByteArray<'local> {
    called(environment, |env| -> Result<_> {
        let (from, to) = (path_of(env, &from)?, path_of(env, &to)?);
        let mut copier = OptionBits::new(bits).copier();
        copier.strategy(options::strategy(threads));
        outcome(env, &watch, |control| {
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
        outcome(env, &watch, |control| remover.control(control).remove(path))
    })
}
