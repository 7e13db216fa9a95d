//! Hashes trees and files.

use super::arguments::{exclude_of, path_of, paths_of};
use super::outcome::encoded;
use super::watched::{long, watched};
use crate::entry::called;
use crate::{options, results};
use jni::EnvUnowned;
use jni::errors::Result;
use jni::objects::{JByteArray, JClass, JObject};
use jni::sys::jint;
use smallfry::hash::{Algorithm, Digest, Hasher};

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

/// Appends a digest, with its length in bytes before it.
fn push_digest(bytes: &mut Vec<u8>, digest: &Digest) {
    results::push_number(bytes, digest.as_bytes().len());
    bytes.extend_from_slice(digest.as_bytes());
}

/// Hashes a tree. Returns the outcome, and the digest behind it if there is no error.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_hashTree<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    path: JByteArray<'local>,
    algorithm: jint,
    threads: jint,
    exclude: JByteArray<'local>,
    watch: JObject<'local>,
) -> JByteArray<'local> {
    called(environment, |env| -> Result<_> {
        let path = path_of(env, &path)?;
        let mut hasher = hasher(algorithm, threads);
        if let Some(exclude) = exclude_of(env, &exclude)? {
            hasher.filter(move |path| !exclude.has(path));
        }
        let result = watched(env, &watch, |control| hasher.control(control).tree(path))?;
        let bytes = match result {
            Ok(tree) => {
                let mut bytes = encoded(tree.report, &[]);
                push_digest(&mut bytes, &tree.digest);
                bytes
            }
            Err(error) => encoded(error.report(), error.errors()),
        };
        env.byte_array_from_slice(&bytes)
    })
}

/// Hashes files. Returns the number of bytes hashed, the number of results, and for each a kind
/// (one byte) and an error or the digest.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_hashFiles<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    paths: JByteArray<'local>,
    algorithm: jint,
    threads: jint,
    watch: JObject<'local>,
) -> JByteArray<'local> {
    called(environment, |env| -> Result<_> {
        let paths = paths_of(env, &paths)?;
        let mut hasher = hasher(algorithm, threads);
        let bytes = watched(env, &watch, |control| {
            let digests: Vec<_> = hasher.control(control).files(paths).collect();
            let mut bytes = long(control.progress().bytes).to_ne_bytes().to_vec();
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
        })?;
        env.byte_array_from_slice(&bytes)
    })
}
