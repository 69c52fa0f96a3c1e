//! From the answers of a run to its figures.

use std::collections::BTreeMap;
use std::path::Path;

use crate::record::{Answer, Cell, Percentiles, Round, Totals};
use crate::run::{Outcome, Run};
use crate::scenario::{Part, Quantity, Task};
use crate::statistics::{self, Spread, Times};

/// The distributions of a run, by the names of their stages.
pub(crate) type Stages = BTreeMap<String, Times>;

/// Round trips of a ping, nanoseconds.
pub(crate) const ROUND_TRIP: &str = "round trip";
/// From when a message was to be sent until it was received, nanoseconds.
pub(crate) const ONE_WAY: &str = "one way";
pub(crate) const ENCODE: &str = "encode";
pub(crate) const DECODE: &str = "decode";

/// Makes a round of what came of a run.
pub(crate) fn round(number: u32, run: &Run<'_>, outcome: Outcome) -> (Round, Stages) {
    let folder = &outcome.folder.0;
    let (stages, mut failure) = match stages(run.part.task, folder, &outcome.answers) {
        Ok(stages) => (stages, outcome.failure.clone()),
        Err(error) => (Stages::new(), outcome.failure.clone().or(Some(error))),
    };
    if failure.is_none() && run.part.task == Task::Echo && !stages.contains_key(ROUND_TRIP) {
        failure = Some("ping wrote no samples".to_owned());
    }
    let percentiles = stages
        .iter()
        .map(|(name, times)| (name.clone(), statistics::percentiles(times)));
    let round = Round {
        round: number,
        count: run.count,
        demand: run.demand,
        failure,
        stages: percentiles.collect(),
        totals: totals(run, &outcome),
        answers: outcome.answers,
    };
    (round, stages)
}

fn stages(task: Task, folder: &Path, answers: &[Answer]) -> Result<Stages, String> {
    let mut stages = Stages::new();
    for answer in answers {
        let own = match (task, answer.job.as_str()) {
            (Task::Echo, "ping") => Some(ROUND_TRIP),
            (Task::OpenLoop(_), "receive") => Some(ONE_WAY),
            (Task::Codec, _) => Some(ENCODE),
            _ => None,
        };
        let named = answer.stages.iter();
        let files = own
            .zip(answer.samples.as_ref())
            .into_iter()
            .chain(answer.samples_decode.iter().map(|file| (DECODE, file)))
            .chain(named.map(|(name, file)| (name.as_str(), file)));
        for (name, file) in files {
            let times = stages
                .entry(name.to_owned())
                .or_insert_with(statistics::times);
            statistics::read_samples(&folder.join(file), times)?;
        }
    }
    Ok(stages)
}

fn totals(run: &Run<'_>, outcome: &Outcome) -> Totals {
    let answers = &outcome.answers;
    let publishers = usize::from(run.part.publishers).min(answers.len());
    let (active, passive) = answers.split_at(publishers);
    let per_second = |count: u64, ns: u64| float(count) * 1e9 / float(ns.max(1));
    let sent = active.iter().map(|it| per_second(it.sent, it.elapsed_ns));
    let received = passive
        .iter()
        .map(|it| per_second(it.received, it.elapsed_ns));
    let cycles = active
        .iter()
        .map(|it| float(it.elapsed_ns) / float(it.sent.max(1)));
    let broker = outcome.broker.unwrap_or_default();
    let publishers = u64::from(run.part.publishers);
    let units = float((run.count * publishers).max(1));
    let units_with_warmup = float(((run.count + run.warmup) * publishers).max(1));
    let cpu = answers.iter().map(|it| it.cpu_user_ns + it.cpu_system_ns);
    let switches = answers
        .iter()
        .map(|it| it.voluntary_switches + it.involuntary_switches);
    let most = |of: fn(&Answer) -> u64| answers.iter().map(of).max().unwrap_or(0);
    let seed = active.first().filter(|_| run.part.task == Task::Echo);
    Totals {
        sent_per_s: sent.sum(),
        received_per_s: mean(received).unwrap_or(0.0),
        cycle_ns: mean(cycles).unwrap_or(0.0),
        seed_ns: seed.map(|ping| {
            float(ping.elapsed_ns)
                / (2.0 * float(ping.sent.max(1)))
                / f64::from(run.part.subscribers)
        }),
        // Of a broker the warm-up is counted too.
        cpu_ns: float(cpu.sum()) / units + float(broker.cpu_ns) / units_with_warmup,
        switches: float(switches.sum()) / units + float(broker.switches) / units_with_warmup,
        resident_kb: most(|it| it.resident_kb).max(broker.resident_kb),
        threads: most(|it| it.threads).max(broker.threads),
        wire_bytes: outcome
            .wire_bytes
            .map(|bytes| float(bytes) / units_with_warmup),
        encoded_bytes: answers.iter().find_map(|it| it.encoded_bytes),
    }
}

/// What a round measured of a quantity.
pub(crate) fn quantity(part: &Part, size: u32, round: &Round, quantity: Quantity) -> Option<f64> {
    match quantity {
        Quantity::Figure => figure(part, round),
        Quantity::Stage(name) => round.stages.get(name).map(|stage| float(stage.p50)),
        Quantity::Megabytes => {
            Some(round.totals.received_per_s * f64::from(size) / 1e6).filter(|rate| *rate > 0.0)
        }
        Quantity::Slope => None,
    }
}

/// The figure that a part is about: nanoseconds of one way, of encoding and decoding, or messages a
/// second.
pub(crate) fn figure(part: &Part, round: &Round) -> Option<f64> {
    let p50 = |name: &str| round.stages.get(name).map(|stage| float(stage.p50));
    match part.task {
        Task::Echo => p50(ROUND_TRIP).map(|ns| ns / 2.0),
        Task::OpenLoop(_) => p50(ONE_WAY),
        Task::Codec => p50(DECODE).map(|ns| ns + p50(ENCODE).unwrap_or(0.0)),
        Task::Stream if part.publishers > 1 => Some(round.totals.received_per_s),
        Task::Stream | Task::Demand => Some(round.totals.sent_per_s),
    }
    .filter(|figure| *figure > 0.0)
}

/// The figure over all rounds that went through.
pub(crate) fn figures(part: &Part, cell: &Cell) -> Option<Spread> {
    Spread::of(cell.good().filter_map(|round| figure(part, round)))
}

/// One of the percentiles of a latency, one way, over all rounds that went through.
pub(crate) fn percentile(part: &Part, cell: &Cell, of: fn(&Percentiles) -> u64) -> Option<Spread> {
    let (stage, factor) = match part.task {
        Task::Echo => (ROUND_TRIP, 0.5),
        _ => (ONE_WAY, 1.0),
    };
    let stages = cell.good().filter_map(|round| round.stages.get(stage));
    Spread::of(stages.map(|stage| float(of(stage)) * factor))
}

/// The distribution that is drawn: medians over rounds at each percentile of the curve, one way.
pub(crate) fn curve(part: &Part, cell: &Cell) -> Option<Vec<f64>> {
    let points = 0..statistics::CURVE.len();
    points
        .map(|at| {
            let (stage, factor) = match part.task {
                Task::Echo => (ROUND_TRIP, 0.5),
                _ => (ONE_WAY, 1.0),
            };
            let rounds = cell.good().filter_map(|round| round.stages.get(stage));
            let values = rounds.filter_map(|stage| stage.curve.get(at));
            Spread::of(values.map(|&ns| float(ns) * factor)).map(|spread| spread.median)
        })
        .collect()
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// As near as a float comes.
#[expect(
    clippy::cast_precision_loss,
    reason = "what is lost is far below the spread"
)]
pub(crate) fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;
    use crate::run::Folder;
    use crate::sample;
    use crate::scenario::Wait;

    fn answer(job: &str, sent: u64, received: u64, elapsed_ns: u64) -> Answer {
        Answer {
            job: job.to_owned(),
            sent,
            received,
            elapsed_ns,
            cpu_user_ns: 1_000,
            voluntary_switches: 10,
            ..Answer::default()
        }
    }

    fn measured(part: &Part, answers: Vec<Answer>, folder: Folder) -> Round {
        let system = sample::system("tickwire-udp", &[]);
        let run = Run {
            part,
            system: &system,
            size: 1000,
            wait: Wait::Block,
            count: 10,
            warmup: 0,
            demand: None,
            expected: Duration::ZERO,
        };
        let outcome = Outcome {
            answers,
            wire_bytes: Some(20_000),
            folder,
            ..Outcome::default()
        };
        round(0, &run, outcome).0
    }

    #[test]
    fn publishers_add_up_and_cycles_are_of_one() {
        let part = Part {
            task: Task::Stream,
            publishers: 2,
            ..Part::ECHO
        };
        let answers = vec![
            answer("send", 10, 0, 10_000),
            answer("send", 10, 0, 20_000),
            answer("receive", 0, 20, 20_000),
        ];
        let round = measured(&part, answers, Folder::default());
        let totals = &round.totals;
        assert_eq!((totals.sent_per_s, totals.received_per_s), (1.5e6, 1e6));
        assert_eq!((totals.cycle_ns, totals.cpu_ns), (1_500.0, 150.0));
        assert_eq!((totals.switches, totals.wire_bytes), (1.5, Some(1_000.0)));
        assert_eq!(figure(&part, &round), Some(1e6), "what was received counts");
        assert_eq!(
            quantity(&part, 1000, &round, Quantity::Megabytes),
            Some(1e3)
        );
    }

    #[test]
    fn stages_that_a_program_names_are_read() {
        let folder = std::env::temp_dir().join(format!("lab-stages-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let put = |name: &str, ns: u64| fs::write(folder.join(name), ns.to_le_bytes()).unwrap();
        put("ping.0.ns", 40_000);
        put("decode.ns", 300);
        let ping = Answer {
            samples: Some("ping.0.ns".to_owned()),
            stages: BTreeMap::from([("decode".to_owned(), "decode.ns".to_owned())]),
            ..answer("ping", 10, 10, 400_000)
        };
        let answers = vec![ping, answer("pong", 10, 10, 400_000)];
        let round = measured(&Part::ECHO, answers, Folder(folder));
        assert_eq!(round.failure, None);
        assert_eq!(round.totals.seed_ns, Some(20_000.0));
        let near = |value: Option<f64>, ns: f64| (value.unwrap() / ns - 1.0).abs() < 1e-3;
        assert!(near(figure(&Part::ECHO, &round), 20_000.0));
        let decode = quantity(&Part::ECHO, 64, &round, Quantity::Stage(DECODE));
        assert!(near(decode, 300.0));
    }

    #[test]
    fn a_ping_without_samples_is_a_failed_run() {
        let answers = vec![answer("ping", 10, 10, 1), answer("pong", 10, 10, 1)];
        let round = measured(&Part::ECHO, answers, Folder::default());
        assert_eq!(round.failure.unwrap(), "ping wrote no samples");
    }
}
