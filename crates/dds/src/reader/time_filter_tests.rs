//! TIME_BASED_FILTER: what comes too early waits, and what becomes of it.

use super::*;

fn filtering(keeps_filtered: bool) -> Fixture {
    Fixture::new(CachePolicy {
        minimum_separation: Duration::from_nanos(10),
        keeps_filtered,
        ..KEEP_ALL
    })
}

#[test]
fn of_values_that_come_too_early_a_reliable_reader_sees_the_last() {
    let mut fixture = filtering(true);
    assert_eq!(fixture.write(1), Insertion::Stored);
    assert_eq!(fixture.write(1), Insertion::TooEarly);
    assert_eq!(fixture.write(2), Insertion::Stored);
    assert_eq!(fixture.write(1), Insertion::TooEarly);
    assert_eq!(fixture.take_values(), [1, 3]);
    assert_eq!(fixture.cache.poll_timeout(), Some(after(10)));
    assert!(!fixture.cache.ripen(after(9)));
    assert!(fixture.cache.ripen(after(10)));
    assert_eq!(fixture.take_values(), [4]);
    assert_eq!(fixture.cache.too_early, 1);
    // What has been shown late begins a separation as well.
    assert_eq!(fixture.cache.poll_timeout(), Some(after(20)));
    assert!(!fixture.cache.ripen(after(20)));
    assert_eq!(fixture.cache.poll_timeout(), None);
}

#[test]
fn values_that_come_too_early_are_lost_to_a_best_effort_reader() {
    let mut fixture = filtering(false);
    fixture.write(1);
    assert_eq!(fixture.write(1), Insertion::TooEarly);
    assert!(!fixture.cache.ripen(after(10)));
    assert_eq!(fixture.take_values(), [1]);
    assert_eq!(fixture.cache.too_early, 1);
}

#[test]
fn the_end_of_an_instance_is_never_too_early_nor_comes_before_its_last_value() {
    let mut fixture = filtering(true);
    fixture.write(1);
    fixture.write(1);
    let ended = fixture.change(ChangeKind::Disposed, 1, 1);
    assert_eq!(ended, Insertion::Stored);
    let samples = fixture.take();
    let valid: Vec<_> = samples.iter().map(|s| s.info.valid_data).collect();
    assert_eq!(valid, [true, true, false]);
    assert_eq!(fixture.cache.too_early, 0);
}

#[test]
fn a_value_that_found_no_room_is_not_what_the_next_one_is_too_early_for() {
    let mut fixture = Fixture::new(CachePolicy {
        minimum_separation: Duration::from_nanos(10),
        max_samples_per_instance: 1,
        ..KEEP_ALL
    });
    fixture.write(1);
    fixture.write(1);
    assert!(!fixture.cache.ripen(after(10)), "no room");
    assert_eq!(fixture.take_values(), [1]);
    assert!(fixture.cache.ripen(after(20)));
    assert_eq!(fixture.take_values(), [2]);
}

#[test]
fn a_value_without_room_holds_up_the_end_of_its_instance() {
    let mut fixture = Fixture::new(CachePolicy {
        minimum_separation: Duration::from_nanos(10),
        max_samples_per_instance: 1,
        ..KEEP_ALL
    });
    fixture.write(1);
    fixture.write(1);
    let ended = fixture.change(ChangeKind::Disposed, 1, 1);
    let reason = SampleRejectedReason::SamplesPerInstance;
    assert_eq!(ended, Insertion::Rejected(reason), "it comes again");
    assert_eq!(fixture.take_values(), [1]);
    let ended = fixture.change(ChangeKind::Disposed, 1, 1);
    assert_eq!(ended, Insertion::Stored);
    assert!(!fixture.cache.ripen(after(20)));
    let samples = fixture.take();
    assert_eq!(values(&samples), [2]);
    let states = samples.iter().map(|s| s.info.instance_state);
    assert!(states.eq([InstanceState::Disposed; 2]));
}

#[test]
fn what_waits_does_not_bring_back_an_instance_whose_writer_has_gone() {
    let mut fixture = filtering(true);
    fixture.write(1);
    fixture.write(1);
    assert!(
        fixture
            .cache
            .remove_writer(writer(1), NOW, Timestamp::from_nanos(1_000), |_| None)
    );
    assert!(!fixture.cache.ripen(after(10)));
    let samples = fixture.take();
    assert_eq!(
        values(&samples),
        [1, 2],
        "the last value comes before the end"
    );
    let states = samples.iter().map(|s| s.info.instance_state);
    assert!(states.eq([InstanceState::NoWriters; 3]));
    assert!(!fixture.cache.knows(key(1)));
    assert_eq!(fixture.cache.poll_timeout(), None);
}

#[test]
fn a_writer_whose_value_waits_keeps_the_instance_alive() {
    let mut fixture = filtering(true);
    fixture.write(1);
    let waits = fixture.change(ChangeKind::Alive, 1, 2);
    assert_eq!(waits, Insertion::TooEarly);
    let now = Timestamp::from_nanos(1_000);
    assert!(!fixture.cache.remove_writer(writer(1), NOW, now, |_| None));
    assert!(fixture.cache.ripen(after(10)));
    let samples = fixture.take();
    assert_eq!(values(&samples), [1, 2]);
    let last = samples.last().expect("two").info;
    assert_eq!(last.instance_state, InstanceState::Alive);
    assert_eq!(last.no_writers_generation_count, 0);
    assert!(fixture.cache.remove_writer(writer(2), NOW, now, |_| None));
}

#[test]
fn waiting_does_not_prolong_a_lifespan() {
    let mut fixture = filtering(true);
    let policy = WriterPolicy {
        lifespan: Some(Duration::from_nanos(1_005)),
        ..WriterPolicy::default()
    };
    fixture.cache.set_writer(writer(1), policy);
    // Made at 1, 2 and 10; it is 1,000 now.
    fixture.write(1);
    fixture.write(1);
    fixture.change_at(ChangeKind::Alive, 2, 1, 10);
    fixture.change_at(ChangeKind::Alive, 2, 1, 10);
    // Of instance 1 all is over before the separation ends; of instance 2 that waits until 15.
    assert!(fixture.cache.expire(after(10)));
    assert!(fixture.cache.ripen(after(10)));
    assert_eq!(fixture.cache.expired, 2);
    assert_eq!(fixture.take_values(), [10, 10]);
    assert_eq!(fixture.cache.too_early, 0);
}

#[test]
fn a_lifespan_counts_from_the_source_however_long_a_value_waits() {
    let mut fixture = filtering(true);
    let policy = WriterPolicy {
        lifespan: Some(Duration::from_nanos(1_014)),
        ..WriterPolicy::default()
    };
    fixture.cache.set_writer(writer(1), policy);
    fixture.write(1);
    fixture.write(1);
    fixture.take();
    fixture.cache.set_writer(writer(1), WriterPolicy::default());
    assert!(fixture.cache.ripen(after(10)));
    // The second was made at 2 and expires at 1,016.
    assert!(!fixture.cache.expire(after(15)));
    assert!(fixture.cache.expire(after(16)));
    assert!(fixture.take().is_empty());
}

#[test]
fn what_has_expired_on_the_way_leaves_no_instance() {
    for minimum_separation in [Duration::ZERO, Duration::from_nanos(10)] {
        let mut fixture = Fixture::new(CachePolicy {
            minimum_separation,
            ..KEEP_ALL
        });
        let policy = WriterPolicy {
            lifespan: Some(Duration::from_nanos(600)),
            ..WriterPolicy::default()
        };
        fixture.cache.set_writer(writer(1), policy);
        for instance in 1..=9 {
            assert_eq!(fixture.write(instance), Insertion::Expired);
            assert!(!fixture.cache.knows(key(instance)));
        }
    }
}
