//! Rendezvous that federate.

use tickwire_simnet::Link;

use super::world::{LEASE, SECOND, World, place};
use super::{AT_ONCE, others};

/// Three that name the next one each, and a participant at each.
fn ring(seed: u64, link: Link) -> (World, [usize; 3], [usize; 3]) {
    let mut world = World::new(seed, link);
    let open = |world: &mut World, number: u8| {
        world.open(number, |config| {
            config.federates = vec![place(number % 3 + 1)];
            config.accepts_federates = true;
        })
    };
    let places = [1, 2, 3].map(|number| open(&mut world, number));
    let nodes = [1, 2, 3].map(|id| world.join(id, 0, id));
    (world, places, nodes)
}

#[test]
fn participants_of_federated_rendezvous_find_each_other() {
    let (mut world, _, nodes) = ring(1, Link::PERFECT);
    world.run(2 * SECOND);
    for (node, id) in nodes.into_iter().zip(1..) {
        assert_eq!(world.known_by(node), others(1..=3, id));
    }
    let late = world.join(4, 0, 2);
    world.run(AT_ONCE);
    assert_eq!(world.known_by(late), [1, 2, 3]);
    assert_eq!(world.known_by(nodes[2]), [1, 2, 4]);
}

#[test]
fn nothing_goes_around_in_a_ring() {
    let (mut world, places, _) = ring(1, Link::PERFECT);
    world.run(10 * SECOND);
    let introductions = |world: &mut World| -> u64 {
        let each = places.map(|node| world.rendezvous(node).counters().introductions);
        each.iter().sum()
    };
    let before = introductions(&mut world);
    world.run(LEASE * 10);
    let told = introductions(&mut world) - before;
    // In thirty periods each participant is told of two, and two rendezvous of it.
    assert!(told <= 31 * 3 * (2 + 2), "{told} introductions");
}

#[test]
fn the_death_of_one_costs_what_is_new_there_alone() {
    let (mut world, places, nodes) = ring(1, Link::PERFECT);
    world.run(2 * SECOND);
    world.crash(places[0]);
    world.run(LEASE * 5);
    for (node, id) in nodes.into_iter().zip(1..) {
        assert_eq!(world.known_by(node), others(1..=3, id), "old ones stay");
    }
    let late = world.join(4, 0, 2);
    world.run(AT_ONCE);
    assert_eq!(
        world.known_by(late),
        [2, 3],
        "its own have not been heard for a lease"
    );
    let lost = world.join(5, 0, 1);
    world.run(SECOND);
    assert_eq!(world.known_by(lost), []);
    // It comes back without a memory, and all is as before.
    world.open(1, |config| {
        config.federates = vec![place(2)];
        config.accepts_federates = true;
    });
    world.run(LEASE);
    assert_eq!(world.known_by(lost), [1, 2, 3, 4]);
    assert_eq!(world.known_by(late), [1, 2, 3, 5]);
}

#[test]
fn a_ring_is_complete_whatever_was_lost() {
    for seed in 0..5 {
        let (mut world, _, nodes) = ring(seed, Link::lossy(300));
        world.run(20 * SECOND);
        world.network.set_default_link(Link::PERFECT);
        world.run(LEASE);
        for (node, id) in nodes.into_iter().zip(1..) {
            assert_eq!(world.known_by(node), others(1..=3, id), "seed {seed}");
        }
    }
}

#[test]
fn only_those_federate_that_are_named_or_let_in() {
    let mut world = World::new(1, Link::PERFECT);
    let closed = world.open(1, |_| {});
    world.open(2, |config| config.federates = vec![place(1)]);
    let (a, b) = (world.join(1, 0, 1), world.join(2, 0, 2));
    world.run(5 * SECOND);
    assert_eq!([a, b].map(|node| world.known_by(node)), [[0_u8; 0], []]);
    assert!(world.rendezvous(closed).counters().federates_refused > 0);
}

#[test]
fn a_goodbye_goes_to_the_participants_of_the_others() {
    let (mut world, places, nodes) = ring(1, Link::PERFECT);
    world.run(2 * SECOND);
    world.partition(nodes[0], nodes[1]);
    world.with(nodes[0], |discovery, _, outbox| discovery.close(outbox));
    world.run(AT_ONCE);
    assert_eq!(world.known_by(nodes[1]), [3]);
    for place in places {
        assert_eq!(world.rendezvous(place).participants().count(), 2);
    }
}
