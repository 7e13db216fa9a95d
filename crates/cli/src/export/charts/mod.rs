//! The charts, as SVG without a background. The style sheet of a page can give black lines and
//! letters the colour of its text.
//!
//! - `bars.rs`: medians
//! - `curves.rs`: samples in order, and percentiles
//! - `phases.rs`: the parts of runs

mod bars;
mod curves;
mod phases;

pub(super) use bars::{bars, height_of_bars};
pub(super) use curves::{percentiles, rounds};
pub(super) use phases::phases;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{SegmentValue, SegmentedCoord};
use plotters::coord::types::{RangedCoordf64, RangedCoordusize};
use plotters::prelude::*;
use std::error::Error;

type Drawn = Result<String, Box<dyn Error>>;

pub(super) const WIDTH: u32 = 920;
/// The height of a bar with its gap, in pixels.
const BAR: u32 = 30;
/// The height of what is above and below the bars.
const AROUND: u32 = 60;
/// The height of the other charts, with room for the names of rows beside them.
const CURVES: u32 = 340;
/// The width for the names of rows.
const NAMES: u32 = 240;
/// The maximum number of letters of a name beside a bar.
const LETTERS: usize = 34;

/// Okabe and Ito (2008), "Color universal design": told apart by readers who are colour-blind. The
/// last ones are darker, for rows beyond the seventh.
const COLOURS: [RGBColor; 10] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x8f, 0x8f, 0x00),
    RGBColor(0x7a, 0x52, 0x9c),
    RGBColor(0x99, 0x33, 0x33),
    RGBColor(0x33, 0x88, 0x88),
];

fn colour(index: usize) -> RGBColor {
    COLOURS[index % COLOURS.len()]
}

/// A chart with a bar for each row, the first on top.
type RowsChart<'a, 'b> =
    ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, SegmentedCoord<RangedCoordusize>>>;

/// Draws the axes of a chart whose rows have these names and take up to `longest` units of time.
fn rows_chart<'a, 'b>(
    area: &'a DrawingArea<SVGBackend<'b>, Shift>,
    names: &[&str],
    longest: f64,
    description: String,
) -> Result<RowsChart<'a, 'b>, Box<dyn Error>> {
    let count = names.len();
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .margin_right(24)
        .set_label_area_size(LabelAreaPosition::Left, NAMES)
        .set_label_area_size(LabelAreaPosition::Bottom, 40)
        .build_cartesian_2d(0.0..longest * 1.02, (0..last_row(count)).into_segmented())?;
    let name = |at: &SegmentValue<usize>| match at {
        SegmentValue::CenterOf(at) if *at < count => short(names[count - 1 - *at]),
        _ => String::new(),
    };
    chart
        .configure_mesh()
        .disable_y_mesh()
        .light_line_style(TRANSPARENT)
        .y_labels(count)
        .y_label_formatter(&name)
        .x_desc(description)
        .label_style(("sans-serif", 14))
        .draw()?;
    Ok(chart)
}

/// Returns the number of the last row of so many; plotters cannot draw a range of one.
fn last_row(count: usize) -> usize {
    count.saturating_sub(1).max(1)
}

/// Returns where a row ends and the next begins.
fn end_of_row(row: usize, count: usize) -> SegmentValue<usize> {
    if row < last_row(count) {
        SegmentValue::Exact(row + 1)
    } else {
        SegmentValue::Last
    }
}

/// Cuts a name to what fits beside a chart; the table has all of it.
fn short(name: &str) -> String {
    match name.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// The unit of an axis.
struct Unit {
    name: &'static str,
    ns: f64,
}

impl Unit {
    fn of(longest: f64) -> Self {
        let (name, ns) = match longest {
            ns if ns < 1e3 => ("ns", 1.0),
            ns if ns < 1e6 => ("µs", 1e3),
            ns if ns < 1e9 => ("ms", 1e6),
            _ => ("s", 1e9),
        };
        Self { name, ns }
    }

    fn shown(&self, ns: f64) -> f64 {
        ns / self.ns
    }
}
