//! The list of profiles and parameters, with the sources of their figures.

use comfy_table::{ContentArrangement, Table, presets};
use smallfry_slowfs::{PARAMETERS, Profile};
use std::io::{self, Write};

pub(super) fn print() -> io::Result<()> {
    let profiles = Profile::all();
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic);
    let names = profiles.iter().map(|profile| profile.name.to_owned());
    table.set_header(
        ["parameter".to_owned()]
            .into_iter()
            .chain(names)
            .chain(["meaning".to_owned()]),
    );
    for parameter in PARAMETERS {
        let values = profiles
            .iter()
            .map(|profile| parameter.of(&profile.parameters));
        table.add_row(
            [parameter.name.to_owned()]
                .into_iter()
                .chain(values)
                .chain([parameter.about.to_owned()]),
        );
    }
    let mut output = io::stdout().lock();
    for profile in &profiles {
        writeln!(output, "{}: {}", profile.name, profile.about)?;
        writeln!(output, "    source: {}", profile.source)?;
    }
    writeln!(output, "\n{table}")?;
    writeln!(
        output,
        "\n0 switches a parameter off. Any profile takes any parameter: --set seek=12ms, or hdd,seek=12ms"
    )
}
