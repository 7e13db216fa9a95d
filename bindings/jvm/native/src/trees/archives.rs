//! Unpacks and packs archives.

use super::arguments::{exclude_of, path_of};
use super::outcome::outcome;
use super::watched::Events;
use crate::entry::called;
use crate::options;
use jni::EnvUnowned;
use jni::errors::Result;
use jni::objects::{JByteArray, JClass, JObject};
use jni::sys::{jint, jlong};
use smallfry::archive::Format;
use smallfry_options::OptionBits;
use std::fs;
use std::path::{Path, PathBuf};

/// Unpacks an archive. A limit of 0 stands for none. Returns the outcome.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_unpack<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    archive: JByteArray<'local>,
    to: JByteArray<'local>,
    bits: jint,
    threads: jint,
    strip_components: jint,
    max_entries: jlong,
    max_bytes: jlong,
    max_ratio: jlong,
    exclude: JByteArray<'local>,
    watch: JObject<'local>,
) -> JByteArray<'local> {
    called(environment, |env| -> Result<_> {
        let (archive, to) = (path_of(env, &archive)?, path_of(env, &to)?);
        let mut unpacker = OptionBits::new(bits).unpacker();
        unpacker
            .strategy(options::strategy(threads))
            .strip_components(usize::try_from(strip_components).unwrap_or(0));
        if let Some(entries) = limit(max_entries) {
            unpacker.max_entries(entries);
        }
        if let Some(bytes) = limit(max_bytes) {
            unpacker.max_bytes(bytes);
        }
        if let Some(ratio) = limit(max_ratio) {
            unpacker.max_ratio(ratio);
        }
        if let Some(exclude) = exclude_of(env, &exclude)? {
            unpacker.filter(move |path| !path.ancestors().any(|path| exclude.has(path)));
        }
        outcome(env, &watch, Events::new(), |control| {
            unpacker.control(control).unpack(archive, to)
        })
    })
}

fn limit(limit: jlong) -> Option<u64> {
    u64::try_from(limit).ok().filter(|limit| *limit > 0)
}

/// Packs a tree. `format` is a `dev.smallfry.ArchiveFormat`'s number, or -1 for that of the name of
/// the archive. Returns the outcome, or null if the name tells no format.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_dev_smallfry_Native_pack<'local>(
    environment: EnvUnowned<'local>,
    _: JClass<'local>,
    from: JByteArray<'local>,
    archive: JByteArray<'local>,
    name: JByteArray<'local>,
    format: jint,
    bits: jint,
    threads: jint,
    exclude: JByteArray<'local>,
    watch: JObject<'local>,
) -> JByteArray<'local> {
    called(environment, |env| -> Result<_> {
        let (from, archive) = (path_of(env, &from)?, path_of(env, &archive)?);
        let format = match format {
            0 => Format::Tar,
            1 => Format::TarGz,
            2 => Format::TarZst,
            3 => Format::Zip,
            _ => match Format::of_name(&archive) {
                Some(format) => format,
                None => return Ok(JByteArray::default()),
            },
        };
        let name = name_in_archive(&from, path_of(env, &name)?);
        let mut packer = OptionBits::new(bits).packer();
        packer.strategy(options::strategy(threads));
        if let Some(exclude) = exclude_of(env, &exclude)? {
            packer.filter(move |path| !exclude.has(path));
        }
        outcome(env, &watch, Events::new(), |control| {
            packer
                .control(control)
                .pack(format, archive, [(from, name)])
        })
    })
}

/// Returns the name of `from` in the archive. An empty one stands for the contents of a directory
/// and for the own name of anything else.
fn name_in_archive(from: &Path, name: PathBuf) -> PathBuf {
    let is_directory = fs::symlink_metadata(from).is_ok_and(|status| status.is_dir());
    match from.file_name() {
        Some(own) if name.as_os_str().is_empty() && !is_directory => own.into(),
        _ => name,
    }
}
