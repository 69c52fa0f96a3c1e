//! A writer's changes: found, removed, and at little cost.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::writer::NothingLent;

type History = super::History<NothingLent>;

fn push(history: &mut History, number: i64, key: u8) {
    let change = Change {
        key_hash: Some([key; 16]),
        ..Change::default()
    };
    let mut payload = history.buffer();
    payload.push(key);
    let place = Place::default();
    history.push(
        SequenceNumber(number),
        change,
        Payload::Own(payload),
        None,
        place,
    );
}

fn remove_oldest_of(history: &mut History, key: Option<KeyHash>) -> Option<Removed> {
    history.remove(history.oldest_of(key)?)
}

fn one_byte(number: i64) -> Removed {
    Removed {
        number: SequenceNumber(number),
        counted_len: 1,
        coherent_set: SequenceNumber::ZERO,
    }
}

#[test]
fn ends_of_sets_belong_to_no_instance() {
    let mut history = History::default();
    push(&mut history, 1, 7);
    for number in 2..1000 {
        history.push_end(SequenceNumber(number), Place::default());
        history.remove_end(SequenceNumber(number - 1));
    }
    assert_eq!((history.len(), history.instance_count()), (1, 1));
    assert!(
        history
            .get(SequenceNumber(999))
            .is_some_and(|end| end.is_end())
    );
    assert!(history.get(SequenceNumber(998)).is_none());
    assert!(history.ring.len() <= 2 * 2 + SPARE_SLOTS);
    assert_eq!(history.oldest(), Some(SequenceNumber(1)));
    remove_oldest_of(&mut history, Some([7; 16]));
    assert_eq!(history.first(), Some(SequenceNumber(999)));
    assert!(history.oldest().is_none());
}

#[test]
fn what_everybody_has_goes_in_one_sweep() {
    let mut history = History::default();
    for number in 1..=20 {
        let change = Change {
            key_hash: (number % 3 != 0).then_some([u8::from(number % 2 == 0); 16]),
            ..Change::default()
        };
        history.push(
            SequenceNumber(number),
            change,
            Payload::Own(vec![0; 3]),
            None,
            Place::default(),
        );
    }
    history.remove(SequenceNumber(6));
    assert_eq!(history.remove_through(SequenceNumber(11), false), (10, 30));
    assert_eq!((history.len(), history.instance_count()), (9, 3));
    for key in [None, Some([0; 16]), Some([1; 16])] {
        let mut chain: Vec<_> = history.newest_of(key).collect();
        chain.reverse();
        assert_eq!(history.oldest_of(key), chain.first().copied());
        assert_eq!(history.instance_len(key), chain.len());
        assert_eq!(history.second_of(key), chain.get(1).copied());
    }
    assert_eq!(history.first(), Some(SequenceNumber(12)));
    history.remove_through(SequenceNumber(20), false);
    assert_eq!((history.len(), history.instance_count()), (0, 0));
}

#[test]
fn changes_are_found_with_and_without_holes() {
    let mut history = History::default();
    for number in 1..=300 {
        push(&mut history, number, u8::from(number % 3 == 0));
    }
    while history.instance_len(Some([0; 16])) > 1 {
        remove_oldest_of(&mut history, Some([0; 16]));
    }
    assert_eq!(history.len(), 101);
    assert_eq!(history.first(), Some(SequenceNumber(3)));
    for number in 1..=300 {
        let kept = number % 3 == 0 || number == 299;
        assert_eq!(history.get(SequenceNumber(number)).is_some(), kept);
    }
    assert_eq!(
        history.at_or_after(SequenceNumber(4)),
        Some(SequenceNumber(6))
    );
    assert_eq!(history.at_or_after(SequenceNumber(301)), None);
}

#[test]
fn one_old_instance_does_not_keep_the_ring_long() {
    let mut history = History::default();
    push(&mut history, 1, 7);
    for number in 2..100_000 {
        push(&mut history, number, 8);
        if history.instance_len(Some([8; 16])) > 1 {
            remove_oldest_of(&mut history, Some([8; 16]));
        }
    }
    assert_eq!(history.len(), 2);
    assert!(history.ring.len() <= 2 * history.len() + SPARE_SLOTS);
    assert!(history.get(SequenceNumber(1)).is_some());
    assert_eq!(history.instance_count(), 2);
}

/// Looks a number up; says how many slots that passed over.
fn look(history: &mut History, number: i64) -> (Option<i64>, usize) {
    let number = SequenceNumber(number);
    let (Ok(mut slot) | Err(mut slot)) = history.guess(number);
    let mut steps = 0;
    while let Some(change) = history.ring.get(slot).filter(|change| !change.is_here()) {
        slot += change.removed_run as usize;
        steps += 1;
    }
    (history.at_or_after(number).map(|found| found.0), steps)
}

#[test]
fn what_has_been_removed_is_passed_over_in_few_steps() {
    const COUNT: usize = 2_000;
    let mut history = History::default();
    let last = i64::try_from(2 * COUNT).unwrap();
    for number in 0..=last {
        push(&mut history, number, 1);
    }
    // A snapshot is replaced change by change, and each time it is asked what is left of it.
    let mut all = 0;
    for number in 1..last / 2 {
        assert!(history.remove(SequenceNumber(number)).is_some());
        let (found, steps) = look(&mut history, 1);
        assert_eq!(found, Some(number + 1));
        all += steps;
    }
    assert!(all < 4 * COUNT, "{all} steps for {COUNT} changes");
    // A reader asks for what has been removed, number by number.
    let mut history = History::default();
    (0..=last).for_each(|number| push(&mut history, number, 1));
    for number in 1..last / 2 {
        history.remove(SequenceNumber(number));
    }
    let steps: usize = (1..last / 2)
        .map(|number| look(&mut history, number).1)
        .sum();
    assert!(steps < 4 * COUNT, "{steps} steps for {COUNT} changes");
}

proptest! {
    #[test]
    fn what_is_found_is_what_is_there(
        steps in proptest::collection::vec((0..4, 1..200_i64), 1..400),
    ) {
        let (mut history, mut model) = (History::default(), BTreeSet::new());
        let mut next = 1;
        for (step, number) in steps {
            match step {
                0 => {
                    next += number % 3;
                    push(&mut history, next, 1);
                    model.insert(next);
                    next += 1;
                }
                1 => {
                    history.push_end(SequenceNumber(next), Place::default());
                    history.remove_end(SequenceNumber(next));
                    next += 1;
                }
                2 => {
                    let removed = history.remove(SequenceNumber(number));
                    prop_assert_eq!(removed.is_some(), model.remove(&number));
                }
                _ => {
                    let found = history.at_or_after(SequenceNumber(number));
                    let expected = model.range(number..).next();
                    prop_assert_eq!(found, expected.copied().map(SequenceNumber));
                }
            }
            let oldest = model.first().copied().map(SequenceNumber);
            prop_assert_eq!(history.oldest(), oldest);
        }
    }
}

#[test]
fn numbers_outside_are_not_found() {
    let mut history = History::default();
    assert_eq!(history.at_or_after(SequenceNumber(i64::MIN)), None);
    push(&mut history, 5, 0);
    for number in [i64::MIN, -1, 0, 4, 6, i64::MAX] {
        assert!(history.get(SequenceNumber(number)).is_none());
    }
}

#[test]
fn the_oldest_may_outlive_its_successors() {
    let mut history = History::default();
    for number in 1..=3 {
        push(&mut history, number, 1);
    }
    let key = Some([1; 16]);
    for second in [2, 3] {
        assert_eq!(history.second_of(key), Some(SequenceNumber(second)));
        let removed = history.remove(SequenceNumber(second));
        assert_eq!(removed, Some(one_byte(second)));
    }
    assert_eq!(history.second_of(key), None);
    push(&mut history, 4, 1);
    assert_eq!(history.instance_len(key), 2);
    for oldest in [1, 4] {
        let removed = remove_oldest_of(&mut history, key);
        assert_eq!(removed, Some(one_byte(oldest)));
    }
    assert_eq!((history.len(), history.instance_count()), (0, 0));
}

#[test]
fn an_instance_that_lost_its_last_change_is_gone() {
    let mut history = History::default();
    push(&mut history, 1, 1);
    assert_eq!(
        remove_oldest_of(&mut history, Some([1; 16])),
        Some(one_byte(1))
    );
    assert_eq!(history.instance_count(), 0);
    assert_eq!(remove_oldest_of(&mut history, Some([1; 16])), None);
    assert_eq!(history.first(), None);
}

#[test]
fn a_change_between_others_can_go_first() {
    let mut history = History::default();
    for number in 1..=5 {
        push(&mut history, number, 1);
    }
    let key = Some([1; 16]);
    for number in [3, 5, 2] {
        let removed = history.remove(SequenceNumber(number));
        assert_eq!(removed, Some(one_byte(number)));
        assert_eq!(history.remove(SequenceNumber(number)), None);
    }
    push(&mut history, 6, 1);
    let mut left = Vec::new();
    while let Some(removed) = remove_oldest_of(&mut history, key) {
        left.push(removed.number.0);
    }
    assert_eq!(left, [1, 4, 6]);
    assert_eq!(history.instance_count(), 0);
}

#[test]
fn what_has_been_removed_does_not_expire() {
    let mut history = History::default();
    let at = |nanos| Some(Instant::from_nanos(nanos));
    for (number, expires_at) in [(1, at(30)), (2, None), (3, at(10)), (4, at(20))] {
        let (change, place) = (Change::default(), Place::default());
        history.push(
            SequenceNumber(number),
            change,
            Payload::Own(Vec::new()),
            expires_at,
            place,
        );
    }
    let mut order = Vec::new();
    while let Some((at, number)) = history.next_expiry() {
        order.push((at.as_nanos(), number.0));
        history.remove(number);
    }
    assert_eq!(order, [(10, 3), (20, 4), (30, 1)]);
    assert_eq!(history.len(), 1);
}

fn push_plain(history: &mut History, number: i64) {
    let timestamp = Timestamp::from_nanos(number);
    let payload = vec![u8::try_from(number % 256).unwrap(); plain_len(number)];
    let staged = history.stage(SequenceNumber(number));
    staged.extend_from_slice(&payload);
    if number % 5 == 0 {
        // It is not written, and later it is.
        assert_eq!(history.unstage(), payload);
        history.stage(SequenceNumber(number)).push(7);
        let staged = history.stage(SequenceNumber(number));
        staged.extend_from_slice(&payload);
    }
    assert_eq!(history.staged(), payload);
    history.push_plain(timestamp);
}

/// Some fill pieces of the tail fast.
fn plain_len(number: i64) -> usize {
    match number % 7 {
        0 => 3_000,
        rest => usize::try_from(rest).unwrap(),
    }
}

/// What a history tells of itself.
fn told(history: &mut History, number: i64) -> impl PartialEq + core::fmt::Debug + use<> {
    let number = SequenceNumber(number);
    let key = Some([1; 16]);
    let of = |history: &History, key| {
        let ends = (history.oldest_of(key), history.second_of(key));
        let chain: Vec<_> = history.newest_of(key).collect();
        (history.instance_len(key), ends, chain)
    };
    let kept = history.get(number).map(|kept| {
        let payload = kept.payload.to_slice().into_owned();
        let sort = (kept.kind(), kept.key_hash(), kept.is_end());
        (kept.sequence_number, kept.source_timestamp, payload, sort)
    });
    let above = history.above(number).map(|kept| kept.sequence_number);
    let above: Vec<_> = above.collect();
    (
        (history.len(), history.instance_count()),
        (
            history.first(),
            history.oldest(),
            history.newer_than(number),
        ),
        (of(history, None), of(history, key)),
        (kept, above, history.at_or_after(number)),
    )
}

proptest! {
    /// Where a change lies makes no difference.
    #[test]
    fn a_tail_tells_what_the_ring_would(
        steps in proptest::collection::vec((0..12, 0..300_i64), 1..300),
    ) {
        let (mut one, mut other) = (History::default(), History::default());
        let mut next = 1;
        for (step, number) in steps {
            match step {
                0..6 => {
                    for _ in 0..=number % 8 {
                        push_plain(&mut one, next);
                        push_plain(&mut other, next);
                        other.settle();
                        next += 1;
                    }
                }
                6 => {
                    push(&mut one, next, 1);
                    push(&mut other, next, 1);
                    next += 1 + number % 2;
                }
                7 => {
                    one.push_end(SequenceNumber(next), Place::default());
                    other.push_end(SequenceNumber(next), Place::default());
                    if number % 4 > 0 {
                        one.remove_end(SequenceNumber(next));
                        other.remove_end(SequenceNumber(next));
                    }
                    next += 1;
                }
                8 => {
                    let number = SequenceNumber(next - number % 40);
                    prop_assert_eq!(one.remove(number), other.remove(number));
                }
                9 => {
                    let end = SequenceNumber(next - number % 40);
                    prop_assert_eq!(one.remove_through(end, false), other.remove_through(end, false));
                }
                _ => {}
            }
            let number = next - number % 64;
            prop_assert_eq!(told(&mut one, number), told(&mut other, number));
        }
        prop_assert_eq!(other.tail.len(), 0);
    }
}

#[test]
fn a_stream_stays_in_the_tail_and_leaves_in_pieces() {
    let mut history = History::default();
    (1..=10_000).for_each(|number| push_plain(&mut history, number));
    assert!(history.ring.is_empty());
    let end = SequenceNumber(5_000);
    let len = (1..=5_000).map(plain_len).sum();
    assert_eq!(history.remove_through(end, false), (5_000, len));
    assert_eq!(history.first(), Some(end.next()));
    assert_eq!(history.remove_through(end, false), (0, 0));
    push(&mut history, 10_001, 1);
    assert_eq!((history.tail.len(), history.len()), (0, 5_001));
    push_plain(&mut history, 10_002);
    assert_eq!(history.tail.len(), 1);
    history.remove_through(SequenceNumber(i64::MAX), false);
    assert_eq!(history.len(), 0);
}
