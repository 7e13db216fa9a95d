//! Writes an object whole.

use std::io;
use std::path::Path;

use bytes::Bytes;
use md5::{Digest, Md5};
use object_store::{Attribute, GetOptions, PutMode, PutOptions, PutPayload};
use pollster::block_on;
use smallfry_workers::TaskContext;

use super::Location;
use super::failure::Failure;
use super::retry::retry;
use crate::error::{Error, Operation};
use crate::write::{Outcome, WriteOptions};

/// The metadata of an object that holds the digest of its contents, in hexadecimal digits.
const DIGEST: &str = "smallfry-blake3";

/// Writes the object that the URL `path` names.
pub(crate) fn write(
    path: &Path,
    bytes: &[u8],
    options: &WriteOptions,
    context: &mut TaskContext<'_>,
) -> Result<Outcome, Error> {
    options.check(path)?;
    let location = Location::parse(path)?;
    write_object(&location, bytes, options, context)
        .map_err(|reason| Error::at(Operation::Write, path, reason))
}

fn write_object(
    location: &Location,
    bytes: &[u8],
    options: &WriteOptions,
    context: &mut TaskContext<'_>,
) -> io::Result<Outcome> {
    let mut put = PutOptions::default();
    if options.create_new {
        put.mode = PutMode::Create;
    }
    if options.only_if_changed {
        let digest = blake3::hash(bytes).to_hex();
        if is_unchanged(location, bytes, &digest, context)? {
            return Ok(Outcome::Unchanged);
        }
        let name = Attribute::Metadata(DIGEST.into());
        put.attributes.insert(name, digest.to_string().into());
    }
    let payload = PutPayload::from(Bytes::copy_from_slice(bytes));
    let mut tries = 0;
    retry(context, |_| {
        tries += 1;
        let request = location
            .store
            .client
            .put_opts(&location.key, payload.clone(), put.clone());
        match block_on(request).map_err(Failure::from) {
            // The answer to a try before may have been lost.
            Err(Failure::Final(reason))
                if tries > 1
                    && reason.kind() == io::ErrorKind::AlreadyExists
                    && holds(location, bytes)? =>
            {
                Ok(())
            }
            result => result.map(drop),
        }
    })?;
    Ok(Outcome::Written)
}

/// Returns true if the store tells by size and digest that the object has these contents.
fn is_unchanged(
    location: &Location,
    bytes: &[u8],
    digest: &str,
    context: &mut TaskContext<'_>,
) -> io::Result<bool> {
    retry(context, |_| {
        let options = GetOptions {
            head: true,
            ..GetOptions::default()
        };
        let request = location.store.client.get_opts(&location.key, options);
        let answer = match block_on(request).map_err(Failure::from) {
            Err(Failure::Final(reason)) if reason.kind() == io::ErrorKind::NotFound => {
                return Ok(false);
            }
            answer => answer?,
        };
        if answer.meta.size != bytes.len() as u64 {
            return Ok(false);
        }
        let stored = answer.attributes.get(&Attribute::Metadata(DIGEST.into()));
        if let Some(stored) = stored {
            return Ok(stored.as_ref() == digest);
        }
        let tag = answer.meta.e_tag.unwrap_or_default();
        if let Some(md5) = md5_of(&tag) {
            return Ok(md5 == hex(&Md5::digest(bytes)));
        }
        holds(location, bytes)
    })
}

/// Returns the MD5 digest that an `ETag` of S3 is, unless the object was uploaded in parts or
/// encrypted.
fn md5_of(tag: &str) -> Option<&str> {
    let tag = tag.trim_matches('"');
    let is_digest = tag.len() == 32 && tag.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_digest.then_some(tag)
}

fn hex(digest: &[u8]) -> String {
    use std::fmt::Write;
    digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}"); // A string takes all.
        text
    })
}

/// Reads the object, and returns true if it has these contents.
fn holds(location: &Location, bytes: &[u8]) -> Result<bool, Failure> {
    let answer = block_on(
        location
            .store
            .client
            .get_opts(&location.key, GetOptions::default()),
    )?;
    if answer.meta.size != bytes.len() as u64 {
        return Ok(false);
    }
    Ok(block_on(answer.bytes())? == bytes)
}
