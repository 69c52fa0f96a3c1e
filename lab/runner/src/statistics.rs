//! Distributions, medians over rounds with their spread, and lines through points.

use std::fs;
use std::path::Path;

use hdrhistogram::Histogram;

use crate::record::Percentiles;

/// A histogram of nanoseconds with three significant digits.
pub(crate) type Times = Histogram<u64>;

/// One that grows with what is added, for many that are kept.
pub(crate) fn merged() -> Times {
    Histogram::new(3).expect("digits that the crate allows")
}

/// An empty one, from a nanosecond to 1000 seconds.
pub(crate) fn times() -> Times {
    Histogram::new_with_bounds(1, MAX_NS, 3).expect("bounds that the crate allows")
}

/// Adds what a program wrote: little-endian u64, nanoseconds.
pub(crate) fn read_samples(path: &Path, times: &mut Times) -> Result<(), String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let (samples, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(format!("{}: {} bytes", path.display(), bytes.len()));
    }
    for sample in samples {
        times.saturating_record(u64::from_le_bytes(*sample));
    }
    Ok(())
}

/// What the report needs of a distribution.
pub(crate) fn percentiles(times: &Times) -> Percentiles {
    let at = |percentile| times.value_at_percentile(percentile);
    Percentiles {
        count: times.len(),
        mean: times.mean(),
        std_dev: Some(times.stdev()),
        p50: at(50.0),
        p90: at(90.0),
        p99: at(99.0),
        p99_9: at(99.9),
        max: times.max(),
        curve: CURVE.iter().map(|&percentile| at(percentile)).collect(),
    }
}

/// Percentiles of the curve that is drawn.
pub(crate) const CURVE: &[f64] = &[
    0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 97.5, 99.0, 99.5, 99.75, 99.9,
    99.95, 99.99, 100.0,
];

/// The median over rounds, and the least and the largest of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Spread {
    /// Of these figures; none if there are none.
    pub(crate) fn of(figures: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = figures.into_iter().filter(|it| it.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let middle = sorted.len() / 2;
        let median = match sorted.len() % 2 {
            0 => f64::midpoint(sorted[middle - 1], sorted[middle]),
            _ => sorted[middle],
        };
        Some(Self { median, min, max })
    }

    /// The same in another unit.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self {
            median: self.median * factor,
            min: self.min * factor,
            max: self.max * factor,
        }
    }
}

/// A line through points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) slope: f64,
    pub(crate) intercept: f64,
}

/// The line of least squares; none through fewer than two different places.
pub(crate) fn fit(points: &[(f64, f64)]) -> Option<Line> {
    #[expect(clippy::cast_precision_loss, reason = "a handful of points")]
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
    let (mut xy, mut xx) = (0.0, 0.0);
    for (x, y) in points {
        xy += (x - mean_x) * (y - mean_y);
        xx += (x - mean_x) * (x - mean_x);
    }
    (points.len() >= 2 && xx > 0.0).then(|| {
        let slope = xy / xx;
        Line {
            slope,
            intercept: mean_y - slope * mean_x,
        }
    })
}

const MAX_NS: u64 = 1_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_even_counts_lies_between() {
        let spread = Spread::of([4.0, 1.0, 2.0, 9.0]).unwrap();
        assert_eq!((spread.median, spread.min, spread.max), (3.0, 1.0, 9.0));
        assert_eq!(Spread::of([5.0, 7.0, 6.0]).unwrap().median, 6.0);
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of([f64::NAN]), None);
    }

    #[test]
    fn the_line_of_points_on_a_line_is_that_line() {
        let points = [(16.0, 1032.0), (64.0, 1128.0), (1000.0, 3000.0)];
        let line = fit(&points).unwrap();
        assert!((line.slope - 2.0).abs() < 1e-9 && (line.intercept - 1000.0).abs() < 1e-6);
        assert_eq!(fit(&points[..1]), None);
        assert_eq!(fit(&[(1.0, 1.0), (1.0, 2.0)]), None);
    }

    #[test]
    fn samples_are_read_and_told_by_percentiles() {
        let path = std::env::temp_dir().join(format!("lab-samples-{}", std::process::id()));
        let bytes: Vec<u8> = (1..=1000u64).flat_map(u64::to_le_bytes).collect();
        fs::write(&path, &bytes).unwrap();
        let mut read = times();
        read_samples(&path, &mut read).unwrap();
        fs::write(&path, &bytes[1..]).unwrap();
        assert!(read_samples(&path, &mut read).is_err(), "half a sample");
        fs::remove_file(&path).unwrap();
        let told = percentiles(&read);
        assert_eq!((told.count, told.p50, told.p99), (1000, 500, 990));
        assert!(told.p99_9 >= 999 && told.max == 1000);
        // Of 1 to n: a half of n + 1, and the root of a twelfth of n * n - 1.
        let near = |value: f64, expected: f64| (value - expected).abs() < 0.01;
        assert!(near(told.mean, 500.5) && near(told.std_dev.unwrap(), 288.67));
        assert!(near(told.sum(), 500_500.0));
        assert_eq!(told.curve.len(), CURVE.len());
    }
}
