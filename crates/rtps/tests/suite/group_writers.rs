//! Coherent sets of a publisher some of whose writers the subscriber does not know, or not yet.

use tickwire_base::{Duration, Instant};
use tickwire_rtps::GroupPlace;
use tickwire_rtps::reader::{GroupSets, Judgement, Member, SetEnd, SetPart};
use tickwire_rtps::wire::{EntityId, GroupDigest, Guid, GuidPrefix, SequenceNumber};

const PREFIX: GuidPrefix = GuidPrefix([1; 12]);
const PUBLISHER: Guid = Guid::new(PREFIX, EntityId::user_publisher(1));
const PATIENCE: Duration = Duration::from_secs(10);

/// A subscriber with a reader for each writer of a publisher.
#[derive(Default)]
struct Subscriber {
    sets: GroupSets,
    now: Instant,
    /// Changes and ends of each writer that have come.
    come: [i64; 8],
    /// What comes is older than the subscriber.
    is_late: bool,
}

fn writer(number: u32) -> EntityId {
    EntityId::user_writer(number, true)
}

fn member(number: u32) -> Member {
    Member {
        reader: Guid::new(GuidPrefix([2; 12]), EntityId::user_reader(number, true)),
        writer: Guid::new(PREFIX, writer(number)),
    }
}

fn ids(numbers: &[u32]) -> Vec<EntityId> {
    numbers.iter().map(|&number| writer(number)).collect()
}

impl Subscriber {
    /// One that has found these writers, of which it reads those in `read`.
    fn new(found: &[u32], read: &[u32]) -> Self {
        let mut subscriber = Self::default();
        for &number in read {
            subscriber.sets.matched(member(number), PUBLISHER);
        }
        subscriber.find(found);
        subscriber
    }

    fn find(&mut self, writers: &[u32]) {
        self.sets.has_writers(PUBLISHER, &ids(writers));
    }

    /// A writer says that the set with the numbers from `set` on has ended at `end`, in which it had
    /// `count` changes and `writers` were those of the publisher.
    fn ended(&mut self, number: u32, (set, end): (i64, i64), count: i64, writers: &[u32]) {
        let come = &mut self.come[number as usize];
        let first = SequenceNumber(*come + 1);
        *come += count + 1;
        let end = SetEnd {
            group: GroupPlace {
                number: SequenceNumber(end),
                coherent_set: SequenceNumber(set),
                writers: GroupDigest::of(&ids(writers)),
            },
            first,
            last: SequenceNumber(*come),
            is_history: self.is_late,
            part: match count {
                0 => SetPart::Empty,
                _ => SetPart::Delivered,
            },
        };
        let count = usize::try_from(count).expect("not negative");
        self.sets.ended(self.now, member(number), &end, count);
    }

    /// What is decided now: sets, and whether they are whole.
    fn decisions(&mut self) -> Vec<(i64, bool)> {
        let judged = self.judgements();
        assert!(judged.iter().all(|(_, judgement)| !judgement.is_guess));
        let whole = judged.iter().map(|(set, judged)| (*set, judged.is_whole));
        whole.collect()
    }

    fn judgements(&mut self) -> Vec<(i64, Judgement)> {
        let mut judged = Vec::new();
        loop {
            let next = self.sets.decisions(self.now).next();
            let Some(decision) = next else {
                return judged;
            };
            self.sets.done(&decision);
            judged.push((decision.set.0, decision.judgement));
        }
    }
}

/// By the standard's rules, worked out with another implementation of MD5.
#[test]
fn a_digest_is_four_bytes_of_md5() {
    let digest = |ids: &[[u8; 4]]| {
        let ids: Vec<_> = ids.iter().map(|&id| EntityId(id)).collect();
        GroupDigest::of(&ids).0
    };
    assert_eq!(digest(&[]), [0; 4]);
    assert_eq!(digest(&[[0, 0, 1, 2]]), [254, 132, 192, 43]);
    assert_eq!(digest(&[[0, 0, 1, 2], [0, 0, 2, 3]]), [122, 45, 64, 240]);
}

#[test]
fn a_set_waits_for_a_writer_that_is_not_known_yet() {
    let mut subscriber = Subscriber::new(&[1], &[1]);
    subscriber.ended(1, (1, 4), 1, &[1, 2]);
    assert_eq!(subscriber.decisions(), []);
    subscriber.sets.matched(member(2), PUBLISHER);
    subscriber.find(&[1, 2]);
    assert_eq!(subscriber.decisions(), []);
    subscriber.ended(2, (1, 4), 2, &[1, 2]);
    assert_eq!(subscriber.decisions(), [(1, true)]);
}

#[test]
fn a_set_does_without_writers_whose_topics_are_not_read() {
    let mut subscriber = Subscriber::new(&[1, 2, 3], &[1]);
    subscriber.ended(1, (1, 4), 1, &[1, 2, 3]);
    assert_eq!(subscriber.decisions(), [(1, true)]);
}

#[test]
fn a_set_of_a_writer_that_left_before_it_was_known_is_not_whole() {
    let mut subscriber = Subscriber::new(&[1], &[1]);
    subscriber.ended(1, (1, 4), 1, &[1, 2]);
    assert_eq!(subscriber.decisions(), []);
    subscriber.ended(1, (5, 7), 1, &[1]);
    assert_eq!(subscriber.decisions(), [(1, false), (5, true)]);
}

#[test]
fn a_late_joiner_gets_sets_that_are_older_than_the_leave_of_a_writer() {
    let mut subscriber = Subscriber::new(&[1, 3], &[1]);
    subscriber.is_late = true;
    subscriber.ended(1, (1, 4), 1, &[1, 2, 3]);
    assert_eq!(subscriber.decisions(), []);
    subscriber.ended(1, (5, 7), 1, &[1, 3]);
    let whole = |is_guess| Judgement {
        is_whole: true,
        is_guess,
    };
    assert_eq!(
        subscriber.judgements(),
        [(1, whole(true)), (5, whole(false))]
    );
    // One that ends while it is there is judged by its digest.
    subscriber.is_late = false;
    subscriber.ended(1, (8, 10), 1, &[1, 2, 3]);
    subscriber.ended(1, (11, 13), 1, &[1, 3]);
    assert_eq!(subscriber.decisions(), [(8, false), (11, true)]);
}

#[test]
fn a_set_all_of_whose_numbers_have_come_is_whole_whoever_left() {
    let mut subscriber = Subscriber::new(&[1, 3], &[1, 3]);
    subscriber.ended(1, (1, 4), 1, &[1, 2, 3]);
    subscriber.ended(3, (1, 4), 2, &[1, 2, 3]);
    assert_eq!(subscriber.decisions(), [(1, true)]);
}

#[test]
fn a_change_that_two_readers_have_counts_once() {
    let mut subscriber = Subscriber::new(&[1], &[1]);
    let second = Member {
        reader: member(2).reader,
        ..member(1)
    };
    subscriber.sets.matched(second, PUBLISHER);
    subscriber.ended(1, (1, 3), 1, &[1, 2]);
    let end = SetEnd {
        group: GroupPlace {
            number: SequenceNumber(3),
            coherent_set: SequenceNumber(1),
            writers: GroupDigest::NONE,
        },
        first: SequenceNumber(1),
        last: SequenceNumber(2),
        is_history: false,
        part: SetPart::Delivered,
    };
    subscriber.sets.ended(subscriber.now, second, &end, 1);
    assert_eq!(subscriber.decisions(), []);
}

#[test]
fn a_late_joiner_recognizes_sets_that_are_older_than_a_writer() {
    let mut subscriber = Subscriber::new(&[1, 2, 3], &[1]);
    subscriber.ended(1, (1, 4), 1, &[1]);
    subscriber.ended(1, (5, 8), 1, &[1, 2]);
    assert_eq!(subscriber.decisions(), [(1, true), (5, true)]);
}

#[test]
fn a_writer_that_left_is_missed_in_the_sets_that_it_had_not_ended_alone() {
    for read in [true, false] {
        let read: &[u32] = if read { &[1, 2] } else { &[1] };
        let mut subscriber = Subscriber::new(&[1, 2], read);
        if read.len() == 2 {
            subscriber.ended(2, (1, 4), 1, &[1, 2]);
        }
        subscriber.find(&[1]);
        subscriber.sets.unmatched(member(2));
        subscriber.ended(1, (1, 4), 1, &[1, 2]);
        // It wrote something in this one, of which nothing has come.
        subscriber.ended(1, (5, 8), 1, &[1, 2]);
        subscriber.ended(1, (9, 11), 1, &[1]);
        let is_whole = read.len() == 1;
        let expected = [(1, true), (5, is_whole), (9, true)];
        assert_eq!(subscriber.decisions(), expected);
    }
}

#[test]
fn a_writer_that_does_not_match_any_more_is_done_without() {
    let mut subscriber = Subscriber::new(&[1, 2], &[1, 2]);
    subscriber.sets.unmatched(member(2));
    subscriber.ended(1, (1, 4), 1, &[1, 2]);
    assert_eq!(subscriber.decisions(), [(1, true)]);
}

#[test]
fn a_writer_that_stays_unknown_is_waited_for_so_long_and_no_longer() {
    let mut subscriber = Subscriber::new(&[1], &[1]);
    subscriber.ended(1, (1, 4), 1, &[1]);
    subscriber.ended(1, (5, 8), 1, &[1, 2]);
    assert_eq!(subscriber.decisions(), [(1, true)]);
    let end = subscriber.now + PATIENCE;
    assert_eq!(subscriber.sets.poll_timeout(subscriber.now), Some(end));
    subscriber.now = Instant::ZERO + (PATIENCE - Duration::from_nanos(1));
    assert_eq!(subscriber.decisions(), []);
    subscriber.now = end;
    assert_eq!(subscriber.sets.poll_timeout(end), None);
    let guess = Judgement {
        is_whole: false,
        is_guess: true,
    };
    assert_eq!(subscriber.judgements(), [(5, guess)]);
}

#[test]
fn digests_that_are_never_known_are_given_up() {
    let mut subscriber = Subscriber::new(&[1], &[1]);
    subscriber.ended(1, (1, 4), 1, &[7]);
    assert_eq!(subscriber.decisions(), []);
    subscriber.now = subscriber.now + PATIENCE;
    let guess = Judgement {
        is_whole: true,
        is_guess: true,
    };
    assert_eq!(subscriber.judgements(), [(1, guess)]);
    subscriber.ended(1, (5, 8), 1, &[7]);
    assert_eq!(subscriber.judgements(), [(5, guess)]);
    // Until one is.
    subscriber.ended(1, (9, 12), 1, &[1]);
    subscriber.ended(1, (13, 16), 1, &[7]);
    assert_eq!(subscriber.decisions(), [(9, true)]);
}

#[test]
fn of_a_publisher_with_too_many_writers_nobody_can_tell() {
    let mut subscriber = Subscriber::new(&[1], &[1]);
    subscriber.ended(1, (1, 4), 1, &[1]);
    subscriber.find(&[]);
    subscriber.ended(1, (5, 8), 1, &[1, 2]);
    let judged = subscriber.judgements();
    let whole: Vec<_> = judged.iter().map(|(_, judged)| judged.is_whole).collect();
    assert_eq!(whole, [true, true]);
}
