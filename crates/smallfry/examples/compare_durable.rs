//! Compares durable writes with the raw system calls that promise the same, in turn in one process.
//!
//! `cargo run --release -p smallfry --example compare_durable -- DIR`
//!
//! `smallfry bench sync` and `sync-many` compare more ways, each run in a process of its own. That
//! is what programs pay, but it scatters more than the differences that this example can show. Each
//! round runs all rows of a table, and every other round runs them backwards, since a write after a
//! rename is slower in any row. Medians, in microseconds.

#![allow(unsafe_code, reason = "it calls other libraries")]

#[cfg(target_os = "linux")]
#[allow(clippy::unwrap_used, reason = "whoever runs it sees what failed")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("the best bare way for many files, syncfs, is Linux's");
}

#[cfg(target_os = "linux")]
#[allow(clippy::unwrap_used, reason = "whoever runs it sees what failed")]
mod linux {
    use std::fs::{self, File, OpenOptions};
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::path::{Path, PathBuf};
    use std::time::Instant;

    use smallfry::bulk::Writer;
    use smallfry::{Durability, WriteOptions};

    const ROUNDS: usize = 31;
    /// Rounds of single writes, which are short.
    const SINGLE_ROUNDS: usize = 4_000;

    pub(super) fn main() {
        let directory = std::env::args_os().nth(1).map_or(".".into(), PathBuf::from);
        let dir = tempfile::tempdir_in(directory).unwrap();
        println!("| | smallfry | bare | ratio |");
        println!("|---|--:|--:|--:|");
        singles(dir.path());
        for count in [10, 100, 1_000] {
            for replace in [false, true] {
                batches(dir.path(), count, replace);
            }
        }
    }

    /// Writes 500 bytes to one file, again and again.
    fn singles(dir: &Path) {
        let path = dir.join("one");
        let text = [b'x'; 500];
        let options = |level, replace| {
            let mut options = WriteOptions::new();
            options.durability(level).replace(replace);
            options
        };
        let [data, full, replaced] = [
            options(Durability::Data, false),
            options(Durability::Full, false),
            options(Durability::Full, true),
        ];
        fs::write(&path, text).unwrap();
        let times = measure(SINGLE_ROUNDS, 6, |way, start| match way {
            _ if start => {}
            0 => drop(data.write(&path, text).unwrap()),
            1 => write(&path, &text).sync_data().unwrap(),
            2 => drop(full.write(&path, text).unwrap()),
            3 => {
                write(&path, &text).sync_all().unwrap();
                File::open(dir).unwrap().sync_all().unwrap();
            }
            4 => drop(replaced.write(&path, text).unwrap()),
            _ => {
                let temporary = path.with_extension("temporary");
                write(&temporary, &text).sync_all().unwrap();
                fs::rename(&temporary, &path).unwrap();
                File::open(dir).unwrap().sync_all().unwrap();
            }
        });
        for (index, name) in ["Data", "Full", "Full, replaced"].iter().enumerate() {
            print(name, times[2 * index], times[2 * index + 1]);
        }
    }

    /// Writes files of 1 KiB in one directory, compared with one `syncfs`, or with two around the
    /// renames.
    fn batches(dir: &Path, count: usize, replace: bool) {
        let text = [b'x'; 1024];
        let mut writer = Writer::new();
        writer.durability(Durability::Full).replace(replace);
        let mut paths = Vec::new();
        let mut files = PathBuf::new();
        let mut time = |way: usize, start: bool| {
            if start {
                files = dir.join("many");
                fs::create_dir(&files).unwrap();
                paths = (0..count)
                    .map(|index| files.join(index.to_string()))
                    .collect();
                if replace {
                    for path in &paths {
                        fs::write(path, text).unwrap();
                    }
                }
                // SAFETY: no memory is involved.
                unsafe { libc::sync() };
                return;
            }
            if way == 0 {
                let entries = paths.iter().map(|path| (path, &text));
                writer.write(entries).into_result().unwrap();
                return;
            }
            let root = File::open(&files).unwrap();
            for path in &paths {
                let temporary = path.with_extension("temporary");
                drop(write(if replace { &temporary } else { path }, &text));
            }
            sync_file_system(&root);
            if replace {
                for path in &paths {
                    fs::rename(path.with_extension("temporary"), path).unwrap();
                }
                sync_file_system(&root);
            }
        };
        let many = dir.join("many");
        let times = measure(ROUNDS, 2, |way, start| {
            if start && many.exists() {
                fs::remove_dir_all(&many).unwrap();
            }
            time(way, start);
        });
        fs::remove_dir_all(&many).unwrap();
        let kind = if replace { "replaced" } else { "new" };
        print(&format!("{count} files, {kind}"), times[0], times[1]);
    }

    fn write(path: &Path, text: &[u8]) -> File {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        let mut file = options.open(path).unwrap();
        file.write_all(text).unwrap();
        file
    }

    fn sync_file_system(root: &File) {
        // SAFETY: the descriptor is open across the call.
        assert_eq!(unsafe { libc::syncfs(root.as_raw_fd()) }, 0);
    }

    /// Times each way once per round and returns the medians in microseconds. `run` is first called
    /// to start.
    fn measure(rounds: usize, ways: usize, mut run: impl FnMut(usize, bool)) -> Vec<f64> {
        let mut times = vec![Vec::with_capacity(rounds); ways];
        for round in 0..rounds {
            for step in 0..ways {
                let way = if round % 2 == 0 {
                    step
                } else {
                    ways - 1 - step
                };
                run(way, true);
                let began = Instant::now();
                run(way, false);
                times[way].push(began.elapsed().as_secs_f64() * 1e6);
            }
        }
        let median = |mut times: Vec<f64>| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        };
        times.into_iter().map(median).collect()
    }

    fn print(name: &str, smallfry: f64, bare: f64) {
        println!(
            "| {name} | {smallfry:.1} | {bare:.1} | {:.3} |",
            smallfry / bare
        );
    }
}
