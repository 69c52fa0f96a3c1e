//! Systems side by side: how many times worse than the floor and than the best peer, round by round.

use std::collections::BTreeMap;

use crate::measure;
use crate::record::{Absent, Cell, LeftOut, Results};
use crate::scenario::{Part, Scenario, Task, begins_with_any};
use crate::statistics::{Line, Spread, fit};

/// What a system is to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Floor,
    Tickwire,
    Peer,
}

/// One part of the results with what is needed to compare.
#[derive(Clone, Copy)]
pub(crate) struct Compared<'a> {
    pub(crate) results: &'a Results,
    pub(crate) scenario: &'a Scenario,
    pub(crate) part: &'a Part,
}

impl<'a> Compared<'a> {
    /// The cells of the part.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &'a Cell> + use<'a> {
        self.results.cells_of(self.scenario.name, self.part.name)
    }

    /// Those that would have a row if they were there.
    pub(crate) fn absent(&self) -> impl Iterator<Item = &'a Absent> + use<'a> {
        let (scenario, part) = (self.scenario.name, self.part.name);
        let is_missed = move |missed: &String| match missed.split_once(' ') {
            Some(place) => place == (scenario, part),
            None => missed == scenario,
        };
        let absent = self.results.absent.iter();
        absent.filter(move |absent| absent.missed.iter().any(is_missed))
    }

    /// Those of this run that are not asked for all of it.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = &'a LeftOut> + use<'a> {
        let (scenario, part) = (self.scenario.name, self.part.name);
        let all = self.results.left_out.iter();
        all.filter(move |it| (it.scenario.as_str(), it.part.as_str()) == (scenario, part))
    }

    /// What a cell's system is.
    pub(crate) fn kind(&self, cell: &Cell) -> Kind {
        kind(self.results, &cell.key.system)
    }

    /// How many times worse than the best floor of the same transport and wait.
    pub(crate) fn times_floor(&self, cell: &Cell) -> Option<Spread> {
        Spread::of(self.rounds_to_floor(cell))
    }

    /// The same for each round that went through for both.
    pub(crate) fn rounds_to_floor(&self, cell: &Cell) -> Vec<f64> {
        let transport = self.transport(cell);
        self.times_best(cell, |other| {
            self.kind(other) == Kind::Floor && self.transport(other) == transport
        })
    }

    /// How many times worse than the best peer of the same reach and wait. Tickwire is not one of
    /// them; a peer is.
    pub(crate) fn times_peer(&self, cell: &Cell) -> Option<Spread> {
        Spread::of(self.rounds_to_peer(cell))
    }

    /// The same for each round that went through for both.
    pub(crate) fn rounds_to_peer(&self, cell: &Cell) -> Vec<f64> {
        match self.kind(cell) {
            Kind::Floor => Vec::new(),
            _ => self.times_best(cell, |other| self.is_rival(cell, other)),
        }
    }

    /// How many times worse than the system that it calls from another language.
    pub(crate) fn times_called(&self, cell: &Cell) -> Option<Spread> {
        let called = self.results.system(&cell.key.system)?.calls.as_deref()?;
        Spread::of(self.times_best(cell, |other| other.key.system == called))
    }

    /// Whether `other` is a peer of the same reach.
    pub(crate) fn is_rival(&self, cell: &Cell, other: &Cell) -> bool {
        self.kind(other) == Kind::Peer && self.is_networked(other) == self.is_networked(cell)
    }

    /// The best peer of the same reach by its median.
    pub(crate) fn best_rival(&self, cell: &Cell) -> Option<&'a Cell> {
        let rivals = self.beside(cell).filter(|other| self.is_rival(cell, other));
        self.best_of(rivals)
    }

    /// The floor of the same transport by its median.
    pub(crate) fn best_floor(&self, cell: &Cell) -> Option<&'a Cell> {
        let floors = self.beside(cell).filter(|other| {
            self.kind(other) == Kind::Floor && self.transport(other) == self.transport(cell)
        });
        self.best_of(floors)
    }

    /// The one with the best median.
    pub(crate) fn best_of(&self, cells: impl Iterator<Item = &'a Cell>) -> Option<&'a Cell> {
        cells
            .filter_map(|cell| Some((cell, measure::figures(self.part, cell)?.median)))
            .reduce(|best, next| match self.part.times(next.1, best.1) < 1.0 {
                true => next,
                false => best,
            })
            .map(|(cell, _)| cell)
    }

    /// Whether it reaches other machines. Where nothing is sent all are alike.
    pub(crate) fn is_networked(&self, cell: &Cell) -> bool {
        self.part.task == Task::Codec || matches!(self.transport(cell), Some("tcp" | "udp"))
    }

    /// The line through a system's medians over all sizes, nanoseconds against bytes.
    pub(crate) fn line(&self, cell: &Cell) -> Option<Line> {
        let alike = self
            .cells()
            .filter(|other| other.key.system == cell.key.system && other.key.wait == cell.key.wait);
        let points: Vec<_> = alike
            .filter_map(|cell| {
                let median = measure::figures(self.part, cell)?.median;
                Some((f64::from(cell.key.size), median))
            })
            .collect();
        (points.len() > 2).then(|| fit(&points)).flatten()
    }

    /// The slopes of a system's lines, one for each round that has all sizes.
    pub(crate) fn slopes(&self, cell: &Cell) -> BTreeMap<u32, f64> {
        let alike = self
            .cells()
            .filter(|other| other.key.system == cell.key.system && other.key.wait == cell.key.wait);
        let mut points: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
        for cell in alike {
            for round in cell.good() {
                if let Some(figure) = measure::figure(self.part, round) {
                    let point = (f64::from(cell.key.size), figure);
                    points.entry(round.round).or_default().push(point);
                }
            }
        }
        let slope = |(round, points): (u32, Vec<_>)| {
            let line = (points.len() > 2).then(|| fit(&points)).flatten()?;
            Some((round, line.slope))
        };
        points.into_iter().filter_map(slope).collect()
    }

    /// Others at the same size and wait.
    fn beside(&self, cell: &Cell) -> impl Iterator<Item = &'a Cell> + use<'a> {
        let (size, wait) = (cell.key.size, cell.key.wait);
        self.cells()
            .filter(move |other| other.key.size == size && other.key.wait == wait)
    }

    fn transport(&self, cell: &Cell) -> Option<&'a str> {
        let system = self.results.system(&cell.key.system)?;
        Some(&system.transport)
    }

    fn times_best(&self, cell: &Cell, is_wanted: impl Fn(&Cell) -> bool) -> Vec<f64> {
        let others: Vec<_> = self.beside(cell).filter(|other| is_wanted(other)).collect();
        let times = cell.good().filter_map(|round| {
            let own = measure::figure(self.part, round)?;
            let in_round = others.iter().filter_map(|other| {
                let same = other.good().find(|other| other.round == round.round)?;
                measure::figure(self.part, same)
            });
            in_round
                .map(|reference| self.part.times(own, reference))
                .reduce(f64::max)
        });
        times.collect()
    }
}

/// What a system is, by its id.
pub(crate) fn kind(results: &Results, id: &str) -> Kind {
    match results.system(id) {
        Some(system) if system.is_floor => Kind::Floor,
        _ if is_tickwire(id) => Kind::Tickwire,
        _ => Kind::Peer,
    }
}

/// Whether an id is one of Tickwire's own.
pub(crate) fn is_tickwire(id: &str) -> bool {
    begins_with_any(id, &["tickwire"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn ratios_are_of_the_same_round_and_to_the_best() {
        // Rounds drift by ten times; the ratio does not.
        let results = sample::raw(&[
            ("floor-tcp", "tcp", &[10_000, 100_000]),
            ("zeromq-tcp", "tcp", &[30_000, 300_000]),
            ("asio-tcp", "tcp", &[15_000, 150_000]),
            ("tickwire-tcp", "tcp", &[12_000, 120_000]),
            ("iceoryx2", "shm", &[1_000, 10_000]),
        ]);
        let compared = sample::compared(&results);
        let cell = |id: &str| compared.cells().find(|it| it.key.system == id).unwrap();
        let near = |spread: Option<Spread>, value: f64| {
            let spread = spread.unwrap();
            assert!((spread.min / value - 1.0).abs() < 0.01, "{spread:?}");
            assert!((spread.max / value - 1.0).abs() < 0.01, "{spread:?}");
        };
        near(compared.times_floor(cell("tickwire-tcp")), 1.2);
        near(compared.times_peer(cell("tickwire-tcp")), 0.8);
        near(compared.times_peer(cell("zeromq-tcp")), 2.0);
        near(compared.times_peer(cell("iceoryx2")), 1.0);
        assert_eq!(compared.times_called(cell("zeromq-tcp")), None);
        assert_eq!(compared.times_floor(cell("iceoryx2")), None);
        assert_eq!(compared.times_peer(cell("floor-tcp")), None);
        let best = compared.best_rival(cell("tickwire-tcp")).unwrap();
        assert_eq!(best.key.system, "asio-tcp");
    }

    #[test]
    fn who_calls_another_system_stands_beside_it() {
        let mut results = sample::raw(&[
            ("tickwire-udp", "udp", &[10_000, 100_000]),
            ("tickwire-c-udp", "udp", &[11_000, 110_000]),
            ("zeromq-tcp", "tcp", &[1_000, 1_000]),
        ]);
        results.systems[1].calls = Some("tickwire-udp".to_owned());
        let compared = sample::compared(&results);
        let times = |id: &str| {
            let cell = compared.cells().find(|it| it.key.system == id).unwrap();
            compared.times_called(cell)
        };
        let spread = times("tickwire-c-udp").unwrap();
        assert!((spread.min - 1.1).abs() < 0.01 && (spread.max - 1.1).abs() < 0.01);
        assert_eq!(times("tickwire-udp"), None);
    }
}
