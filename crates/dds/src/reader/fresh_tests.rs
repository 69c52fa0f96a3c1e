//! What was appended and not settled yet shows in nothing that a cache does.

use std::fmt::Debug;

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::reader::room::Room;

#[derive(Clone, Debug)]
enum Step {
    Change(ChangeKind, u8, u8),
    /// The same with a timestamp of so long ago, if there is any, as a writer's LIFESPAN counts from.
    Late(u8, u8, u64),
    /// A value, and so many that follow it.
    Stream(u8, u8, u8),
    Collect(Query, bool),
    Has(StateMask),
    List(StateMask),
    Room(Vec<(ChangeKind, u8)>),
    SetWriter(u8, i32, Option<u64>),
    RemoveWriter(u8),
    SilenceWriter(u8),
    Succeed(u8, u8, ChangeKind),
    Release(u8),
    ChangeSeparation(u64),
    ChangeLifecycle(u64),
    /// So much later, what is due is done.
    Wait(u64),
}

const KINDS: [ChangeKind; 4] = [
    ChangeKind::Alive,
    ChangeKind::Disposed,
    ChangeKind::Unregistered,
    ChangeKind::DisposedUnregistered,
];

const MASKS: [StateMask; 3] = [StateMask::ANY, StateMask::NOT_READ, StateMask::READ];

fn query() -> impl Strategy<Value = Query> {
    let instances = prop_oneof![
        3 => Just(Instances::All),
        1 => (0..4_u8).prop_map(|instance| Instances::One(key(instance))),
        1 => prop::option::of((0..4_u8).prop_map(key)).prop_map(Instances::Next),
    ];
    let max_samples = prop_oneof![Just(usize::MAX), 0..4_usize];
    (select(&MASKS[..]), instances, max_samples).prop_map(|(mask, instances, max_samples)| Query {
        mask,
        instances,
        max_samples,
    })
}

fn step() -> impl Strategy<Value = Step> {
    let (kind, mask) = (|| select(&KINDS[..]), || select(&MASKS[..]));
    let (instance, writer) = (|| 0..4_u8, || 1..4_u8);
    let set = prop::collection::vec((kind(), instance()), 0..4);
    prop_oneof![
        12 => (instance(), writer()).prop_map(|(of, by)| Step::Change(ChangeKind::Alive, of, by)),
        3 => (kind(), instance(), writer()).prop_map(|(kind, of, by)| Step::Change(kind, of, by)),
        2 => (instance(), writer(), 0..20_u64).prop_map(|(of, by, ago)| Step::Late(of, by, ago)),
        4 => (instance(), writer(), 0..6_u8).prop_map(|(of, by, more)| Step::Stream(of, by, more)),
        3 => (query(), any::<bool>()).prop_map(|(query, take)| Step::Collect(query, take)),
        1 => mask().prop_map(Step::Has),
        1 => mask().prop_map(Step::List),
        1 => set.prop_map(Step::Room),
        1 => (writer(), 0..3, prop::option::of(0..20_u64))
            .prop_map(|(writer, strength, lifespan)| Step::SetWriter(writer, strength, lifespan)),
        1 => writer().prop_map(Step::RemoveWriter),
        1 => writer().prop_map(Step::SilenceWriter),
        1 => (instance(), writer(), kind()).prop_map(|(of, by, kind)| Step::Succeed(of, by, kind)),
        1 => instance().prop_map(Step::Release),
        1 => (0..9_u64).prop_map(Step::ChangeSeparation),
        1 => (0..9_u64).prop_map(Step::ChangeLifecycle),
        1 => (0..9_u64).prop_map(Step::Wait),
    ]
}

fn policy() -> impl Strategy<Value = CachePolicy> {
    let limit = || prop_oneof![3 => Just(usize::MAX), 1 => 1..6_usize];
    let order = select(
        &[
            Order::Arrival,
            Order::Arrival,
            Order::Instance,
            Order::Source,
        ][..],
    );
    let flags = prop::array::uniform3(prop::bool::weighted(0.2));
    let limits = (prop::option::of(1..4_usize), limit(), limit(), limit());
    (limits, order, flags).prop_map(
        |(limits, order, [by_source_timestamp, exclusive, separated])| {
            let (depth, max_samples, max_instances, max_samples_per_instance) = limits;
            CachePolicy {
                depth,
                max_samples,
                max_instances,
                max_samples_per_instance,
                by_source_timestamp,
                exclusive,
                order,
                minimum_separation: Duration::from_nanos(4 * u64::from(separated)),
                ..KEEP_ALL
            }
        },
    )
}

impl Fixture {
    /// Does a step; what came of it, in words.
    fn step(&mut self, step: &Step, now: Instant) -> String {
        let said: Box<dyn Debug> = match *step {
            Step::Change(kind, instance, from) => {
                let change = arrival(kind, instance, from, 0);
                Box::new(self.offer(Arrival {
                    received_at: now,
                    ..change
                }))
            }
            Step::Late(instance, from, ago) => {
                let change = arrival(ChangeKind::Alive, instance, from, 0);
                let made = change.reception_timestamp.as_nanos() - ago.cast_signed();
                Box::new(self.offer(Arrival {
                    received_at: now,
                    source_timestamp: Some(Timestamp::from_nanos(made)),
                    ..change
                }))
            }
            Step::Stream(instance, from, more) => {
                let change = Arrival {
                    received_at: now,
                    ..arrival(ChangeKind::Alive, instance, from, 0)
                };
                let first = self.offer(change);
                let rest = more - self.offer_stream(writer(from), more);
                let rest: Vec<_> = (0..rest).map(|_| self.offer(change)).collect();
                Box::new((first, rest.last().copied().unwrap_or(Insertion::Stored)))
            }
            Step::Collect(query, take) => Box::new(self.collect(query, take)),
            Step::Has(mask) => Box::new(self.cache.has(mask, None)),
            Step::List(mask) => {
                let mut samples = Vec::new();
                self.cache.list(writer(9), mask, &mut samples);
                Box::new(samples)
            }
            Step::Room(ref set) => {
                let set: Vec<_> = set
                    .iter()
                    .map(|&(kind, of)| arrival(kind, of, 1, 0))
                    .collect();
                let room: Room = self.cache.room_for(set.iter());
                Box::new(room)
            }
            Step::SetWriter(number, strength, lifespan) => {
                let policy = WriterPolicy {
                    strength,
                    lifespan: lifespan.map(Duration::from_nanos),
                    ..WriterPolicy::default()
                };
                self.cache.set_writer(writer(number), policy);
                Box::new(())
            }
            Step::RemoveWriter(number) => {
                let time = Timestamp::from_nanos(1_000);
                Box::new(
                    self.cache
                        .remove_writer(writer(number), now, time, |_| None),
                )
            }
            Step::SilenceWriter(number) => {
                let time = Timestamp::from_nanos(1_000);
                Box::new(
                    self.cache
                        .silence_writer(writer(number), now, time, |_| None),
                )
            }
            Step::Succeed(instance, from, kind) => {
                self.cache.succeed(key(instance), writer(from), kind, now);
                Box::new(())
            }
            Step::Release(instance) => {
                self.cache.release(key(instance));
                Box::new(())
            }
            Step::ChangeSeparation(ns) => {
                Box::new(self.cache.change_separation(Duration::from_nanos(ns), now))
            }
            Step::ChangeLifecycle(ns) => {
                self.cache.change_lifecycle(Lifecycle {
                    no_writers: Duration::from_nanos(ns),
                    disposed: Duration::from_nanos(2 * ns),
                });
                Box::new(())
            }
            Step::Wait(_) => Box::new((self.cache.expire(now), self.cache.ripen(now))),
        };
        format!("{said:?}")
    }

    /// Appends values to the stream of the last one, as many as have room there; how many these are.
    fn offer_stream(&mut self, writer: Guid, count: u8) -> u8 {
        let last = SequenceNumber(self.count.cast_signed());
        let Some(mut stream) = self.cache.begin_stream(writer, last) else {
            return 0;
        };
        let mut appended = 0;
        while stream.has_room() && appended < count {
            self.count += 1;
            appended += 1;
            let mut value = self.cache.value(u64::default);
            *Arc::get_mut(&mut value).expect("a pooled value is unique") = self.count;
            let number = SequenceNumber(self.count.cast_signed());
            let made = Some(Timestamp::from_nanos(0));
            self.cache.append_next(&mut stream, value, number, made);
        }
        self.cache.end_stream(&stream);
        appended
    }

    /// What shows of the cache from outside without doing anything.
    fn look(&self) -> String {
        let cache = &self.cache;
        let counts = [
            cache.expired,
            cache.purged,
            cache.too_early,
            cache.shown_late,
            cache.gone,
        ];
        let alive: Vec<_> = (0..4)
            .map(|instance| cache.is_alive(key(instance)))
            .collect();
        let states = (0..4).map(|instance| cache.instance(key(instance)).map(|it| it.state));
        let states: Vec<_> = states.collect();
        let sizes = (
            cache.len(),
            cache.is_full(),
            cache.has_ends(),
            cache.poll_timeout(),
        );
        format!("{counts:?} {alive:?} {states:?} {sizes:?}")
    }
}

proptest! {
    #[test]
    fn what_is_fresh_behaves_as_what_is_settled(
        policy in policy(),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let [mut fresh, mut settled] = [Fixture::new(policy), Fixture::new(policy)];
        // Nothing is appended.
        settled.cache.appends_below = 0;
        let mut now = NOW;
        for step in steps {
            if let Step::Wait(ns) = step {
                now = now + Duration::from_nanos(ns);
            }
            let (one, other) = (fresh.step(&step, now), settled.step(&step, now));
            prop_assert_eq!(one, other, "{:?}", step);
            prop_assert!(settled.cache.fresh.is_empty());
            prop_assert_eq!(fresh.look(), settled.look(), "after {:?}", step);
        }
        let all = |mut fixture: Fixture| format!("{:?}", fixture.take());
        prop_assert_eq!(all(fresh), all(settled));
    }
}
