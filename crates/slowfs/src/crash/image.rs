//! A file that serves as a disk, after a crash: for images of disks whose file systems are to be
//! tested.

use super::contents::{parts, place};
use super::log::Log;
use super::model::{Crash, Model, durable};
use super::node::Inode;
use super::operation::{Operation, apply};
use std::fs::File;
use std::io;

impl Log {
    /// Writes a file, as a crash of the machine may leave it that used it as a disk, to `into`.
    ///
    /// Everything that was written before the last completed flush of the file is there. Of later
    /// writes each block of 4,096 bytes is there or not, depending on the seed, and the blocks that
    /// are there came in order. The size is that at the time of the crash. Zeros become holes.
    pub fn image(&self, file: Inode, point: usize, seed: u64, into: &File) -> io::Result<()> {
        let node = self.node(file)?;
        let point = point.min(self.len());
        let flushed = durable(self, file, point, false);
        let crash = Crash {
            point,
            model: Model::Weak,
            seed,
        };
        let mut random = crash.random(!u64::from(file.0));
        let mut contents = node.before.clone();
        let indices = node.contents.iter().take_while(|&&index| index < point);
        for &index in indices {
            let operation = &self.entries[index].operation;
            match *operation {
                Operation::Write {
                    offset,
                    length,
                    bytes,
                    ..
                } if index >= flushed => {
                    let end = offset + length;
                    for block in parts(offset, end) {
                        if random.bool() {
                            place(&mut contents, offset, block, bytes);
                        }
                    }
                    contents.size = contents.size.max(end);
                }
                _ => apply(&mut contents, operation),
            }
        }
        contents.write_to(&self.store, into)
    }
}
