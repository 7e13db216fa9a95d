//! The `smallfry` command. It copies, mirrors, removes, packs, unpacks and hashes trees, and
//! measures what small files cost on this machine. Programs that use smallfry as a library use
//! `smallfry`: this crate has nothing for them.

#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "figures to be shown: small, not negative, and a wrong digit beats a panic"
)]

mod bench;
mod compare;
mod export;
mod failure;
#[cfg(fuzzing)]
pub mod fuzzing;
mod host;
mod output;
mod process;
mod report;
mod scope;
mod signals;
mod slow;
mod stats;
mod tree;
mod trial;
mod usage;

use clap::{CommandFactory as _, Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "smallfry",
    version,
    about = "Copies, removes, packs and hashes small files, and shows what they cost here",
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure what smallfry gains on this disk, next to today's idioms
    Bench(Box<bench::Arguments>),
    /// Ask what is fastest in a directory, in about a minute
    Advise(bench::Advise),
    /// Run your own command with and without smallfry, and compare the two
    ///
    /// The command runs in turn with and without smallfry. The report tells how much time smallfry
    /// saves, and whether the command does the same.
    Try(trial::Arguments),
    /// Show what has changed between two result files of bench or try
    Compare(compare::Arguments),
    /// Turn a result file of bench or try into a page, tables or a picture
    Report(report::Arguments),
    /// Copy files and directories, with all that is in them
    Cp(tree::Cp),
    /// Bring the copy of a directory up to date, and delete in it what is gone
    Mirror(tree::Mirror),
    /// Remove files and directories, with all that is in them
    Rm(tree::Rm),
    /// Pack files and directories into a tar or zip
    Pack(tree::Pack),
    /// Unpack a tar or zip
    Unpack(tree::Unpack),
    /// Print or check digests of files, and one digest for each directory
    Hash(tree::Hash),
    /// Tell whether Node runs a file as a module or as CommonJS, and why
    Scope(scope::Arguments),
    /// Show a directory through a simulated disk: slow, full or faulty
    Slow(Box<slow::Arguments>),
    /// Print the script that completes this command line in a shell
    Completions(usage::Completions),
    /// Write the manual pages to a directory
    Man(usage::Man),
    /// Unmounts the directory of a `slow` that was killed
    #[command(name = slow::GUARD, hide = true)]
    SlowGuard { process: u32 },
    /// Serves one row of a bench in a process of its own
    #[command(name = bench::DRIVER, hide = true)]
    Driver {
        launch: String,
        work: Option<String>,
    },
}

/// Runs the command line of this process.
#[doc(hidden)]
pub fn run() -> ExitCode {
    let command = match Cli::try_parse() {
        Ok(cli) => cli.command,
        Err(error) => return refuse(&error),
    };
    match command {
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Advise(arguments) => bench::advise(&arguments),
        Command::Try(arguments) => trial::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Cp(arguments) => tree::copy(&arguments),
        Command::Mirror(arguments) => tree::mirror(&arguments),
        Command::Rm(arguments) => tree::remove(&arguments),
        Command::Pack(arguments) => tree::pack(&arguments),
        Command::Unpack(arguments) => tree::unpack(&arguments),
        Command::Hash(arguments) => tree::hash(&arguments),
        Command::Driver { launch, work } => bench::drive(&launch, work.as_deref()),
        Command::Scope(arguments) => scope::run(&arguments),
        Command::Slow(arguments) => slow::run(&arguments),
        Command::Completions(arguments) => usage::completions(Cli::command(), &arguments),
        Command::Man(arguments) => usage::man(Cli::command(), &arguments),
        Command::SlowGuard { process } => slow::guard(process),
    }
}

/// Prints the error of wrong arguments, or the help that was asked for.
fn refuse(error: &clap::Error) -> ExitCode {
    // The exit status says so if it cannot be printed.
    let printed = error.print();
    match error.exit_code() {
        0 if printed.is_ok() => ExitCode::SUCCESS,
        0 => ExitCode::FAILURE,
        // As cp, rm, rsync and sha256sum do.
        _ if std::env::args_os()
            .nth(1)
            .is_some_and(|name| tree::is_command(&name)) =>
        {
            ExitCode::FAILURE
        }
        code => u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from),
    }
}
