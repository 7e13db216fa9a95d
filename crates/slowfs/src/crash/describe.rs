//! Operations of a log in words.

use super::log::Log;
use super::node::{Inode, Kind, Name};
use super::operation::Operation;
use std::path::PathBuf;

impl Log {
    /// Describes the operation with this number, counted from 0. Files are called by their last
    /// name.
    pub fn describe(&self, index: usize) -> Option<String> {
        let entry = self.entries.get(index)?;
        let at = |name: &Name| self.place(name.directory).join(&name.name);
        Some(match &entry.operation {
            Operation::Make(inode, name) => {
                let kind = match self.node(*inode).map(|node| &node.kind) {
                    Ok(Kind::Directory) => "mkdir",
                    Ok(Kind::Symlink(_)) => "symlink",
                    Ok(Kind::Special) => "mknod",
                    Ok(Kind::File) | Err(_) => "create",
                };
                format!("{kind} {}", at(name).display())
            }
            Operation::Link(inode, name) => {
                format!(
                    "link {} {}",
                    self.path(*inode).display(),
                    at(name).display()
                )
            }
            Operation::Remove(name) => format!("remove {}", at(name).display()),
            Operation::Rename {
                from,
                to,
                exchanged,
                ..
            } => {
                let verb = if exchanged.is_some() {
                    "exchange"
                } else {
                    "rename"
                };
                format!("{verb} {} {}", at(from).display(), at(to).display())
            }
            Operation::Write {
                inode,
                offset,
                length,
                bytes,
            } => {
                let verb = if bytes.is_some() { "write" } else { "zero" };
                let path = self.path(*inode);
                format!("{verb} {} {length} bytes at {offset}", path.display())
            }
            Operation::Resize(inode, size) => {
                format!("truncate {} {size}", self.path(*inode).display())
            }
            Operation::Change(inode, attributes) => {
                let path = self.path(*inode);
                format!("change {} to mode {:o}", path.display(), attributes.mode)
            }
            Operation::Flush {
                inode,
                data_only,
                before,
            } => {
                let call = if *data_only { "fdatasync" } else { "fsync" };
                format!("{call} {}, begun at {before}", self.path(*inode).display())
            }
            Operation::Acknowledge(name) => format!("acknowledge {}", name.display()),
        })
    }

    fn path(&self, inode: Inode) -> PathBuf {
        if inode == Inode::ROOT {
            return PathBuf::from(".");
        }
        self.place(inode)
    }

    /// The path of an inode below the directory, or its last one.
    fn place(&self, inode: Inode) -> PathBuf {
        let mut names = Vec::new();
        let mut inode = inode;
        while let Some(name) = self.node(inode).ok().and_then(|node| node.place.as_ref()) {
            names.push(name.name.clone());
            inode = name.directory;
        }
        names.into_iter().rev().collect()
    }
}
