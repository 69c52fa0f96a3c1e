//! What a measurement is to come to: `p99<50us`, `samples/s>1000000`. A run that does not is a failed one.

use std::fmt;

use crate::failure::{Failure, Result};

/// A bound on one column of the result, for each of its rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expectation {
    text: String,
    metric: &'static str,
    unit: Unit,
    is_below: bool,
    limit: f64,
}

/// A column that can be expected to be something, and in what it counts.
pub(super) type Metric = (&'static str, Unit);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Compared in microseconds, written with a unit of time.
    Microseconds,
    /// A plain number.
    Number,
}

impl Unit {
    /// What stands behind a value.
    const fn symbol(self) -> &'static str {
        match self {
            Self::Microseconds => " us",
            Self::Number => "",
        }
    }
}

impl Expectation {
    /// Reads `METRIC<LIMIT` or `METRIC>LIMIT`, where the metric is one of `metrics`.
    pub(super) fn parse(text: &str, metrics: &[Metric]) -> Result<Self, String> {
        let at = text
            .find(['<', '>'])
            .ok_or_else(|| format!("expected a bound such as {}", example(metrics)))?;
        let (name, rest) = text.split_at(at);
        let is_below = rest.starts_with('<');
        let limit = rest.trim_start_matches(['<', '>']).trim();
        if rest.len() - rest.trim_start_matches(['<', '>']).len() > 1 {
            return Err("a bound has one `<` or `>`".to_owned());
        }
        let name = name.trim();
        let found = metrics.iter().find(|(known, _)| *known == name);
        let &(metric, unit) = found.ok_or_else(|| {
            let known: Vec<_> = metrics.iter().map(|(known, _)| *known).collect();
            format!(
                "`{name}` is not measured here; there are {}",
                known.join(", ")
            )
        })?;
        let limit = match unit {
            Unit::Microseconds => microseconds(limit)?,
            Unit::Number => number(limit).ok_or_else(|| format!("`{limit}` is no number"))?,
        };
        Ok(Self {
            text: text.to_owned(),
            metric,
            unit,
            is_below,
            limit,
        })
    }

    fn is_met(&self, value: f64) -> bool {
        match self.is_below {
            true => value < self.limit,
            false => value > self.limit,
        }
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Compares what was expected with rows, each with a name and its values by metric. Fails, status 1, and
/// says all that was not met.
pub(super) fn check<'a>(
    expectations: &[Expectation],
    rows: impl IntoIterator<Item = (String, &'a [(&'static str, f64)])>,
) -> Result<()> {
    let mut unmet = Vec::new();
    for (name, values) in rows {
        for expectation in expectations {
            let value = values.iter().find(|(m, _)| *m == expectation.metric);
            if let Some(&(metric, value)) = value
                && !expectation.is_met(value)
            {
                let unit = expectation.unit.symbol();
                unmet.push(format!(
                    "{expectation}: {name}: {metric} is {value:.3}{unit}"
                ));
            }
        }
    }
    match unmet.as_slice() {
        [] => Ok(()),
        unmet => Err(Failure::new(format_args!(
            "not as expected: {}",
            unmet.join("; ")
        ))),
    }
}

fn example(metrics: &[Metric]) -> String {
    match metrics.first() {
        Some((name, Unit::Microseconds)) => format!("{name}<50us"),
        Some((name, Unit::Number)) => format!("{name}>1000000"),
        None => "none".to_owned(),
    }
}

fn microseconds(text: &str) -> Result<f64, String> {
    let units = [
        ("ns", 1e-3),
        ("us", 1.0),
        ("µs", 1.0),
        ("ms", 1e3),
        ("s", 1e6),
    ];
    let read = units.iter().find_map(|(unit, factor)| {
        let count = number(text.strip_suffix(unit)?.trim())?;
        Some(count * factor)
    });
    read.ok_or_else(|| format!("`{text}` is no time; write one as 50us or 1.5ms"))
}

fn number(text: &str) -> Option<f64> {
    let number: f64 = text.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const METRICS: [Metric; 2] = [("p99", Unit::Microseconds), ("ratio", Unit::Number)];

    #[test]
    fn bounds_are_read_with_their_units() {
        let parse = |text| Expectation::parse(text, &METRICS).unwrap();
        assert_eq!(parse("p99<50us").limit, 50.0);
        assert_eq!(parse("p99 < 1.5ms").limit, 1_500.0);
        assert_eq!(parse("p99<800ns").limit, 0.8);
        assert_eq!(parse("p99<2s").limit, 2e6);
        assert!(!parse("ratio>1.5").is_below);
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_the_reason() {
        for (text, reason) in [
            ("p99", "such as p99<50us"),
            ("p98<50us", "there are p99, ratio"),
            ("p99<50", "no time"),
            ("p99<-1us", "no time"),
            ("p99<<5us", "one `<`"),
            ("ratio<NaN", "no number"),
            ("ratio<5us", "no number"),
        ] {
            let error = Expectation::parse(text, &METRICS).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn each_row_that_misses_a_bound_is_named() {
        let bound = Expectation::parse("p99<50us", &METRICS).unwrap();
        let rows = |second| {
            vec![
                ("16 B".to_owned(), [("p99", 49.9)]),
                ("64 B".to_owned(), [("p99", second)]),
            ]
        };
        let checked = |rows: Vec<(String, [(&'static str, f64); 1])>| {
            check(
                std::slice::from_ref(&bound),
                rows.iter().map(|(name, row)| (name.clone(), &row[..])),
            )
        };
        assert!(checked(rows(1.0)).is_ok());
        let failure = checked(rows(50.0)).unwrap_err().to_string();
        assert_eq!(failure, "not as expected: p99<50us: 64 B: p99 is 50.000 us");
    }
}
