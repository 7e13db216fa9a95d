//! The work of a call for a tree.

use std::io;
use std::path::PathBuf;

use napi_sys as sys;
use smallfry::archive::{Format, Packer, Unpacker};
use smallfry::bulk::Control;
use smallfry::hash::{Cache, Hasher};
use smallfry::tree::{Copier, Mirror, Remover};
use smallfry_options::{Changes, OptionBits};

use super::call::{Call, strategy};
#[cfg(unix)]
use super::list;
use crate::algorithm;
use crate::environment::Environment;
#[cfg(unix)]
use crate::errors::Failure;
use crate::mailbox::{Answer, JobResult};
use crate::sys::path_of;
use crate::tree_outcome::Outcome;
use crate::value::{int32, undefined, utf8};

/// The work of one call.
pub(super) enum Work {
    Copy(Copier, PathBuf, PathBuf),
    Mirror(Mirror, PathBuf, PathBuf, Changes),
    Remove(Remover, PathBuf),
    #[cfg(unix)]
    List(PathBuf),
    Unpack(Unpacker, Archive, PathBuf),
    Pack(Packer, Format, Source, PathBuf),
    Hash(Hasher, PathBuf),
    OpenCache(PathBuf),
    SaveCache(Cache),
}

/// An archive that is unpacked.
pub(super) enum Archive {
    File(PathBuf),
    Bytes(Vec<u8>),
}

/// A tree that is packed, and the directory of the archive that it is put in.
pub(super) struct Source {
    path: PathBuf,
    prefix: PathBuf,
}

impl Source {
    /// Returns the name in the archive: the prefix for the contents of a directory, and a name in
    /// it for other entries.
    fn name(&self) -> PathBuf {
        match self.path.file_name() {
            Some(name) if !self.path.is_dir() => self.prefix.join(name),
            _ => self.prefix.clone(),
        }
    }
}

impl Work {
    /// Reads a call of `copyTree`. An error says which option is wrong.
    pub(super) fn copy(call: Call<'_>) -> io::Result<Self> {
        let mut copier = call.bits().copier();
        copier.strategy(call.strategy()).method(call.method());
        if let Some(entries) = call.entries() {
            copier.filter(move |path| entries.contains(path));
        } else if let Some(exclude) = call.exclude()? {
            copier.filter(move |path| !exclude.has(path));
        }
        Ok(Self::Copy(copier, call.path(c"from"), call.path(c"to")))
    }

    pub(super) fn remove(
        env: sys::napi_env,
        environment: &Environment,
        path: sys::napi_value,
        bits: sys::napi_value,
        threads: sys::napi_value,
    ) -> Self {
        let mut remover = OptionBits::new(int32(env, bits)).remover();
        remover.strategy(strategy(int32(env, threads)));
        Self::Remove(remover, path_of(&environment.bytes_of(env, path)))
    }

    /// Reads a call of `mirrorTree`. An error says which option is wrong.
    pub(super) fn mirror(call: Call<'_>) -> io::Result<Self> {
        let (mut mirror, changes) = call.bits().mirror();
        mirror.strategy(call.strategy());
        if let Some(exclude) = call.exclude()? {
            mirror.filter(move |path| !exclude.has(path));
        }
        Ok(Self::Mirror(
            mirror,
            call.path(c"from"),
            call.path(c"to"),
            changes,
        ))
    }

    /// Reads a call of `unpack`. An error says which option is wrong.
    pub(super) fn unpack(call: Call<'_>) -> io::Result<Self> {
        let mut unpacker = call.bits().unpacker();
        unpacker
            .strategy(call.strategy())
            .strip_components(usize::try_from(call.number(c"stripComponents")).unwrap_or(0));
        if let Some(entries) = call.limit(c"maxEntries") {
            unpacker.max_entries(entries);
        }
        if let Some(bytes) = call.limit(c"maxBytes") {
            unpacker.max_bytes(bytes);
        }
        if let Some(ratio) = call.limit(c"maxRatio") {
            unpacker.max_ratio(ratio);
        }
        if let Some(exclude) = call.exclude()? {
            unpacker.filter(move |path| !path.ancestors().any(|path| exclude.has(path)));
        }
        let archive = if call.is_string(c"archive") {
            Archive::File(call.path(c"archive"))
        } else {
            Archive::Bytes(call.bytes(c"archive"))
        };
        Ok(Self::Unpack(unpacker, archive, call.path(c"to")))
    }

    /// Reads a call of `pack`. An error says which option is wrong.
    pub(super) fn pack(call: Call<'_>) -> io::Result<Self> {
        let mut packer = call.bits().packer();
        packer.strategy(call.strategy());
        if let Some(level) = call.limit(c"level") {
            packer.level(u32::try_from(level).unwrap_or(u32::MAX));
        }
        let source = Source {
            path: call.path(c"from"),
            prefix: call.path(c"prefix"),
        };
        if let Some(exclude) = call.exclude()? {
            let prefix = source.prefix.clone();
            packer.filter(move |path| !exclude.has(path.strip_prefix(&prefix).unwrap_or(path)));
        }
        let format = Format::of_name(call.path(c"format")).ok_or_else(|| {
            let reason = "The name of the archive tells no format. Set the \"format\" option";
            io::Error::new(io::ErrorKind::InvalidInput, reason)
        })?;
        Ok(Self::Pack(packer, format, source, call.path(c"archive")))
    }

    /// Reads a call of `hashTree`. An error says which option is wrong.
    pub(super) fn hash(call: Call<'_>) -> io::Result<Self> {
        let mut hasher = Hasher::new();
        hasher
            .algorithm(algorithm::numbered(call.number(c"algorithm")))
            .strategy(call.strategy());
        if let Some(cache) = call.environment.caches.find(call.number(c"cache")) {
            hasher.cache(&cache);
        }
        if let Some(exclude) = call.exclude()? {
            hasher.filter(move |path| !exclude.has(path));
        }
        Ok(Self::Hash(hasher, call.path(c"path")))
    }

    pub(super) fn run(self, control: &Control) -> JobResult {
        let outcome: Outcome = match self {
            Self::Copy(mut copier, from, to) => copier.control(control).copy(from, to).into(),
            Self::Mirror(mut mirror, from, to, changes) => {
                let outcome: Outcome = mirror.control(control).run(from, to).into();
                outcome.with_changes(changes.take())
            }
            Self::Remove(mut remover, path) => remover.control(control).remove(path).into(),
            Self::Unpack(mut unpacker, archive, to) => {
                let unpacker = unpacker.control(control);
                match archive {
                    Archive::File(path) => unpacker.unpack(path, to),
                    Archive::Bytes(bytes) => unpacker.unpack_bytes(&bytes, to),
                }
                .into()
            }
            Self::Pack(mut packer, format, source, archive) => {
                let name = source.name();
                let packer = packer.control(control);
                packer.pack(format, archive, [(source.path, name)]).into()
            }
            Self::Hash(mut hasher, path) => hasher.control(control).tree(path).into(),
            Self::OpenCache(path) => return Ok(Answer::Cache(Cache::open(path)?)),
            Self::SaveCache(cache) => {
                cache.save()?;
                return Ok(Answer::Nothing);
            }
            #[cfg(unix)]
            Self::List(path) => {
                return match list::list(&path) {
                    Ok(listing) => Ok(Answer::Text(listing)),
                    Err(_) => Err(Failure::Delegate.into()),
                };
            }
        };
        Ok(Answer::Tree(Box::new(outcome)))
    }

    /// Does the work at once. Returns the value that JavaScript gets.
    pub(super) fn run_here(self, env: sys::napi_env) -> sys::napi_value {
        match self.run(&Control::new()) {
            Ok(Answer::Tree(outcome)) => outcome.value(env),
            Ok(Answer::Text(text)) => utf8(env, &text).unwrap_or_else(|| undefined(env)),
            _ => undefined(env),
        }
    }
}
