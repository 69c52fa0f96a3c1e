use alloc::vec::Vec;

use super::*;
use crate::change::GroupPlace;
use crate::reader::SetPart;
use crate::wire::{GroupDigest, GuidPrefix};

const NOW: Instant = Instant::ZERO;
const PUBLISHER: Guid = Guid::new(GuidPrefix([9; 12]), EntityId::PARTICIPANT);

fn member(number: u32) -> Member {
    let guid = |entity| Guid::new(GuidPrefix([1; 12]), entity);
    Member {
        reader: guid(EntityId::user_reader(number, true)),
        writer: guid(EntityId::user_writer(number, true)),
    }
}

fn sets(members: u32) -> GroupSets {
    let mut sets = GroupSets::default();
    for number in 1..=members {
        sets.matched(member(number), PUBLISHER);
    }
    sets
}

/// The end of set `set..end` in numbers `first` to `last` of the writer.
fn end(set: i64, end: i64, first: i64, last: i64, part: SetPart) -> SetEnd {
    SetEnd {
        group: GroupPlace {
            number: SequenceNumber(end),
            coherent_set: SequenceNumber(set),
            writers: GroupDigest::NONE,
        },
        first: SequenceNumber(first),
        last: SequenceNumber(last),
        is_history: false,
        part,
    }
}

fn decisions(sets: &mut GroupSets) -> Vec<(i64, bool)> {
    let mut decisions = Vec::new();
    loop {
        let next = sets.decisions(NOW).next();
        let Some(decision) = next else {
            return decisions;
        };
        sets.done(&decision);
        decisions.push((decision.set.0, decision.judgement.is_whole));
    }
}

#[test]
fn a_set_is_whole_when_it_has_ended_in_every_writer() {
    let mut sets = sets(2);
    sets.ended(NOW, member(1), &end(1, 3, 1, 3, SetPart::Delivered), 2);
    assert_eq!(decisions(&mut sets), []);
    sets.ended(NOW, member(2), &end(1, 3, 1, 1, SetPart::Empty), 0);
    assert_eq!(decisions(&mut sets), [(1, true)]);
}

#[test]
fn one_broken_part_breaks_the_set_and_what_comes_later_of_it() {
    let mut sets = sets(2);
    sets.ended(NOW, member(1), &end(1, 5, 1, 3, SetPart::Discarded), 0);
    assert_eq!(decisions(&mut sets), [(1, false)]);
    sets.ended(NOW, member(2), &end(1, 5, 1, 3, SetPart::Delivered), 2);
    assert_eq!(decisions(&mut sets), [(1, false)]);
}

#[test]
fn a_reader_that_is_matched_later_shows_its_parts_of_sets_that_were_whole() {
    let mut sets = sets(1);
    sets.ended(NOW, member(1), &end(1, 2, 1, 2, SetPart::Delivered), 1);
    sets.ended(NOW, member(1), &end(3, 4, 3, 4, SetPart::Discarded), 0);
    sets.ended(NOW, member(1), &end(5, 6, 5, 6, SetPart::Delivered), 1);
    let expected = [(1, true), (3, false), (5, true)];
    assert_eq!(decisions(&mut sets), expected);
    sets.matched(member(2), PUBLISHER);
    for set in [1, 3, 5] {
        let part = end(set, set + 1, set, set + 1, SetPart::Delivered);
        sets.ended(NOW, member(2), &part, 1);
    }
    assert_eq!(decisions(&mut sets), expected);
}

#[test]
fn sets_are_decided_in_order() {
    let mut sets = sets(2);
    sets.ended(NOW, member(1), &end(1, 2, 1, 2, SetPart::Delivered), 1);
    sets.ended(NOW, member(1), &end(3, 4, 3, 4, SetPart::Delivered), 1);
    sets.ended(NOW, member(2), &end(1, 2, 1, 1, SetPart::Empty), 0);
    assert_eq!(decisions(&mut sets), [(1, true)]);
    sets.ended(NOW, member(2), &end(3, 4, 2, 2, SetPart::Empty), 0);
    assert_eq!(decisions(&mut sets), [(3, true)]);
}

#[test]
fn a_set_that_ended_before_a_writer_was_heard_is_not_whole() {
    let mut sets = sets(2);
    sets.ended(NOW, member(1), &end(1, 3, 1, 3, SetPart::Delivered), 2);
    // Its first nine changes are unknown, and may have been of the set.
    sets.ended(NOW, member(2), &end(1, 3, 10, 10, SetPart::Unheard), 0);
    assert_eq!(decisions(&mut sets), [(1, false)]);
    sets.ended(NOW, member(1), &end(4, 6, 4, 6, SetPart::Delivered), 2);
    sets.ended(NOW, member(2), &end(4, 6, 11, 11, SetPart::Empty), 0);
    assert_eq!(decisions(&mut sets), [(4, true)]);
}

#[test]
fn a_hole_in_a_writer_breaks_the_sets_around_it_alone() {
    let mut sets = sets(2);
    for set in [1, 3, 5, 7] {
        let part = end(set, set + 1, set, set + 1, SetPart::Delivered);
        sets.ended(NOW, member(1), &part, 1);
    }
    sets.ended(NOW, member(2), &end(1, 2, 1, 2, SetPart::Delivered), 1);
    sets.ended(NOW, member(2), &end(7, 8, 9, 10, SetPart::Delivered), 1);
    let expected = [(1, true), (3, false), (5, false), (7, true)];
    assert_eq!(decisions(&mut sets), expected);
}

#[test]
fn changes_outside_sets_show_how_far_a_writer_has_got() {
    let mut sets = sets(2);
    sets.ended(NOW, member(1), &end(1, 2, 1, 2, SetPart::Delivered), 1);
    sets.passed(member(2), SequenceNumber::FIRST, SequenceNumber(3));
    assert_eq!(decisions(&mut sets), [(1, true)]);
}

#[test]
fn a_writer_that_leaves_breaks_the_sets_that_it_has_not_ended() {
    let mut sets = sets(2);
    sets.ended(NOW, member(2), &end(1, 2, 1, 1, SetPart::Empty), 0);
    sets.ended(NOW, member(1), &end(1, 2, 1, 2, SetPart::Delivered), 1);
    sets.ended(NOW, member(1), &end(3, 4, 3, 4, SetPart::Delivered), 1);
    sets.unmatched(member(2));
    assert_eq!(decisions(&mut sets), [(1, true), (3, false)]);
    sets.unmatched(member(1));
    assert!(sets.publishers.is_empty());
}

#[test]
fn a_writer_that_leaves_breaks_the_set_that_others_have_yet_to_end() {
    let mut sets = sets(2);
    sets.ended(NOW, member(1), &end(1, 2, 1, 2, SetPart::Delivered), 1);
    sets.ended(NOW, member(2), &end(1, 2, 1, 2, SetPart::Delivered), 1);
    sets.begun(member(2), SequenceNumber(3));
    sets.unmatched(member(2));
    sets.ended(NOW, member(1), &end(3, 4, 3, 4, SetPart::Delivered), 1);
    // One that begins later does without the writer.
    sets.ended(NOW, member(1), &end(5, 6, 5, 6, SetPart::Delivered), 1);
    assert_eq!(decisions(&mut sets), [(1, true), (3, false), (5, true)]);
}

#[test]
fn a_writer_that_leaves_breaks_the_sets_that_changes_of_it_are_missing_around() {
    let mut sets = sets(2);
    sets.ended(NOW, member(2), &end(1, 2, 1, 1, SetPart::Empty), 0);
    // What it wrote of two sets, and their ends, was replaced.
    sets.passed(member(2), SequenceNumber(6), SequenceNumber(7));
    sets.ended(NOW, member(1), &end(1, 2, 1, 2, SetPart::Delivered), 1);
    assert_eq!(decisions(&mut sets), [(1, true)]);
    sets.unmatched(member(2));
    for set in [3, 5, 8] {
        let part = end(set, set + 1, set, set + 1, SetPart::Delivered);
        sets.ended(NOW, member(1), &part, 1);
    }
    assert_eq!(decisions(&mut sets), [(3, false), (5, false), (8, true)]);
}

#[test]
fn a_writer_that_leaves_between_sets_breaks_none() {
    let mut sets = sets(2);
    sets.ended(NOW, member(2), &end(1, 2, 1, 1, SetPart::Empty), 0);
    sets.ended(NOW, member(1), &end(1, 2, 1, 2, SetPart::Delivered), 1);
    sets.unmatched(member(2));
    sets.ended(NOW, member(1), &end(3, 4, 3, 4, SetPart::Delivered), 1);
    assert_eq!(decisions(&mut sets), [(1, true), (3, true)]);
}

#[test]
fn sets_do_not_wait_for_a_reader_that_is_gone() {
    let mut sets = sets(2);
    sets.ended(NOW, member(1), &end(1, 2, 1, 2, SetPart::Delivered), 1);
    assert_eq!(decisions(&mut sets), []);
    sets.remove_reader(member(2).reader);
    assert_eq!(decisions(&mut sets), [(1, true)]);
    sets.remove_reader(member(1).reader);
    assert!(sets.publishers.is_empty() && sets.publisher_of.is_empty());
}

#[test]
fn a_writer_may_change_to_another_publisher() {
    let other = Guid::new(GuidPrefix([8; 12]), EntityId::PARTICIPANT);
    let mut sets = sets(2);
    sets.ended(NOW, member(1), &end(1, 2, 1, 2, SetPart::Delivered), 1);
    sets.matched(member(2), other);
    let decision = sets
        .decisions(NOW)
        .next()
        .map(|one| (one.publisher, one.judgement.is_whole));
    assert_eq!(decision, Some((PUBLISHER, false)));
    assert_eq!(decisions(&mut sets), [(1, false)]);
    sets.ended(NOW, member(1), &end(3, 4, 3, 4, SetPart::Delivered), 1);
    sets.ended(NOW, member(2), &end(1, 2, 1, 2, SetPart::Delivered), 1);
    assert_eq!(decisions(&mut sets).len(), 2);
}

#[test]
fn one_publisher_does_not_wait_for_another() {
    let mut sets = sets(2);
    sets.matched(
        member(3),
        Guid::new(GuidPrefix([8; 12]), EntityId::PARTICIPANT),
    );
    for number in 1..=3 {
        sets.ended(NOW, member(number), &end(1, 2, 1, 2, SetPart::Delivered), 1);
    }
    // Nobody carries out the first.
    assert_eq!(sets.decisions(NOW).count(), 2);
}

#[test]
fn changes_missing_outside_sets_break_none_that_the_writer_has_no_part_in() {
    let mut sets = sets(2);
    sets.ended(NOW, member(1), &end(5, 8, 1, 3, SetPart::Delivered), 2);
    // Four changes before the set were replaced or filtered.
    sets.ended(NOW, member(2), &end(5, 8, 5, 5, SetPart::Empty), 0);
    assert_eq!(decisions(&mut sets), [(5, true)]);
}
