//! Whether what the articles claim holds here.

use std::collections::BTreeMap;

use crate::compared::Compared;
use crate::measure;
use crate::record::{Cell, Results};
use crate::said::{Said, said};
use crate::scenario::{
    Claim, Part, Quantity, Relation, Right, Scenario, Subject, Wait, begins_with_any,
};
use crate::scenarios;
use crate::statistics::Spread;

/// What came of a claim for one pair of systems at one size.
#[derive(Debug)]
pub(crate) struct Finding {
    /// Which systems, at which size.
    pub(crate) of: String,
    pub(crate) verdict: Verdict,
    /// Medians, ratio and spread in words.
    pub(crate) numbers: String,
}

/// Whether it holds, by the rule of [`crate::said`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Confirmed,
    LeansConfirmed,
    LeansNot,
    NotConfirmed,
    /// There are fewer than three.
    TooFew,
    /// Some rounds say so, some the opposite.
    Undecided,
    NotMeasured,
}

/// Tests a claim with all systems that it speaks of.
pub(crate) fn test(results: &Results, scenario: &Scenario, claim: &Claim) -> Vec<Finding> {
    let mut findings = Vec::new();
    for left in series(results, scenario, claim, &claim.left) {
        match &claim.right {
            Right::Constant(value) => {
                let rounds = left.rounds.keys().map(|&round| (round, *value));
                let right = Series {
                    system: String::new(),
                    size: left.size,
                    unit: left.unit,
                    rounds: rounds.collect(),
                };
                findings.push(finding(claim, &left, &right));
            }
            Right::Systems(subject) | Right::Same(subject) => {
                let is_same = matches!(claim.right, Right::Same(_));
                let only = [left.system.as_str()];
                let rights = if is_same {
                    series_of(results, scenario, claim, subject, &only)
                } else {
                    series(results, scenario, claim, subject)
                };
                let is_paired = |right: &&Series| {
                    right.size == left.size || subject.size.is_some() || claim.left.size.is_some()
                };
                let pairs = rights.iter().filter(is_paired);
                findings.extend(pairs.map(|right| finding(claim, &left, right)));
            }
        }
    }
    if findings.is_empty() {
        let mut names = claim.left.systems.to_vec();
        if let Right::Systems(subject) = &claim.right {
            names.extend(subject.systems);
        }
        let is_absent = |name: &&&str| {
            let mut present = results.systems.iter();
            let mut absent = results.absent.iter();
            absent.any(|it| begins_with_any(&it.id, &[name]))
                && !present.any(|it| begins_with_any(&it.id, &[name]))
        };
        let absent: Vec<_> = names.iter().filter(is_absent).copied().collect();
        findings.push(Finding {
            of: names.join(", "),
            verdict: Verdict::NotMeasured,
            numbers: match absent.is_empty() {
                true if results.is_quick => "left out of a quick run".to_owned(),
                true => "not all of them ran".to_owned(),
                false => format!("absent: {}", absent.join(", ")),
            },
        });
    }
    findings
}

/// A quantity of one system at one size, round by round.
struct Series {
    system: String,
    /// None for what is of all sizes, or of a payload that has none.
    size: Option<u32>,
    unit: Unit,
    rounds: BTreeMap<u32, f64>,
}

#[derive(Clone, Copy)]
enum Unit {
    Nanoseconds,
    PerSecond,
    Megabytes,
    PerByte,
}

fn series(results: &Results, scenario: &Scenario, claim: &Claim, subject: &Subject) -> Vec<Series> {
    series_of(results, scenario, claim, subject, subject.systems)
}

fn series_of(
    results: &Results,
    scenario: &Scenario,
    claim: &Claim,
    subject: &Subject,
    systems: &[&str],
) -> Vec<Series> {
    let Some(part) = scenarios::part(scenario.name, subject.part) else {
        return Vec::new();
    };
    let compared = Compared {
        results,
        scenario: scenarios::scenario(scenario.name).unwrap_or(scenarios::SCENARIOS[0]),
        part,
    };
    let is_slope = subject.quantity == Quantity::Slope;
    let is_wanted_size = |size: u32| match subject.size {
        _ if is_slope || !part.has_sizes() => true,
        Some(wanted) => size == wanted,
        None => claim.sizes.is_empty() || claim.sizes.contains(&size),
    };
    let mut all: Vec<Series> = Vec::new();
    for cell in compared.cells() {
        let key = &cell.key;
        let is_wanted = begins_with_any(&key.system, systems)
            && key.wait == Wait::Block
            && is_wanted_size(key.size);
        let is_known = is_slope && all.iter().any(|series| series.system == key.system);
        if !is_wanted || is_known {
            continue;
        }
        let rounds = match is_slope {
            true => compared.slopes(cell),
            false => by_round(part, cell, subject.quantity),
        };
        if !rounds.is_empty() {
            all.push(Series {
                system: key.system.clone(),
                size: Some(key.size).filter(|_| part.has_sizes() && !is_slope),
                unit: unit(part, subject.quantity),
                rounds,
            });
        }
    }
    all
}

fn by_round(part: &Part, cell: &Cell, quantity: Quantity) -> BTreeMap<u32, f64> {
    let rounds = cell.good().filter_map(|round| {
        let value = measure::quantity(part, cell.key.size, round, quantity)?;
        Some((round.round, value))
    });
    rounds.collect()
}

fn unit(part: &Part, quantity: Quantity) -> Unit {
    match quantity {
        Quantity::Figure if part.is_rate() => Unit::PerSecond,
        Quantity::Figure | Quantity::Stage(_) => Unit::Nanoseconds,
        Quantity::Megabytes => Unit::Megabytes,
        Quantity::Slope => Unit::PerByte,
    }
}

fn finding(claim: &Claim, left: &Series, right: &Series) -> Finding {
    let pairs: Vec<(f64, f64)> = left
        .rounds
        .iter()
        .filter_map(|(round, &own)| Some((own, *right.rounds.get(round)?)))
        .collect();
    let both = match (left.system.as_str(), right.system.as_str()) {
        (left, "") => left.to_owned(),
        (left, right) if left == right => left.to_owned(),
        (left, right) => format!("{left} / {right}"),
    };
    let of = match (left.size, right.size) {
        (Some(left), Some(right)) if left != right => format!("{both}, {left} / {right} B"),
        (Some(size), _) => format!("{both}, {size} B"),
        (None, _) => both,
    };
    let (Some(ours), Some(theirs)) = (
        Spread::of(pairs.iter().map(|pair| pair.0)),
        Spread::of(pairs.iter().map(|pair| pair.1)),
    ) else {
        return Finding {
            of,
            verdict: Verdict::NotMeasured,
            numbers: "they have no round in common".to_owned(),
        };
    };
    let (values, scale, unit) = match claim.relation {
        Relation::AboveBy(_) => (
            Spread::of(pairs.iter().map(|(left, right)| left - right)),
            1e-3,
            " us more",
        ),
        _ => (
            Spread::of(pairs.iter().map(|(left, right)| left / right)),
            1.0,
            " times",
        ),
    };
    let verdict = values.map_or(Verdict::NotMeasured, |it| {
        judge(claim.relation, it, pairs.len())
    });
    let deviation = values.map(|it| with_spread(it.scaled(scale), unit));
    let deviation = deviation.unwrap_or_default();
    let (ours, theirs) = (left.unit.text(ours.median), right.unit.text(theirs.median));
    Finding {
        of,
        verdict,
        numbers: format!("{ours} against {theirs}: {deviation}"),
    }
}

/// Judges ratios of left to right, or differences.
fn judge(relation: Relation, values: Spread, rounds: usize) -> Verdict {
    let above = |limit| said(values, rounds, limit);
    match relation {
        Relation::Above(limit) | Relation::AboveBy(limit) => Verdict::that_it_is(above(limit)),
        Relation::Below(limit) => Verdict::that_it_is(above(limit).reversed()),
        // It holds as surely as the less sure of two things does: that they are above the lower end, and below the upper.
        Relation::Near(factor) => {
            let is_within = [above(1.0 / factor), above(factor).reversed()];
            let verdicts = is_within.map(Verdict::that_it_is);
            let least_sure = [
                Verdict::TooFew,
                Verdict::NotConfirmed,
                Verdict::LeansNot,
                Verdict::Undecided,
                Verdict::LeansConfirmed,
            ];
            let is_one = |it: &Verdict| verdicts.contains(it);
            let found = least_sure.into_iter().find(is_one);
            found.unwrap_or(Verdict::Confirmed)
        }
    }
}

fn with_spread(spread: Spread, unit: &str) -> String {
    format!(
        "{:.2}{unit} ({:.2} to {:.2})",
        spread.median, spread.min, spread.max
    )
}

impl Unit {
    fn text(self, value: f64) -> String {
        match self {
            Self::Nanoseconds => format!("{:.2} us", value / 1e3),
            Self::PerSecond => format!("{value:.0}/s"),
            Self::Megabytes => format!("{value:.0} MB/s"),
            Self::PerByte => format!("{value:.2} ns/B"),
        }
    }
}

impl Verdict {
    /// On the claim that values are above a limit.
    fn that_it_is(said: Said) -> Self {
        match said {
            Said::Above => Self::Confirmed,
            Said::LeansAbove => Self::LeansConfirmed,
            Said::Both => Self::Undecided,
            Said::LeansBelow => Self::LeansNot,
            Said::Below => Self::NotConfirmed,
            Said::Nothing => Self::TooFew,
        }
    }

    /// As the report has it.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Confirmed => "yes",
            Self::LeansConfirmed => "leaning to yes",
            Self::LeansNot => "leaning to no",
            Self::NotConfirmed => "no",
            Self::Undecided => "cannot be told: rounds disagree",
            Self::TooFew => "too few rounds",
            Self::NotMeasured => "not measured",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    /// The verdicts on the first scenario's claims about Asio and ZeroMQ, and ZeroMQ and DDS.
    fn verdicts(systems: &[(&str, &str, &[u64])]) -> Vec<(String, Verdict)> {
        let results = sample::raw(systems);
        let scenario = scenarios::scenario("raw").unwrap();
        let findings = scenario
            .claims
            .iter()
            .flat_map(|claim| test(&results, scenario, claim));
        findings.map(|it| (it.of, it.verdict)).collect()
    }

    #[test]
    fn each_pair_of_systems_is_judged_by_its_rounds() {
        let verdicts = verdicts(&[
            ("asio-tcp", "tcp", &[50_000, 80_000, 60_000]),
            ("zeromq-tcp", "tcp", &[60_000, 90_000, 70_000]),
            ("cyclone-udp", "udp", &[40_000, 50_000, 50_000]),
            ("fastdds-udp", "udp", &[70_000, 80_000, 90_000]),
        ]);
        let expected = [
            ("asio-tcp / zeromq-tcp, 1000 B", Verdict::Confirmed),
            ("zeromq-tcp / cyclone-udp, 1000 B", Verdict::NotConfirmed),
            ("zeromq-tcp / fastdds-udp, 1000 B", Verdict::Undecided),
        ];
        let verdicts: Vec<_> = verdicts.iter().map(|it| (it.0.as_str(), it.1)).collect();
        assert_eq!(verdicts, expected);
    }

    #[test]
    fn a_claim_about_who_is_not_there_says_so() {
        let verdicts = verdicts(&[("asio-tcp", "tcp", &[50_000])]);
        assert!(verdicts.iter().all(|it| it.1 == Verdict::NotMeasured));
    }

    #[test]
    fn a_failed_run_decides_nothing() {
        let mut results = sample::raw(&[
            ("asio-tcp", "tcp", &[50_000, 500_000, 50_000, 50_000]),
            ("zeromq-tcp", "tcp", &[60_000, 60_000, 60_000, 60_000]),
        ]);
        let scenario = scenarios::scenario("raw").unwrap();
        let verdict = |results: &Results| test(results, scenario, &scenario.claims[0])[0].verdict;
        assert_eq!(verdict(&results), Verdict::Undecided);
        results.cells[0].rounds[1].failure = Some("1 lost".into());
        assert_eq!(verdict(&results), Verdict::Confirmed);
        results.cells[0].rounds[2].failure = Some("1 lost".into());
        assert_eq!(verdict(&results), Verdict::TooFew);
    }

    #[test]
    fn relations_hold_where_they_should() {
        let ratios = |min, max| Spread::of([min, max]).unwrap();
        let few = |relation, spread| judge(relation, spread, 3);
        for (relation, spread, verdict) in [
            (Relation::Below(1.0), ratios(0.5, 0.9), Verdict::Confirmed),
            (Relation::Below(1.0), ratios(0.5, 1.1), Verdict::Undecided),
            (
                Relation::Above(2.0),
                ratios(1.5, 1.9),
                Verdict::NotConfirmed,
            ),
            (Relation::Near(1.25), ratios(0.9, 1.1), Verdict::Confirmed),
            (
                Relation::Near(1.25),
                ratios(0.5, 0.7),
                Verdict::NotConfirmed,
            ),
            (
                Relation::Near(1.25),
                ratios(1.3, 1.4),
                Verdict::NotConfirmed,
            ),
            (Relation::Near(1.25), ratios(1.1, 1.4), Verdict::Undecided),
        ] {
            assert_eq!(
                judge(relation, spread, 5),
                verdict,
                "{relation:?} {spread:?}"
            );
        }
        for (relation, spread, verdict) in [
            (
                Relation::Below(1.0),
                ratios(0.5, 0.95),
                Verdict::LeansConfirmed,
            ),
            (Relation::Above(1.0), ratios(0.5, 0.95), Verdict::LeansNot),
            (Relation::Near(1.25), ratios(0.9, 1.1), Verdict::Confirmed),
            (
                Relation::Near(1.25),
                ratios(0.9, 1.2),
                Verdict::LeansConfirmed,
            ),
            (Relation::Near(1.25), ratios(1.3, 1.4), Verdict::LeansNot),
            (
                Relation::Near(1.25),
                ratios(1.4, 1.5),
                Verdict::NotConfirmed,
            ),
        ] {
            assert_eq!(few(relation, spread), verdict, "{relation:?} {spread:?}");
        }
        assert_eq!(
            judge(Relation::Above(1.0), ratios(2.0, 3.0), 2),
            Verdict::TooFew
        );
    }
}
