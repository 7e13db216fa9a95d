//! The directories that rows write to, and the files in them.
//!
//! All rows write into the same directories, made beforehand: how long a file takes to create
//! depends on where the file system put its directory. Files are then moved aside and emptied,
//! untimed, and removed when the run ends: ext4 passes over the inodes of files removed in the last
//! minute one by one, so that removing between runs would make each later run slower, up to twenty
//! times.

use crate::bench::directories;
use crate::bench::failure::Failure;
use crate::bench::host;
use crate::bench::runtime::Row;
use crate::bench::runtime::protocol::{Layout, contents_of};
use crate::bench::scenarios::scenario::{Answer, OUTPUTS, Scenario, Turn};
use crate::bench::session::Session;
use serde::Serialize;
use std::borrow::Cow;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A directory, by its paths.
pub(crate) struct Output {
    name: String,
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
            name: name.to_owned(),
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
            for root in [output.beneath.clone(), output.aside()] {
                make_directory(&root)?;
                for directory in 0..directories {
                    make_directory(&root.join(format!("{directory:04}")))?;
                }
            }
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
        self.beneath.with_file_name(format!("{}-aside", self.name))
    }

    /// Makes the same, with the files of these layouts, each of so many bytes.
    pub(crate) fn make_filled(
        session: &Session,
        name: &str,
        directories: usize,
        old: &[(Layout, usize)],
    ) -> Result<Vec<Self>, Failure> {
        let outputs = Self::make(session, name, directories)?;
        for output in &outputs {
            for (old, bytes) in old {
                fill(&within(old, &output.beneath)?, *bytes, 0)?;
            }
            flush(&output.beneath)?;
        }
        Ok(outputs)
    }

    /// Moves the files of a run aside.
    fn put_aside(&self, layout: &Layout) -> Result<(), Failure> {
        let aside = within(layout, &self.aside())?;
        for (path, aside) in layout.paths().zip(aside.paths()) {
            put_aside(Path::new(&path), Path::new(&aside))?;
        }
        Ok(())
    }
}

/// Files that one run writes.
pub(crate) struct Written<'a> {
    pub(crate) output: &'a Output,
    /// In a directory yet to be named.
    pub(crate) layout: Layout,
    /// The size of each file.
    pub(crate) bytes: usize,
    /// True if no file of the name is there.
    pub(crate) is_new: bool,
    /// True if the row writes through a mount that adds no delay.
    pub(crate) is_undelayed: bool,
}

impl Written<'_> {
    /// Asks the row to write the files, checks them, and puts new ones aside.
    pub(crate) fn ask<S: Scenario, R: Serialize>(
        &self,
        turn: &mut Turn<S>,
        request: impl FnOnce(&Row, Layout) -> R,
    ) -> Result<Answer, Failure> {
        let (output, careful) = (self.output, turn.is_careful());
        let beneath = within(&self.layout, &output.beneath)?;
        if careful && !self.is_new {
            fill(&beneath, self.bytes, 1)?;
        }
        flush(&output.beneath)?;
        let layout = within(&self.layout, output.seen(self.is_undelayed))?;
        let answer = turn.ask(&request(turn.row, layout))?;
        let answer = answer.and_then(|times| verify(&beneath, self.bytes, careful).map(|()| times));
        if self.is_new {
            output.put_aside(&beneath)?;
        }
        Ok(answer)
    }
}

pub(crate) fn make_directory(path: &Path) -> Result<(), Failure> {
    fs::create_dir(path).map_err(Failure::at("make directory", path))
}

/// Returns the layout in another directory.
pub(crate) fn within(layout: &Layout, directory: &Path) -> Result<Layout, Failure> {
    Ok(Layout {
        directory: directories::unicode(directory)?,
        ..layout.clone()
    })
}

/// Makes the files, each with the contents of the one `shift` further on.
fn fill(layout: &Layout, bytes: usize, shift: usize) -> Result<(), Failure> {
    for (index, path) in layout.paths().enumerate() {
        let contents = contents_of(index + shift, bytes);
        fs::write(&path, contents).map_err(Failure::at("write", Path::new(&path)))?;
    }
    Ok(())
}

/// Checks that each file of a layout is there with its contents.
fn verify(layout: &Layout, bytes: usize, careful: bool) -> Result<(), String> {
    let contents = |index| Cow::Owned(contents_of(index, bytes));
    let paths = layout.paths().enumerate();
    verify_files(
        paths.map(|(index, path)| (path.into(), contents(index))),
        careful,
    )
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
pub(crate) fn put_aside(path: &Path, aside: &Path) -> Result<(), Failure> {
    match empty(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        emptied => emptied.map_err(Failure::at("empty", path))?,
    }
    fs::rename(path, aside).map_err(Failure::at("move", path))
}

/// Flushes the file system, so that a run does not wait for what the run before has written.
pub(crate) fn flush(directory: &Path) -> Result<(), Failure> {
    host::flush_all(directory).map_err(Failure::at("flush the file system of", directory))
}
