//! The command, and the variable that makes its two sides: `NODE_OPTIONS`.

use super::arguments::Arguments;
use super::system;
use crate::bench::runtime::node;
use crate::failure::Failure;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the directory where smallfry writes its counts; see `bindings/node/lib/counting`.
const COUNT: &str = "SMALLFRY_COUNT";
const NODE_OPTIONS: &str = "NODE_OPTIONS";

/// The side of a comparison: whether the command runs with smallfry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Without,
    With,
}

impl Side {
    pub(super) const BOTH: [Self; 2] = [Self::Without, Self::With];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Without => "without smallfry",
            Self::With => "with smallfry",
        }
    }
}

pub(super) struct Subject {
    how: How,
    /// The file that `--require smallfry/register` loads.
    register: PathBuf,
    /// The user's own options, which stay.
    node_options: Option<OsString>,
}

enum How {
    /// A program's file, and the arguments as they were given.
    Direct(PathBuf, Vec<OsString>),
    Shell(OsString),
}

impl Subject {
    pub(super) fn of(arguments: &Arguments) -> Result<Self, Failure> {
        let package = node::find_package(arguments.package.as_deref()).map_err(Failure::Said)?;
        let register = package.join("dist").join("register.js");
        if !register.is_file() {
            return Err(Failure::said(format!(
                "{} is not a built npm package of smallfry: dist/register.js is missing (`make build` builds it)",
                package.display()
            )));
        }
        Ok(Self {
            how: How::of(&arguments.command)?,
            register,
            node_options: std::env::var_os(NODE_OPTIONS).filter(|options| !options.is_empty()),
        })
    }

    /// The command for one side. `counts` is the directory for counts, if it is to be counted.
    pub(super) fn command(&self, side: Side, counts: Option<&Path>) -> Result<Command, Failure> {
        let mut command = match &self.how {
            How::Direct(program, arguments) => {
                let mut command = Command::new(program);
                command.args(arguments);
                command
            }
            How::Shell(line) => system::shell(line),
        };
        if side == Side::With {
            command.env(NODE_OPTIONS, self.with_register()?);
        }
        match counts {
            Some(directory) => command.env(COUNT, directory),
            None => command.env_remove(COUNT),
        };
        Ok(command)
    }

    /// Node that does nothing, for one side.
    pub(super) fn node(&self, program: &Path, side: Side) -> Result<Command, Failure> {
        let mut command = Command::new(program);
        command.args(["-e", "0"]).env_remove(COUNT);
        if side == Side::With {
            command.env(NODE_OPTIONS, self.with_register()?);
        }
        Ok(command)
    }

    /// The user's options, and `--require` with our file.
    fn with_register(&self) -> Result<OsString, Failure> {
        let register = self.register.to_str().ok_or_else(|| {
            Failure::said(format!(
                "NODE_OPTIONS cannot name {}: the path is not Unicode; move the package elsewhere",
                self.register.display()
            ))
        })?;
        let mut options = self.node_options.clone().unwrap_or_default();
        if !options.is_empty() {
            options.push(" ");
        }
        options.push("--require ");
        options.push(quoted(register));
        Ok(options)
    }

    /// The package's directory.
    pub(super) fn package(&self) -> &Path {
        // `register` is two levels below it.
        self.register.ancestors().nth(2).unwrap_or(&self.register)
    }

    /// The command as a person would type it.
    pub(super) fn line(&self, words: &[OsString]) -> String {
        match &self.how {
            How::Shell(line) => line.to_string_lossy().into_owned(),
            How::Direct(..) => joined(words),
        }
    }

    /// The words after `node`, if the command runs node directly.
    pub(super) fn node_arguments<'a>(&self, words: &'a [OsString]) -> Option<&'a [OsString]> {
        let (program, rest) = words.split_first()?;
        let is_node = Path::new(program)
            .file_stem()
            .is_some_and(|stem| stem == "node");
        (is_node && matches!(self.how, How::Direct(..))).then_some(rest)
    }

    pub(super) fn is_shell(&self) -> bool {
        matches!(self.how, How::Shell(_))
    }

    pub(super) fn has_node_options(&self) -> bool {
        self.node_options.is_some()
    }
}

impl How {
    fn of(words: &[OsString]) -> Result<Self, Failure> {
        let Some((program, arguments)) = words.split_first() else {
            return Err(Failure::said("no command to run was given"));
        };
        let for_shell = arguments.is_empty()
            && program.to_string_lossy().contains(char::is_whitespace)
            && !Path::new(program).exists();
        if for_shell {
            return Ok(Self::Shell(program.clone()));
        }
        match which::which(program) {
            Ok(file) => Ok(Self::Direct(file, arguments.to_vec())),
            Err(_) => Err(Failure::said(format!(
                "cannot find the program {}: is it on PATH?",
                program.to_string_lossy()
            ))),
        }
    }
}

/// Joins words so that a POSIX shell splits them again.
pub(super) fn joined<W: AsRef<OsStr>>(words: &[W]) -> String {
    let quoted = |word: &W| {
        let word = word.as_ref().to_string_lossy().into_owned();
        shlex::try_quote(&word).map_or_else(|_| word.clone(), std::borrow::Cow::into_owned)
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for `NODE_OPTIONS`. Node splits it at spaces outside double quotes. Inside quotes
/// a backslash escapes the next character. Source: `ParseNodeOptionsEnvVar` in Node's
/// `src/node_options.cc`.
fn quoted(word: &str) -> String {
    if !word.contains([' ', '"']) {
        return word.to_owned();
    }
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_with_spaces_or_quotes_are_quoted() {
        assert_eq!(quoted("/a/b.js"), "/a/b.js");
        assert_eq!(quoted(r"C:\a\b.js"), r"C:\a\b.js");
        assert_eq!(quoted("/a b/c.js"), "\"/a b/c.js\"");
        assert_eq!(quoted(r#"C:\a "b"\c"#), r#""C:\\a \"b\"\\c""#);
    }

    #[test]
    fn words_are_joined_for_a_shell() {
        assert_eq!(joined(&["a", "b c", "$d"]), "a 'b c' '$d'");
    }
}
