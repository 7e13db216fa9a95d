//! The charts, as SVG without a background. The style sheet of a page can give black lines and
//! letters the colour of its text.

use crate::export::document::{Comparison, Row};
use plotters::coord::ranged1d::SegmentValue;
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

/// Returns the height of the [bars] in pixels.
pub(super) fn height_of_bars(comparison: &Comparison) -> u32 {
    let rows = comparison.rows.iter().filter(|row| row.median_ns.is_some());
    AROUND + BAR * u32::try_from(rows.count()).unwrap_or(0)
}

/// Draws medians as bars, with a line at the baseline, and in each bar's end the interval that the
/// ratio of its row allows.
pub(super) fn bars(comparison: &Comparison) -> Drawn {
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
        let mut chart = ChartBuilder::on(&root)
            .margin(8)
            .margin_right(24)
            .set_label_area_size(LabelAreaPosition::Left, NAMES)
            .set_label_area_size(LabelAreaPosition::Bottom, 40)
            .build_cartesian_2d(0.0..unit.shown(longest) * 1.02, (0..count).into_segmented())?;
        // The first row is on top.
        let place = |index: usize| count - 1 - index;
        let name = |at: &SegmentValue<usize>| match at {
            SegmentValue::CenterOf(at) if *at < count => short(&rows[place(*at)].0.name),
            _ => String::new(),
        };
        chart
            .configure_mesh()
            .disable_y_mesh()
            .light_line_style(TRANSPARENT)
            .y_labels(count)
            .y_label_formatter(&name)
            .x_desc(format!("median of a {}, {}", comparison.sample, unit.name))
            .label_style(("sans-serif", 14))
            .draw()?;
        for (index, (row, median)) in rows.iter().enumerate() {
            let at = place(index);
            let mut bar = Rectangle::new(
                [
                    (0.0, SegmentValue::Exact(at)),
                    (unit.shown(*median), SegmentValue::Exact(at + 1)),
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
                (baseline, SegmentValue::Exact(count)),
            ],
            6,
            4,
            BLACK.stroke_width(1),
        ))?;
        root.present()?;
    }
    Ok(svg)
}

/// Draws the samples of each row in the order in which they were taken.
pub(super) fn rounds(comparison: &Comparison) -> Drawn {
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
pub(super) fn percentiles(comparison: &Comparison) -> Drawn {
    /// Percentiles nearer to 1 than this are drawn at it.
    const NEAREST: f64 = 1e-5;
    let nines = |part: f64| -(1.0 - part).max(NEAREST).log10();
    let of = |row: &Row| -> Vec<(f64, f64)> {
        let all: u64 = row.histogram.iter().map(|bucket| bucket.count).sum();
        let mut below = 0;
        let point = |bucket: &crate::export::document::Bucket| {
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
            .build_cartesian_2d(across, (low..high).log_scale())?;
        chart
            .configure_mesh()
            .x_desc(name)
            .x_label_formatter(&|x| match x.fract() {
                0.0 => label(*x),
                _ => String::new(),
            })
            .y_desc(format!("time of a {sample}, {}", unit.name))
            .y_label_formatter(&|y| crate::output::text::number(*y))
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

/// Draws the phases of each row one after another.
pub(super) fn phases(comparison: &Comparison) -> Drawn {
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
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .margin_right(24)
            .set_label_area_size(LabelAreaPosition::Left, NAMES)
            .set_label_area_size(LabelAreaPosition::Bottom, 40)
            .build_cartesian_2d(0.0..unit.shown(longest) * 1.02, (0..count).into_segmented())?;
        let place = |index: usize| count - 1 - index;
        let name = |at: &SegmentValue<usize>| match at {
            SegmentValue::CenterOf(at) if *at < count => short(&rows[place(*at)].name),
            _ => String::new(),
        };
        chart
            .configure_mesh()
            .disable_y_mesh()
            .light_line_style(TRANSPARENT)
            .y_labels(count)
            .y_label_formatter(&name)
            .x_desc(format!("medians of the phases, {}", unit.name))
            .label_style(("sans-serif", 14))
            .draw()?;
        for (index, row) in rows.iter().enumerate() {
            let mut start = 0.0;
            for phase in &row.phases {
                let found = names.iter().position(|name| *name == phase.name);
                let end = start + phase.median_ns;
                let at = place(index);
                let mut part = Rectangle::new(
                    [
                        (unit.shown(start), SegmentValue::Exact(at)),
                        (unit.shown(end), SegmentValue::Exact(at + 1)),
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
