//! The `smallfry` command: shows what small files cost on this machine, and what pays.

#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "figures to be shown: small, not negative, and a wrong digit beats a panic"
)]

mod bench;
mod scope;
mod slow;
mod trial;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "smallfry",
    version,
    about = "Lots of small files, fast and safe",
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure on this disk, beside today's idioms, what smallfry gains and where it does not
    Bench(Box<bench::Arguments>),
    /// Run your own command with and without smallfry in turn: what is gained, and are the outputs the same?
    Try(trial::Arguments),
    /// Say of each file whether Node takes it for a module or CommonJS, and which package.json makes it so
    Scope(scope::Arguments),
    /// Make a directory slow, full or faulty: the same files behind a simulated disk
    Slow(Box<slow::Arguments>),
    /// Unmount what a killed `slow` leaves
    #[command(name = slow::GUARD, hide = true)]
    SlowGuard { process: u32 },
    /// Obey a bench: the process of one row
    #[command(name = bench::DRIVER, hide = true)]
    Driver {
        launch: String,
        work: Option<String>,
    },
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Try(arguments) => trial::run(&arguments),
        Command::Driver { launch, work } => bench::drive(&launch, work.as_deref()),
        Command::Scope(arguments) => scope::run(&arguments),
        Command::Slow(arguments) => slow::run(&arguments),
        Command::SlowGuard { process } => slow::guard(process),
    }
}
