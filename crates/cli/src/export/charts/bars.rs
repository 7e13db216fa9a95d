//! Medians as bars.

use super::{AROUND, BAR, Drawn, Unit, WIDTH, colour, end_of_row};
use crate::export::document::{Comparison, Row};
use plotters::coord::ranged1d::SegmentValue;
use plotters::prelude::*;

/// Returns the height of the [bars] in pixels.
pub(in crate::export) fn height_of_bars(comparison: &Comparison) -> u32 {
    let rows = comparison.rows.iter().filter(|row| row.median_ns.is_some());
    AROUND + BAR * u32::try_from(rows.count()).unwrap_or(0)
}

/// Draws medians as bars, with a line at the baseline, and in each bar's end the interval that the
/// ratio of its row allows.
pub(in crate::export) fn bars(comparison: &Comparison) -> Drawn {
    let rows: Vec<(&Row, f64)> = comparison
        .rows
        .iter()
        .filter_map(|row| Some((row, row.median_ns?)))
        .collect();
    let Some(&(_, baseline)) = rows.first() else {
        return Ok(String::new());
    };
    let interval = |row: &Row| row.ratio.map(|it| [baseline / it.high, baseline / it.low]);
    let ends = rows.iter().filter_map(|(row, _)| interval(row));
    let longest = rows.iter().map(|(_, median)| *median);
    let longest = longest.chain(ends.map(|[_, end]| end)).fold(0.0, f64::max);
    let unit = Unit::of(longest);
    let count = rows.len();
    let mut svg = String::new();
    {
        let size = (WIDTH, height_of_bars(comparison));
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let names: Vec<&str> = rows.iter().map(|(row, _)| row.name.as_str()).collect();
        let description = format!("median of a {}, {}", comparison.sample, unit.name);
        let mut chart = super::rows_chart(&root, &names, unit.shown(longest), description)?;
        for (index, (row, median)) in rows.iter().enumerate() {
            let at = count - 1 - index;
            let mut bar = Rectangle::new(
                [
                    (0.0, SegmentValue::Exact(at)),
                    (unit.shown(*median), end_of_row(at, count)),
                ],
                colour(index).mix(0.75).filled(),
            );
            bar.set_margin(5, 5, 0, 0);
            chart.draw_series([bar])?;
            if let Some(ends) = interval(row).filter(|_| index > 0) {
                let [low, high] = ends.map(|ns| unit.shown(ns));
                let middle = || SegmentValue::CenterOf(at);
                chart.draw_series([PathElement::new(
                    vec![(low, middle()), (high, middle())],
                    BLACK.stroke_width(2),
                )])?;
                chart.draw_series([low, high].map(|end| {
                    EmptyElement::at((end, middle()))
                        + PathElement::new(vec![(0, -5), (0, 5)], BLACK.stroke_width(2))
                }))?;
            }
        }
        let baseline = unit.shown(baseline);
        chart.draw_series(DashedLineSeries::new(
            [
                (baseline, SegmentValue::Exact(0)),
                (baseline, end_of_row(count - 1, count)),
            ],
            6,
            4,
            BLACK.stroke_width(1),
        ))?;
        root.present()?;
    }
    Ok(svg)
}
