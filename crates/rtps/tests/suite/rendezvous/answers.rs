//! Those who announce themselves to all alike, as Fast DDS does, and so name the rendezvous only in what they
//! acknowledge; and those who want to get between their answer and their next announcement.

use tickwire_base::Locator;
use tickwire_rtps::discovery::ParticipantData;
use tickwire_rtps::wire::GuidPrefix;

use super::hostile::{Bench, announcement};
use super::world::{home, participant, prefix};

/// An ACKNACK to a name, as Fast DDS sends when it has heard of somebody.
fn acknowledgement(data: &ParticipantData, name: GuidPrefix) -> Vec<u8> {
    let announced = announcement(data.clone());
    let info_dst = [&[0x0e, 1, 12, 0][..], &name.0].concat();
    let acknack = [
        &[0x06, 1, 24, 0][..],
        &[0, 2, 0, 0xc7, 0, 2, 0, 0xc2],
        &[0; 16],
    ]
    .concat();
    [&announced[..20], &info_dst, &acknack].concat()
}

#[test]
fn who_announces_itself_to_all_alike_answers_by_any_message_to_the_name() {
    let mut bench = Bench::new(|_| {});
    bench.join(participant(9, 0));
    let data = participant(1, 0);
    let name = bench.name_for(&data);
    let announced = announcement(data.clone());
    assert_eq!(bench.hear(home(1), &acknowledgement(&data, prefix(77))), 0);
    bench.hear(home(1), &announced);
    assert_eq!(bench.rendezvous.participants().count(), 1, "a wrong name");
    assert_eq!(bench.hear(home(1), &acknowledgement(&data, name)), 0);
    bench.hear(home(1), &announced);
    assert_eq!(bench.rendezvous.participants().count(), 2);
    // What was told to one address vouches for no other.
    let mut moved = participant(2, 0);
    let name = bench.name_for(&moved);
    bench.hear(home(2), &acknowledgement(&moved, name));
    moved.metatraffic_unicast = vec![home(99)];
    bench.hear(home(2), &announcement(moved));
    assert_eq!(bench.rendezvous.participants().count(), 2);
}

/// Whether a participant is registered at that address.
fn is_registered(bench: &Bench, data: &ParticipantData) -> bool {
    let mut all = bench.rendezvous.participants();
    all.any(|known| known.prefix == data.guid_prefix)
}

/// A participant of which there can be many.
fn one_of_many(number: u16, at: Locator) -> ParticipantData {
    let mut data = participant(9, 0);
    let [a, b] = number.to_be_bytes();
    data.guid_prefix.0 = [9, 9, 9, 9, 9, 9, 9, 9, 9, 9, a, b];
    data.metatraffic_unicast = vec![at];
    data
}

#[test]
fn names_that_were_not_given_neither_replace_nor_displace_one_that_was() {
    let mut bench = Bench::new(|_| {});
    let data = participant(1, 0);
    let name = bench.name_for(&data);
    bench.hear(home(1), &acknowledgement(&data, name));
    // The name of another participant, the same with one bit changed, and none that could be.
    let of_another = bench.name_for(&participant(2, 0));
    let mut changed = name;
    changed.0[11] ^= 1;
    for wrong in [of_another, changed, prefix(77)] {
        bench.hear(home(1), &acknowledgement(&data, wrong));
        bench.hear(home(66), &acknowledgement(&data, wrong));
    }
    for number in 0..10_000_u16 {
        let from = home(number.to_be_bytes()[1]);
        let fake = one_of_many(number, from);
        bench.hear(from, &acknowledgement(&fake, prefix(77)));
    }
    bench.hear(home(1), &announcement(data.clone()));
    assert!(is_registered(&bench, &data));
    assert_eq!(bench.rendezvous.counters().answers_displaced, 0);
}

#[test]
fn who_answers_for_another_from_elsewhere_changes_nothing() {
    let mut bench = Bench::new(|_| {});
    let data = participant(1, 0);
    let name = bench.name_for(&data);
    bench.hear(home(1), &acknowledgement(&data, name));
    // Under the same prefix, but at its own address, which it hears at.
    let mut taken = data.clone();
    taken.metatraffic_unicast = vec![home(66)];
    let other_name = bench.name_for(&taken);
    for from in [home(66), home(1)] {
        bench.hear(from, &acknowledgement(&taken, other_name));
    }
    bench.hear(home(1), &announcement(data.clone()));
    assert!(is_registered(&bench, &data));
}

#[test]
fn who_answers_for_thousands_displaces_its_own_alone() {
    let mut bench = Bench::new(|_| {});
    let data = participant(1, 0);
    let name = bench.name_for(&data);
    bench.hear(home(1), &acknowledgement(&data, name));
    for number in 0..5_000 {
        let one = one_of_many(number, home(66));
        let name = bench.name_for(&one);
        bench.hear(home(66), &acknowledgement(&one, name));
    }
    assert_eq!(bench.rendezvous.counters().answers_displaced, 5_000 - 256);
    bench.hear(home(1), &announcement(data.clone()));
    assert!(is_registered(&bench, &data));
}

#[test]
fn whose_prefix_was_taken_before_may_come_all_the_same() {
    let mut bench = Bench::new(|_| {});
    let data = participant(1, 0);
    let mut taken = data.clone();
    taken.metatraffic_unicast = vec![home(66)];
    bench.join(taken);
    let other = participant(2, 0);
    let name = bench.name_for(&data);
    bench.hear(home(1), &acknowledgement(&data, name));
    bench.hear(home(1), &announcement(data));
    // The next one is told where it is.
    bench.join(other);
    let told = bench.outbox.datagrams().any(|(_, to)| to == [home(1)]);
    assert!(told, "it is registered at its own address");
}
