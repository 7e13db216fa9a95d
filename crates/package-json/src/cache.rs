//! package.json files found and remembered.

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

/// Finds the package.json that decides for a file, and remembers it: directories without one as well, so that a file beside one
/// that was asked for costs one look-up in a table and, unless [`Revalidate::Never`], the `stat`s that tell whether it still holds.
///
/// Threads share one by reference. A clone shares what is remembered, and may revalidate in another way. Threads that want the
/// same file at once have it read once. What is invalid or cannot be read is an error, and is not remembered.
///
/// **Where it looks.** For a path: in the directory above it, or in itself if it ends in a separator, and so on upward; not in or
/// above a directory of the name `node_modules`, and not at the root. For a [scope](Self::scope), which begins with a URL, at the root, too.
/// Paths are made absolute, and `..` takes away the name before it, as in a URL. Links on the way are not resolved: who wants
/// Node's answer for a linked file asks for its real path, as Node does. The file itself need not exist.
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
/// Each look-up that has to read gives what Node 24 and later throw as `ERR_INVALID_PACKAGE_CONFIG`: a package.json on the
/// way that is [invalid](Error::invalid), and one that is there but cannot be read ([`Problem::Io`]): no permission, links
/// in a circle, a name too long, a disk's error. A directory of that name is passed over. A pipe, a socket or a device is an
/// error and is not waited for; so is a file of more than 256 MiB. A path that no file can have is [`Problem::Path`].
#[derive(Clone, Debug, Default)]
pub struct Cache {
    entries: Arc<Entries>,
    revalidate: Revalidate,
}

#[derive(Debug)]
struct Entries {
    table: Table,
    /// Raised whenever an answer that was given may no longer be right. Begins with 1.
    epoch: AtomicU64,
    /// Batches so far.
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
    /// Remembers nothing yet; [`Revalidate::OnChange`].
    pub fn new() -> Self {
        Self::default()
    }

    /// The same cache, revalidating in this way.
    #[must_use]
    pub fn with(&self, revalidate: Revalidate) -> Self {
        Self {
            entries: Arc::clone(&self.entries),
            revalidate,
        }
    }

    /// The package.json at exactly this path, if there is one. Remembered only if that is its name.
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

    /// The package.json that decides for a file, if there is one.
    pub fn nearest(&self, path: impl AsRef<Path>) -> Result<Option<Arc<Package>>, Error> {
        Ok(self.nearest_checked(path)?.0)
    }

    /// The same, and when it was found to be so: for who keeps answers of his own, and under [`Revalidate::After`] asks again when that
    /// is so long ago. The look at the directory on the way that was looked at first counts.
    pub fn nearest_checked(
        &self,
        path: impl AsRef<Path>,
    ) -> Result<(Option<Arc<Package>>, Instant), Error> {
        let directory = self.entries.table.of_file(path.as_ref())?;
        directory.nearest(self.manner())
    }

    /// The `type` in it.
    pub fn nearest_type(&self, path: impl AsRef<Path>) -> Result<ModuleType, Error> {
        Ok(type_of(self.nearest(path)?.as_ref()))
    }

    /// The `type` in it together with the file and its bytes, for who checks that it is the file it should be. It is read now.
    pub fn nearest_type_source(&self, path: impl AsRef<Path>) -> Result<Option<Source>, Error> {
        let path = path.as_ref();
        // Twice at most, unless the file is being removed and made again.
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

    /// The package that a module belongs to, given by its file URL: as [`nearest`](Self::nearest), and at the root, too.
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
        // Node looks for node_modules before it decodes, so that an encoded one is a directory as any other.
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

    /// The same of a module's path.
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

    /// How Node takes a file of this path, whether there is one or not. Only where the extension leaves it open is a package.json
    /// looked for.
    pub fn format(&self, path: impl AsRef<Path>, extensions: Extensions) -> Result<Format, Error> {
        let path = path.as_ref();
        match Kind::of(path, extensions) {
            Kind::Is(format) => Ok(format),
            Kind::ByType => Ok(Format::of_type(self.nearest_type(path)?)),
        }
    }

    /// [`nearest`](Self::nearest) of many files, in their order.
    pub fn nearest_of_each<P: AsRef<Path>>(
        &self,
        paths: &[P],
    ) -> Vec<Result<Option<Arc<Package>>, Error>> {
        self.of_each(paths, |(package, _)| package.clone())
    }

    /// [`nearest_type`](Self::nearest_type) of many files, in their order.
    pub fn nearest_types<P: AsRef<Path>>(&self, paths: &[P]) -> Vec<Result<ModuleType, Error>> {
        self.of_each(paths, |(package, _)| type_of(package.as_ref()))
    }

    /// The same, and when each was found to be so, as by [`nearest_checked`](Self::nearest_checked).
    pub fn nearest_types_checked<P: AsRef<Path>>(
        &self,
        paths: &[P],
    ) -> Vec<Result<(ModuleType, Instant), Error>> {
        self.of_each(paths, |(package, checked)| {
            (type_of(package.as_ref()), *checked)
        })
    }

    /// [`format`](Self::format) of many files, in their order.
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

    /// Forgets what is known of a package.json, or of a directory and all beneath it: what a watcher calls for each path that it
    /// hears of.
    ///
    /// # Errors
    ///
    /// [`Problem::Path`]: no file can have this path.
    pub fn invalidate(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let forgotten = self.entries.table.forget(path.as_ref());
        self.entries.epoch.fetch_add(1, Ordering::Release);
        forgotten
    }

    /// How many directories are remembered, with and without a package.json.
    pub fn len(&self) -> usize {
        self.entries.table.len()
    }

    /// Whether nothing is.
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
