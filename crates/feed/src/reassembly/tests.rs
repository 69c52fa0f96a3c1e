use proptest::prelude::*;

use super::*;

fn chunk(
    reassembly: &mut Reassembly,
    number: u32,
    index: u16,
    count: u16,
    bytes: &[u8],
) -> Option<Vec<u8>> {
    let chunk = Chunk { index, count };
    let whole = reassembly.handle_chunk(PacketNumber(number), chunk, bytes);
    whole.map(<[u8]>::to_vec)
}

impl Reassembly {
    /// Chunks of messages under way.
    fn held(&self) -> usize {
        let held = |partial: &Partial| partial.chunks.len() - partial.missing;
        self.partial.iter().map(held).sum()
    }
}

#[test]
fn a_message_is_whole_with_its_last_chunk_in_whatever_order() {
    let mut desk = Reassembly::new();
    assert_eq!(chunk(&mut desk, 7, 2, 3, b"!"), None);
    assert_eq!(chunk(&mut desk, 7, 0, 3, b"who"), None);
    assert_eq!(chunk(&mut desk, 7, 0, 3, b"who"), None);
    assert_eq!(
        chunk(&mut desk, 7, 1, 3, b"le").as_deref(),
        Some(&b"whole!"[..])
    );
    assert_eq!(chunk(&mut desk, 7, 1, 3, b"le"), None);
    let counters = desk.counters();
    assert_eq!((counters.whole, counters.duplicate), (1, 2));
    desk.finish();
    assert_eq!(desk.counters().incomplete, 0);
}

#[test]
fn a_message_that_lacks_a_chunk_is_given_up_when_there_is_no_more_room() {
    let mut desk = Reassembly::new();
    let room = u32::try_from(MAX_MESSAGES).expect("few");
    for number in 0..=room {
        assert_eq!(chunk(&mut desk, number, 0, 2, b"a"), None);
    }
    assert_eq!(desk.counters().incomplete, 1);
    assert_eq!(chunk(&mut desk, 0, 1, 2, b"b"), None, "given up");
    assert_eq!(chunk(&mut desk, 1, 1, 2, b"b").as_deref(), Some(&b"ab"[..]));
    desk.finish();
    assert_eq!(desk.counters().incomplete, 1 + u64::from(room) - 1);
}

#[test]
fn hostile_counts_and_lengths_are_refused() {
    let mut desk = Reassembly::new();
    assert_eq!(chunk(&mut desk, 1, 0, 0, b"a"), None);
    assert_eq!(chunk(&mut desk, 1, 0, u16::MAX, b"a"), None);
    assert_eq!(desk.counters().refused, 2);
    assert_eq!(chunk(&mut desk, 2, 0, 2, b"a"), None);
    assert_eq!(chunk(&mut desk, 2, 5, 2, b"b"), None, "beyond the count");
    assert_eq!(chunk(&mut desk, 2, 1, 2, b"b").as_deref(), Some(&b"ab"[..]));
    let long = vec![0; MAX_MESSAGE_LEN];
    assert_eq!(chunk(&mut desk, 4, 0, 2, &long), None);
    assert_eq!(chunk(&mut desk, 4, 1, 2, b"b"), None, "too long");
    let counters = desk.counters();
    assert_eq!((counters.refused, counters.incomplete), (4, 1));
}

#[test]
fn a_copy_of_a_chunk_is_not_too_long() {
    let mut desk = Reassembly::new();
    let long = vec![0; MAX_MESSAGE_LEN - 1];
    assert_eq!(chunk(&mut desk, 1, 0, 2, &long), None);
    assert_eq!(chunk(&mut desk, 1, 0, 2, &long), None, "a copy");
    assert!(chunk(&mut desk, 1, 1, 2, b"b").is_some());
    let counters = desk.counters();
    assert_eq!((counters.duplicate, counters.refused), (1, 0));
}

#[test]
fn numbers_that_start_again_are_messages_again() {
    let mut desk = Reassembly::new();
    for round in 1..=3 {
        for number in 1..=3 {
            assert_eq!(chunk(&mut desk, number, 0, 2, b"a"), None);
            let whole = chunk(&mut desk, number, 1, 2, b"b");
            assert_eq!(whole.as_deref(), Some(&b"ab"[..]));
        }
        let counters = desk.counters();
        assert_eq!((counters.whole, counters.duplicate), (3 * round, 0));
    }
}

#[test]
fn copies_of_some_chunks_are_no_message_and_take_no_room_from_one() {
    let mut desk = Reassembly::new();
    let room = u32::try_from(MAX_MESSAGES).expect("few");
    for number in 0..room {
        chunk(&mut desk, number, 0, 2, b"a");
        assert!(chunk(&mut desk, number, 1, 2, b"b").is_some());
    }
    assert_eq!(chunk(&mut desk, room, 1, 2, b"b"), None);
    for number in 0..room {
        assert_eq!(chunk(&mut desk, number, 0, 2, b"a"), None);
    }
    assert!(chunk(&mut desk, room, 0, 2, b"a").is_some());
    desk.finish();
    let counters = desk.counters();
    assert_eq!((counters.duplicate, counters.incomplete), (8, 0));
}

#[test]
fn copies_do_not_make_other_messages_forgotten() {
    let mut desk = Reassembly::new();
    for number in 0..u32::try_from(MEMORY).expect("few") {
        chunk(&mut desk, number, 0, 2, b"a");
        assert!(chunk(&mut desk, number, 1, 2, b"b").is_some());
    }
    assert_eq!(chunk(&mut desk, 5, 0, 2, b"a"), None);
    desk.finish();
    assert_eq!(chunk(&mut desk, 0, 1, 2, b"b"), None);
    desk.finish();
    let counters = desk.counters();
    assert_eq!((counters.duplicate, counters.incomplete), (2, 0));
}

#[test]
fn a_message_under_way_is_not_mixed_with_a_later_one_of_its_number() {
    let mut desk = Reassembly::new();
    assert_eq!(chunk(&mut desk, 5, 1, 2, b"old"), None);
    for number in 100..=100 + u32::try_from(MEMORY).expect("few") {
        chunk(&mut desk, number, 0, 2, b"a");
        chunk(&mut desk, number, 1, 2, b"b");
    }
    assert_eq!(chunk(&mut desk, 5, 0, 2, b"very "), None);
    assert_eq!(
        chunk(&mut desk, 5, 1, 2, b"new").as_deref(),
        Some(&b"very new"[..])
    );
    assert_eq!(desk.counters().incomplete, 1);
}

#[test]
fn a_chunk_of_other_content_or_count_begins_the_message_again() {
    for (first, count) in [(0, 2), (1, 2), (0, 3), (2, 3)] {
        let mut desk = Reassembly::new();
        assert_eq!(chunk(&mut desk, 5, first.min(1), 2, b"old"), None);
        let others = (0..count).filter(|&index| index != first);
        let mut whole = chunk(&mut desk, 5, first, count, &[first.to_le_bytes()[0]]);
        for index in others {
            assert_eq!(whole, None);
            whole = chunk(&mut desk, 5, index, count, &[index.to_le_bytes()[0]]);
        }
        assert_eq!(whole.as_deref(), [0, 1, 2].get(..count.into()));
        let counters = desk.counters();
        assert_eq!((counters.whole, counters.incomplete), (1, 1));
        assert_eq!((counters.duplicate, counters.refused), (0, 0));
    }
}

#[test]
fn a_message_that_began_again_and_lacks_a_chunk_is_incomplete() {
    for count in [2, 3] {
        let mut desk = Reassembly::new();
        assert_eq!(chunk(&mut desk, 5, 1, 2, b"old"), None);
        assert_eq!(chunk(&mut desk, 5, 1, count, b"new"), None);
        desk.finish();
        let counters = desk.counters();
        assert_eq!((counters.incomplete, counters.duplicate), (2, 0));
    }
}

proptest! {
    /// Chunks of several messages, each lost, repeated and out of place: what all chunks came of is whole, and right.
    #[test]
    fn what_all_chunks_came_of_is_whole(
        messages in prop::collection::vec(prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 2..6), 1..MAX_MESSAGES),
        order in prop::collection::vec((any::<prop::sample::Index>(), 0..8u8), 0..64),
    ) {
        let mut sent = Vec::new();
        for (number, chunks) in (0..).zip(&messages) {
            let count = u16::try_from(chunks.len()).expect("few");
            for (index, bytes) in (0..).zip(chunks) {
                sent.push((number, Chunk { index, count }, bytes));
            }
        }
        for (place, fate) in order {
            let at = place.index(sent.len());
            match fate {
                0 => { sent.remove(at); }
                1 => sent.push(sent[at]),
                _ => { let one = sent.remove(at); sent.push(one); }
            }
            if sent.is_empty() {
                return Ok(());
            }
        }
        let mut desk = Reassembly::new();
        let mut whole = Vec::new();
        for (number, chunk, bytes) in &sent {
            if let Some(message) = desk.handle_chunk(PacketNumber(*number), *chunk, bytes) {
                prop_assert_eq!(message, messages[*number as usize].concat());
                whole.push(*number);
            }
        }
        desk.finish();
        let counters = desk.counters();
        prop_assert_eq!(counters.whole, whole.len() as u64);
        whole.sort_unstable();
        // One of which every chunk came again may be whole again.
        whole.dedup();
        let came = |number: u32| {
            let mut indices: Vec<_> = sent.iter().filter(|sent| sent.0 == number).map(|sent| sent.1.index).collect();
            indices.sort_unstable();
            indices.dedup();
            indices.len()
        };
        let numbers = 0..u32::try_from(messages.len()).expect("few");
        let expected: Vec<_> = numbers.clone().filter(|&number| came(number) == messages[number as usize].len()).collect();
        prop_assert_eq!(&whole, &expected);
        let begun = numbers.filter(|&number| came(number) > 0).count();
        prop_assert_eq!(counters.incomplete, (begun - whole.len()) as u64);
        prop_assert_eq!(counters.refused, 0);
    }

    /// Whatever chunks come, each is accounted for and memory stays within its bounds.
    #[test]
    fn any_chunks_are_accounted_for(chunks in prop::collection::vec((0..20u32, any::<u16>(), prop_oneof![0..5u16, any::<u16>()], 0..9usize), 0..200)) {
        let mut desk = Reassembly::new();
        for (number, index, count, len) in chunks {
            let before = desk.counters();
            let held_before = desk.held();
            let index = index % count.max(1);
            let is_whole = chunk(&mut desk, number, index, count, &[0; 9][..len]).is_some();
            let after = desk.counters();
            prop_assert_eq!(after.whole - before.whole, u64::from(is_whole));
            let is_counted = (after.whole, after.incomplete, after.duplicate, after.refused)
                != (before.whole, before.incomplete, before.duplicate, before.refused);
            prop_assert!(is_counted || desk.held() == held_before + 1);
            prop_assert!(desk.partial.len() <= MAX_MESSAGES && desk.done.len() <= MEMORY && desk.free.len() <= MAX_MESSAGES);
        }
    }
}
