//! The system's table of mounts, to find ours.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// The place of a mount.
#[derive(Debug, PartialEq)]
pub(super) enum Place {
    /// Unmounting this path unmounts the mount.
    Top(PathBuf),
    /// A later mount covers it.
    Covered,
    Nowhere,
}

/// Finds the mount with this source.
///
/// proc(5), `/proc/[pid]/mountinfo`.
pub(super) fn find(source: &str) -> io::Result<Place> {
    let table = std::fs::read("/proc/self/mountinfo")?;
    Ok(find_in(&table, source))
}

/// The sources of all mounts of this type.
pub(super) fn sources(kind: &str) -> io::Result<Vec<String>> {
    let table = std::fs::read("/proc/self/mountinfo")?;
    let mounts = table.split(|&byte| byte == b'\n').filter_map(mount);
    Ok(mounts
        .filter(|mount| mount.kind == kind.as_bytes())
        .filter_map(|mount| String::from_utf8(mount.source).ok())
        .collect())
}

fn find_in(table: &[u8], source: &str) -> Place {
    let mounts: Vec<Mount> = table
        .split(|&byte| byte == b'\n')
        .filter_map(mount)
        .collect();
    let Some(index) = mounts
        .iter()
        .position(|mount| mount.source == source.as_bytes())
    else {
        return Place::Nowhere;
    };
    let point = &mounts[index].point;
    // A mount on a directory above hides it as well.
    let covers = |other: &Mount| point.starts_with(&other.point);
    if mounts[index + 1..].iter().any(covers) {
        Place::Covered
    } else {
        Place::Top(point.clone())
    }
}

/// A line of the table, as far as it is used here.
struct Mount {
    point: PathBuf,
    kind: Vec<u8>,
    source: Vec<u8>,
}

fn mount(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|&byte| byte == b' ');
    let point = fields.nth(4)?;
    let mut fields = fields.skip_while(|&field| field != b"-").skip(1);
    let (kind, source) = (fields.next()?, fields.next()?);
    Some(Mount {
        point: PathBuf::from(OsString::from_vec(unescape(point))),
        kind: kind.to_vec(),
        source: unescape(source),
    })
}

/// Decodes blanks and backslashes, which are written in octal.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        let octal = after
            .get(..3)
            .filter(|_| byte == b'\\')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        if let Some(escaped) = octal {
            plain.push(escaped);
            rest = &after[3..];
        } else {
            plain.push(byte);
            rest = after;
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"22 1 254:0 / / rw,noatime - ext4 /dev/vda rw\n\
        40 22 0:40 / /a\\040b rw shared:3 master:1 - fuse.smallfry ours rw\n\
        41 22 0:41 / /c rw - fuse.smallfry covered rw\n\
        42 22 0:42 / /c rw - tmpfs ours-not rw\n\
        43 22 0:43 / /d/e rw - fuse.smallfry hidden rw\n\
        44 22 0:44 / /d rw - tmpfs ours-not rw\n";

    #[test]
    fn our_mount_is_found_by_its_source() {
        assert_eq!(find_in(TABLE, "ours"), Place::Top("/a b".into()));
        assert_eq!(find_in(TABLE, "other"), Place::Nowhere);
    }

    #[test]
    fn a_mount_that_covers_ours_is_left_alone() {
        assert_eq!(find_in(TABLE, "covered"), Place::Covered);
        assert_eq!(find_in(TABLE, "hidden"), Place::Covered);
    }
}
