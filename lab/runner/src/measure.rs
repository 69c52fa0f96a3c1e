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
/// How late the sender of an open loop was when it began to send a message, nanoseconds.
const SENDER_LATE: &str = "sender late";
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
    let mut round = Round {
        round: number,
        count: run.count,
        demand: run.demand,
        failure,
        stages: percentiles.collect(),
        totals: totals(run, &outcome),
        answers: outcome.answers,
    };
    if is_sender_late(run.part, &round) {
        let failure = "the sender was late: another took its core, or sending takes longer than the rate allows"
            .to_owned();
        round.failure.get_or_insert(failure);
    }
    (round, stages)
}

/// Whether one in a hundred messages of an open loop was begun too late to say anything of the way to its reader:
/// by a millisecond, or ten periods if those are less. Where frames get lost, a write may wait for acknowledgements:
/// then being late is the system's own, and in the one-way times.
pub(crate) fn is_sender_late(part: &Part, round: &Round) -> bool {
    let Task::OpenLoop(rate) = part.task else {
        return false;
    };
    if part.loss.is_some_and(|percent| percent > 0) {
        return false;
    }
    let limit = (10_000_000_000 / u64::from(rate.max(1))).min(1_000_000);
    let late = round.stages.get(SENDER_LATE);
    late.is_some_and(|late| late.p99 > limit)
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
    // Who received less than was sent does not know how long it took.
    let per_second = |count: u64, ns: u64| match ns {
        0 => 0.0,
        ns => float(count) * 1e9 / float(ns),
    };
    let sent = active.iter().map(|it| per_second(it.sent, it.elapsed_ns));
    // From the publishers' start, if the program tells: what comes late, all at once, was not fast.
    let received = passive.iter().map(|it| match it.taken_ns {
        0 => per_second(it.received, it.elapsed_ns),
        _ => per_second(it.taken, it.taken_ns),
    });
    let broker = outcome.broker.unwrap_or_default();
    let received_per_s = mean(received).unwrap_or(0.0);
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
        received_per_s,
        cycle_ns: match received_per_s > 0.0 {
            true => f64::from(run.part.publishers) * 1e9 / received_per_s,
            false => 0.0,
        },
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
        // What is sent may still lie in a queue.
        Task::Stream => Some(round.totals.received_per_s),
        Task::Demand => Some(round.totals.sent_per_s),
    }
    .filter(|figure| *figure > 0.0)
}

/// The figure over all rounds that went through.
pub(crate) fn figures(part: &Part, cell: &Cell) -> Option<Spread> {
    Spread::of(cell.good().filter_map(|round| figure(part, round)))
}

/// The latencies of all rounds that went through, and what they are multiplied with for one way.
pub(crate) fn latencies<'a>(part: &Part, cell: &'a Cell) -> Option<(&'a Percentiles, f64)> {
    let (stage, factor) = match part.task {
        Task::Echo => (ROUND_TRIP, 0.5),
        Task::OpenLoop(_) => (ONE_WAY, 1.0),
        Task::Stream | Task::Demand | Task::Codec => return None,
    };
    Some((cell.all_rounds.get(stage)?, factor))
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
    fn what_was_received_counts_and_a_cycle_is_of_all_publishers() {
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
        let from_one = Part {
            publishers: 1,
            ..part
        };
        assert_eq!(figure(&from_one, &round), Some(1e6), "not what was sent");
        let totals = &round.totals;
        assert_eq!((totals.sent_per_s, totals.received_per_s), (1.5e6, 1e6));
        assert_eq!((totals.cycle_ns, totals.cpu_ns), (2_000.0, 150.0));
        assert_eq!((totals.switches, totals.wire_bytes), (1.5, Some(1_000.0)));
        assert_eq!(figure(&part, &round), Some(1e6));
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
    fn what_took_no_time_has_no_rate() {
        let part = Part {
            task: Task::Stream,
            ..Part::ECHO
        };
        let answers = vec![answer("send", 10, 0, 10_000), answer("receive", 0, 4, 0)];
        let round = measured(&part, answers, Folder::default());
        assert_eq!(figure(&part, &round), None);
        assert_eq!(round.totals.cycle_ns, 0.0);
    }

    #[test]
    fn what_comes_late_all_at_once_was_not_fast() {
        let part = Part {
            task: Task::Stream,
            ..Part::ECHO
        };
        let receive = Answer {
            taken: 12,
            taken_ns: 12_000,
            ..answer("receive", 0, 10, 10)
        };
        let answers = vec![answer("send", 10, 0, 10), receive];
        let round = measured(&part, answers, Folder::default());
        assert_eq!(figure(&part, &round), Some(1e6));
    }

    #[test]
    fn who_sends_late_by_the_clock_measures_nothing() {
        let round = |p99| Round {
            stages: BTreeMap::from([(
                SENDER_LATE.to_owned(),
                Percentiles {
                    p99,
                    ..Percentiles::default()
                },
            )]),
            ..Round::default()
        };
        let is_late = |rate, p99| {
            let part = Part {
                task: Task::OpenLoop(rate),
                ..Part::ECHO
            };
            is_sender_late(&part, &round(p99))
        };
        assert!(is_late(1_000, 1_000_001) && !is_late(1_000, 1_000_000));
        assert!(is_late(20_000, 500_001) && !is_late(20_000, 500_000));
        assert!(!is_sender_late(&Part::ECHO, &round(2_000_000)));
        let lossy = Part {
            task: Task::OpenLoop(1_000),
            loss: Some(20),
            ..Part::ECHO
        };
        assert!(!is_sender_late(&lossy, &round(2_000_000)));
    }

    #[test]
    fn a_ping_without_samples_is_a_failed_run() {
        let answers = vec![answer("ping", 10, 10, 1), answer("pong", 10, 10, 1)];
        let round = measured(&Part::ECHO, answers, Folder::default());
        assert_eq!(round.failure.unwrap(), "ping wrote no samples");
    }
}
