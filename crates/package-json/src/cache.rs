//! Finding and remembering package.json files.

mod batch;
mod directory;
mod package;
mod revalidate;
mod table;

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use batch::Answers;
use directory::{Checked, Directory, Manner, Place, read_package};
use table::{Table, absolute};

pub use package::{Package, Scope, Source};
pub use revalidate::Revalidate;

use crate::error::{Error, Problem};
use crate::fields::ModuleType;
use crate::file_url::{FileUrl, System, decode, file_url_to_path};
use crate::format::{Extensions, Format, Kind};

/// Finds the package.json that decides for a file, and remembers it.
///
/// Directories without one are remembered as well. A file beside one that was asked for before
/// costs one look-up in a table and, unless [`Revalidate::Never`], the `stat` calls that check
/// whether the answer still holds.
///
/// Threads share a cache by reference. A clone shares what is remembered, and may revalidate in
/// another way. If several threads want the same file at once, it is read once. Invalid and
/// unreadable files are errors, and are not remembered.
///
/// **Where it looks.** For a path, it looks in the directory above it, or in the path itself if
/// that ends in a separator, and so on upward. It does not look in or above a directory named
/// `node_modules`, or at the root. For a [scope](Self::scope), which begins with a URL, it also
/// looks at the root. Paths are made absolute, and `..` removes the name before it, as in a URL.
/// Symbolic links are not resolved: for Node's answer about a linked file, ask for its real path,
/// as Node does. The file itself need not exist.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let app = directory.path();
/// use smallfry_package_json::{Cache, Extensions, Format, ModuleType};
///
/// std::fs::create_dir(app.join("src"))?;
/// std::fs::write(app.join("package.json"), r#"{ "name": "app", "type": "module" }"#)?;
///
/// let cache = Cache::new();
/// let package = cache.nearest(app.join("src/main.js"))?.expect("it was just written");
/// assert_eq!(package.path(), app.join("package.json"));
/// assert_eq!(package.fields().name.as_deref(), Some("app"));
///
/// assert_eq!(cache.nearest_type(app.join("src/main.js"))?, ModuleType::Module);
/// assert_eq!(cache.format(app.join("src/main.js"), Extensions::JavaScript)?, Format::Module);
/// assert_eq!(cache.format(app.join("src/old.cjs"), Extensions::JavaScript)?, Format::CommonJs);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// A look-up that has to read fails where Node 24 and later throw `ERR_INVALID_PACKAGE_CONFIG`:
///
/// - A package.json on the way is [invalid](Error::invalid).
/// - A package.json on the way exists and cannot be read ([`Problem::Io`]): no permission, links in
///   a circle, a name that is too long, an error of the disk.
/// - It is a pipe, a socket or a device, which is never waited for, or it is larger than 256 MiB.
///
/// A directory named package.json is ignored. A path that no file can have is [`Problem::Path`].
#[derive(Clone, Debug, Default)]
pub struct Cache {
    entries: Arc<Entries>,
    revalidate: Revalidate,
}

#[derive(Debug)]
struct Entries {
    table: Table,
    /// Raised whenever an earlier answer may no longer be right. Begins with 1.
    epoch: AtomicU64,
    /// The number of batches so far.
    calls: AtomicU64,
}

impl Default for Entries {
    fn default() -> Self {
        Self {
            table: Table::default(),
            epoch: AtomicU64::new(1),
            calls: AtomicU64::new(0),
        }
    }
}

impl Cache {
    /// Makes an empty cache with [`Revalidate::OnChange`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the same cache with another way to revalidate.
    #[must_use]
    pub fn with(&self, revalidate: Revalidate) -> Self {
        Self {
            entries: Arc::clone(&self.entries),
            revalidate,
        }
    }

    /// Reads the package.json at exactly this path, if it exists. It is remembered only if that is
    /// its name.
    pub fn read(&self, path: impl AsRef<Path>) -> Result<Option<Arc<Package>>, Error> {
        let path = path.as_ref();
        let (path, is_directory) = absolute(path)?;
        if is_directory {
            return Ok(None);
        }
        if path.file_name().is_some_and(|name| name == "package.json") {
            let (package, _) = self.entries.table.of_file(&path)?.own(self.manner())?;
            return Ok(package);
        }
        let (_, fields) = read_package(&path, &mut Vec::new())?;
        Ok(fields.map(|fields| Package::new((*path).into(), fields)))
    }

    /// Finds the package.json that decides for a file, if there is one.
    pub fn nearest(&self, path: impl AsRef<Path>) -> Result<Option<Arc<Package>>, Error> {
        Ok(self.nearest_checked(path)?.0)
    }

    /// Works like [`nearest`](Self::nearest), and also tells when the answer was checked.
    ///
    /// A caller that keeps answers under [`Revalidate::After`] asks again when that is too long
    /// ago. Of several directories on the way, the earliest check counts.
    pub fn nearest_checked(
        &self,
        path: impl AsRef<Path>,
    ) -> Result<(Option<Arc<Package>>, Instant), Error> {
        let directory = self.entries.table.of_file(path.as_ref())?;
        directory.nearest(self.manner())
    }

    /// Finds the `type` of the package.json that decides for a file.
    pub fn nearest_type(&self, path: impl AsRef<Path>) -> Result<ModuleType, Error> {
        Ok(type_of(self.nearest(path)?.as_ref()))
    }

    /// Finds the `type` that decides for a file, with the bytes of the package.json, for a caller
    /// that verifies the file. The file is read now.
    pub fn nearest_type_source(&self, path: impl AsRef<Path>) -> Result<Option<Source>, Error> {
        let path = path.as_ref();
        // Two rounds are enough, unless the file is being removed and made again.
        while let Some(package) = self.nearest(path)? {
            let mut bytes = Vec::new();
            if let (_, Some(fields)) = read_package(package.path(), &mut bytes)? {
                return Ok(Some(Source {
                    path: package.path().to_owned(),
                    bytes,
                    module_type: fields.module_type,
                }));
            }
            self.invalidate(package.path())?;
        }
        Ok(None)
    }

    /// Finds the package of a module, given by its file URL. Works like [`nearest`](Self::nearest),
    /// and also looks at the root.
    ///
    /// # Errors
    ///
    /// Also [`Problem::Url`].
    pub fn scope(&self, url: &str) -> Result<Scope, Error> {
        let refused = |error| Error::new(Path::new(url), Problem::Url(error));
        let path = file_url_to_path(url, System::HERE).map_err(refused)?;
        if !path.contains("node_modules") || !url.contains('%') {
            return self.scope_of_path(&*path);
        }
        // Node looks for node_modules before it decodes, so an encoded one is an ordinary
        // directory.
        let FileUrl { host, pathname } = FileUrl::parse(url).map_err(refused)?;
        let mut end = pathname.rfind('/').unwrap_or(0);
        let mut oldest = None;
        loop {
            let directory = Cow::Borrowed(&pathname[..=end]);
            let directory = decode(&host, directory, System::HERE).map_err(refused)?;
            let directory = self.entries.table.of_file(Path::new(&*directory))?;
            let is_end = pathname[..end].ends_with("/node_modules");
            let (package, checked) = if is_end {
                (None, Instant::now())
            } else {
                directory.own(self.manner())?
            };
            let checked = oldest.map_or(checked, |oldest| checked.min(oldest));
            oldest = Some(checked);
            let above = pathname[..end].rfind('/');
            match above {
                Some(above) if package.is_none() && !is_end => end = above,
                _ => {
                    return Ok(Scope {
                        path: directory.file().to_path_buf(),
                        package,
                        checked,
                    });
                }
            }
        }
    }

    /// Finds the package of a module, given by its path.
    pub fn scope_of_path(&self, path: impl AsRef<Path>) -> Result<Scope, Error> {
        let directory = self.entries.table.of_file(path.as_ref())?;
        let manner = self.manner();
        let (package, checked) = directory.nearest(manner)?;
        if let Some(package) = package {
            return Ok(Scope {
                path: package.path().to_owned(),
                package: Some(package),
                checked,
            });
        }
        let mut end: &Directory = &directory;
        while end.place() == Place::Ordinary
            && let Some(above) = end.above()
        {
            end = above;
        }
        let (package, last) = match end.place() {
            Place::Root => end.own(manner)?,
            _ => (None, checked),
        };
        Ok(Scope {
            path: end.file().to_path_buf(),
            package,
            checked: checked.min(last),
        })
    }

    /// Tells how Node loads a file of this path, whether it exists or not. A package.json is looked
    /// for only if the extension leaves the format open.
    pub fn format(&self, path: impl AsRef<Path>, extensions: Extensions) -> Result<Format, Error> {
        let path = path.as_ref();
        match Kind::of(path, extensions) {
            Kind::Is(format) => Ok(format),
            Kind::ByType => Ok(Format::of_type(self.nearest_type(path)?)),
        }
    }

    /// Works like [`nearest`](Self::nearest) for many files, in their order.
    pub fn nearest_of_each<P: AsRef<Path>>(
        &self,
        paths: &[P],
    ) -> Vec<Result<Option<Arc<Package>>, Error>> {
        self.of_each(paths, |(package, _)| package.clone())
    }

    /// Works like [`nearest_type`](Self::nearest_type) for many files, in their order.
    pub fn nearest_types<P: AsRef<Path>>(&self, paths: &[P]) -> Vec<Result<ModuleType, Error>> {
        self.of_each(paths, |(package, _)| type_of(package.as_ref()))
    }

    /// Works like [`nearest_types`](Self::nearest_types), and also tells when each answer was
    /// checked, as with [`nearest_checked`](Self::nearest_checked).
    pub fn nearest_types_checked<P: AsRef<Path>>(
        &self,
        paths: &[P],
    ) -> Vec<Result<(ModuleType, Instant), Error>> {
        self.of_each(paths, |(package, checked)| {
            (type_of(package.as_ref()), *checked)
        })
    }

    /// Works like [`format`](Self::format) for many files, in their order.
    pub fn formats<P: AsRef<Path>>(
        &self,
        paths: &[P],
        extensions: Extensions,
    ) -> Vec<Result<Format, Error>> {
        let kinds: Vec<Kind> = paths
            .iter()
            .map(|path| Kind::of(path.as_ref(), extensions))
            .collect();
        let open = paths.iter().zip(&kinds);
        let open: Vec<&Path> = open
            .filter(|(_, kind)| matches!(kind, Kind::ByType))
            .map(|(path, _)| path.as_ref())
            .collect();
        let answers = self.answers(open.into_iter());
        let mut answers = answers.iter();
        let format = |kind: &Kind| match kind {
            Kind::Is(format) => Ok(*format),
            Kind::ByType => match answers.next() {
                Some(Ok((package, _))) => Ok(Format::of_type(type_of(package.as_ref()))),
                Some(Err(error)) => Err(error.clone()),
                None => unreachable!("there is one for each that is open"),
            },
        };
        kinds.iter().map(format).collect()
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.entries.table.clear();
        self.entries.epoch.fetch_add(1, Ordering::Release);
    }

    /// Forgets what is known of a package.json, or of a directory and everything beneath it. A file
    /// watcher calls it for each path that changed.
    ///
    /// # Errors
    ///
    /// [`Problem::Path`]: no file can have this path.
    pub fn invalidate(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let forgotten = self.entries.table.forget(path.as_ref());
        self.entries.epoch.fetch_add(1, Ordering::Release);
        forgotten
    }

    /// The number of remembered directories, with and without a package.json.
    pub fn len(&self) -> usize {
        self.entries.table.len()
    }

    /// Returns true if no directory is remembered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn manner(&self) -> Manner<'_> {
        Manner {
            revalidate: self.revalidate,
            call: 0,
            epoch: &self.entries.epoch,
        }
    }

    fn of_each<P: AsRef<Path>, T>(
        &self,
        paths: &[P],
        wanted: impl Fn(&Checked) -> T,
    ) -> Vec<Result<T, Error>> {
        let answers = self.answers(paths.iter().map(AsRef::as_ref));
        let own = |answer: Result<&Checked, &Error>| answer.map(&wanted).map_err(Clone::clone);
        answers.iter().map(own).collect()
    }

    fn answers<'p>(&self, paths: impl ExactSizeIterator<Item = &'p Path>) -> Answers {
        let manner = Manner {
            call: 1 + self.entries.calls.fetch_add(1, Ordering::Relaxed),
            ..self.manner()
        };
        Answers::find(&self.entries.table, manner, paths)
    }
}

fn type_of(package: Option<&Arc<Package>>) -> ModuleType {
    package.map_or(ModuleType::None, |package| package.module_type())
}
