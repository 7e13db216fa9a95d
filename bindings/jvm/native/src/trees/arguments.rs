//! Paths and filters from Java.

use super::watched::Events;
use crate::sys;
use jni::errors::{Error, Result};
use jni::objects::JByteArray;
use jni::strings::JNIString;
use jni::sys::jboolean;
use jni::{Env, jni_str};
use smallfry::tree::Exclude;
use std::path::{Path, PathBuf};

/// Converts a path.
pub(super) fn path_of(env: &Env<'_>, path: &JByteArray<'_>) -> Result<PathBuf> {
    let bytes = env.convert_byte_array(path)?;
    Ok(sys::path_in(&bytes).into_owned())
}

/// Converts paths, each of which ends with a zero.
pub(super) fn paths_of(env: &Env<'_>, paths: &JByteArray<'_>) -> Result<Vec<PathBuf>> {
    let bytes = env.convert_byte_array(paths)?;
    Ok(pieces(&bytes)
        .map(|path| sys::path_in(path).into_owned())
        .collect())
}

/// Makes the filter of a call, if it has one: entries are wanted that match none of the patterns,
/// and that Java wants. If `asks` is false, Java is not asked.
pub(super) fn filter_of(
    env: &mut Env<'_>,
    exclude: &JByteArray<'_>,
    asks: jboolean,
    events: &mut Events,
) -> Result<Option<impl Fn(&Path) -> bool + Send + Sync + 'static>> {
    let exclude = exclude_of(env, exclude)?;
    let questions = asks.then(|| events.questions());
    let has_filter = exclude.is_some() || questions.is_some();
    let wanted = move |path: &Path| {
        !exclude.as_ref().is_some_and(|exclude| exclude.has(path))
            && questions.as_ref().is_none_or(|java| java.is_wanted(path))
    };
    Ok(has_filter.then_some(wanted))
}

/// Compiles patterns, each of which ends with a zero. Throws an `IllegalArgumentException` for one
/// that is not valid.
pub(super) fn exclude_of(env: &mut Env<'_>, patterns: &JByteArray<'_>) -> Result<Option<Exclude>> {
    let bytes = env.convert_byte_array(patterns)?;
    let patterns: Vec<_> = pieces(&bytes).map(String::from_utf8_lossy).collect();
    if patterns.is_empty() {
        return Ok(None);
    }
    match Exclude::new(patterns) {
        Ok(exclude) => Ok(Some(exclude)),
        Err(error) => {
            let class = jni_str!("java/lang/IllegalArgumentException");
            env.throw_new(class, JNIString::from(error.to_string()))?;
            Err(Error::JavaException)
        }
    }
}

fn pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes
        .split_inclusive(|&byte| byte == 0)
        .filter_map(|piece| piece.strip_suffix(&[0]))
}
