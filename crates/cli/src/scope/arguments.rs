//! The command line of `smallfry scope`.

use std::ffi::OsString;

#[derive(clap::Args)]
#[command(after_help = "\
Exit status: 0 if every file has an answer, 1 if a package.json is invalid or unreadable, or a
path is impossible.

With --json: {\"schema\": \"smallfry-scope/1\", \"files\": [{
  file         the path as it was given
  realPath     the path with symbolic links resolved; absent if there are none
  format       module, commonjs, json, wasm, addon, or unknown (an extension that Node does not
               know); null if the file has no answer
  type         the type in packageJson: module, commonjs or none; null if the file is invalid
  packageJson  the nearest package.json, even where the extension decides; null if there is none
  reason       what decides: extension, unknown-extension, type, no-type, no-package, error, or
               unknown-type (neither \"module\" nor \"commonjs\")
  why          the explanation in sentences
  error        null, or {code, message, path, line, column}: the error that Node throws, or the
               problem with the path; line and column count from 1, and are null if nothing was read
}]}

Examples:
  smallfry scope src/main.js
  smallfry scope --json *.js | jq -r '.files[] | select(.format == \"commonjs\") | .file'")]
pub(crate) struct Arguments {
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,

    /// File to look up; it need not exist. A directory stands for the .js files in it
    // No `PathBuf`: clap would refuse an empty path, and the other files would get no answer.
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<OsString>,
}
