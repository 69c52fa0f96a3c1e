use super::*;
use crate::change::GroupPlace;
use crate::wire::GuidPrefix;

fn member(number: u32) -> Member {
    let guid = |entity| Guid::new(GuidPrefix([1; 12]), entity);
    Member {
        reader: guid(EntityId::user_reader(number, true)),
        writer: guid(EntityId::user_writer(number, true)),
    }
}

#[test]
fn what_waits_is_bounded() {
    let mut sets = PublisherSets::default();
    sets.join(member(1));
    sets.join(member(2));
    for set in 1..=5000 {
        let end = SetEnd {
            group: GroupPlace {
                number: SequenceNumber(2 * set + 1),
                coherent_set: SequenceNumber(2 * set),
                writers: GroupDigest::NONE,
            },
            first: SequenceNumber(set),
            last: SequenceNumber(set),
            is_history: false,
            part: SetPart::Delivered,
        };
        sets.ended(Instant::ZERO, member(1), &end, 1);
        while let Some((set, judgement)) = sets.decision(Instant::ZERO) {
            assert!(!judgement.is_whole);
            sets.done(set, judgement);
        }
    }
    assert_eq!(
        (sets.pending.len(), sets.change_count),
        (MAX_SETS, MAX_SETS)
    );
    for hole in 1..=1000 {
        let (number, group_number) = (SequenceNumber(2 * hole), SequenceNumber(10 * hole));
        sets.passed(member(2), number, group_number);
    }
    assert_eq!(sets.members[&member(2)].holes.len(), MAX_HOLES);
}

#[test]
fn what_was_lost_is_bounded() {
    let mut sets = PublisherSets::default();
    for set in (4..1000).step_by(4) {
        sets.lose(SequenceNumber(set - 1), SequenceNumber(set + 1));
    }
    let range = |from, to| (SequenceNumber(from), SequenceNumber(to));
    assert_eq!(sets.lost.len(), MAX_HOLES);
    assert_eq!(sets.lost.last(), Some(&range(995, 997)));
    sets.lose(SequenceNumber(3), SequenceNumber(995));
    assert_eq!(sets.lost, [range(3, 997)]);
}
