//! READER_DATA_LIFECYCLE.

use super::*;

fn purging(no_writers: u64, disposed: u64) -> Fixture {
    Fixture::new(CachePolicy {
        lifecycle: lifecycle(no_writers, disposed),
        ..KEEP_ALL
    })
}

fn lifecycle(no_writers: u64, disposed: u64) -> Lifecycle {
    Lifecycle {
        no_writers: Duration::from_nanos(no_writers),
        disposed: Duration::from_nanos(disposed),
    }
}

#[test]
fn samples_of_a_disposed_instance_are_removed_after_the_delay() {
    let mut fixture = purging(1, 10);
    fixture.write(1);
    fixture.write(2);
    fixture.change(ChangeKind::Disposed, 1, 1);
    assert_eq!(fixture.cache.poll_timeout(), Some(after(10)));
    assert!(!fixture.cache.expire(after(9)));
    assert!(fixture.cache.expire(after(10)));
    assert_eq!(fixture.cache.purged, 1, "the notice is no sample");
    assert_eq!(fixture.cache.poll_timeout(), None);
    // Its writer may write it again, which is another life of the same instance.
    assert!(fixture.cache.knows(key(1)));
    fixture.write(1);
    let samples = fixture.take();
    assert_eq!(values(&samples), [2, 4]);
    assert_eq!(samples[1].info.disposed_generation_count, 1);
    assert_eq!(fixture.cache.poll_timeout(), None);
}

#[test]
fn an_instance_without_writers_is_forgotten_after_the_delay() {
    type End = fn(&mut Fixture);
    let ends: [End; 2] = [
        |fixture| {
            fixture.change(ChangeKind::Unregistered, 1, 1);
        },
        |fixture| {
            let time = Timestamp::from_nanos(1_000);
            fixture.cache.silence_writer(writer(1), NOW, time, |_| None);
        },
    ];
    for end in ends {
        let mut fixture = purging(10, 1);
        fixture.write(1);
        end(&mut fixture);
        assert_eq!(fixture.cache.poll_timeout(), Some(after(10)));
        assert!(!fixture.cache.expire(after(9)));
        assert!(fixture.cache.knows(key(1)));
        assert!(fixture.cache.expire(after(10)));
        assert!(!fixture.cache.knows(key(1)));
        assert_eq!(fixture.cache.purged, 1);
    }
}

#[test]
fn a_disposed_instance_that_loses_its_writers_stays_disposed() {
    let mut fixture = purging(1, 10);
    fixture.write(1);
    fixture.change(ChangeKind::DisposedUnregistered, 1, 1);
    assert!(!fixture.cache.expire(after(9)));
    assert!(fixture.cache.expire(after(10)));
    assert!(!fixture.cache.knows(key(1)));
}

#[test]
fn what_begins_again_or_is_taken_in_time_is_not_purged() {
    let mut fixture = purging(10, 10);
    for ended in [ChangeKind::Disposed, ChangeKind::Unregistered] {
        fixture.write(1);
        fixture.change(ended, 1, 1);
        fixture.write(1);
        assert_eq!(fixture.cache.poll_timeout(), None);
    }
    assert!(!fixture.cache.expire(after(10)));
    assert_eq!(fixture.take_values(), [1, 3, 4, 6]);
    fixture.change(ChangeKind::DisposedUnregistered, 1, 1);
    fixture.take();
    assert_eq!(fixture.cache.poll_timeout(), None, "nothing is left of it");
}

#[test]
fn other_delays_count_from_when_an_instance_ended() {
    let mut fixture = purging(u64::MAX, 10);
    fixture.cache.change_lifecycle(Lifecycle::FOREVER);
    fixture.write(1);
    fixture.write(2);
    fixture.change(ChangeKind::Disposed, 1, 1);
    fixture.change(ChangeKind::Unregistered, 2, 1);
    assert_eq!(fixture.cache.poll_timeout(), None);
    fixture.cache.change_lifecycle(lifecycle(20, 5));
    assert_eq!(fixture.cache.poll_timeout(), Some(after(5)));
    assert!(fixture.cache.expire(after(5)));
    assert_eq!(fixture.cache.poll_timeout(), Some(after(20)));
    fixture.cache.change_lifecycle(Lifecycle::FOREVER);
    assert_eq!(fixture.cache.poll_timeout(), None);
    assert_eq!(fixture.take_values(), [2]);
}
