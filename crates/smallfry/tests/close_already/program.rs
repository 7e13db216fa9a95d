// A program for `close_already`. Only its imports from there are in the file that includes it.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::mpsc::{Sender, channel};

/// Takes long to drop, as a type with a handle of its own does.
struct Archive {
    name: &'static str,
    dropped: Sender<&'static str>,
}

impl FastCloseable for Archive {}

impl Drop for Archive {
    fn drop(&mut self) {
        let _ = self.dropped.send(self.name);
    }
}

/// Can be compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Version(u32);

impl FastCloseable for Version {}

/// Is read and written like a file.
#[derive(Default)]
struct Tape(io::Cursor<Vec<u8>>);

impl FastCloseable for Tape {}

impl Read for Tape {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }

    fn write_fmt(&mut self, arguments: std::fmt::Arguments<'_>) -> io::Result<()> {
        self.0.write_all(b"> ")?;
        self.0.write_fmt(arguments)
    }
}

impl Seek for Tape {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.0.seek(position)
    }
}

fn wrap<H: FastCloseable + 'static>(handle: H) -> FastClose<H> {
    handle.fast_close()
}

/// Returns what it prints.
pub(crate) fn run(directory: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let mut printed = String::new();

    // Values that are dropped later. Each name comes when its value is gone.
    let (dropped, names) = channel();
    let archive = |name| Archive {
        name,
        dropped: dropped.clone(),
    };
    let mut one = wrap(archive("one"));
    one.name = "first";
    drop(one);
    writeln!(printed, "{}", names.recv()?)?;
    drop(FastClose::new(archive("second")));
    writeln!(printed, "{}", names.recv()?)?;
    let third: FastClose<Archive> = archive("third").into();
    let third = third.into_inner();
    writeln!(printed, "{} {:?}", third.name, names.try_recv())?;
    drop(third);
    writeln!(printed, "{}", names.recv()?)?;

    // Comparisons, with wrapped values and with plain ones.
    let [old, new] = [1, 2].map(|number| wrap(Version(number)));
    writeln!(printed, "{} {}", old == Version(1), new != Version(2))?;
    writeln!(printed, "{} {}", old < Version(2), new <= Version(1))?;
    writeln!(printed, "{:?}", new.partial_cmp(&Version(1)))?;
    writeln!(printed, "{} {:?}", old == old.clone(), old.cmp(&new))?;
    writeln!(printed, "{old:?} {new:#?}")?;
    let versions: HashSet<FastClose<Version>> = [old.clone(), old, new].into_iter().collect();
    writeln!(printed, "{}", versions.len())?;

    // Reading and writing.
    let mut tape = wrap(Tape::default());
    write!(tape, "{}", 1 + 1)?;
    Write::by_ref(&mut tape).flush()?;
    tape.rewind()?;
    let mut text = String::new();
    Read::by_ref(&mut tape).read_to_string(&mut text)?;
    writeln!(printed, "{text} {}", tape.stream_position()?)?;

    let path = directory.join("file");
    let mut file = wrap(File::create_new(&path)?);
    file.write_all(b"some text")?;
    file.sync_all()?;
    drop(file);
    let mut file = FastClose::from(File::open(&path)?);
    file.seek(SeekFrom::Start(5))?;
    text.clear();
    file.read_to_string(&mut text)?;
    writeln!(printed, "{text} {}", file.metadata()?.len())?;
    drop(file.into_inner());

    // Whole files.
    let copy = directory.join("copy");
    writeln!(printed, "{}", fs::copy(&path, &copy)?)?;
    writeln!(printed, "{}", fs::read_to_string(&copy)?)?;
    fs::write(&copy, [0xff])?;
    writeln!(printed, "{:?}", fs::read(&copy)?)?;
    let kinds = [
        fs::read_to_string(&copy).map(drop).map_err(|e| e.kind()),
        fs::read(directory.join("missing"))
            .map(drop)
            .map_err(|e| e.kind()),
        fs::write(directory, "").map_err(|e| e.kind()),
    ];
    writeln!(printed, "{kinds:?}")?;
    Ok(printed)
}
