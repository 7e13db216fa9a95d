//! Functions of the caller that are asked and told about entries.

use std::path::Path;
use std::sync::Arc;

/// A function that is called with the path of an entry in the archive.
pub(super) type OnPath<T> = Arc<dyn Fn(&Path) -> T + Send + Sync>;
