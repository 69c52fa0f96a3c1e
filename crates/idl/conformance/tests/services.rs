//! What is made of interfaces: the types of requests and replies, and stubs that find each other.

use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use proptest::prelude::*;
use tickwire::DomainParticipant;
use tickwire::cdr::{Extensibility, Representation, Topic, from_payload_into, to_payload};
use tickwire::rpc::{
    Answer, CallError, Failure, RemoteException, Requester, Served, Server, Service as _,
};
use tickwire_idl_conformance::services::market::{
    Closed, Level, Quotes, QuotesClient, QuotesLevelsException, QuotesPriceException,
    QuotesService, Service, Unknown, detail, quotes,
};
use tickwire_idl_conformance::services::{Clock, Desk, DeskClient, DeskHaltException, DeskService};

/// Long enough that only a fault reaches it.
const PATIENCE: Duration = Duration::from_secs(20);

fn participant(domain: u32) -> DomainParticipant {
    let builder = DomainParticipant::builder(domain);
    let builder = builder.domain_tag(&std::process::id().to_string());
    builder.build().expect("a participant")
}

/// Knows one security.
#[derive(Debug)]
struct Book {
    depth: i32,
    subscribed: Sender<(String, String)>,
}

impl Service for Book {
    fn get_version(&mut self) -> Served<String> {
        Ok("1.2".into())
    }

    fn ping(&mut self) -> Served<()> {
        Ok(())
    }
}

impl Quotes for Book {
    fn price(&mut self, security_id: String) -> Served<f64, QuotesPriceException> {
        match security_id.as_str() {
            "TICK" => Ok(101.25),
            "OLD" => Err(Closed {
                reason: "delisted".into(),
            }
            .into()),
            "" => Err(RemoteException::InvalidArgument.into()),
            _ => Err(Unknown {}.into()),
        }
    }

    fn levels(
        &mut self,
        security_id: String,
        side: quotes::Side,
        count: i32,
    ) -> Served<(Vec<Level>, i32, bool), QuotesLevelsException> {
        if security_id != "TICK" {
            return Err(Failure::Raised(QuotesLevelsException::Unknown(Unknown {})));
        }
        let sign = if side == quotes::Side::Bid { -1 } else { 1 };
        let given = count.clamp(0, self.depth);
        let levels = (0..given).map(|level| Level {
            price: 101.25 + f64::from(sign * level) / 4.0,
            size: 100,
        });
        Ok((levels.collect(), given, given < count))
    }

    fn subscribe(&mut self, security_id: String, r#type: String) {
        // The test may have ended.
        let _ = self.subscribed.send((security_id, r#type));
    }

    fn r#type(&mut self, self_: u8) -> Served<u8> {
        Ok(self_ + 1)
    }

    fn get_depth(&mut self) -> Served<i32> {
        Ok(self.depth)
    }

    fn set_depth(&mut self, depth: i32) -> Served<()> {
        self.depth = depth;
        Ok(())
    }
}

impl Clock for Book {
    fn now(&mut self) -> Served<u64> {
        Err(RemoteException::Unsupported.into())
    }
}

impl Desk for Book {
    fn halt(&mut self, all: bool) -> Served<(), DeskHaltException> {
        match all {
            true => Ok(()),
            false => Err(Closed::default().into()),
        }
    }
}

fn book() -> (Book, mpsc::Receiver<(String, String)>) {
    let (subscribed, receiver) = mpsc::channel();
    let book = Book {
        depth: 2,
        subscribed,
    };
    (book, receiver)
}

#[test]
fn a_client_calls_a_service() {
    let (one, two) = (participant(219), participant(219));
    let (book, subscribed) = book();
    let server = Server::new(&one, "Quotes", QuotesService(book)).expect("a server");
    let running = server.spawn().expect("a thread");
    let client = QuotesClient::new(&two, "Quotes", PATIENCE).expect("a client");

    assert_eq!(client.price("TICK".into()), Ok(101.25));
    let closed = QuotesPriceException::Closed(Closed {
        reason: "delisted".into(),
    });
    assert_eq!(client.price("OLD".into()), Err(CallError::Raised(closed)));
    let unknown = QuotesPriceException::Unknown(Unknown {});
    assert_eq!(client.price("X".into()), Err(CallError::Raised(unknown)));
    let invalid = RemoteException::InvalidArgument;
    assert_eq!(client.price("".into()), Err(CallError::Remote(invalid)));

    let (levels, count, more) = client
        .levels("TICK".into(), quotes::Side::Bid, 5)
        .expect("it is known");
    assert_eq!((levels.len(), count, more), (2, 2, true));
    assert_eq!(levels[1].price, 101.0);

    client
        .subscribe("TICK".into(), "last".into())
        .expect("room");
    let heard = subscribed.recv_timeout(PATIENCE);
    assert_eq!(heard, Ok(("TICK".into(), "last".into())));

    assert_eq!(client.set_depth(7), Ok(()));
    assert_eq!(client.get_depth(), Ok(7));
    assert_eq!(client.get_version(), Ok("1.2".into()));
    assert_eq!(client.ping(), Ok(()));
    assert_eq!(client.r#type(4), Ok(5));

    let pending = ["TICK", "X"].map(|security| {
        let pending = client.price_async(security.into());
        pending.expect("room")
    });
    let ends = pending.map(|call| call.wait(PATIENCE).is_ok());
    assert_eq!(ends, [true, false]);

    let server = running.stop().expect("it has not failed");
    let counters = server.counters();
    assert_eq!((counters.raised, counters.refused), (3, 1));
    assert_eq!((counters.told, counters.panics), (1, 0));
    assert_eq!(server.service().0.depth, 7);
}

#[test]
fn an_interface_has_what_its_bases_have() {
    let (one, two) = (participant(220), participant(220));
    let (book, _subscribed) = book();
    let server = Server::new(&one, "Desk", DeskService(book)).expect("a server");
    let running = server.spawn().expect("a thread");
    let desk = DeskClient::new(&two, "Desk", PATIENCE).expect("a client");
    assert_eq!(desk.get_version(), Ok("1.2".into()));
    assert_eq!(desk.price("TICK".into()), Ok(101.25));
    assert_eq!(desk.halt(true), Ok(()));
    let closed = DeskHaltException::Closed(Closed::default());
    assert_eq!(desk.halt(false), Err(CallError::Raised(closed)));
    let unsupported = RemoteException::Unsupported;
    assert_eq!(desk.now(), Err(CallError::Remote(unsupported)));
    drop(running);
}

#[test]
fn a_request_asks_for_one_operation() {
    let participant = participant(221);
    let (book, _subscribed) = book();
    let mut server = Server::new(&participant, "Quotes", QuotesService(book)).expect("a server");
    let requester =
        Requester::<detail::QuotesRequest, detail::QuotesReply>::new(&participant, "Quotes")
            .expect("a requester");
    requester.wait_for_service(PATIENCE).expect("a service");
    let mut ask = |request: &detail::QuotesRequest| {
        let pending = requester.send(request).expect("room");
        server.wait(PATIENCE).expect("a request");
        pending.wait(PATIENCE).expect("a reply").remote_ex
    };
    let mut request = detail::QuotesRequest::default();
    assert_eq!(ask(&request), Some(RemoteException::UnknownOperation));
    request.price = Some(detail::QuotesPriceIn::default());
    request.ping = Some(detail::ServicePingIn::default());
    assert_eq!(ask(&request), Some(RemoteException::InvalidArgument));
    request.price = None;
    assert_eq!(ask(&request), None);
    let counters = server.counters();
    assert_eq!((counters.unknown_operations, counters.refused), (1, 1));
    assert_eq!(counters.returned, 1);
}

#[test]
fn the_types_are_those_of_the_mapping() {
    use detail::{QuotesLevelsIn, QuotesLevelsOut, QuotesLevelsResult, QuotesReply, QuotesRequest};
    assert_eq!(QuotesRequest::TYPE_NAME, "market::detail::Quotes_Request");
    assert_eq!(QuotesReply::TYPE_NAME, "market::detail::Quotes_Reply");
    assert_eq!(QuotesRequest::EXTENSIBILITY, Extensibility::Mutable);
    assert_eq!(QuotesLevelsResult::EXTENSIBILITY, Extensibility::Mutable);
    assert_eq!(QuotesLevelsIn::EXTENSIBILITY, Extensibility::Final);
    let names = |ty: &tickwire::cdr::TypeDescription| -> Vec<String> {
        let members = ty.members.iter();
        members.map(|member| member.name.to_string()).collect()
    };
    let inputs = ["securityID", "side", "count"];
    assert_eq!(names(QuotesLevelsIn::DESCRIPTION), inputs);
    let outputs = ["count", "more", "return_"];
    assert_eq!(names(QuotesLevelsOut::DESCRIPTION), outputs);
    let results = ["result", "market_Unknown_ex"];
    assert_eq!(names(QuotesLevelsResult::DESCRIPTION), results);
    let replies = names(QuotesReply::DESCRIPTION);
    assert_eq!(replies.last().map(String::as_str), Some("remoteEx"));
    assert!(!replies.contains(&"subscribe".to_owned()));
    for of in [QuotesRequest::DESCRIPTION, QuotesReply::DESCRIPTION] {
        assert!(of.members.iter().all(|member| member.optional));
        assert!(of.members.iter().all(|member| member.hash_id.is_some()));
    }
}

fn request() -> impl Strategy<Value = detail::QuotesRequest> {
    let price = proptest::option::of("[ -~äß€]{0,9}");
    let levels = proptest::option::of(("[ -~äß€]{0,9}", any::<bool>(), any::<i32>()));
    let subscribe = proptest::option::of(("[ -~äß€]{0,9}", "[a-z]{0,8}"));
    (price, levels, subscribe, any::<bool>()).prop_map(|(price, levels, subscribe, pings)| {
        detail::QuotesRequest {
            price: price.map(|security_id| detail::QuotesPriceIn { security_id }),
            levels: levels.map(|(security_id, is_bid, count)| detail::QuotesLevelsIn {
                security_id,
                side: if is_bid {
                    quotes::Side::Bid
                } else {
                    quotes::Side::Ask
                },
                count,
            }),
            subscribe: subscribe.map(|(security_id, r#type)| detail::QuotesSubscribeIn {
                security_id,
                r#type,
            }),
            ping: pings.then(detail::ServicePingIn::default),
            ..detail::QuotesRequest::default()
        }
    })
}

proptest! {
    #[test]
    fn requests_stay_what_they_are(request in request()) {
        for representation in [Representation::Xcdr1, Representation::Xcdr2] {
            let mut payload = Vec::new();
            to_payload(&request, representation, &mut payload).expect("it can be written");
            let mut read = detail::QuotesRequest::default();
            from_payload_into(&payload, &mut read).expect("it can be read");
            prop_assert_eq!(&read, &request);
        }
    }

    #[test]
    fn whatever_is_asked_has_one_answer(request in request()) {
        let (book, _subscribed) = book();
        let asked = [
            request.price.is_some(),
            request.levels.is_some(),
            request.subscribe.is_some(),
            request.ping.is_some(),
        ];
        let count = asked.iter().filter(|is| **is).count();
        let answer = QuotesService(book).call(&request);
        match count {
            0 => prop_assert_eq!(answer, Answer::Refused(RemoteException::UnknownOperation)),
            1 if request.subscribe.is_some() => prop_assert_eq!(answer, Answer::Nothing),
            1 => prop_assert!(matches!(
                answer,
                Answer::Returned(_)
                    | Answer::Raised(_)
                    | Answer::Refused(RemoteException::InvalidArgument)
            )),
            _ => prop_assert_eq!(answer, Answer::Refused(RemoteException::InvalidArgument)),
        }
    }

    #[test]
    fn whatever_bytes_come_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for encapsulation in [[0, 3], [0, 11]] {
            let mut payload = Vec::from(encapsulation);
            payload.extend([0, 0]);
            payload.extend(&bytes);
            let mut request = detail::QuotesRequest::default();
            let mut reply = detail::QuotesReply::default();
            // That it ends is all that is asked.
            let _ = from_payload_into(&payload, &mut request);
            let _ = from_payload_into(&payload, &mut reply);
        }
    }
}
