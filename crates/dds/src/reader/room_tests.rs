use proptest::prelude::*;

use super::*;
use crate::reader::room::Room;

/// So many samples or instances at most, or any number.
fn limit() -> impl Strategy<Value = usize> {
    prop_oneof![1..8_usize, Just(usize::MAX)]
}

/// Instances of changes, and whether they are values.
fn changes() -> impl Strategy<Value = Vec<(u8, bool)>> {
    prop::collection::vec((0..5_u8, prop::bool::weighted(0.8)), 0..12)
}

fn kind(is_value: bool) -> ChangeKind {
    match is_value {
        true => ChangeKind::Alive,
        false => ChangeKind::Disposed,
    }
}

proptest! {
    /// So nobody need look before.
    #[test]
    fn there_is_no_room_before_so_much_is_gone_as_was_said(
        depth in prop::option::of(1..4_usize),
        limits in prop::array::uniform3(limit()),
        there in changes(),
        set in changes(),
        later in changes(),
    ) {
        let [max_samples, max_instances, max_samples_per_instance] = limits;
        let mut fixture = Fixture::new(CachePolicy {
            depth,
            max_samples,
            max_instances,
            max_samples_per_instance,
            ..KEEP_ALL
        });
        for (instance, is_value) in there {
            fixture.change(kind(is_value), instance, 1);
        }
        let set: Vec<_> = set
            .into_iter()
            .map(|(instance, is_value)| arrival(kind(is_value), instance, 2, 0))
            .collect();
        let mut later = later.into_iter();
        let mut until = None;
        while let Room::NotYet(_, excess) = fixture.cache.room_for(set.iter()) {
            prop_assert!(excess > 0);
            let at = *until.get_or_insert(fixture.cache.gone + excess as u64);
            if at <= fixture.cache.gone {
                until = None;
            }
            if let Some((instance, is_value)) = later.next() {
                fixture.change(kind(is_value), instance, 1);
            }
            let one = Query { max_samples: 1, ..ALL };
            if fixture.collect(one, true).is_empty() {
                // What is left is instances whose writer is there.
                return Ok(());
            }
        }
        prop_assert!(until.is_none_or(|at| at <= fixture.cache.gone));
    }
}
