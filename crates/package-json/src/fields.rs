//! The fields of a package.json that module loaders need.

use std::borrow::Cow;

use crate::invalid::Invalid;
use crate::structure::Walk;
use crate::text::unescape;

/// The meaning of `type` for files whose extension leaves the format open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ModuleType {
    /// There is no `type`, or it is neither of the others.
    #[default]
    None = 0,
    /// `commonjs`
    CommonJs = 1,
    /// `module`
    Module = 2,
}

/// `exports` or `imports`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A string, with its escapes decoded.
    Text(Box<str>),
    /// An object or array as it is written, with the space behind it. It need not be valid JSON,
    /// since it was not parsed.
    Json(Box<str>),
}

/// The fields of a package.json that module loaders need. All others are skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// `name`
    pub name: Option<Box<str>>,
    /// `main`, if it is a string.
    pub main: Option<Box<str>>,
    /// `type`
    pub module_type: ModuleType,
    /// `exports`, if it is a string, an object or an array.
    pub exports: Option<Value>,
    /// `imports`, likewise.
    pub imports: Option<Value>,
}

impl Fields {
    /// Parses the bytes of a file by the rules of Node 22 to 26.
    ///
    /// - A byte order mark is skipped.
    /// - Of two fields with one name the last valid one counts.
    /// - Keys are compared as they are written, so a key with an escape is unknown.
    /// - Values of other fields are skipped by counting brackets, so most errors in them go
    ///   unnoticed. Text after the end of the object goes unnoticed as well, if it ends in a brace.
    ///
    /// # Errors
    ///
    /// Fails where Node throws `ERR_INVALID_PACKAGE_CONFIG`: the text is not an object or not
    /// UTF-8, its `name` or `type` is not a string, or it ends too early.
    pub fn parse(bytes: &[u8]) -> Result<Self, Invalid> {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let mut fields = Self::default();
        let Some(mut walk) = Walk::begin(bytes)? else {
            return Ok(fields);
        };
        loop {
            let key = walk.key()?;
            match key {
                [b'n', b'a', b'm', b'e', b'"', ..] => {
                    fields.name = Some(required(&mut walk)?.into());
                }
                [b'm', b'a', b'i', b'n', b'"', ..] if walk.peek() == b'"' => {
                    fields.main = unescape(walk.take_string()).map(Box::from).or(fields.main);
                }
                [b't', b'y', b'p', b'e', b'"', ..] => match &*required(&mut walk)? {
                    "commonjs" => fields.module_type = ModuleType::CommonJs,
                    "module" => fields.module_type = ModuleType::Module,
                    _ => {}
                },
                [b'e', b'x', b'p', b'o', b'r', b't', b's', b'"', ..] => {
                    fields.exports = value(&mut walk)?.or(fields.exports);
                }
                [b'i', b'm', b'p', b'o', b'r', b't', b's', b'"', ..] => {
                    fields.imports = value(&mut walk)?.or(fields.imports);
                }
                // Node reads it for `node --run`, and refuses a file in which it cannot.
                [b's', b'c', b'r', b'i', b'p', b't', b's', b'"', ..] if walk.peek() == b'{' => {
                    walk.take_container()?;
                }
                _ => {}
            }
            if !walk.next_member()? {
                return Ok(fields);
            }
        }
    }
}

/// Takes a string.
fn required<'text>(walk: &mut Walk<'text>) -> Result<Cow<'text, str>, Invalid> {
    if walk.peek() != b'"' {
        return Err(walk.invalid("a string is expected"));
    }
    let offset = walk.offset();
    unescape(walk.take_string())
        .ok_or_else(|| walk.invalid_at(offset, "an escape in this string is none"))
}

fn value(walk: &mut Walk<'_>) -> Result<Option<Value>, Invalid> {
    Ok(match walk.peek() {
        b'"' => Some(Value::Text(required(walk)?.into())),
        b'{' | b'[' => {
            let offset = walk.offset();
            // The whole text is UTF-8, and each part begins at or before the first byte of a
            // character.
            let json = std::str::from_utf8(walk.take_container()?)
                .map_err(|_| walk.invalid_at(offset, "not UTF-8"))?;
            Some(Value::Json(json.into()))
        }
        _ => None,
    })
}
