//! URLs that stand for paths: the store that they name, and the object in it.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use object_store::path::Path as Key;

use super::Store;
use super::connect::connect;
use crate::error::{Error, Operation};
use crate::path::is_url;

/// The stores that this process has used, by scheme and name. They keep their connections.
static STORES: Mutex<Option<Stores>> = Mutex::new(None);

/// The stores of a process. One that was forked makes its own, since two cannot share a connection.
struct Stores {
    process: u32,
    by_name: HashMap<String, Arc<Store>>,
}

/// An object of a store.
pub(crate) struct Location {
    pub(super) store: Arc<Store>,
    pub(super) key: Key,
}

impl Location {
    /// Parses the URL of an object and connects to its store.
    ///
    /// The key is what follows the bucket, as it is: nothing in it is decoded, but in URLs of HTTP.
    pub(crate) fn parse(path: &Path) -> Result<Self, Error> {
        Self::try_parse(path).map_err(|reason| Error::at(Operation::Open, path, reason))
    }

    fn try_parse(path: &Path) -> io::Result<Self> {
        let invalid = |reason: &str| io::Error::new(io::ErrorKind::InvalidInput, reason);
        let url = path
            .to_str()
            .ok_or_else(|| invalid("the URL is not UTF-8"))?;
        let (scheme, rest) = url.split_once("://").ok_or_else(|| invalid("not a URL"))?;
        let (authority, key) = rest.split_once('/').unwrap_or((rest, ""));
        if authority.is_empty() {
            return Err(invalid("the URL names no bucket"));
        }
        if key.is_empty() || key.ends_with('/') {
            return Err(invalid("the URL names no object"));
        }
        if key.starts_with('/') {
            return Err(invalid("the key has an empty name"));
        }
        let key = match scheme {
            "http" | "https" => Key::from_url_path(key),
            _ => Key::parse(key),
        };
        let key = key.map_err(|reason| io::Error::new(io::ErrorKind::InvalidInput, reason))?;
        let store = store_of(scheme, authority)?;
        Ok(Self { store, key })
    }
}

/// Sets options of the store that `url` names, such as `s3://bucket`, beside those in the
/// environment.
///
/// The names are those of the crate [`object_store`], such as `endpoint`, `region`, `access_key_id`
/// and `secret_access_key` for S3 ([`AmazonS3ConfigKey`]). Operations that have begun go on with
/// the old ones.
///
/// ```
/// smallfry::store::configure("s3://my-bucket", [("endpoint", "http://127.0.0.1:9000")])?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// [`Operation::Open`] with [`InvalidInput`](io::ErrorKind::InvalidInput) if `url` names no store,
/// or there is no such option.
///
/// [`object_store`]: https://docs.rs/object_store
pub fn configure<'a>(
    url: &str,
    options: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(), Error> {
    let split = url.split_once("://").filter(|_| is_url(Path::new(url)));
    let result = match split {
        Some((scheme, authority)) if !matches!(authority.trim_end_matches('/'), "") => {
            let authority = authority.trim_end_matches('/');
            connect(scheme, authority, options).map(|client| {
                with_stores(|stores| {
                    stores.insert(
                        format!("{scheme}://{authority}"),
                        Arc::new(Store { client }),
                    )
                });
            })
        }
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the URL names no store",
        )),
    };
    result.map_err(|reason| Error::at(Operation::Open, Path::new(url), reason))
}

/// Returns the store that a URL names.
fn store_of(scheme: &str, authority: &str) -> io::Result<Arc<Store>> {
    let name = format!("{scheme}://{authority}");
    if let Some(store) = with_stores(|stores| stores.get(&name).map(Arc::clone)) {
        return Ok(store);
    }
    let store = Arc::new(Store {
        client: connect(scheme, authority, [])?,
    });
    // Another thread may have been faster. One of them has the connections.
    Ok(with_stores(|stores| {
        Arc::clone(stores.entry(name).or_insert(store))
    }))
}

/// Calls `run` with the stores of this process, by scheme and name.
fn with_stores<T>(run: impl FnOnce(&mut HashMap<String, Arc<Store>>) -> T) -> T {
    let process = std::process::id();
    let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
    let stores = match &mut *stores {
        Some(stores) if stores.process == process => stores,
        other => other.insert(Stores {
            process,
            by_name: HashMap::new(),
        }),
    };
    run(&mut stores.by_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_names_no_object_is_refused() {
        for (url, reason) in [
            ("memory:///k", "names no bucket"),
            ("memory://m", "names no object"),
            ("memory://m/", "names no object"),
            ("memory://m/k/", "names no object"),
            ("memory://m//k", "empty name"),
            ("memory://m/a//k", "empty path segment"),
            ("memory://m/../k", "\"..\""),
            ("memory://m/a/./k", "\".\""),
            ("memory://m/a\0k", "illegal character"),
        ] {
            let error = Location::parse(Path::new(url)).map(drop).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{url}");
            assert!(error.to_string().contains(reason), "{url}: {error}");
        }
    }

    #[test]
    fn a_key_is_taken_as_it_is() {
        let location = Location::parse(Path::new("memory://m/a b/%20?c#d")).unwrap();
        assert_eq!(location.key.as_ref(), "a b/%20?c#d");
    }
}
