//! Participants that find each other by a rendezvous alone, in virtual time.

mod answers;
mod federation;
mod hostile;
mod world;

use std::time::Duration;

use tickwire_rtps::rendezvous::RendezvousEvent;
use tickwire_simnet::Link;

use world::{LEASE, SECOND, World, home, participant, prefix};

/// A domain that no port of RTPS can be made from.
const FAR_DOMAIN: u32 = 8_675_309;
/// Twenty times as long as a datagram takes.
const AT_ONCE: Duration = Duration::from_millis(1);

fn others(ids: std::ops::RangeInclusive<u8>, own: u8) -> Vec<u8> {
    ids.filter(|id| *id != own).collect()
}

#[test]
fn participants_of_a_domain_find_each_other_at_once() {
    let mut world = World::new(1, Link::PERFECT);
    let rendezvous = world.open(1, |_| {});
    let first: Vec<_> = (1..=3).map(|id| world.join(id, FAR_DOMAIN, 1)).collect();
    let stranger = world.join(9, 0, 1);
    world.run(AT_ONCE);
    for (node, id) in first.iter().zip(1..) {
        assert_eq!(world.known_by(*node), others(1..=3, id));
    }
    world.run(60 * SECOND);
    let late = world.join(4, FAR_DOMAIN, 1);
    world.run(AT_ONCE);
    assert_eq!(world.known_by(late), [1, 2, 3]);
    assert_eq!(world.known_by(first[0]), [2, 3, 4]);
    assert_eq!(world.known_by(stranger), []);
    assert_eq!(world.rendezvous(rendezvous).participants().count(), 5);
}

#[test]
fn a_tag_sets_participants_of_one_domain_apart() {
    let mut world = World::new(1, Link::PERFECT);
    world.open(1, |_| {});
    let tagged = |id| {
        let mut data = participant(id, 0);
        data.domain_tag = "test".into();
        data
    };
    let (a, b) = (world.join_as(tagged(1), 1), world.join_as(tagged(2), 1));
    let c = world.join(3, 0, 1);
    world.run(SECOND);
    assert_eq!(
        [a, b, c].map(|node| world.known_by(node)),
        [vec![2], vec![1], vec![]]
    );
}

#[test]
fn participants_without_a_domain_are_in_the_default_one() {
    let mut world = World::new(1, Link::PERFECT);
    world.open(1, |config| config.default_domain = 3);
    let mut silent = participant(1, 0);
    silent.domain_id = None;
    let (a, b) = (world.join_as(silent, 1), world.join(2, 3, 1));
    world.run(AT_ONCE);
    assert_eq!([a, b].map(|node| world.known_by(node)), [[2], [1]]);
}

#[test]
fn what_was_found_stays_when_the_rendezvous_dies() {
    let mut world = World::new(1, Link::PERFECT);
    let rendezvous = world.open(1, |_| {});
    let nodes = [1, 2, 3].map(|id| world.join(id, 0, 1));
    world.run(SECOND);
    world.crash(rendezvous);
    world.run(LEASE * 10);
    for (node, id) in nodes.into_iter().zip(1..) {
        assert_eq!(world.known_by(node), others(1..=3, id));
    }
}

#[test]
fn a_rendezvous_that_restarts_learns_all_within_a_period() {
    let mut world = World::new(1, Link::PERFECT);
    let rendezvous = world.open(1, |_| {});
    let old = world.join(1, 0, 1);
    world.join(2, 0, 1);
    world.run(30 * SECOND);
    world.crash(rendezvous);
    let newcomer = world.join(3, 0, 1);
    world.run(SECOND);
    assert_eq!(world.known_by(newcomer), []);
    let restarted = world.open(1, |_| {});
    world.run(LEASE / 3 + AT_ONCE);
    assert_eq!(world.rendezvous(restarted).participants().count(), 3);
    assert_eq!(world.known_by(newcomer), [1, 2]);
    assert_eq!(world.known_by(old), [2, 3]);
}

#[test]
fn a_participant_that_restarts_is_found_at_once_at_its_old_address() {
    let mut world = World::new(1, Link::PERFECT);
    world.open(1, |_| {});
    let (a, b) = (world.join(1, 0, 1), world.join(2, 0, 1));
    world.run(5 * SECOND);
    world.crash(b);
    let mut again = participant(3, 0);
    again.metatraffic_unicast = vec![home(2)];
    let again = world.join_as(again, 1);
    world.run(AT_ONCE);
    assert!(world.known_by(a).contains(&3));
    assert!(world.known_by(again).contains(&1));
    world.run(LEASE * 2);
    assert_eq!(world.known_by(a), [3], "the crashed one's lease is over");
}

#[test]
fn whoever_says_goodbye_is_gone_everywhere_and_does_not_come_back() {
    let mut world = World::new(1, Link::PERFECT);
    let rendezvous = world.open(1, |_| {});
    let nodes = [1, 2, 3].map(|id| world.join(id, 0, 1));
    world.run(SECOND);
    // Those two lose sight of each other: only the rendezvous can tell.
    world.partition(nodes[0], nodes[1]);
    world.with(nodes[0], |discovery, _, outbox| discovery.close(outbox));
    world.run(AT_ONCE);
    assert_eq!(world.known_by(nodes[1]), [3]);
    let rendezvous = world.rendezvous(rendezvous);
    let left = RendezvousEvent::Left {
        prefix: prefix(1),
        lease_expired: false,
    };
    assert!(std::iter::from_fn(|| rendezvous.poll_event()).any(|event| event == left));
    assert_eq!(rendezvous.counters().left, 1);
}

#[test]
fn a_participant_that_dies_is_forgotten_with_its_lease() {
    let mut world = World::new(1, Link::PERFECT);
    let rendezvous = world.open(1, |_| {});
    let (a, b) = (world.join(1, 0, 1), world.join(2, 0, 1));
    world.run(SECOND);
    world.crash(b);
    world.run(LEASE * 3 / 2 + SECOND);
    assert_eq!(world.known_by(a), []);
    let rendezvous = world.rendezvous(rendezvous);
    assert_eq!(rendezvous.counters().leases_expired, 1);
    assert_eq!(rendezvous.participants().count(), 1);
}

#[test]
fn news_of_a_participant_reaches_those_that_do_not_hear_it() {
    let mut world = World::new(1, Link::PERFECT);
    world.open(1, |_| {});
    let (a, b) = (world.join(1, 0, 1), world.join(2, 0, 1));
    world.run(SECOND);
    world.partition(a, b);
    for data in [1, 2] {
        let update = world.with(a, |discovery, now, _| {
            discovery.update_participant(now, |own| own.user_data = vec![data])
        });
        update.expect("one byte is not too long");
        world.run(AT_ONCE);
    }
    // The second change came at once after the first: it is told after a pause.
    world.run(Duration::from_millis(100));
    let seen = world.with(b, |discovery, _, _| {
        let mut all = discovery.participants();
        let found = all.find(|data| data.guid_prefix == prefix(1));
        found.map(|data| data.user_data.clone())
    });
    assert_eq!(seen, Some(vec![2]));
}

#[test]
fn all_are_found_whatever_was_lost_repeated_and_reordered() {
    for seed in 0..8 {
        let mut world = World::new(seed, Link::lossy(300));
        let rendezvous = world.open(1, |_| {});
        let nodes: Vec<_> = (1..=8).map(|id| world.join(id, 0, 1)).collect();
        world.run(5 * SECOND);
        world.crash(rendezvous);
        world.open(1, |_| {});
        let late = world.join(9, 0, 1);
        world.run(10 * SECOND);
        world.network.set_default_link(Link::PERFECT);
        world.run(LEASE / 3 + AT_ONCE);
        assert_eq!(world.known_by(late), others(1..=8, 9), "seed {seed}");
        for (node, id) in nodes.into_iter().zip(1..) {
            assert_eq!(world.known_by(node), others(1..=9, id), "seed {seed}");
        }
    }
}

#[test]
fn a_participant_that_the_rendezvous_has_forgotten_is_registered_again() {
    let mut world = World::new(1, Link::PERFECT);
    let rendezvous = world.open(1, |_| {});
    let a = world.join(1, 0, 1);
    world.run(SECOND);
    world.partition(a, rendezvous);
    // Its lease is over, that of the rendezvous is not.
    world.run(LEASE + 3 * SECOND);
    assert_eq!(world.rendezvous(rendezvous).participants().count(), 0);
    world.heal(a, rendezvous);
    world.run(12 * SECOND);
    assert_eq!(world.rendezvous(rendezvous).participants().count(), 1);
}

#[test]
fn whom_a_partition_has_parted_finds_the_other_again() {
    let mut world = World::new(1, Link::PERFECT);
    world.open(1, |_| {});
    let (a, b) = (world.join(1, 0, 1), world.join(2, 0, 1));
    world.run(SECOND);
    world.crash(b);
    world.run(LEASE * 2);
    assert_eq!(world.known_by(a), []);
    let b = world.join(2, 0, 1);
    world.run(LEASE);
    assert_eq!([a, b].map(|node| world.known_by(node)), [[2], [1]]);
}

#[test]
fn the_work_for_a_domain_of_participants_that_know_each_other_is_bounded() {
    let mut world = World::new(1, Link::PERFECT);
    let rendezvous = world.open(1, |_| {});
    let ids = 1..=40;
    for id in ids.clone() {
        world.join(id, 0, 1);
    }
    world.run(5 * SECOND);
    assert_eq!(world.known_by(1), others(ids, 1));
    let before = world.rendezvous(rendezvous).counters().introductions;
    world.run(LEASE * 10);
    let told = world.rendezvous(rendezvous).counters().introductions - before;
    // Thirty periods, each with 32 introductions for each of 40.
    assert!(told <= 31 * 32 * 40, "{told} introductions");
}
