//! The `smallfry` command.

fn main() {}
