//! The rows in Rust, and the expected outputs.

use super::super::prelude::*;
use super::hashing::Hashing;
use super::{Function, Request, raw};
use smallfry::hash::{Algorithm, Digest, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

pub(super) fn run(functions: Functions, request: &Request) -> Result<Times, PeerFailure> {
    let Request {
        function,
        threads,
        tree,
        output,
        ..
    } = request;
    let meter = Meter::start();
    let digest = match functions {
        Functions::Raw => raw::lines(*function, Path::new(tree), threads.count()),
        Functions::Std => tree_digest(*function, Path::new(tree)),
        _ => Hasher::new()
            .algorithm(match function {
                Function::Sha256 => Algorithm::Sha256,
                Function::Blake3 => Algorithm::Blake3,
            })
            .tree(tree)
            .map(|hashed| hashed.digest.to_string())
            .map_err(io::Error::other),
    };
    let usage = meter.stop();
    let digest = digest.map_err(failed("hash", tree))?;
    fs::write(output, digest).map_err(failed("write", output))?;
    Ok(Times::of(0, 0, usage))
}

/// Returns the lines of sha256sum or b3sum for all files of a tree, sorted.
pub(super) fn lines(function: Function, tree: &Path) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    for file in walk(tree, |_| true)? {
        let path = tree.join(file);
        let digest = hash(function, &fs::read(&path)?);
        lines.push(format!("{digest}  {}", path.display()));
    }
    lines.sort_unstable();
    Ok(lines)
}

/// Returns the digest of a tree that `docs/tree-digest.md` defines, as a program makes it that has
/// only `std::fs`.
pub(super) fn tree_digest(function: Function, tree: &Path) -> io::Result<String> {
    Ok(hash_directory(function, tree)?.to_string())
}

fn hash(function: Function, contents: &[u8]) -> Digest {
    let mut hashing = Hashing::new(function);
    hashing.update(contents);
    hashing.finish()
}

fn hash_directory(function: Function, directory: &Path) -> io::Result<Digest> {
    let entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    let mut entries: Vec<_> = entries.iter().map(|it| (it.file_name(), it)).collect();
    entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    let mut list = b"smallfry tree digest 1\0".to_vec();
    for (name, entry) in entries {
        let (path, kind) = (entry.path(), entry.file_type()?);
        let (kind, digest) = if kind.is_dir() {
            (b'd', hash_directory(function, &path)?)
        } else if kind.is_symlink() {
            let target = fs::read_link(&path)?;
            (b'l', hash(function, target.as_os_str().as_bytes()))
        } else if entry.metadata()?.permissions().mode() & 0o100 != 0 {
            (b'x', hash(function, &fs::read(&path)?))
        } else {
            (b'f', hash(function, &fs::read(&path)?))
        };
        list.push(kind);
        list.extend_from_slice(&(name.len() as u64).to_le_bytes());
        list.extend_from_slice(name.as_bytes());
        list.extend_from_slice(digest.as_bytes());
    }
    Ok(hash(function, &list))
}
