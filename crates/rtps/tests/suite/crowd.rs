//! What newcomers take to get a history, beside others that say nothing.

use crate::common::*;
use tickwire_base::Duration;
use tickwire_rtps::writer::WriterConfig;
use tickwire_simnet::Link;

/// How long a reader takes for a long history over a bad link, beside so many silent readers of the
/// writer and silent writers of its own that have been there for a while.
fn time_for_history(seed: u64, silent: usize) -> Duration {
    let mut world = World::new(seed, Link::lossy(100));
    let writer = world.add_writer(WriterConfig {
        transient_local: true,
        ..keep_last(2000)
    });
    let reader = world.add_reader(reader_config(), false);
    for _ in 0..2000 {
        world.write(writer, 40).expect("nobody lags");
    }
    for _ in 0..silent {
        let silent_reader = world.add_reader(reader_config(), false);
        let silent_writer = world.add_writer(keep_all());
        world.readers[silent_reader].up = false;
        world.writers[silent_writer].up = false;
        world.tell_writer(writer, silent_reader, true, true);
        world.tell_reader(silent_writer, reader, true);
    }
    world.run(Duration::from_secs(11));
    let begin = world.now();
    world.connect(writer, reader, true, true);
    let guid = world.writers[writer].writer.guid();
    let has_all = |world: &World| {
        let mut writers = world.readers[reader].reader.writers();
        writers.any(|writer| writer.guid == guid && writer.delivered == 2000)
    };
    while !has_all(&world) {
        assert!(world.now().since(begin) < Duration::from_secs(100));
        world.step(begin + Duration::from_secs(100));
    }
    world.now().since(begin)
}

#[test]
fn silent_peers_do_not_slow_the_repairs_of_a_newcomer() {
    let mean = |silent| {
        (0..20)
            .map(|seed| time_for_history(seed, silent))
            .sum::<Duration>()
            / 20
    };
    let (alone, beside) = (mean(0), mean(300));
    assert!(beside < alone * 2, "{alone:?} alone, else {beside:?}");
}
