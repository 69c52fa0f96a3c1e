//! The rounds of a scenario: all its cells once, then all of them again, so that what changes on the
//! machine meanwhile changes for all.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::counted;
use crate::counts::{self, Counts};
use crate::demand::Search;
use crate::log::Log;
use crate::measure;
use crate::progress::Progress;
use crate::record::{Cell, Key, LeftOut, Round, Tried};
use crate::run::{Run, Starter};
use crate::scenario::{Part, Scenario, Task, Wait};
use crate::statistics;
use crate::systems::{Place, System};

/// How long runs are, and how many.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// What a measured run should last.
    pub(crate) length: Duration,
    /// Rounds at least, and at most.
    pub(crate) least: u32,
    pub(crate) most: u32,
    pub(crate) is_quick: bool,
    pub(crate) place: Place,
    /// These sizes alone, if there are any.
    pub(crate) sizes: Vec<u32>,
}

/// What the lab runs with.
pub(crate) struct Lab<'a> {
    pub(crate) systems: &'a [System],
    pub(crate) limits: Limits,
    pub(crate) starter: Starter,
    pub(crate) strace: Result<(), String>,
    pub(crate) progress: Progress,
}

/// A cell that runs.
struct Planned<'a> {
    part: &'a Part,
    system: &'a System,
    cell: Cell,
    /// Nanoseconds of a message, as last seen.
    pace: Option<f64>,
    demand: Option<u64>,
    /// Stages of all rounds that went through.
    merged: measure::Stages,
    /// How often it had to be ended.
    late: u32,
}

impl Lab<'_> {
    /// Runs a scenario for about `budget`, and at least for the least of rounds.
    pub(crate) fn run(
        &mut self,
        scenario: &Scenario,
        budget: Duration,
        log: &mut Log,
    ) -> Vec<Cell> {
        let begun = Instant::now();
        self.progress.begin(scenario.name, budget);
        let mut planned = plan(scenario, self.systems, &self.limits);
        let runs = planned.len();
        let mut longest = Duration::ZERO;
        let mut done = 0;
        for round in 0..self.limits.most {
            let round_begun = Instant::now();
            for at in 0..runs {
                let left = self.left(budget, begun, longest, round, at, runs);
                self.progress.at(&planned[at].name(), left);
                let neighbour = neighbour_pace(&planned, at);
                self.run_cell(&mut planned[at], round, neighbour, log);
            }
            // The first round searches and repeats; those that follow are shorter.
            longest = round_begun.elapsed();
            done = round + 1;
            let left = self.left(budget, begun, longest, round + 1, 0, runs);
            self.progress.round(scenario.name, round, runs, left);
            let is_enough = round + 1 >= self.limits.least;
            if runs == 0 || (is_enough && begun.elapsed() + longest > budget) {
                break;
            }
        }
        self.make_up(&mut planned, done, log);
        for planned in &mut planned {
            self.count_calls(planned);
        }
        planned.into_iter().map(Planned::into_cell).collect()
    }

    /// Some more rounds, of those cells alone that lack one for a run that failed, and of all that are compared with
    /// them: a ratio is of one round.
    fn make_up(&mut self, planned: &mut [Planned<'_>], done: u32, log: &mut Log) {
        for round in done..done + MORE_ROUNDS {
            for at in lacking(planned, self.limits.least) {
                self.progress.at(&planned[at].name(), Duration::ZERO);
                let neighbour = neighbour_pace(planned, at);
                self.run_cell(&mut planned[at], round, neighbour, log);
            }
        }
    }

    /// Who takes no part in something of a scenario, and why.
    pub(crate) fn left_out(&self, scenario: &Scenario) -> BTreeSet<LeftOut> {
        left_out(scenario, self.systems, &self.limits)
    }

    /// What is left of a scenario: of its time, or what the rounds that have to be will take.
    fn left(
        &self,
        budget: Duration,
        begun: Instant,
        longest: Duration,
        round: u32,
        at: usize,
        runs: usize,
    ) -> Duration {
        #[expect(clippy::cast_precision_loss, reason = "hundreds of runs")]
        let part_of_round = 1.0 - at as f64 / runs.max(1) as f64;
        let rounds = f64::from(self.limits.least.saturating_sub(round + 1)) + part_of_round;
        let needed = longest.mul_f64(rounds.max(0.0));
        let possible = longest.mul_f64(f64::from(self.limits.most.saturating_sub(round)));
        let in_budget = budget.saturating_sub(begun.elapsed());
        match longest.is_zero() {
            true => in_budget,
            false => in_budget.min(possible).max(needed),
        }
    }

    fn run_cell(&mut self, planned: &mut Planned<'_>, round: u32, neighbour: f64, log: &mut Log) {
        if planned.is_given_up() {
            return;
        }
        if planned.part.task == Task::Demand && round == 0 {
            self.search(planned);
            if planned.cell.refusal.is_some() {
                return;
            }
        }
        let is_first = planned.pace.is_none();
        let pace = planned.pace.unwrap_or(neighbour);
        let length = self.limits.length * planned.part.stretch;
        // What is only guessed is tried with few messages.
        let first = if is_first { length / 4 } else { length };
        let (mut measured, mut stages) = self.run_once(planned, round, pace, first);
        let is_short = |planned: &Planned<'_>, measured: &Round| {
            let pace = counts::pace(measured)?;
            let next = Counts::of(planned.part, planned.cell.key.size, pace, length);
            counts::is_too_short(planned.part, measured, length, next).then_some(pace)
        };
        for _ in 0..REPETITIONS {
            if let Some(pace) = is_short(planned, &measured) {
                (measured, stages) = self.run_once(planned, round, pace, length);
            }
        }
        if is_short(planned, &measured).is_some() {
            measured.failure = Some(TOO_SHORT.to_owned());
        } else if measure::is_sender_late(planned.part, &measured) {
            (measured, stages) = self.run_once(planned, round, pace, length);
        }
        if planned.cell.refusal.is_some() {
            return;
        }
        if measured.failure.is_none() {
            planned.pace = counts::pace(&measured);
        } else if let Some(failure) = &measured.failure {
            let what = planned.name();
            self.progress.note(&format!("{what}: failed: {failure}"));
        }
        for (name, times) in &stages {
            if let Err(error) =
                log.write(&planned.cell.key, name, times, measured.failure.is_none())
            {
                self.progress
                    .note(&format!("the log cannot be written: {error}"));
            }
        }
        if measured.failure.is_none() {
            planned.merge(stages);
        }
        planned.cell.rounds.push(measured);
    }

    fn run_once(
        &mut self,
        planned: &mut Planned<'_>,
        round: u32,
        pace: f64,
        length: Duration,
    ) -> (Round, measure::Stages) {
        let counts = Counts::of(planned.part, planned.cell.key.size, pace, length);
        let counts = match planned.demand {
            Some(demand) => counts.in_bursts(demand),
            None => counts,
        };
        let run = planned.run(counts, pace);
        let outcome = self.starter.run(&run, &[]);
        if outcome.is_late {
            planned.late += 1;
            planned.pace = Some(pace * LATE_PACE);
        }
        if outcome.is_refused {
            planned.cell.refusal.clone_from(&outcome.failure);
        }
        measure::round(round, &run, outcome)
    }

    /// Finds the demand.
    fn search(&mut self, planned: &mut Planned<'_>) {
        // A burst of one message is answered each time.
        let size = planned.cell.key.size;
        let mut search = Search::new(size);
        let mut pace = counts::first_guess(planned.part, size, planned.cell.key.wait) + ANSWER_NS;
        while let Some(demand) = search.next() {
            planned.demand = Some(demand);
            let (round, _) = self.run_once(planned, 0, pace, SEARCH_LENGTH.min(self.limits.length));
            if let Some(seen) = counts::pace(&round) {
                pace = seen / GROWTH_PACE;
            }
            search.note(Tried {
                demand,
                sent_per_s: round.totals.sent_per_s,
                received_per_s: round.totals.received_per_s,
                failure: round.failure,
            });
            if planned.is_given_up() {
                break;
            }
        }
        // With none that is good the smallest is run, and fails where all can see it.
        planned.demand = search.best().or(Some(1));
        let rates = search.into_tried();
        let of_best = rates
            .iter()
            .find(|tried| Some(tried.demand) == planned.demand && tried.failure.is_none());
        planned.pace = of_best.map(|tried| 1e9 / tried.sent_per_s.max(1.0));
        planned.cell.search = rates;
    }

    fn count_calls(&mut self, planned: &mut Planned<'_>) {
        let is_wanted = planned.part.count_calls_at == Some(planned.cell.key.size);
        if !is_wanted || self.limits.is_quick || planned.cell.good().next().is_none() {
            return;
        }
        self.progress
            .at(&format!("calls of {}", planned.name()), Duration::ZERO);
        let pace = planned.pace.unwrap_or_default();
        let run = planned.run(
            Counts {
                count: 0,
                warmup: 0,
            },
            pace,
        );
        planned.cell.counted = counted::count(&mut self.starter, &run, &self.strace);
    }
}

impl<'a> Planned<'a> {
    /// Whether it is not to be run again.
    fn is_given_up(&self) -> bool {
        self.late >= PATIENT_RUNS || self.cell.refusal.is_some()
    }

    /// Whether runs that failed have left it with fewer good rounds than there should be at least. Who has none has
    /// shown enough.
    fn lacks(&self, least: u32) -> bool {
        let good = self.cell.good().count();
        let least = usize::try_from(least).unwrap_or(usize::MAX);
        self.cell.failures().1 > 0 && (1..least).contains(&good) && !self.is_given_up()
    }

    fn merge(&mut self, stages: measure::Stages) {
        for (name, times) in stages {
            let all = self.merged.entry(name).or_insert_with(statistics::merged);
            // It grows, so that all fits.
            let _added = all.add(times);
        }
    }

    /// With the distributions over all rounds.
    fn into_cell(mut self) -> Cell {
        let merged = self.merged.into_iter();
        let merged = merged.map(|(name, times)| (name, statistics::percentiles(&times)));
        self.cell.all_rounds = merged.collect();
        self.cell
    }

    fn run(&self, counts: Counts, pace: f64) -> Run<'a> {
        Run {
            part: self.part,
            system: self.system,
            size: self.cell.key.size,
            wait: self.cell.key.wait,
            count: counts.count,
            warmup: counts.warmup,
            demand: self.demand,
            expected: counts.lasts(pace),
        }
    }

    fn name(&self) -> String {
        let key = &self.cell.key;
        let wait = key.wait.name();
        format!("{} {} {} B {wait}", key.part, key.system, key.size)
    }
}

/// All cells of a scenario in the order of a round: those that are compared follow each other.
fn plan<'a>(scenario: &'a Scenario, systems: &'a [System], limits: &Limits) -> Vec<Planned<'a>> {
    let mut planned = Vec::new();
    for part in scenario.parts {
        for &size in sizes(part, limits) {
            for &wait in part.waits {
                let takes_part =
                    |system: &&System| system.is_left_out(part, size, wait, limits.place).is_none();
                let part_of = |system: &'a System| Planned {
                    part,
                    system,
                    cell: Cell::new(Key {
                        scenario: scenario.name.to_owned(),
                        part: part.name.to_owned(),
                        size,
                        wait,
                        system: system.id.clone(),
                    }),
                    pace: None,
                    demand: None,
                    merged: measure::Stages::new(),
                    late: 0,
                };
                planned.extend(systems.iter().filter(takes_part).map(part_of));
            }
        }
    }
    planned
}

/// The cells that lack a round, and all that are compared with one of them.
fn lacking(planned: &[Planned<'_>], least: u32) -> Vec<usize> {
    let place = |it: &Planned<'_>| (it.part.name, it.cell.key.size, it.cell.key.wait);
    let lack = planned.iter().filter(|it| it.lacks(least)).map(place);
    let places: BTreeSet<_> = lack.collect();
    let all = 0..planned.len();
    all.filter(|&at| places.contains(&place(&planned[at])))
        .collect()
}

/// How many cells of a scenario a full run has.
pub(crate) fn cells(scenario: &Scenario, systems: &[System], place: Place) -> usize {
    let limits = Limits {
        length: Duration::ZERO,
        least: 0,
        most: 0,
        is_quick: false,
        place,
        sizes: Vec::new(),
    };
    plan(scenario, systems, &limits).len()
}

/// Who is not in the plan, once for each reason.
fn left_out(scenario: &Scenario, systems: &[System], limits: &Limits) -> BTreeSet<LeftOut> {
    let mut all = BTreeSet::new();
    for part in scenario.parts {
        for &size in sizes(part, limits) {
            for &wait in part.waits {
                let reasons = systems.iter().filter_map(|system| {
                    Some(LeftOut {
                        scenario: scenario.name.to_owned(),
                        part: part.name.to_owned(),
                        reason: system.is_left_out(part, size, wait, limits.place)?,
                        system: system.id.clone(),
                    })
                });
                all.extend(reasons);
            }
        }
    }
    all
}

/// The sizes of a part under these limits.
fn sizes<'a>(part: &'a Part, limits: &'a Limits) -> &'a [u32] {
    match (
        limits.sizes.is_empty() || !part.has_sizes(),
        limits.is_quick,
    ) {
        (true, false) => part.sizes,
        (true, true) => part.quick,
        (false, _) => &limits.sizes,
    }
}

/// What a message takes in the cell of the same system and wait that was last measured, or a guess.
fn neighbour_pace(planned: &[Planned<'_>], at: usize) -> f64 {
    let this = &planned[at];
    let key = &this.cell.key;
    let is_alike = |other: &&Planned<'_>| {
        let theirs = &other.cell.key;
        theirs.part == key.part && theirs.wait == key.wait && theirs.system == key.system
    };
    let guess = |size, wait: Wait| counts::first_guess(this.part, size, wait);
    let seen = planned[..at]
        .iter()
        .rev()
        .filter(is_alike)
        .find_map(|other| {
            let grown = guess(key.size, key.wait) / guess(other.cell.key.size, key.wait);
            other.pace.map(|pace| pace * grown)
        });
    seen.unwrap_or_else(|| guess(key.size, key.wait))
}

/// So many rounds more at most where runs failed.
const MORE_ROUNDS: u32 = 2;
/// A cell that was late so often is not run again.
const PATIENT_RUNS: u32 = 2;
/// How many times as long a message is thought to take when a run was late.
const LATE_PACE: f64 = 8.0;
/// How often a run that was too short is repeated.
const REPETITIONS: usize = 3;
/// Said of a run that is too short even when it is repeated.
const TOO_SHORT: &str = "too short, though repeated with more messages";
/// What the answer to a burst may take, in nanoseconds.
const ANSWER_NS: f64 = 100_000.0;
/// How many times faster a message may be in the next, larger burst.
const GROWTH_PACE: f64 = 4.0;
/// What a run of the search lasts.
const SEARCH_LENGTH: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::Span;
    use crate::sample::system;
    use crate::scenarios::scenario;

    fn limits(is_quick: bool, sizes: &[u32]) -> Limits {
        Limits {
            length: Duration::from_millis(1),
            least: 1,
            most: 1,
            is_quick,
            place: Place {
                cores: 2,
                span: Span::OneHost,
            },
            sizes: sizes.to_vec(),
        }
    }

    #[test]
    fn those_that_are_compared_follow_each_other() {
        let systems = [
            system("a", &["echo"]),
            system("b", &["echo"]),
            system("c", &[]),
        ];
        let latency = scenario("latency").unwrap();
        let planned = plan(latency, &systems, &limits(true, &[]));
        let names: Vec<_> = planned.iter().map(Planned::name).collect();
        assert_eq!(
            names,
            [
                "one-to-one a 16 B block",
                "one-to-one b 16 B block",
                "one-to-one a 16384 B block",
                "one-to-one b 16384 B block",
                "one-to-three a 16384 B block",
                "one-to-three b 16384 B block",
            ]
        );
    }

    #[test]
    fn who_polls_has_a_core() {
        let mut system = system("a", &["echo"]);
        system.waits.push(Wait::Poll);
        let systems = [system];
        let raw = scenario("raw").unwrap();
        let polls = |cores| {
            let mut limits = limits(false, &[8]);
            limits.place.cores = cores;
            let planned = plan(raw, &systems, &limits);
            planned
                .iter()
                .filter(|it| it.cell.key.wait == Wait::Poll)
                .count()
        };
        assert_eq!((polls(1), polls(2)), (0, 1));
    }

    #[test]
    fn who_is_left_out_is_named_with_the_reason() {
        let systems = [system("a", &["echo"]), system("tickwire-udp", &["echo"])];
        let extension = scenario("c-extension").unwrap();
        let left_out = left_out(extension, &systems, &limits(false, &[]));
        let left_out: Vec<_> = left_out
            .iter()
            .map(|it| (it.part.as_str(), it.system.as_str(), it.reason.as_str()))
            .collect();
        let because = extension.parts[0].only.unwrap().because;
        let because = format!("because {because}");
        let expected = [
            ("lat", "a", because.as_str()),
            ("thr", "a", "cannot do `stream`"),
            ("thr", "tickwire-udp", "cannot do `stream`"),
        ];
        assert_eq!(left_out, expected);
    }

    #[test]
    fn who_lacks_a_round_runs_once_more_with_those_it_is_compared_with() {
        let systems = [system("a", &["echo"]), system("b", &["echo"])];
        let mut planned = plan(scenario("raw").unwrap(), &systems, &limits(false, &[8, 9]));
        let failed = Round {
            failure: Some("1 lost".to_owned()),
            ..Round::default()
        };
        let good = Round::default();
        for it in &mut planned {
            it.cell.rounds = vec![good.clone(), good.clone(), good.clone()];
        }
        assert!(lacking(&planned, 3).is_empty());
        planned[3].cell.rounds[1] = failed.clone();
        assert_eq!(lacking(&planned, 3), [2, 3]);
        assert!(lacking(&planned, 2).is_empty(), "it has two");
        planned[3].cell.rounds.push(good);
        assert!(lacking(&planned, 3).is_empty(), "it has three");
        planned[3].cell.rounds = vec![failed.clone(), failed.clone(), failed];
        assert!(lacking(&planned, 3).is_empty(), "it always fails");
    }

    #[test]
    fn chosen_sizes_take_the_place_of_all() {
        let systems = [system("a", &["echo"])];
        let planned = plan(scenario("raw").unwrap(), &systems, &limits(false, &[8, 9]));
        let sizes: Vec<_> = planned.iter().map(|it| it.cell.key.size).collect();
        assert_eq!(sizes, [8, 9, 8, 9]);
    }
}
