//! Meetings of two participants in this process, and of one with somebody who speaks otherwise.

use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::*;
use crate::shm::LogWriter;
use crate::shm::MIN_LOG_BYTES;

fn meeting() -> Meeting {
    let ear = Arc::new(Ear::new().expect("descriptors"));
    Meeting::new(ear).expect("descriptors")
}

fn id(text: &str) -> LogId {
    LogId::new(text.as_bytes()).expect("short enough")
}

/// What happens next. Waits for it, in poll.
fn event(meeting: &mut Meeting) -> MeetingEvent {
    loop {
        if let Some(event) = meeting.next_event() {
            return event;
        }
        wait(meeting.as_fd());
        meeting.turn().expect("epoll works");
    }
}

fn wait(fd: BorrowedFd<'_>) {
    let mut fds = [PollFd::new(fd, PollFlags::POLLIN)];
    let ready = poll(&mut fds, PollTimeout::from(10_000_u16));
    assert_eq!(ready, Ok(1), "nothing happened");
}

fn asked(meeting: &mut Meeting) -> Asked {
    match event(meeting) {
        MeetingEvent::Asked(asked) => asked,
        other => panic!("{other:?}"),
    }
}

/// Answers the next request with a seat.
fn admit(host: &mut Meeting, writer: &mut LogWriter) -> Asked {
    let asked = asked(host);
    let bell = Arc::clone(&asked.bell);
    let admission = writer.seat(bell, asked.gating).expect("a free seat");
    host.admit(&asked, writer.files(), &admission);
    asked
}

fn joined(meeting: &mut Meeting) -> LogReader {
    match event(meeting) {
        MeetingEvent::Joined { reader, .. } => reader,
        other => panic!("{other:?}"),
    }
}

fn left(meeting: &mut Meeting) -> (LogId, Seat) {
    match event(meeting) {
        MeetingEvent::Left { log, seat } => (log, seat),
        other => panic!("{other:?}"),
    }
}

#[test]
fn who_asks_for_a_log_follows_it() {
    let (mut host, mut guest) = (meeting(), meeting());
    let mut writer = LogWriter::new(MIN_LOG_BYTES).expect("memory");
    writer.publish(b"before").expect("room");
    let ticket = guest.ask(host.name(), id("prices"), Gating::Waits);
    let ticket = ticket.expect("it is there");
    let asked = admit(&mut host, &mut writer);
    assert_eq!((asked.log, asked.gating), (id("prices"), Gating::Waits));
    let mut reader = joined(&mut guest);
    writer.publish(b"after").expect("room");
    let mut buffer = Vec::new();
    let mut record = reader.next().expect("sound").expect("published");
    assert_eq!(
        (record.read(&mut buffer), record.sequence()),
        (Ok(&b"after"[..]), 1)
    );

    guest.leave(ticket);
    assert_eq!(left(&mut host), (id("prices"), Seat(0)));
}

/// The writer fills the log and sleeps; the reader rings it when it has read enough.
#[test]
fn a_writer_is_rung_when_there_is_room() {
    let (mut host, mut guest) = (meeting(), meeting());
    let mut writer = LogWriter::new(MIN_LOG_BYTES).expect("memory");
    guest
        .ask(host.name(), id("a"), Gating::Waits)
        .expect("there");
    admit(&mut host, &mut writer);
    let mut reader = joined(&mut guest);
    while writer.publish(&[1; 100]).is_ok() {}
    let ear = Arc::clone(&host.ear);
    writer.want_room(&ear);
    assert_eq!(writer.publish(&[2; 100]), Err(crate::shm::ClaimError::Full));
    while let Some(mut record) = reader.next().expect("waited for") {
        record.read(&mut Vec::new()).expect("waited for");
    }
    wait(ear.as_fd());
    ear.wake();
    assert_eq!(writer.publish(&[2; 100]), Ok(()));
}

#[test]
fn refusals_say_why() {
    let (mut host, mut guest) = (meeting(), meeting());
    let ticket = guest.ask(host.name(), id("a"), Gating::Overruns);
    let ticket = ticket.expect("it is there");
    let request = asked(&mut host);
    host.refuse(&request, Refusal::Unknown);
    match event(&mut guest) {
        MeetingEvent::Refused { ticket: of, reason } => {
            assert_eq!((of, reason), (ticket, Refusal::Unknown));
        }
        other => panic!("{other:?}"),
    }
    let nobody = guest.ask(MeetingName([0; 16]), id("a"), Gating::Waits);
    assert!(
        matches!(nobody, Err(AskError::Connect { .. })),
        "{nobody:?}"
    );
}

#[test]
fn each_learns_that_the_other_is_gone() {
    let (mut host, mut guest) = (meeting(), meeting());
    let mut writer = LogWriter::new(MIN_LOG_BYTES).expect("memory");
    for log in ["a", "b"] {
        guest
            .ask(host.name(), id(log), Gating::Waits)
            .expect("there");
        admit(&mut host, &mut writer);
        joined(&mut guest);
    }
    drop(guest);
    assert_eq!(left(&mut host), (id("a"), Seat(0)));
    assert_eq!(left(&mut host), (id("b"), Seat(1)));

    let mut guest = meeting();
    let ticket = guest.ask(host.name(), id("c"), Gating::Waits);
    let ticket = ticket.expect("it is there");
    drop(host);
    let ended = event(&mut guest);
    assert!(matches!(ended, MeetingEvent::Ended { ticket: of } if of == ticket));
}

/// A seat that was given to somebody who has gone meanwhile comes back.
#[test]
fn a_late_answer_gives_the_seat_back() {
    let (mut host, mut guest) = (meeting(), meeting());
    let mut writer = LogWriter::new(MIN_LOG_BYTES).expect("memory");
    let ticket = guest.ask(host.name(), id("a"), Gating::Waits);
    let asked = asked(&mut host);
    guest.leave(ticket.expect("it is there"));
    wait(host.as_fd());
    host.turn().expect("epoll works");
    let admission = writer.seat(Arc::clone(&asked.bell), asked.gating);
    host.admit(&asked, writer.files(), &admission.expect("a free seat"));
    assert_eq!(left(&mut host), (id("a"), Seat(0)));
    host.refuse(&asked, Refusal::Full);
    assert!(host.next_event().is_none() && guest.next_event().is_none());
}

#[test]
fn who_does_not_answer_is_not_asked_without_end() {
    let (host, mut guest) = (meeting(), meeting());
    for _ in 0..MAX_UNANSWERED {
        guest
            .ask(host.name(), id("a"), Gating::Waits)
            .expect("there");
    }
    let busy = guest.ask(host.name(), id("a"), Gating::Waits);
    assert!(matches!(busy, Err(AskError::Busy)), "{busy:?}");
}

fn stranger(host: &Meeting) -> Connection {
    let address = host.name().address().expect("short enough");
    Connection::connect(&address).expect("it is there")
}

fn cut(host: &mut Meeting) {
    while host.counters().malformed.count() == 0 {
        wait(host.as_fd());
        host.turn().expect("epoll works");
    }
    assert!(host.parties.is_empty());
    let parted = host.next_event();
    assert!(matches!(parted, Some(MeetingEvent::Parted { .. })));
    assert!(host.next_event().is_none());
}

#[test]
fn who_asks_before_hello_is_cut() {
    let mut host = meeting();
    let stranger = stranger(&host);
    let (log, gating) = (id("a"), Gating::Waits);
    let ask = Message::Ask {
        request: 0,
        gating,
        log,
    };
    stranger.send(&ask, &[]).expect("room");
    cut(&mut host);
}

#[test]
fn who_sends_other_descriptors_than_an_ear_is_cut() {
    let mut host = meeting();
    let stranger = stranger(&host);
    let (ear, file) = (
        Ear::new().expect("descriptors"),
        std::fs::File::open("/dev/null"),
    );
    let [event, _] = ear.descriptors();
    let file = file.expect("every Linux has it");
    stranger
        .send(&Message::Hello, &[event, file.as_fd()])
        .expect("room");
    cut(&mut host);
}

/// One that never reads what it is sent costs itself the connection and nobody else anything.
#[test]
fn who_does_not_take_answers_is_cut() {
    let mut host = meeting();
    let silent = stranger(&host);
    let ear = Ear::new().expect("descriptors");
    silent
        .send(&Message::Hello, &ear.descriptors())
        .expect("room");
    for request in 0.. {
        let (log, gating) = (id("a"), Gating::Waits);
        let ask = Message::Ask {
            request,
            gating,
            log,
        };
        if silent.send(&ask, &[]).is_err() {
            break;
        }
        let asked = asked(&mut host);
        host.refuse(&asked, Refusal::Full);
        if host.counters().slow.count() > 0 {
            break;
        }
    }
    assert_eq!(host.counters().slow.count(), 1);
    assert!(host.parties.is_empty());
}

#[test]
fn a_crowd_is_bounded() {
    let mut host = meeting();
    let mut crowd = Vec::new();
    while host.counters().crowded.count() == 0 {
        crowd.push(stranger(&host));
        host.turn().expect("epoll works");
    }
    assert_eq!(crowd.len(), MAX_PARTIES + 1);
    crowd.clear();
    while !host.parties.is_empty() {
        wait(host.as_fd());
        host.turn().expect("epoll works");
    }
}
