//! Hashes trees and files.

use super::arguments::{filter_of, path_of, paths_of};
use super::outcome::encoded;
use super::watched::{Events, long, watched};
use crate::entry::called;
use crate::{options, results};
use jni::errors::Result;
use jni::objects::{JByteArray, JClass, JObject};
use jni::sys::{jboolean, jint};
use jni::{Env, EnvUnowned};
use smallfry::Error;
use smallfry::bulk::Control;
use smallfry::hash::{Algorithm, Cache, Digest, Digests, Hasher, TreeDigest};
use smallfry::tree::{Report, TreeError};
use std::path::{Path, PathBuf};

const FAILED: u8 = 0;
const HASHED: u8 = 1;

/// Makes a hasher. `algorithm` is a `dev.smallfry.HashAlgorithm`'s number.
fn hasher(algorithm: jint, threads: jint) -> Hasher {
    let mut hasher = Hasher::new();
    hasher
        .algorithm(match algorithm {
            1 => Algorithm::Sha256,
            2 => Algorithm::Sha1,
            3 => Algorithm::GitBlob,
            _ => Algorithm::Blake3,
        })
        .strategy(options::strategy(threads));
    hasher
}

/// Converts the path of a cache. `null` stands for none.
fn cache_of(env: &Env<'_>, path: &JByteArray<'_>) -> Result<Option<PathBuf>> {
    if path.is_null() {
        Ok(None)
    } else {
        path_of(env, path).map(Some)
    }
}

/// Has `hash` hash with the cache at a path, if there is one. Returns what it returns, unless the
/// cache could not be opened, and the error of the cache.
fn with_cache<T>(
    hasher: &mut Hasher,
    path: Option<&Path>,
    hash: impl FnOnce(&Hasher) -> T,
) -> (Option<T>, Option<Error>) {
    let cache = match path.map(Cache::open).transpose() {
        Ok(cache) => cache,
        Err(error) => return (None, Some(error)),
    };
    if let Some(cache) = &cache {
        hasher.cache(cache);
    }
    let result = hash(hasher);
    let saved = cache.map_or(Ok(()), |cache| cache.save());
    (Some(result), saved.err())
}

/// Appends a digest, with its length in bytes before it.
fn push_digest(bytes: &mut Vec<u8>, digest: &Digest) {
    results::push_number(bytes, digest.as_bytes().len());
    bytes.extend_from_slice(digest.as_bytes());
}

/// Hashes a tree. `cache` may be null. Returns the outcome, to which an error of the cache belongs,
/// and the digest behind it, if there is one.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_hashTree<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    path: JByteArray<'local>,
    algorithm: jint,
    threads: jint,
    exclude: JByteArray<'local>,
    asks: jboolean,
    cache: JByteArray<'local>,
    watch: JObject<'local>,
) -> JByteArray<'local> {
    called(environment, |env| -> Result<_> {
        let (path, cache) = (path_of(env, &path)?, cache_of(env, &cache)?);
        let mut hasher = hasher(algorithm, threads);
        let mut events = Events::new();
        if let Some(wanted) = filter_of(env, &exclude, asks, &mut events)? {
            hasher.filter(wanted);
        }
        let (tree, cache_error) = watched(env, &watch, events, |control| {
            hasher.control(control);
            with_cache(&mut hasher, cache.as_deref(), |hasher| hasher.tree(path))
        })?;
        env.byte_array_from_slice(&encoded_tree(tree, cache_error))
    })
}

/// Returns the outcome of hashing a tree. An error of the cache is one of its errors.
fn encoded_tree(
    tree: Option<std::result::Result<TreeDigest, TreeError>>,
    cache_error: Option<Error>,
) -> Vec<u8> {
    let (report, mut errors, digest) = match tree {
        None => (Report::default(), Vec::new(), None),
        Some(Ok(tree)) => (tree.report, Vec::new(), Some(tree.digest)),
        Some(Err(error)) => (error.report(), error.into_errors(), None),
    };
    errors.extend(cache_error);
    let mut bytes = encoded(report, &errors);
    if let Some(digest) = digest {
        push_digest(&mut bytes, &digest);
    }
    bytes
}

/// Hashes files. `cache` may be null. Returns a kind (one byte), and if that is [`FAILED`] an error
/// of the cache. Otherwise the number of bytes hashed and the number of results are behind it, and
/// for each a kind and an error or the digest.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_hashFiles<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    paths: JByteArray<'local>,
    algorithm: jint,
    threads: jint,
    cache: JByteArray<'local>,
    watch: JObject<'local>,
) -> JByteArray<'local> {
    called(environment, |env| -> Result<_> {
        let (paths, cache) = (paths_of(env, &paths)?, cache_of(env, &cache)?);
        let mut hasher = hasher(algorithm, threads);
        let bytes = watched(env, &watch, Events::new(), |control| {
            hasher.control(control);
            let hash = |hasher: &Hasher| encoded_files(hasher.files(paths), control);
            match with_cache(&mut hasher, cache.as_deref(), hash) {
                (_, Some(error)) => {
                    let mut bytes = vec![FAILED];
                    results::push_error(&mut bytes, &error);
                    bytes
                }
                (files, None) => files.unwrap_or_default(),
            }
        })?;
        env.byte_array_from_slice(&bytes)
    })
}

/// Hashes files, and returns the results as bytes.
fn encoded_files(digests: Digests<std::vec::IntoIter<PathBuf>>, control: &Control) -> Vec<u8> {
    let digests: Vec<_> = digests.collect();
    let mut bytes = vec![HASHED];
    bytes.extend_from_slice(&long(control.progress().bytes).to_ne_bytes());
    results::push_number(&mut bytes, digests.len());
    for digest in &digests {
        match digest {
            Ok(digest) => {
                bytes.push(HASHED);
                push_digest(&mut bytes, digest);
            }
            Err(error) => {
                bytes.push(FAILED);
                results::push_error(&mut bytes, error);
            }
        }
    }
    bytes
}
