//! Pictures as SVG. Text and axes take the colour of the page, so that they are seen in light and dark.

use std::error::Error;

use plotters::coord::Shift;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::document::Block;
use super::text::number;
use crate::compared::{Compared, Kind};
use crate::measure;
use crate::record::Cell;
use crate::scenario::Wait;
use crate::statistics::CURVE;

/// Latency, or throughput in MB/s, against size, both logarithmic; one picture for each wait.
pub(super) fn by_size(compared: &Compared<'_>, name: &str) -> Vec<Block> {
    let series = |wait| {
        let mut all: Vec<Series> = Vec::new();
        for cell in compared.cells().filter(|cell| cell.key.wait == wait) {
            let Some(spread) = measure::figures(compared.part, cell) else {
                continue;
            };
            let size = f64::from(cell.key.size);
            let point = match compared.part.is_rate() {
                true => (size, spread.median * size / 1e6),
                false => (size, spread.median / 1e3),
            };
            match all.iter_mut().find(|it| it.name == cell.key.system) {
                Some(series) => series.points.push(point),
                None => all.push(Series::of(compared, cell, vec![point])),
            }
        }
        all.retain(|series| series.points.len() > 1);
        all
    };
    let axes = Axes {
        x: "bytes",
        x_text: |bytes| number(*bytes),
        is_x_logarithmic: true,
        x_labels: 8,
    };
    let title = match compared.part.is_rate() {
        true => "Throughput, MB/s, by size",
        false => "Median latency one way, us, by size",
    };
    pictures(name, "sizes", title, &axes, series)
}

/// Latency against percentile.
pub(super) fn percentiles(compared: &Compared<'_>, name: &str) -> Vec<Block> {
    let part = compared.part;
    let size = part.count_calls_at.unwrap_or(64);
    let sizes: Vec<u32> = compared.cells().map(|cell| cell.key.size).collect();
    let size = match sizes.contains(&size) {
        true => size,
        false => sizes.first().copied().unwrap_or(size),
    };
    let series = |wait| {
        let is_wanted = |cell: &&Cell| cell.key.wait == wait && cell.key.size == size;
        let of_cell = |cell: &Cell| {
            let (latencies, factor) = measure::latencies(part, cell)?;
            // The ends are few messages.
            let is_drawn = |percentile: f64| percentile >= 1.0 && latencies.reaches(percentile);
            let points = CURVE.iter().zip(&latencies.curve);
            let points = points.filter(|(percentile, _)| is_drawn(**percentile));
            let points = points
                .map(|(&percentile, &ns)| (nines(percentile), measure::float(ns) * factor / 1e3));
            Some(Series::of(compared, cell, points.collect()))
        };
        compared
            .cells()
            .filter(is_wanted)
            .filter_map(of_cell)
            .collect()
    };
    let axes = Axes {
        x: "percentile",
        x_text: |nines| percentile_text(*nines),
        is_x_logarithmic: false,
        // One for each nine.
        x_labels: 5,
    };
    let title = format!("Latency one way, us, by percentile at {size} B");
    pictures(name, "percentiles", &title, &axes, series)
}

/// A line of a picture.
struct Series {
    name: String,
    kind: Kind,
    points: Vec<(f64, f64)>,
}

impl Series {
    fn of(compared: &Compared<'_>, cell: &Cell, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: cell.key.system.clone(),
            kind: compared.kind(cell),
            points,
        }
    }
}

struct Axes {
    x: &'static str,
    x_text: fn(&f64) -> String,
    is_x_logarithmic: bool,
    x_labels: usize,
}

/// How many nines a percentile has: 0 for 0, 1 for 90, 2 for 99.
fn nines(percentile: f64) -> f64 {
    -(1.0 - percentile / 100.0).log10()
}

fn percentile_text(nines: f64) -> String {
    let percentile = 100.0 * (1.0 - 10f64.powf(-nines));
    format!("{}", (percentile * 1000.0).round() / 1000.0)
}

fn pictures(
    name: &str,
    what: &str,
    title: &str,
    axes: &Axes,
    series: impl Fn(Wait) -> Vec<Series>,
) -> Vec<Block> {
    let mut blocks = Vec::new();
    for wait in [Wait::Block, Wait::Poll] {
        let series = series(wait);
        if series.is_empty() {
            continue;
        }
        // A picture that cannot be drawn leaves the tables, which say the same.
        if let Ok(svg) = draw(&series, axes) {
            blocks.push(Block::Figure {
                name: format!("{name}-{what}-{}", wait.name()),
                svg,
                caption: format!("{title}, {}", wait.name()),
            });
        }
    }
    blocks
}

fn draw(series: &[Series], axes: &Axes) -> Result<String, Box<dyn Error>> {
    let points = || series.iter().flat_map(|series| &series.points);
    let range = |of: fn(&(f64, f64)) -> f64| {
        let least = points().map(of).fold(f64::INFINITY, f64::min);
        let most = points().map(of).fold(f64::NEG_INFINITY, f64::max);
        (least, most)
    };
    let (x, y) = (range(|point| point.0), range(|point| point.1));
    let (least, most) = ((y.0 * 0.8).max(1e-3), (y.1 * 1.25).max(2e-3));
    // In a range of few powers of ten there are few lines: powers of two then.
    let base = if most / least < 200.0 { 2.0 } else { 10.0 };
    let y = (least..most).log_scale().base(base);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let (area, labels) = root.split_horizontally(SIZE.0 - LABELS_WIDTH);
        let mut builder = ChartBuilder::on(&area);
        builder
            .margin(12)
            .x_label_area_size(36)
            .y_label_area_size(56);
        match axes.is_x_logarithmic {
            true => {
                let chart = builder.build_cartesian_2d((x.0..x.1).log_scale(), y)?;
                fill(chart, series, axes, &labels)?;
            }
            false => {
                let chart = builder.build_cartesian_2d(x.0..x.1.max(x.0 + 1.0), y)?;
                fill(chart, series, axes, &labels)?;
            }
        }
        root.present()?;
    }
    Ok(themed(&svg))
}

/// Draws axes and lines, and names each line where it ends.
fn fill<'a, X>(
    mut chart: ChartContext<'a, SVGBackend<'a>, Cartesian2d<X, LogCoord<f64>>>,
    series: &[Series],
    axes: &Axes,
    labels: &DrawingArea<SVGBackend<'a>, Shift>,
) -> Result<(), Box<dyn Error>>
where
    X: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.15))
        .x_desc(axes.x)
        .x_labels(axes.x_labels)
        .y_labels(8)
        .x_label_formatter(&axes.x_text)
        .y_label_formatter(&|us| number(*us))
        .label_style(("sans-serif", 12))
        .draw()?;
    let mut ends = Vec::new();
    for (at, line) in series.iter().enumerate() {
        let style = style(at, line.kind);
        let points = line.points.iter().copied();
        chart.draw_series(LineSeries::new(points, style))?;
        if let Some(last) = line.points.last() {
            ends.push((chart.backend_coord(last).1, at));
        }
    }
    // Names keep a distance; those that would touch move down, and up again from the bottom.
    ends.sort_unstable();
    let mut places: Vec<i32> = Vec::new();
    for (y, _) in &ends {
        let least = places.last().map_or(8, |last| last + LABEL_HEIGHT);
        places.push(least.max(*y));
    }
    let mut limit = i32::try_from(SIZE.1)? - 8;
    for place in places.iter_mut().rev() {
        *place = (*place).min(limit);
        limit = *place - LABEL_HEIGHT;
    }
    for ((_, at), y) in ends.into_iter().zip(places) {
        let line = &series[at];
        let colour = style(at, line.kind).color;
        let text = ("sans-serif", 12).into_font().color(&colour);
        let text = text.pos(Pos::new(HPos::Left, VPos::Center));
        labels.draw_text(&line.name, &text, (4, y))?;
    }
    Ok(())
}

/// Tickwire is thick; floors are dotted; colours that come again are dashed. Opacities that nobody sees
/// mark what [`themed`] makes of it, because dashes of the library are a line each.
fn style(at: usize, kind: Kind) -> ShapeStyle {
    let colour = COLOURS[at % COLOURS.len()];
    match kind {
        Kind::Tickwire => colour.stroke_width(3),
        Kind::Floor => colour.mix(DOTTED.0).stroke_width(1),
        Kind::Peer if at >= COLOURS.len() => colour.mix(DASHED.0).stroke_width(1),
        Kind::Peer => colour.stroke_width(1),
    }
}

const DOTTED: (f64, &str) = (0.999, "stroke-dasharray=\"2 3\"");
const DASHED: (f64, &str) = (0.998, "stroke-dasharray=\"9 3\"");

/// Lets black be the colour of the page's text.
fn themed(svg: &str) -> String {
    let sheet =
        "<style>svg{color:#1d2026}@media(prefers-color-scheme:dark){svg{color:#e3e6eb}}</style>";
    let mut svg = svg.replace("#000000", "currentColor");
    for (opacity, dashes) in [DOTTED, DASHED] {
        svg = svg.replace(&format!("opacity=\"{opacity}\""), dashes);
    }
    let svg = svg.replace(" opacity=\"1\"", "");
    match svg.find('>').map(|end| svg.split_at(end + 1)) {
        Some((head, rest)) => format!("{head}\n{sheet}{rest}"),
        None => svg,
    }
}

const SIZE: (u32, u32) = (900, 440);
const LABELS_WIDTH: u32 = 190;
const LABEL_HEIGHT: i32 = 14;
/// Told apart by most eyes, on white and on black.
const COLOURS: &[RGBColor] = &[
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xb8, 0x86, 0x0b),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x8c, 0x56, 0x4b),
    RGBColor(0x7a, 0x6f, 0xd0),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn pictures_name_their_lines_and_need_no_script() {
        let mut results = sample::empty();
        for id in ["zeromq-tcp", "tickwire-udp"] {
            sample::add_system(&mut results, id, "tcp");
            for size in [16, 1000, 65_536] {
                sample::add(&mut results, "one-to-one", id, size, &[30_000, 40_000]);
            }
        }
        let compared = sample::compared(&results);
        for blocks in [by_size(&compared, "x"), percentiles(&compared, "x")] {
            let [Block::Figure { svg, .. }] = &blocks[..] else {
                panic!("one picture");
            };
            assert!(svg.contains("zeromq-tcp") && svg.contains("tickwire-udp"));
            assert!(svg.contains("currentColor") && !svg.contains("#000000"));
            assert!(!svg.contains("script"));
        }
    }

    #[test]
    fn the_axis_of_percentiles_counts_nines() {
        assert_eq!(nines(90.0).round(), 1.0);
        assert_eq!(percentile_text(3.0), "99.9");
        assert_eq!(percentile_text(0.0), "0");
    }
}
