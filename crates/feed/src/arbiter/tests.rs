use proptest::prelude::*;

use super::*;

/// An arbiter with what it has delivered, fed with one-byte-a-number packets.
struct Desk {
    arbiter: Arbiter,
    delivered: Vec<u32>,
}

impl Desk {
    fn new(config: ArbiterConfig) -> Self {
        Self {
            arbiter: Arbiter::new(config),
            delivered: Vec::new(),
        }
    }

    fn packet(&mut self, at_us: u64, line: Line, number: u32) -> Arrival {
        let delivered = &mut self.delivered;
        self.arbiter.handle_packet(
            us(at_us),
            line,
            PacketNumber(number),
            &number.to_le_bytes(),
            &mut |number, packet| {
                assert_eq!(packet, number.0.to_le_bytes());
                delivered.push(number.0);
            },
        )
    }

    fn timeout(&mut self, at_us: u64) {
        let delivered = &mut self.delivered;
        self.arbiter
            .handle_timeout(us(at_us), &mut |number, _| delivered.push(number.0));
    }

    fn finish(&mut self) -> ArbiterCounters {
        let delivered = &mut self.delivered;
        self.arbiter
            .finish(&mut |number, _| delivered.push(number.0));
        *self.arbiter.counters()
    }
}

fn us(us: u64) -> Instant {
    Instant::from_nanos(us * 1_000)
}

#[test]
fn the_first_copy_wins_and_the_second_is_a_duplicate() {
    let mut desk = Desk::new(ArbiterConfig::default());
    assert_eq!(desk.packet(0, Line::A, 7), Arrival::Won);
    assert_eq!(desk.packet(1, Line::B, 7), Arrival::Duplicate);
    assert_eq!(desk.packet(2, Line::B, 8), Arrival::Won);
    assert_eq!(desk.packet(3, Line::A, 8), Arrival::Duplicate);
    let counters = desk.finish();
    assert_eq!(desk.delivered, [7, 8]);
    assert_eq!((counters.a.won, counters.b.won), (1, 1));
    assert_eq!((counters.lost, counters.gaps, counters.a.lost), (0, 0, 0));
}

#[test]
fn a_packet_ahead_waits_for_the_other_line() {
    let mut desk = Desk::new(ArbiterConfig::default());
    desk.packet(0, Line::A, 0);
    desk.packet(1, Line::A, 2);
    assert_eq!(desk.delivered, [0]);
    desk.packet(2, Line::B, 1);
    assert_eq!(desk.delivered, [0, 1, 2]);
    assert_eq!(desk.arbiter.poll_timeout(), None);
}

#[test]
fn a_gap_is_given_up_exactly_when_its_time_is_over() {
    let mut desk = Desk::new(ArbiterConfig {
        hold: Duration::from_micros(100),
        ..ArbiterConfig::default()
    });
    desk.packet(0, Line::A, 0);
    desk.packet(10, Line::A, 3);
    assert_eq!(desk.arbiter.poll_timeout(), Some(us(110)));
    desk.timeout(109);
    assert_eq!(desk.delivered, [0]);
    desk.timeout(110);
    assert_eq!(desk.delivered, [0, 3]);
    assert_eq!(desk.packet(111, Line::B, 2), Arrival::Late);
    let counters = desk.finish();
    assert_eq!((counters.lost, counters.gaps, counters.b.late), (2, 1, 1));
}

#[test]
fn without_a_hold_a_gap_is_final_when_it_is_seen() {
    let mut desk = Desk::new(ArbiterConfig {
        hold: Duration::ZERO,
        ..ArbiterConfig::default()
    });
    desk.packet(0, Line::A, 0);
    desk.packet(1, Line::A, 2);
    assert_eq!(desk.delivered, [0, 2]);
    assert_eq!(desk.arbiter.counters().lost, 1);
}

#[test]
fn one_line_waits_a_little_for_a_packet_that_was_overtaken() {
    let mut desk = Desk::new(ArbiterConfig {
        hold: ArbiterConfig::ONE_LINE_HOLD,
        ..ArbiterConfig::default()
    });
    for (at_us, number) in [(0, 0), (10, 2), (20, 1), (30, 3)] {
        assert_eq!(desk.packet(at_us, Line::A, number), Arrival::Won);
    }
    assert_eq!(desk.delivered, [0, 1, 2, 3]);
    desk.packet(100, Line::A, 5);
    desk.timeout(1_099);
    assert_eq!(desk.arbiter.counters().lost, 0);
    desk.timeout(1_100);
    assert_eq!(desk.delivered, [0, 1, 2, 3, 5]);
    assert_eq!(desk.arbiter.counters().lost, 1);
}

#[test]
fn in_a_file_what_follows_decides_and_not_the_time() {
    let mut desk = Desk::new(ArbiterConfig {
        window: 4,
        hold: ArbiterConfig::FILE_HOLD,
        ..ArbiterConfig::default()
    });
    for number in [0, 2, 3] {
        desk.packet(0, Line::A, number);
    }
    desk.timeout(u64::MAX / 1_000);
    assert_eq!(desk.delivered, [0]);
    desk.packet(1, Line::A, 1);
    assert_eq!(desk.delivered, [0, 1, 2, 3]);
    for number in [5, 6, 7, 8] {
        desk.packet(2, Line::A, number);
    }
    assert_eq!(desk.delivered, [0, 1, 2, 3, 5, 6, 7, 8]);
    desk.packet(3, Line::A, 11);
    let counters = desk.finish();
    let lost = [(4, 4), (9, 10)].map(|(first, last)| (PacketNumber(first), PacketNumber(last)));
    assert_eq!(desk.arbiter.first_lost(), lost);
    assert_eq!(desk.delivered.last(), Some(&11));
    assert_eq!((counters.lost, counters.gaps, counters.a.late), (3, 2, 0));
}

#[test]
fn a_full_window_gives_up_its_oldest_gap() {
    let mut desk = Desk::new(ArbiterConfig {
        window: 4,
        first: Some(PacketNumber(0)),
        ..ArbiterConfig::default()
    });
    for number in 1..=3 {
        desk.packet(0, Line::A, number);
    }
    assert_eq!(desk.delivered, [] as [u32; 0]);
    desk.packet(0, Line::A, 4);
    assert_eq!(desk.delivered, [1, 2, 3, 4]);
    assert_eq!(desk.arbiter.counters().lost, 1);
}

#[test]
fn an_outage_longer_than_the_window_is_one_gap() {
    let mut desk = Desk::new(ArbiterConfig {
        window: 4,
        ..ArbiterConfig::default()
    });
    desk.packet(0, Line::A, 0);
    desk.packet(1, Line::A, 1_000_000);
    desk.packet(2, Line::A, 1_000_001);
    let counters = desk.finish();
    assert_eq!(desk.delivered, [0, 1_000_000, 1_000_001]);
    assert_eq!((counters.lost, counters.gaps), (999_999, 1));
    assert_eq!(counters.a.lost, 999_999);
}

#[test]
fn a_damaged_number_far_ahead_costs_its_packet_alone() {
    let mut desk = Desk::new(ArbiterConfig::default());
    for number in 500..520 {
        let number = if number == 505 { 0x7FFF_FFFF } else { number };
        let arrival = desk.packet(0, Line::A, number);
        assert_eq!(arrival == Arrival::Stray, number == 0x7FFF_FFFF);
    }
    let counters = desk.finish();
    assert_eq!(desk.delivered.len(), 19);
    assert_eq!((counters.lost, counters.gaps, counters.a.stray), (1, 1, 1));
    assert_eq!((counters.a.late, counters.restarts), (0, 0));
}

#[test]
fn an_outage_is_confirmed_by_the_other_line_or_by_a_later_packet() {
    let outages = [
        [(Line::A, 9_000), (Line::B, 9_000)],
        [(Line::B, 9_000), (Line::A, 9_003)],
    ];
    for [first, second] in outages {
        let mut desk = Desk::new(ArbiterConfig::default());
        desk.packet(0, Line::A, 0);
        assert_eq!(desk.packet(1, first.0, first.1), Arrival::Stray);
        assert_eq!(desk.delivered, [0]);
        desk.packet(2, second.0, second.1);
        assert_eq!(desk.delivered, [0, 9_000]);
        let counters = desk.finish();
        assert_eq!((counters.a.stray, counters.b.stray), (0, 0));
        assert_eq!(desk.delivered.last(), Some(&second.1));
    }
    // The same line once more is no proof.
    let mut desk = Desk::new(ArbiterConfig::default());
    for number in [0, 9_000, 9_000, 1] {
        desk.packet(0, Line::A, number);
    }
    let counters = desk.finish();
    assert_eq!(desk.delivered, [0, 1]);
    assert_eq!((counters.lost, counters.a.stray), (0, 2));
}

#[test]
fn numbers_go_on_after_the_last_one() {
    let mut desk = Desk::new(ArbiterConfig::default());
    for number in [u32::MAX - 1, u32::MAX, 0, 1] {
        assert_eq!(desk.packet(0, Line::A, number), Arrival::Won);
    }
    assert_eq!(desk.delivered, [u32::MAX - 1, u32::MAX, 0, 1]);
    assert_eq!(desk.finish().lost, 0);
}

#[test]
fn of_a_sender_that_starts_over_nothing_is_lost() {
    let mut desk = Desk::new(ArbiterConfig {
        window: 8,
        ..ArbiterConfig::default()
    });
    desk.packet(0, Line::A, 5_000);
    for number in 0..100 {
        desk.packet(1, Line::A, number);
    }
    let counters = desk.finish();
    assert_eq!((counters.restarts, counters.undecided), (1, 0));
    assert_eq!((counters.a.won, counters.a.late), (101, 0));
    let expected: Vec<u32> = [5_000].into_iter().chain(0..100).collect();
    assert_eq!(desk.delivered, expected);
    assert_eq!(counters.lost, 0);
}

/// The second session's numbers are still in the window.
#[test]
fn a_sender_may_start_over_with_numbers_that_came_lately() {
    let mut desk = Desk::new(ArbiterConfig::default());
    let sessions: Vec<u32> = (1..300).chain(1..200).collect();
    for &number in &sessions {
        desk.packet(0, Line::A, number);
    }
    let counters = desk.finish();
    assert_eq!(desk.delivered, sessions);
    assert_eq!((counters.restarts, counters.lost), (1, 0));
    assert_eq!((counters.a.duplicate, counters.a.late), (0, 0));
}

#[test]
fn both_lines_may_start_over() {
    for last in [100, 5_000] {
        let mut desk = Desk::new(ArbiterConfig::default());
        let sessions: Vec<u32> = (0..last).chain(0..50).collect();
        for &number in &sessions {
            desk.packet(0, Line::A, number);
            desk.packet(0, Line::B, number);
        }
        let counters = desk.finish();
        assert_eq!(desk.delivered, sessions);
        let expected = (1, 0, u64::from(last) + 50);
        let found = (counters.restarts, counters.lost, counters.b.duplicate);
        assert_eq!(found, expected);
    }
}

/// A burst of line A may be followed by the same of line B.
#[test]
fn a_line_that_follows_the_other_in_bursts_has_not_started_over() {
    let mut desk = Desk::new(ArbiterConfig::default());
    for burst in [0..40, 40..80] {
        for line in [Line::A, Line::B] {
            burst.clone().for_each(|number| {
                desk.packet(0, line, number);
            });
        }
    }
    let counters = desk.finish();
    assert_eq!((counters.restarts, counters.b.duplicate), (0, 80));
    assert_eq!(desk.delivered.len(), 80);
}

#[test]
fn packets_that_come_twice_are_no_restart() {
    let mut desk = Desk::new(ArbiterConfig::default());
    for number in 0..100 {
        desk.packet(0, Line::A, number);
        desk.packet(0, Line::A, number);
    }
    // Some of them come again.
    for number in 0..10 {
        desk.packet(0, Line::A, number);
    }
    desk.packet(0, Line::A, 100);
    let counters = desk.finish();
    let expected = (0, 0, 110);
    let found = (counters.restarts, counters.undecided, counters.a.duplicate);
    assert_eq!(found, expected);
}

#[test]
fn a_start_over_of_which_too_little_comes_is_told() {
    let mut desk = Desk::new(ArbiterConfig::default());
    for number in (0..100).chain(0..5) {
        desk.packet(0, Line::A, number);
    }
    let counters = desk.finish();
    assert_eq!((counters.restarts, counters.undecided), (0, 5));
    assert_eq!(counters.a.duplicate, 5);
}

/// A copy of packet `number` reaches us on `line` at `at_us`.
#[derive(Clone, Copy, Debug)]
struct Copy {
    at_us: u64,
    line: Line,
    number: u32,
}

/// Both lines send 2,000 packets, one each 10 us; each copy is lost or delayed on its own.
fn two_lines(loss_per_mille: u32) -> impl Strategy<Value = Vec<Copy>> {
    let fate = (0..1_000u32, 0..200u64);
    prop::collection::vec((fate.clone(), fate), 2_000).prop_map(move |fates| {
        let mut copies = Vec::new();
        for (number, (a, b)) in (0u32..).zip(fates) {
            for (line, (dice, delay_us)) in [(Line::A, a), (Line::B, b)] {
                if dice >= loss_per_mille {
                    let at_us = u64::from(number) * 10 + delay_us;
                    copies.push(Copy {
                        at_us,
                        line,
                        number,
                    });
                }
            }
        }
        copies.sort_by_key(|copy| copy.at_us);
        copies
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// One per cent lost on each line: afterwards only that is lost which was lost on both.
    #[test]
    fn only_what_both_lines_lose_is_lost(copies in two_lines(10)) {
        let mut desk = Desk::new(ArbiterConfig { first: Some(PacketNumber(0)), ..ArbiterConfig::default() });
        let mut came = vec![(false, false); 2_000];
        for copy in &copies {
            while let Some(deadline) = desk.arbiter.poll_timeout().filter(|deadline| *deadline <= us(copy.at_us)) {
                desk.timeout(deadline.as_nanos() / 1_000);
            }
            desk.packet(copy.at_us, copy.line, copy.number);
            let seen = &mut came[copy.number as usize];
            match copy.line { Line::A => seen.0 = true, Line::B => seen.1 = true }
        }
        let counters = desk.finish();
        let end = copies.iter().map(|copy| copy.number + 1).max().unwrap_or(0);
        let expected: Vec<u32> = (0..end).filter(|&number| came[number as usize] != (false, false)).collect();
        prop_assert_eq!(&desk.delivered, &expected);
        prop_assert_eq!(counters.lost, u64::from(end) - expected.len() as u64);
        let missing = |on: fn(&(bool, bool)) -> bool| came[..end as usize].iter().filter(|seen| !on(seen)).count() as u64;
        prop_assert_eq!(counters.a.lost, missing(|seen| seen.0));
        prop_assert_eq!(counters.b.lost, missing(|seen| seen.1));
        prop_assert_eq!(counters.a.won + counters.b.won, counters.delivered);
    }

    /// Whatever numbers come, each goes out at most once between restarts and all are accounted for.
    #[test]
    fn any_numbers_are_accounted_for(
        numbers in prop::collection::vec((any::<bool>(), prop_oneof![0..64u32, any::<u32>()]), 0..200),
        window in 0..32u16,
    ) {
        let mut desk = Desk::new(ArbiterConfig { window, ..ArbiterConfig::default() });
        for (at_us, (on_b, number)) in (0..).zip(&numbers) {
            desk.packet(at_us, if *on_b { Line::B } else { Line::A }, *number);
        }
        let counters = desk.finish();
        prop_assert_eq!(counters.delivered, desk.delivered.len() as u64);
        prop_assert_eq!(counters.delivered, counters.a.won + counters.b.won);
        let all = [counters.a, counters.b].map(|line| line.won + line.duplicate + line.late + line.stray);
        prop_assert_eq!(all[0] + all[1], numbers.len() as u64);
    }
}
