//! Guards against constants of a front end that differ from the table: an option would be taken for
//! another one.

use std::fs;
use std::path::Path;

use smallfry_options::table::{FLUSH_FULL, FrontEnd, Row, TABLE};

/// The header of a generated file; `//` begins each line.
const NOTE: &str = "// Generated from bindings/options/src/table.rs. To update it, run\n\
                    // `UPDATE_OPTION_BITS=1 cargo test -p smallfry-options`.\n";

fn rows(front_end: FrontEnd) -> impl Iterator<Item = &'static Row> {
    TABLE
        .iter()
        .filter(move |row| row.front_ends.contains(&front_end))
}

fn typescript() -> String {
    let constant = |row: &Row| {
        let Row {
            name,
            value,
            meaning,
            ..
        } = row;
        format!("\n/** {meaning} */\nexport const {name} = {value};\n")
    };
    let constants: String = rows(FrontEnd::Node).map(constant).collect();
    format!("// The bits of options, as native code reads them.\n//\n{NOTE}{constants}")
}

fn kotlin() -> String {
    let constant = |row: &Row| {
        let Row {
            name,
            value,
            meaning,
            ..
        } = row;
        format!("    /** {meaning} */\n    const val {name} = {value}\n")
    };
    let constants: Vec<_> = rows(FrontEnd::Jvm).map(constant).collect();
    let constants = constants.join("\n");
    format!(
        "package dev.smallfry\n\n{NOTE}\n/** The bits of options, as the native half reads them. */\n\
         internal object OptionBits {{\n{constants}}}\n"
    )
}

#[track_caller]
fn holds(file: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    if std::env::var_os("UPDATE_OPTION_BITS").is_some() {
        fs::write(&path, expected).expect("the front end has a directory for it");
    }
    // Git may check text files out with other line ends on Windows.
    let found = fs::read_to_string(&path)
        .unwrap_or_default()
        .replace("\r\n", "\n");
    assert_eq!(
        found, expected,
        "bindings/{file} differs from the table; UPDATE_OPTION_BITS=1 writes it anew"
    );
}

#[test]
fn typescript_has_the_bits_of_the_table() {
    holds("node/lib/core/option-bits.ts", &typescript());
}

#[test]
fn kotlin_has_the_bits_of_the_table() {
    holds("jvm/src/main/kotlin/dev/smallfry/OptionBits.kt", &kotlin());
}

#[test]
fn no_two_options_share_a_bit() {
    let mut taken = FLUSH_FULL;
    for Row { name, value, .. } in TABLE.iter().filter(|row| row.value > FLUSH_FULL) {
        assert_eq!(value.count_ones(), 1, "{name}");
        assert_eq!(taken & value, 0, "{name}");
        taken |= value;
    }
}
