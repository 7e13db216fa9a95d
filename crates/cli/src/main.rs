//! The `smallfry` command.

fn main() -> std::process::ExitCode {
    smallfry_cli::run()
}
