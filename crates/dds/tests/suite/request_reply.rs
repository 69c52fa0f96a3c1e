//! Requests and replies between participants: who is asked, who is told, and what goes wrong.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::mpsc::{self, Sender};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::common::{PATIENCE, builder, participant};
use tickwire::rpc::{
    Answer, CallError, Client, RemoteException, Replier, Requester, Server, Service, ServiceConfig,
    outcome,
};
use tickwire::{DataReaderQos, DataWriterQos, Driving, Topic};

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Question")]
struct Question {
    number: u32,
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Reply")]
struct Reply {
    square: Option<u64>,
    refused: Option<RemoteException>,
}

fn reply(square: u64) -> Reply {
    Reply {
        square: Some(square),
        refused: None,
    }
}

type Asker = Requester<Question, Reply>;
type Answerer = Replier<Question, Reply>;

#[test]
fn each_gets_the_reply_to_its_own_request() {
    let (one, two, three) = (participant(210), participant(210), participant(210));
    let replier = Answerer::new(&one, "Squares").expect("a replier");
    let [first, second] =
        [&two, &three].map(|participant| Asker::new(participant, "Squares").expect("a requester"));
    for asker in [&first, &second] {
        asker.wait_for_service(PATIENCE).expect("a service");
    }
    let ask = |asker: &Asker, number| asker.send(&Question { number }).expect("room");
    let pending = [ask(&first, 2), ask(&second, 3), ask(&first, 4)];
    let requests = [(); 3].map(|()| replier.wait(PATIENCE).expect("a request"));
    // In another order than they were asked in.
    for request in requests.iter().rev() {
        let square = u64::from(request.number).pow(2);
        replier.reply(request, &reply(square)).expect("room");
    }
    let squares = pending.map(|call| call.wait(PATIENCE).expect("a reply").square);
    assert_eq!(squares, [Some(4), Some(9), Some(16)]);
    assert_eq!(first.counters().replies, 2);
    assert_eq!(second.counters().replies, 1);
    assert_eq!(replier.counters().requests, 3);
    assert_eq!(replier.counters().replies, 3);
}

#[test]
fn the_first_call_waits_until_both_topics_match() {
    let (one, two) = (participant(211), participant(211));
    for round in 0..20 {
        let name = format!("Squares{round}");
        let requester = Asker::new(&two, name.as_str()).expect("a requester");
        let server = Server::new(&one, name.as_str(), Squares::default()).expect("a server");
        let running = server.spawn().expect("a thread");
        let reply = requester.call(&Question { number: 7 }, PATIENCE);
        assert_eq!(reply.expect("a reply").square, Some(49));
        drop(running);
    }
}

#[test]
fn who_is_not_there_is_told_by_topic() {
    let participant = participant(212);
    let requester = Asker::new(&participant, "Nobody").expect("a requester");
    let error = requester.call(&Question { number: 1 }, Duration::from_millis(1));
    let said = error.expect_err("nobody is there").to_string();
    assert!(
        said.contains("nobody reads `Nobody_Request`, and nobody writes `Nobody_Reply`"),
        "{said}"
    );
    // Half of a service.
    let topic = participant.topic::<Question>("Nobody_Request");
    let qos = DataReaderQos::default().reliable();
    let reader = participant.reader_with(&topic.expect("a topic"), qos);
    let reader = reader.expect("a reader");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    requester
        .writer()
        .wait_for_matched(1, PATIENCE)
        .expect("a match");
    let error = requester.call(&Question { number: 1 }, Duration::from_millis(1));
    let said = error.expect_err("nobody replies").to_string();
    assert!(said.contains("nobody writes `Nobody_Reply`"), "{said}");
    assert_eq!(requester.counters().requests, 0);
}

#[test]
fn calls_under_way_are_bounded_and_given_up_when_dropped() {
    let participant = participant(213);
    let replier = Answerer::new(&participant, "Slow").expect("a replier");
    let config = ServiceConfig::new("Slow").max_pending(2);
    let requester = Asker::new(&participant, config).expect("a requester");
    requester.wait_for_service(PATIENCE).expect("a service");
    let ask = |number| requester.send(&Question { number });
    let (first, second) = (ask(1).expect("room"), ask(2).expect("room"));
    assert_eq!(ask(3).expect_err("two"), CallError::TooMany { limit: 2 });
    drop(first);
    let third = ask(4).expect("room");
    let ids = [(); 3].map(|()| replier.wait(PATIENCE).expect("a request").id());
    for id in ids {
        replier.reply_to(id, &reply(1)).expect("room");
    }
    assert!(second.wait(PATIENCE).is_ok());
    assert!(third.wait(PATIENCE).is_ok());
    let counters = requester.counters();
    assert_eq!((counters.given_up, counters.late), (1, 1));
    assert_eq!((counters.refused, counters.replies), (1, 2));
    // Nobody answers, and there is room again.
    let timeout = Duration::from_millis(1);
    let pending = ask(5).expect("room").wait(timeout);
    assert_eq!(
        pending.expect_err("no reply"),
        CallError::Timeout { waited: timeout }
    );
    assert!(ask(6).is_ok());
}

#[test]
fn waits_end_when_they_are_ended() {
    let (one, two) = (participant(217), participant(217));
    let replier = Answerer::new(&one, "Ended").expect("a replier");
    let asker = Asker::new(&two, "Ended").expect("a requester");
    let alone = Asker::new(&two, "Nobody").expect("a requester");
    std::thread::scope(|scope| {
        let call = scope.spawn(|| asker.call(&Question { number: 1 }, Duration::MAX));
        let service = scope.spawn(|| alone.wait_for_service(Duration::MAX));
        let request = replier.wait(PATIENCE).expect("a request");
        let next = scope.spawn(|| replier.wait(Duration::MAX));
        asker.end_waits();
        alone.end_waits();
        replier.end_waits();
        let call = call.join().expect("no panic");
        assert!(matches!(call, Err(CallError::Timeout { .. })), "{call:?}");
        assert!(service.join().expect("no panic").is_err());
        assert!(next.join().expect("no panic").is_err());
        replier.reply(&request, &reply(1)).expect("room");
    });
    assert_eq!(asker.counters().given_up, 1);
}

#[test]
fn replies_that_say_to_nothing_and_those_to_others_are_counted() {
    let participant = participant(214);
    let replier = Answerer::new(&participant, "Odd").expect("a replier");
    let [one, two] = [(); 2].map(|()| Asker::new(&participant, "Odd").expect("a requester"));
    for asker in [&one, &two] {
        asker.wait_for_service(PATIENCE).expect("a service");
    }
    replier.writer().write(&reply(0)).expect("room");
    let call = one.send(&Question { number: 1 }).expect("room");
    let request = replier.wait(PATIENCE).expect("a request");
    replier.reply(&request, &reply(1)).expect("room");
    replier.reply(&request, &reply(2)).expect("room");
    assert_eq!(call.wait(PATIENCE).expect("a reply").square, Some(1));
    let call = two.send(&Question { number: 2 }).expect("room");
    let request = replier.wait(PATIENCE).expect("a request");
    replier.reply(&request, &reply(4)).expect("room");
    assert_eq!(call.wait(PATIENCE).expect("a reply").square, Some(4));
    assert_eq!(two.counters().unrelated, 1);
    assert_eq!(two.counters().for_others, 2);
    assert_eq!(two.counters().replies, 1);
}

#[test]
fn only_a_writer_that_may_relate_samples_does() {
    let participant = participant(215);
    let topic = participant.topic::<Question>("Plain").expect("a topic");
    let reader = participant.reader(&topic).expect("a reader");
    let writer = participant.writer(&topic).expect("a writer");
    let qos = DataWriterQos::default().related_samples(true);
    let relating = participant.writer_with(&topic, qos).expect("a writer");
    relating.wait_for_matched(1, PATIENCE).expect("a match");
    let number = relating.write(&Question { number: 1 }).expect("room");
    reader.wait_for_data(PATIENCE).expect("a sample");
    let identity = reader.take()[0].info().identity();
    assert_eq!(
        (identity.writer, identity.sequence_number),
        (relating.guid(), number)
    );
    let refused = writer.write_related(&Question { number: 2 }, identity);
    assert!(refused.is_err());
    let written = relating.write_related(&Question { number: 3 }, identity);
    written.expect("room");
    reader.wait_for_data(PATIENCE).expect("a sample");
    assert_eq!(reader.take()[0].info().related, Some(identity));
    let changed = relating.set_qos(DataWriterQos::default());
    assert!(changed.is_err());
}

/// Squares numbers; some it takes otherwise.
#[derive(Default)]
struct Squares {
    told: Option<Sender<u32>>,
}

const PANICS: u32 = 1_000;
const UNKNOWN: u32 = 1_001;
const TOLD: u32 = 1_002;
const RAISES: u32 = 1_003;

impl Service for Squares {
    type Request = Question;
    type Reply = Reply;

    fn call(&mut self, request: &Question) -> Answer<Reply> {
        match request.number {
            PANICS => panic!("this is what the test is about"),
            UNKNOWN => Answer::Refused(RemoteException::UnknownOperation),
            TOLD => {
                let told = self.told.as_ref().map(|told| told.send(TOLD));
                assert_eq!(told, Some(Ok(())));
                Answer::Nothing
            }
            RAISES => Answer::Raised(reply(0)),
            number => Answer::Returned(reply(u64::from(number).pow(2))),
        }
    }

    fn refusal(exception: RemoteException) -> Reply {
        Reply {
            square: None,
            refused: Some(exception),
        }
    }
}

fn square(reply: &Reply) -> Result<u64, CallError<Infallible>> {
    outcome(&reply.square, reply.refused).copied()
}

#[test]
fn what_a_service_does_not_answer_is_an_error_of_the_call_alone() {
    let (one, two) = (participant(216), participant(216));
    let (sender, told) = mpsc::channel();
    let service = Squares { told: Some(sender) };
    let server = Server::new(&one, "Squares", service).expect("a server");
    let running = server.spawn().expect("a thread");
    let client = Client::<Question, Reply>::new(&two, "Squares", PATIENCE).expect("a client");
    let ask = |number| client.call(&Question { number }, square);
    assert_eq!(ask(3), Ok(9));
    let unknown = RemoteException::UnknownOperation;
    assert_eq!(ask(UNKNOWN), Err(CallError::Remote(unknown)));
    let failed = RemoteException::UnknownException;
    assert_eq!(ask(PANICS), Err(CallError::Remote(failed)));
    assert_eq!(ask(RAISES), Ok(0));
    client.tell(&Question { number: TOLD }).expect("room");
    assert_eq!(told.recv_timeout(PATIENCE), Ok(TOLD));
    assert_eq!(ask(4), Ok(16));
    let pending = client.start(&Question { number: 5 }, square);
    assert_eq!(pending.expect("room").wait(PATIENCE), Ok(25));

    let server = running.stop().expect("it has not failed");
    let counters = server.counters();
    assert_eq!(counters.requests, 7);
    assert_eq!((counters.returned, counters.raised), (3, 1));
    assert_eq!((counters.told, counters.panics), (1, 1));
    assert_eq!(counters.unknown_operations, 1);
    assert_eq!(counters.unsent, 0);
}

#[test]
fn a_reply_says_something() {
    let empty = Reply {
        square: None,
        refused: None,
    };
    assert_eq!(square(&empty), Err(CallError::InvalidReply));
    let fine = Reply {
        square: None,
        refused: Some(RemoteException::Ok),
    };
    assert_eq!(square(&fine), Err(CallError::Remote(RemoteException::Ok)));
}

#[test]
fn a_future_wakes_who_awaits_it() {
    let build = || builder(217).driving(Driving::Polled).build();
    let participant = build().expect("a participant");
    let mut server = Server::new(&participant, "Polled", Squares::default()).expect("a server");
    let client = Client::<Question, Reply>::new(&participant, "Polled", PATIENCE);
    let client = client.expect("a client");
    client.wait_for_service().expect("a service");
    let pending = client.start(&Question { number: 6 }, square);
    let mut pending = pin!(pending.expect("room"));
    let mut context = Context::from_waker(Waker::noop());
    let mut ready = pending.as_mut().poll(&mut context);
    assert_eq!(ready, Poll::Pending);
    assert_eq!(server.wait(PATIENCE), Ok(1));
    while ready.is_pending() {
        participant.poll(PATIENCE).expect("it polls");
        ready = pending.as_mut().poll(&mut context);
    }
    assert_eq!(ready, Poll::Ready(Ok(36)));
    assert_eq!(client.requester().counters().replies, 1);
}

#[test]
fn clients_come_and_go_and_the_service_stays() {
    let one = participant(218);
    let server = Server::new(&one, "Squares", Squares::default()).expect("a server");
    let running = server.spawn().expect("a thread");
    for number in 1..=5 {
        let two = participant(218);
        let client = Client::<Question, Reply>::new(&two, "Squares", PATIENCE).expect("a client");
        // Nobody waits for this one.
        client.wait_for_service().expect("a service");
        let request = Question { number };
        drop(client.requester().send(&request).expect("room"));
        assert_eq!(client.call(&request, square), Ok(u64::from(number).pow(2)));
    }
    let server = running.stop().expect("it has not failed");
    assert_eq!(server.counters().requests, 10);
    assert_eq!(server.counters().unsent, 0);
}

#[test]
fn ros_has_other_names_for_the_topics() {
    let config = ServiceConfig::ros2("add_two_ints");
    assert_eq!(config.request_topic(), "rq/add_two_intsRequest");
    assert_eq!(config.reply_topic(), "rr/add_two_intsReply");
}
