//! `smallfry completions` and `smallfry man`: the command line for shells and for `man`.

use crate::failure::{self, Failure};
use clap::{Args, Command};
use clap_complete::Shell;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  smallfry completions bash > ~/.local/share/bash-completion/completions/smallfry
  smallfry completions zsh > ~/.zfunc/_smallfry")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  smallfry man ~/.local/share/man/man1 && man smallfry-try")]
pub(crate) struct Man {
    /// Directory for the pages, one for each command
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Prints the script that completes the command line in a shell.
pub(crate) fn completions(mut command: Command, arguments: &Completions) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "smallfry", &mut script);
    match io::stdout().write_all(&script) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Writes the pages.
pub(crate) fn man(command: Command, arguments: &Man) -> ExitCode {
    let directory = &arguments.directory;
    let made = fs::create_dir_all(directory);
    let written = made.and_then(|()| clap_mangen::generate_to(command, directory));
    let outcome = written.map_err(Failure::at("write the pages to", directory));
    failure::exit_code("man", outcome.map(|()| true))
}
