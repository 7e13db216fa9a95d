//! The directories that rows write to, and the files in them.
//!
//! All rows write into the same directories, made beforehand: how long a file takes to create
//! depends on where the file system put its directory. Files are then moved aside and emptied,
//! untimed, and removed when the run ends: ext4 passes over the inodes of files removed in the last
//! minute one by one, so that removing between runs would make each later run slower, up to twenty
//! times.

use super::many::{Request, Shape};
use super::prelude::*;
use super::trees::walk;
use std::borrow::Cow;

/// A directory, by its paths.
pub(crate) struct Output {
    on_disk: PathBuf,
    /// Without waiting for a slow disk.
    pub(crate) beneath: PathBuf,
    /// Through a mount that adds no delay.
    undelayed: Option<PathBuf>,
}

impl Output {
    /// Names the directory `name` in the session's directory of that number.
    pub(crate) fn of(session: &Session, index: usize, name: &str) -> Self {
        let directories = &session.directories;
        let undelayed = directories.undelayed(index);
        Self {
            on_disk: directories.on_disk(index).join(name),
            beneath: directories.beneath(index).join(name),
            undelayed: undelayed.map(|directory| directory.join(name)),
        }
    }

    /// Makes directories, and beside each one for files that are done with, both with so many
    /// directories in them.
    pub(crate) fn make(
        session: &Session,
        name: &str,
        directories: usize,
    ) -> Result<Vec<Self>, Failure> {
        session.progress.show(0.0, "making the directories");
        let outputs = (0..OUTPUTS).map(|index| Self::of(session, index, name));
        let outputs: Vec<Self> = outputs.collect();
        for output in &outputs {
            session.interrupt.check()?;
            make_directories(&output.beneath, directories)?;
            make_directories(&output.aside(), directories)?;
        }
        Ok(outputs)
    }

    /// Returns the path by which a row sees it.
    pub(crate) fn seen(&self, undelayed: bool) -> &Path {
        match &self.undelayed {
            Some(path) if undelayed => path,
            _ => &self.on_disk,
        }
    }

    /// Returns the directory for files that are done with.
    pub(crate) fn aside(&self) -> PathBuf {
        self.beneath.with_extension("aside")
    }

    /// Makes the same, with the files of these shapes.
    pub(crate) fn make_filled(
        session: &Session,
        name: &str,
        directories: Option<usize>,
        old: &[Shape],
    ) -> Result<Vec<Self>, Failure> {
        let outputs = Self::make(session, name, directories.unwrap_or(0))?;
        for output in &outputs {
            for shape in old {
                let layout = shape.within(&output.beneath, &Written::name(shape, false, 0))?;
                let contents = |index| contents_of(index, shape.bytes_per_file);
                fill(session, &layout, contents)?;
            }
            flush(&output.beneath)?;
        }
        Ok(outputs)
    }
}

/// Files that one run writes.
pub(crate) struct Written<'a> {
    pub(crate) output: &'a Output,
    pub(crate) shape: Shape,
    pub(crate) data: Data,
    /// True if no file of the name is there.
    pub(crate) is_new: bool,
    /// True if the row writes through a mount that adds no delay.
    pub(crate) is_undelayed: bool,
}

impl Written<'_> {
    /// Names the files that are there, or are new in the run of that number: a mount might remember
    /// the last run's.
    pub(crate) fn name(shape: &Shape, is_new: bool, count: usize) -> String {
        if is_new {
            format!("new-{count}-")
        } else {
            format!("old-{}-", shape.files)
        }
    }

    /// Asks the row to write the files, checks them, and puts new ones aside.
    pub(crate) fn ask<S: Scenario, R: Serialize>(
        &self,
        turn: &mut Turn<S>,
        request: impl FnOnce(Request) -> R,
    ) -> Result<Times, Fault> {
        let (output, shape, careful) = (self.output, &self.shape, turn.is_careful());
        let name = Self::name(shape, self.is_new, turn.count);
        let beneath = shape.within(&output.beneath, &name)?;
        if careful && !self.is_new {
            let others = |index| contents_of(index + 1, shape.bytes_per_file);
            fill(turn.session, &beneath, others)?;
        }
        flush(&output.beneath)?;
        let layout = shape.within(output.seen(self.is_undelayed), &name)?;
        let asked = turn.ask(&request(Request::of(turn.row, self.data, layout, shape)));
        let written = asked.and_then(|times| {
            let contents = |index| Cow::Owned(contents_of(index, shape.bytes_per_file));
            let paths = beneath.paths().enumerate();
            let files = paths.map(|(index, path)| (path.into(), contents(index)));
            verify_files(files, careful)?;
            Ok(times)
        });
        if self.is_new {
            let aside = shape.within(&output.aside(), &name)?;
            for (path, aside) in beneath.paths().zip(aside.paths()) {
                put_aside(Path::new(&path), Path::new(&aside))?;
            }
        }
        written
    }
}

/// Makes the files, each with the contents of its number.
pub(crate) fn fill(
    session: &Session,
    layout: &Layout,
    contents: impl Fn(usize) -> Vec<u8>,
) -> Result<(), Failure> {
    for (index, path) in layout.paths().enumerate() {
        session.interrupt.check()?;
        fs::write(&path, contents(index)).map_err(Failure::at("write", Path::new(&path)))?;
    }
    Ok(())
}

/// Makes a directory, and so many numbered ones in it.
pub(crate) fn make_directories(root: &Path, directories: usize) -> Result<(), Failure> {
    make_directory(root)?;
    (0..directories).try_for_each(|number| make_directory(&root.join(format!("{number:04}"))))
}

pub(crate) fn make_directory(path: &Path) -> Result<(), Failure> {
    fs::create_dir(path).map_err(Failure::at("make directory", path))
}

/// Checks that each file is there, as long as it should be, and if `careful` with the right
/// contents.
pub(crate) fn verify_files<'a>(
    files: impl Iterator<Item = (PathBuf, Cow<'a, [u8]>)>,
    careful: bool,
) -> Result<(), String> {
    for (path, contents) in files {
        let right = if careful {
            fs::read(&path).map(|found| found == *contents)
        } else {
            fs::metadata(&path).map(|found| found.len() == contents.len() as u64)
        };
        let path = path.display();
        match right {
            Ok(true) => {}
            Ok(false) => return Err(format!("it wrote something else into {path}")),
            Err(error) => return Err(format!("it has not written {path}: {error}")),
        }
    }
    Ok(())
}

pub(crate) fn empty(path: &Path) -> io::Result<()> {
    File::options().write(true).open(path)?.set_len(0)
}

/// Empties and moves a file, which a run that failed may not have written.
fn put_aside(path: &Path, aside: &Path) -> Result<(), Failure> {
    match empty(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        emptied => emptied.map_err(Failure::at("empty", path))?,
    }
    fs::rename(path, aside).map_err(Failure::at("move", path))
}

/// Empties all files in a directory and moves them to `aside`, named by the number that `moved`
/// counts. The directories stay.
pub(crate) fn put_all_aside(root: &Path, aside: &Path, moved: &mut usize) -> Result<(), Failure> {
    let files = walk(root, |_| true).map_err(Failure::at("read directory", root))?;
    files.iter().try_for_each(|file| {
        *moved += 1;
        put_aside(&root.join(file), &aside.join(moved.to_string()))
    })
}

/// Flushes the file system, so that a run does not wait for what the run before has written.
pub(crate) fn flush(directory: &Path) -> Result<(), Failure> {
    host::flush_all(directory).map_err(Failure::at("flush the file system of", directory))
}
