//! The command line of `smallfry scope`.

use std::ffi::OsString;

#[derive(clap::Args)]
#[command(after_help = "\
Exit status: 0 if there is an answer for each file, 1 if a package.json is invalid or cannot be
read, or a path cannot be.

With --json: {\"schema\": \"smallfry-scope/1\", \"files\": [{
  file         as it was given
  realPath     where links on the way lead; absent if there are none
  format       module, commonjs, json, wasm, addon, unknown (the extension); null with an error
  type         what packageJson says: module, commonjs, none; null if it is invalid
  packageJson  the nearest, whether it decides or the extension does; null if there is none
  reason       extension, unknown-extension, type, no-type, no-package, error,
               unknown-type (neither \"module\" nor \"commonjs\")
  why          the same in words
  error        null or {code, message, path, line, column}: what Node throws, or what is wrong with
               the path; line and column count from 1, and are null if nothing was read
}]}

Examples:
  smallfry scope src/main.js
  smallfry scope --json *.js | jq -r '.files[] | select(.format == \"commonjs\") | .file'")]
pub(crate) struct Arguments {
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,

    /// The file; it need not exist. A directory stands for the .js files in it
    // Not a path, of which clap refuses an empty one for all others with it.
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<OsString>,
}
