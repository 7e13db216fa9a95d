//! Curves over a logarithmic axis of time: samples in order, and percentiles.

use super::{CURVES, Drawn, NAMES, Unit, WIDTH, colour, short};
use crate::export::document::{Bucket, Comparison, Row};
use crate::output::text;
use plotters::prelude::*;

/// Draws the samples of each row in the order in which they were taken.
pub(in crate::export) fn rounds(comparison: &Comparison) -> Drawn {
    let of = |row: &Row| -> Vec<(f64, f64)> {
        let numbered = row.samples_ns.iter().enumerate();
        numbered
            .filter_map(|(round, ns)| Some((round as f64 + 1.0, (*ns)?)))
            .collect()
    };
    let lines = comparison.rows.iter().map(|row| (row, of(row))).collect();
    let last = comparison.rounds.max(2) as f64;
    curves(lines, 1.0..last, "round", &comparison.sample, &|round| {
        format!("{round:.0}")
    })
}

/// Draws how long the slowest samples take: percentiles, evenly spaced by the number of nines.
pub(in crate::export) fn percentiles(comparison: &Comparison) -> Drawn {
    /// Percentiles nearer to 1 than this are drawn at it.
    const NEAREST: f64 = 1e-5;
    let nines = |part: f64| -(1.0 - part).max(NEAREST).log10();
    let of = |row: &Row| -> Vec<(f64, f64)> {
        let all: u64 = row.histogram.iter().map(|bucket| bucket.count).sum();
        let mut below = 0;
        let point = |bucket: &Bucket| {
            let part = below as f64 / all as f64;
            below += bucket.count;
            (nines(part), bucket.ns as f64)
        };
        row.histogram.iter().map(point).collect()
    };
    let rows = comparison.rows.iter();
    let lines: Vec<(&Row, Vec<(f64, f64)>)> = rows.map(|row| (row, of(row))).collect();
    let points = lines.iter().flat_map(|(_, points)| points);
    let last = points.map(|(nines, _)| *nines).fold(1.0, f64::max);
    curves(
        lines,
        0.0..last,
        "percentile",
        &comparison.sample,
        &|nines| {
            let part = 100.0 * (1.0 - 10_f64.powf(-nines));
            let digits = (nines.round() as usize).saturating_sub(2);
            format!("{part:.digits$}")
        },
    )
}

/// Returns round numbers of a logarithmic axis, three or more.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    const STEPS: [&[f64]; 3] = [
        &[1.0],
        &[1.0, 2.0, 5.0],
        &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0],
    ];
    const WANTED: usize = 3;
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    for steps in STEPS {
        let of = |decade: i32| steps.iter().map(move |step| step * 10_f64.powi(decade));
        let found = decades.clone().flat_map(of);
        let found: Vec<f64> = found.filter(|tick| (low..=high).contains(tick)).collect();
        if found.len() >= WANTED {
            return found;
        }
    }
    // Less than half a decade.
    let between = |part: usize| low + (high - low) * part as f64 / WANTED as f64;
    (0..=WANTED).map(between).collect()
}

/// Draws lines over a logarithmic axis of time.
fn curves(
    mut lines: Vec<(&Row, Vec<(f64, f64)>)>,
    across: std::ops::Range<f64>,
    name: &str,
    sample: &str,
    label: &dyn Fn(f64) -> String,
) -> Drawn {
    lines.retain(|(_, points)| !points.is_empty());
    let times = || {
        lines
            .iter()
            .flat_map(|(_, points)| points)
            .map(|(_, ns)| *ns)
    };
    let longest = times().fold(0.0, f64::max);
    let shortest = times().filter(|ns| *ns > 0.0).fold(longest, f64::min);
    if longest <= 0.0 {
        return Ok(String::new());
    }
    let unit = Unit::of(longest);
    let [low, high] = [shortest * 0.9, longest * 1.1].map(|ns| unit.shown(ns));
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, CURVES)).into_drawing_area();
        let (area, legend) = root.split_horizontally(WIDTH - NAMES);
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .margin_right(16)
            .set_label_area_size(LabelAreaPosition::Left, 70)
            .set_label_area_size(LabelAreaPosition::Bottom, 40)
            .build_cartesian_2d(
                across,
                (low..high).log_scale().with_key_points(ticks(low, high)),
            )?;
        chart
            .configure_mesh()
            .x_desc(name)
            .x_label_formatter(&|x| match x.fract() {
                0.0 => label(*x),
                _ => String::new(),
            })
            .y_desc(format!("time of a {sample}, {}", unit.name))
            .y_label_formatter(&|y| text::number(*y))
            .label_style(("sans-serif", 14))
            .light_line_style(TRANSPARENT)
            .draw()?;
        for (index, (row, points)) in lines.iter().enumerate() {
            let shown = points.iter().map(|(x, ns)| (*x, unit.shown(*ns)));
            let line = colour(index).stroke_width(2);
            chart.draw_series(LineSeries::new(shown, line))?;
            let y = 14 + 20 * i32::try_from(index)?;
            legend.draw(&PathElement::new(vec![(0, y), (18, y)], line))?;
            let name = Text::new(short(&row.name), (24, y - 7), ("sans-serif", 13));
            legend.draw(&name)?;
        }
        root.present()?;
    }
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_three_ticks_or_more() {
        assert_eq!(ticks(0.9, 1_100.0), [1.0, 10.0, 100.0, 1_000.0]);
        assert_eq!(ticks(90.0, 700.0), [100.0, 200.0, 500.0]);
        assert_eq!(ticks(90.0, 250.0), [100.0, 150.0, 200.0]);
        assert_eq!(ticks(10.2, 10.8).len(), 4);
    }
}
