//! The phases of runs, one after another.

use super::{AROUND, BAR, Drawn, Unit, WIDTH, colour, end_of_row};
use crate::export::document::{Comparison, Row};
use plotters::coord::ranged1d::SegmentValue;
use plotters::prelude::*;

/// Draws the phases of each row one after another.
pub(in crate::export) fn phases(comparison: &Comparison) -> Drawn {
    let rows: Vec<&Row> = comparison
        .rows
        .iter()
        .filter(|row| !row.phases.is_empty())
        .collect();
    let whole = |row: &&Row| row.phases.iter().map(|phase| phase.median_ns).sum::<f64>();
    let longest = rows.iter().map(whole).fold(0.0, f64::max);
    if longest <= 0.0 {
        return Ok(String::new());
    }
    let mut names: Vec<&str> = Vec::new();
    for phase in rows.iter().flat_map(|row| &row.phases) {
        if !names.contains(&phase.name.as_str()) {
            names.push(&phase.name);
        }
    }
    let (unit, count) = (Unit::of(longest), rows.len());
    let mut svg = String::new();
    {
        let height = AROUND + 40 + BAR * u32::try_from(count)?;
        let root = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        let (legend, area) = root.split_vertically(34);
        let labels: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        let description = format!("medians of the phases, {}", unit.name);
        let mut chart = super::rows_chart(&area, &labels, unit.shown(longest), description)?;
        for (index, row) in rows.iter().enumerate() {
            let mut start = 0.0;
            for phase in &row.phases {
                let found = names.iter().position(|name| *name == phase.name);
                let end = start + phase.median_ns;
                let at = count - 1 - index;
                let mut part = Rectangle::new(
                    [
                        (unit.shown(start), SegmentValue::Exact(at)),
                        (unit.shown(end), end_of_row(at, count)),
                    ],
                    colour(found.unwrap_or(0)).mix(0.8).filled(),
                );
                part.set_margin(5, 5, 0, 1);
                chart.draw_series([part])?;
                start = end;
            }
        }
        let mut x = 12;
        for (index, name) in names.iter().enumerate() {
            legend.draw(&Rectangle::new(
                [(x, 12), (x + 12, 24)],
                colour(index).mix(0.8).filled(),
            ))?;
            legend.draw(&Text::new(*name, (x + 17, 12), ("sans-serif", 14)))?;
            x += 30 + 8 * i32::try_from(name.chars().count())?;
        }
        root.present()?;
    }
    Ok(svg)
}
