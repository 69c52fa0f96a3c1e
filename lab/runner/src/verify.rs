//! Whether a run went through: a lost or wrong message makes it a failed one, however fast.

use crate::record::Answer;
use crate::scenario::{Part, Task};

/// Why the answers are not those of a run that went through.
pub(crate) fn failure(part: &Part, count: u64, answers: &[Answer]) -> Option<String> {
    let expected = expected(part, count);
    if answers.len() != expected.len() {
        return Some(format!(
            "{} of {} programs answered",
            answers.len(),
            expected.len()
        ));
    }
    answers
        .iter()
        .zip(expected)
        .find_map(|(answer, expected)| fault(part, answer, &expected))
}

/// What a process has to have done.
struct Expected {
    job: &'static str,
    index: u8,
    sent: Option<u64>,
    received: Option<u64>,
}

fn expected(part: &Part, count: u64) -> Vec<Expected> {
    let of = |job, index, sent, received| Expected {
        job,
        index,
        sent,
        received,
    };
    let (active, passive) = jobs(part.task);
    let publishers = (0..part.publishers).map(|index| match part.task {
        Task::Echo => of(active, index, Some(count), Some(count)),
        _ => of(active, index, Some(count), None),
    });
    let all = count * u64::from(part.publishers);
    let subscribers = (0..part.subscribers)
        .filter(|_| !passive.is_empty())
        .map(|index| of(passive, index, None, Some(all)));
    publishers.chain(subscribers).collect()
}

/// The jobs of the active and of the passive side.
pub(crate) fn jobs(task: Task) -> (&'static str, &'static str) {
    match task {
        Task::Echo => ("ping", "pong"),
        Task::OpenLoop(_) | Task::Stream | Task::Demand => ("send", "receive"),
        Task::Codec => ("codec", ""),
    }
}

fn fault(part: &Part, answer: &Answer, expected: &Expected) -> Option<String> {
    let who = format!("{} {}", expected.job, expected.index);
    if (answer.job.as_str(), answer.index) != (expected.job, expected.index) {
        return Some(format!("{who} answered as {} {}", answer.job, answer.index));
    }
    let out_of_order = match part.keeps_order() {
        true => answer.out_of_order,
        false => 0,
    };
    for (count, what) in [
        (answer.lost, "lost"),
        (answer.wrong, "wrong"),
        (out_of_order, "out of order"),
    ] {
        if count > 0 {
            return Some(format!("{who}: {count} {what}"));
        }
    }
    for (count, wanted, what) in [
        (answer.sent, expected.sent, "sent"),
        (answer.received, expected.received, "received"),
    ] {
        if let Some(wanted) = wanted.filter(|&wanted| wanted != count) {
            return Some(format!("{who}: {count} of {wanted} {what}"));
        }
    }
    if let Some(error) = &answer.error {
        return Some(format!("{who}: {error}"));
    }
    (answer.elapsed_ns == 0).then(|| format!("{who}: no time passed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(job: &str, index: u8, sent: u64, received: u64) -> Answer {
        Answer {
            job: job.to_owned(),
            index,
            sent,
            received,
            elapsed_ns: 1,
            ..Answer::default()
        }
    }

    #[test]
    fn an_echo_of_all_messages_is_good() {
        let answers = [answer("ping", 0, 10, 10), answer("pong", 0, 10, 10)];
        assert_eq!(failure(&Part::ECHO, 10, &answers), None);
    }

    #[test]
    fn whatever_is_missing_or_wrong_fails_the_run() {
        let change = |change: fn(&mut Answer)| {
            let mut answers = [answer("ping", 0, 10, 10), answer("pong", 0, 10, 10)];
            change(&mut answers[1]);
            failure(&Part::ECHO, 10, &answers).expect("a failure")
        };
        assert_eq!(change(|it| it.lost = 2), "pong 0: 2 lost");
        assert_eq!(change(|it| it.wrong = 1), "pong 0: 1 wrong");
        assert_eq!(change(|it| it.out_of_order = 1), "pong 0: 1 out of order");
        assert_eq!(change(|it| it.received = 9), "pong 0: 9 of 10 received");
        assert_eq!(change(|it| it.error = Some("no".into())), "pong 0: no");
        assert_eq!(change(|it| it.elapsed_ns = 0), "pong 0: no time passed");
        assert_eq!(change(|it| it.index = 1), "pong 0 answered as pong 1");
    }

    #[test]
    fn who_takes_messages_by_two_threads_need_not_keep_their_order() {
        let part = Part {
            threads: Some(2),
            ..Part::ECHO
        };
        let mut answers = [answer("ping", 0, 10, 10), answer("pong", 0, 10, 10)];
        answers[1].out_of_order = 3;
        assert_eq!(failure(&part, 10, &answers), None);
        answers[1].lost = 1;
        assert!(failure(&part, 10, &answers).is_some());
    }

    #[test]
    fn each_subscriber_receives_what_all_publishers_send() {
        let part = Part {
            task: Task::Stream,
            publishers: 2,
            subscribers: 2,
            ..Part::ECHO
        };
        let mut answers = vec![
            answer("send", 0, 10, 0),
            answer("send", 1, 10, 0),
            answer("receive", 0, 0, 20),
            answer("receive", 1, 0, 20),
        ];
        assert_eq!(failure(&part, 10, &answers), None);
        answers[3].received = 19;
        assert!(failure(&part, 10, &answers).is_some());
        answers.pop();
        assert_eq!(
            failure(&part, 10, &answers).unwrap(),
            "3 of 4 programs answered"
        );
    }
}
