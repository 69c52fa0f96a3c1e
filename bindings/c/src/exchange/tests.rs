//! Contexts of one process, which are participants of their own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tickwire_profiles::{Profile, Profiles};

use super::names::{End, Scope};
use super::{Context, handed, reference};
use crate::failure::Code;
use crate::participant;

/// Long enough that only a fault reaches it.
const PATIENCE: Duration = Duration::from_secs(20);

/// What contexts of one test are to be, of which others do not hear.
fn profile(test: &str) -> Profile {
    let tag = format!("{test}-{}", std::process::id());
    let profile = Profiles::default().default_profile();
    let profile = profile.with("participant.domain_tag", &tag);
    profile.expect("a tag is a text")
}

fn context_of(profile: Profile) -> Context {
    let builder = participant::builder(&profile, 120);
    Context::new(builder, profile).expect("a context")
}

fn contexts(test: &str) -> [Context; 2] {
    [(); 2].map(|()| context_of(profile(test)))
}

impl Context {
    fn exchange_of(&self, name: &str, scope: Scope) -> u32 {
        self.create(End::Exchange, name, scope)
            .expect("an exchange")
    }

    fn queue_of(&self, name: &str, scope: Scope) -> u32 {
        self.create(End::Queue, name, scope).expect("a queue")
    }

    fn tell(&self, exchange: u32, text: &str) {
        let sent = self.send(exchange, text.as_bytes(), PATIENCE);
        sent.expect("there is a queue, with room");
    }

    /// The queue, and what has come to it.
    fn hear(&self) -> (u32, String) {
        let message = self.receive(PATIENCE).expect("something has come");
        let text = String::from_utf8(message.bytes.to_vec());
        (message.queue, text.expect("it was a text"))
    }
}

#[test]
fn who_binds_before_the_other_is_there_finds_it_when_it_comes() {
    let [one, two] = contexts("before");
    let exchange = one.exchange_of("E", Scope::Local);
    one.bind("E", "Q").expect("E is here");
    let early = one.send(exchange, b"lost", Duration::ZERO);
    assert_eq!(early.map_err(|failure| failure.tell()), Err(Code::TIMEOUT));
    let queue = two.queue_of("Q", Scope::Global);
    one.tell(exchange, "found");
    assert_eq!(two.hear(), (queue, "found".to_owned()));
}

#[test]
fn a_queue_may_be_bound_by_who_has_it() {
    let [one, two] = contexts("queue-side");
    two.queue_of("other", Scope::Local);
    let queue = two.queue_of("Q", Scope::Local);
    two.bind("E", "Q").expect("Q is here");
    let exchange = one.exchange_of("E", Scope::Global);
    one.tell(exchange, "found");
    assert_eq!(two.hear(), (queue, "found".to_owned()));
}

#[test]
fn a_message_comes_once_however_often_both_bind() {
    let [one, two] = contexts("twice");
    let exchange = one.exchange_of("E", Scope::Global);
    let queue = two.queue_of("Q", Scope::Global);
    for _ in 0..2 {
        one.bind("E", "Q").expect("E is here");
        two.bind("E", "Q").expect("Q is here");
    }
    for number in 0..100 {
        one.tell(exchange, &number.to_string());
    }
    for number in 0..100 {
        assert_eq!(two.hear(), (queue, number.to_string()));
    }
    let more = one.wait_for_bound(exchange, 2, Duration::ZERO);
    assert!(more.is_err(), "one pair");
}

#[test]
fn what_is_local_is_for_its_context_alone() {
    let [one, two] = contexts("local");
    // Of the same names: each of the two means its own.
    let exchanges = [&one, &two].map(|context| {
        let exchange = context.exchange_of("E", Scope::Local);
        context.bind("E", "Q").expect("E is here");
        context.queue_of("Q", Scope::Local);
        exchange
    });
    one.tell(exchanges[0], "of one");
    two.tell(exchanges[1], "of two");
    assert_eq!(one.hear(), (0, "of one".to_owned()));
    assert_eq!(two.hear(), (0, "of two".to_owned()));
    // The local exchange finds what is global.
    two.queue_of("G", Scope::Global);
    one.bind("E", "G").expect("E is here");
    one.wait_for_bound(exchanges[0], 2, PATIENCE)
        .expect("its own and that of the other");
    one.tell(exchanges[0], "to both");
    assert_eq!(one.hear(), (0, "to both".to_owned()));
    assert_eq!(two.hear(), (1, "to both".to_owned()));
}

#[test]
fn a_full_queue_holds_its_exchange_up_and_loses_nothing() {
    let profile = profile("full");
    let one = context_of(profile.clone());
    let small = profile.with("reader.resource_limits.max_samples", "5");
    let two = context_of(small.expect("a number"));
    let exchange = one.exchange_of("E", Scope::Local);
    one.bind("E", "Q").expect("E is here");
    two.queue_of("Q", Scope::Global);
    one.wait_for_bound(exchange, 1, PATIENCE).expect("Q");
    let text = "x".repeat(10_000);
    let mut sent = 0;
    while one
        .send(exchange, format!("{text}{sent}").as_bytes(), Duration::ZERO)
        .is_ok()
    {
        sent += 1;
    }
    assert!((5..1_000).contains(&sent), "{sent}");
    for number in 0..sent {
        assert_eq!(two.hear().1, format!("{text}{number}"));
    }
    one.tell(exchange, "room again");
    assert_eq!(two.hear().1, "room again");
    one.wait_for_acknowledgments(PATIENCE)
        .expect("all is there");
}

#[test]
fn of_several_queues_each_has_its_turn() {
    let context = context_of(profile("turns"));
    let exchanges: Vec<_> = ["A", "B", "C"]
        .into_iter()
        .map(|name| {
            let exchange = context.exchange_of(name, Scope::Local);
            context.queue_of(name, Scope::Local);
            context.bind(name, name).expect("both are here");
            exchange
        })
        .collect();
    for &exchange in &exchanges {
        for number in 0..4 {
            context.tell(exchange, &number.to_string());
        }
    }
    context
        .wait_for_acknowledgments(PATIENCE)
        .expect("all is there");
    let mut heard: Vec<_> = (0..12).map(|_| context.hear()).collect();
    let firsts: Vec<_> = heard.iter().take(3).map(|(_, text)| text.clone()).collect();
    assert_eq!(firsts, ["0", "0", "0"], "{heard:?}");
    heard.sort();
    let all = (0..3).flat_map(|queue| (0..4).map(move |number| (queue, number.to_string())));
    assert!(heard.into_iter().eq(all));
}

#[test]
fn each_message_goes_to_one_of_several_threads() {
    let [one, two] = contexts("threads");
    let exchange = one.exchange_of("E", Scope::Local);
    one.bind("E", "Q").expect("E is here");
    two.queue_of("Q", Scope::Global);
    let heard = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while two.hear().1 != "end" {
                    heard.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for number in 0..3_000 {
            one.tell(exchange, &number.to_string());
        }
        for _ in 0..3 {
            one.tell(exchange, "end");
        }
    });
    assert_eq!(heard.into_inner(), 3_000);
}

#[test]
fn messages_are_acknowledged_while_the_receiver_does_something_else() {
    let [one, two] = contexts("elsewhere");
    let exchange = one.exchange_of("E", Scope::Local);
    one.bind("E", "Q").expect("E is here");
    two.queue_of("Q", Scope::Global);
    for _ in 0..3 {
        for number in 0..100 {
            one.tell(exchange, &number.to_string());
        }
        one.wait_for_acknowledgments(PATIENCE)
            .expect("the library goes on by itself");
        for number in 0..100 {
            assert_eq!(two.hear().1, number.to_string());
        }
    }
}

#[test]
fn who_does_not_receive_can_send() {
    let profile = profile("slow");
    let [one, three] = [(); 2].map(|()| context_of(profile.clone()));
    let small = profile.with("reader.resource_limits.max_samples", "5");
    let slow = context_of(small.expect("a number"));
    let exchange = one.exchange_of("E", Scope::Local);
    one.bind("E", "Q").expect("E is here");
    slow.queue_of("Q", Scope::Global);
    let answers = slow.exchange_of("F", Scope::Local);
    slow.bind("F", "R").expect("F is here");
    three.queue_of("R", Scope::Global);
    one.tell(exchange, "begin");
    assert_eq!(slow.hear().1, "begin");
    let text = "x".repeat(10_000);
    let mut sent = 0;
    while one.send(exchange, text.as_bytes(), Duration::ZERO).is_ok() {
        sent += 1;
    }
    for number in 0..1_000 {
        slow.tell(answers, &number.to_string());
        assert_eq!(three.hear().1, number.to_string());
    }
    slow.wait_for_acknowledgments(PATIENCE)
        .expect("all is there");
    for _ in 0..sent {
        assert_eq!(slow.hear().1, text);
    }
}

#[test]
fn who_waits_in_a_context_that_is_deleted_is_told() {
    let context = context_of(profile("deleted"));
    let exchange = context.exchange_of("E", Scope::Local);
    thread::scope(|scope| {
        let waits: [fn(&Context, u32) -> crate::failure::Result<()>; 5] = [
            |context, _| context.receive(Duration::MAX).map(drop),
            |context, _| context.receive(Duration::MAX).map(drop),
            |context, exchange| context.send(exchange, b"", Duration::MAX),
            |context, exchange| context.send(exchange, b"", Duration::from_secs(3600)),
            |context, exchange| context.wait_for_bound(exchange, 1, Duration::MAX),
        ];
        let context = &context;
        let waits = waits.map(|wait| scope.spawn(move || wait(context, exchange)));
        context.close();
        for wait in waits {
            let result = wait.join().expect("no panic");
            assert_eq!(
                result.map_err(|failure| failure.tell()),
                Err(Code::BAD_HANDLE)
            );
        }
    });
}

#[test]
fn a_message_stays_until_it_is_freed_and_is_freed_once() {
    let context = context_of(profile("freed"));
    let exchange = context.exchange_of("E", Scope::Local);
    context.queue_of("Q", Scope::Local);
    context.bind("E", "Q").expect("both are here");
    let received = || {
        let message = context.receive(PATIENCE).expect("something has come");
        handed::hand_out(message.bytes)
    };
    context.tell(exchange, "");
    let (nothing, len) = received();
    assert_eq!(len, 0);
    handed::take_back(nothing);
    let pointers = ["one", "two"].map(|text| {
        context.tell(exchange, text);
        let (pointer, len) = received();
        assert_eq!(len, 3);
        pointer
    });
    assert_eq!(handed::count(&pointers), 2);
    drop(context);
    assert_eq!(handed::count(&pointers), 2, "they are the receiver's");
    for _ in 0..2 {
        handed::take_back(pointers[0]);
        assert_eq!(handed::count(&pointers), 1);
    }
    handed::take_back(pointers[1]);
    assert_eq!(handed::count(&pointers), 0);
}

#[test]
fn a_rendezvous_may_be_named_by_its_host_alone() {
    assert_eq!(reference("10.0.0.1"), "10.0.0.1:7399");
    assert_eq!(reference("desk"), "desk:7399");
    for whole in ["desk:1", "/tmp/repo.ior", "file://repo.ior"] {
        assert_eq!(reference(whole), whole);
    }
}
