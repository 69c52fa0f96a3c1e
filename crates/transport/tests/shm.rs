//! Logs between processes: each test starts this program again, as what the environment says.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::process::{Resource, Rlimit, geteuid, setrlimit};
use tickwire_transport::shm::meeting::{LogId, Meeting, MeetingEvent, MeetingName};
use tickwire_transport::shm::{
    Borrowed, ClaimError, Ear, Gating, Lent, LoanError, LogReader, LogWriter, MIN_LOG_BYTES,
    NextError, Place as LoanPlace, Pool, Seat,
};

const ROLE: &str = "TICKWIRE_SHM_ROLE";
const HOST: &str = "TICKWIRE_SHM_HOST";

/// Not a test of its own: what the other process does.
#[test]
fn other_process() {
    let Ok(role) = env::var(ROLE) else {
        return;
    };
    match role.as_str() {
        "reliable" => follow(Gating::Waits),
        "best effort" => follow(Gating::Overruns),
        "writer" => write(),
        "borrower" => borrow(),
        "lender" => lend_and_stay(),
        "limited" => {
            let limit = Rlimit {
                current: Some(1 << 16),
                maximum: Some(1 << 16),
            };
            setrlimit(Resource::Fsize, limit).expect("a process may limit itself");
            let error = LogWriter::new(1 << 20).expect_err("more than the limit");
            say(&error.to_string());
        }
        "short" => write_until_short(),
        "stranger" => {
            let mut meeting = Place::new().meeting;
            let error = meeting.ask(host(), id(), Gating::Waits);
            say(&error.expect_err("not the same user").to_string());
        }
        other => panic!("{other}"),
    }
}

#[test]
fn two_processes_read_every_record() {
    let mut place = Place::new();
    let mut writer = LogWriter::new(MIN_LOG_BYTES).expect("memory");
    let mut readers = ["reliable"; 2].map(|role| Other::start(role, Some(&place)));
    // Whichever asks first.
    for _ in &readers {
        place.admit(&mut writer);
    }
    for reader in &mut readers {
        reader.expect("joined");
    }
    for number in 0..10_000_u64 {
        let payload = number.to_le_bytes().repeat(1 + number as usize % 100);
        place.publish(&mut writer, &payload);
    }
    place.publish(&mut writer, b"end");
    for reader in &mut readers {
        reader.expect("read 10000, lost 0");
    }
}

#[test]
fn a_killed_reader_frees_the_writer() {
    let mut place = Place::new();
    let mut writer = LogWriter::new(MIN_LOG_BYTES).expect("memory");
    let mut reader = Other::start("reliable", Some(&place));
    let seat = place.admit(&mut writer);
    reader.expect("joined");
    reader.signal(Signal::SIGSTOP);
    while writer.publish(&[1; 100]).is_ok() {}
    reader.signal(Signal::SIGKILL);
    let MeetingEvent::Left { seat: left, log } = place.event() else {
        panic!("it is gone");
    };
    assert_eq!((left, log), (seat, id()));
    writer.free(left);
    assert_eq!(writer.publish(&[2; 100]), Ok(()));
}

#[test]
fn a_stopped_reader_is_evicted_and_knows_what_it_lost() {
    let mut place = Place::new();
    let mut writer = LogWriter::new(MIN_LOG_BYTES).expect("memory");
    let mut reader = Other::start("reliable", Some(&place));
    let seat = place.admit(&mut writer);
    reader.expect("joined");
    reader.signal(Signal::SIGSTOP);
    reader.wait_until_stopped();
    let mut published = 0;
    while writer.publish(&[1; 96]).is_ok() {
        published += 1;
    }
    assert_eq!(writer.waits_for().collect::<Vec<_>>(), [seat]);
    writer.evict(seat);
    for _ in 0..1000 {
        writer.publish(&[1; 96]).expect("nobody is waited for");
        published += 1;
    }
    // Before it is run again, so that it sees all of it at once: the newest record is this one.
    writer.publish(b"end").expect("nobody is waited for");
    drop(writer.ringing());
    reader.signal(Signal::SIGCONT);
    reader.expect(&format!("read 0, lost {published}"));
}

#[test]
fn a_killed_writer_ends_its_logs() {
    let mut place = Place::new();
    let mut other = Other::start("writer", None);
    let name = other.line();
    let ticket = place.meeting.ask(name_of(&name), id(), Gating::Waits);
    let ticket = ticket.expect("it has said so");
    let MeetingEvent::Joined { mut reader, .. } = place.event() else {
        panic!("it admits everybody");
    };
    other.expect("published");
    other.signal(Signal::SIGKILL);
    let ended = place.event();
    assert!(matches!(ended, MeetingEvent::Ended { ticket: of } if of == ticket));
    let mut count = 0;
    while let Some(mut record) = reader.next().expect("sound") {
        let bytes = record.read(&mut Vec::new()).map(<[u8]>::len);
        assert_eq!(bytes, Ok(100));
        count += 1;
    }
    assert_eq!(count, 3, "what it has published is still there");
}

/// What it held is lent again.
#[test]
fn a_killed_reader_holds_nothing() {
    let mut place = Place::new();
    let (pool, mut writer) = pool_and_log();
    let mut reader = Other::start("borrower", Some(&place));
    let seat = place.admit(&mut writer);
    drop(place.lend(&pool, &mut writer, 1));
    reader.expect("holds 1048576 times 1");
    reader.signal(Signal::SIGSTOP);
    reader.wait_until_stopped();
    // It keeps what it holds, and nothing that it has not looked at.
    let lent: Vec<_> = (2..CHUNKS as u8 + 1)
        .map(|byte| place.lend(&pool, &mut writer, byte))
        .collect();
    let error = pool.loan(1).expect_err("one is held");
    assert_eq!(error, LoanError::UsedUp { chunks: CHUNKS });
    reader.signal(Signal::SIGKILL);
    let MeetingEvent::Left { seat: left, .. } = place.event() else {
        panic!("it is gone");
    };
    assert_eq!(left, seat);
    // It may have closed that connection, and not yet all that it had.
    reader.child.wait().expect("it was killed");
    assert!(pool.loan(LOAN_LEN).is_ok());
    drop(lent);
}

/// It leaves the log, and the writer forgets its seat; what it holds stays as it is.
#[test]
fn who_leaves_keeps_what_it_holds() {
    let mut place = Place::new();
    let (pool, mut writer) = pool_and_log();
    let mut reader = Other::start("borrower", Some(&place));
    place.admit(&mut writer);
    drop(place.lend(&pool, &mut writer, 1));
    reader.expect("holds 1048576 times 1");
    drop(place.lend(&pool, &mut writer, 0));
    reader.expect("left");
    let MeetingEvent::Left { seat, .. } = place.event() else {
        panic!("it has left");
    };
    writer.free(seat);
    for byte in 2..20 {
        drop(place.lend(&pool, &mut writer, byte));
    }
    let loans: Vec<_> = (1..CHUNKS)
        .map(|_| pool.loan(1).expect("nobody has it"))
        .collect();
    assert!(pool.loan(1).is_err());
    reader.go_on();
    reader.expect("held 1048576 times 1");
    reader.expect("let go");
    assert!(pool.loan(1).is_ok());
    drop(loans);
}

#[test]
fn what_a_killed_writer_has_lent_can_be_read() {
    let mut place = Place::new();
    let mut other = Other::start("lender", None);
    let name = other.line();
    let ticket = place.meeting.ask(name_of(&name), id(), Gating::Overruns);
    ticket.expect("it has said so");
    let MeetingEvent::Joined { mut reader, .. } = place.event() else {
        panic!("it admits everybody");
    };
    let borrowed = place.borrow(&mut reader);
    let second = place.told(&mut reader);
    other.signal(Signal::SIGKILL);
    assert!(matches!(place.event(), MeetingEvent::Ended { .. }));
    let pool = reader.pool().expect("it has one");
    assert_eq!(borrowed.trusted_bytes(), [1; LOAN_LEN]);
    let late = pool.borrow(second).expect("nobody lends it anew");
    drop(reader);
    assert_eq!(late.trusted_bytes(), [2; LOAN_LEN]);
}

/// Takes root, to become somebody else.
#[test]
fn another_user_is_refused() {
    if !geteuid().is_root() {
        return;
    }
    let mut place = Place::new();
    let mut other = Other::start("stranger", Some(&place));
    other.expect("the participant is another user's");
    while place.meeting.counters().other_users.count() == 0 {
        place.turn();
    }
}

#[test]
fn memory_beyond_a_limit_is_an_error_and_not_a_signal() {
    let mut other = Other::start("limited", None);
    let line = other.line();
    assert!(line.contains("limited to files of 65536 "), "{line}");
}

/// What is out of memory in the middle of the first lap goes round in what it has: whoever reads in time gets all,
/// whoever does not knows what it has missed.
#[test]
fn a_writer_out_of_memory_goes_on_with_what_it_has() {
    let mut place = Place::new();
    let mut other = Other::start("short", None);
    let name = other.line();
    let ticket = place.meeting.ask(name_of(&name), id(), Gating::Overruns);
    ticket.expect("it has said so");
    let MeetingEvent::Joined { mut reader, .. } = place.event() else {
        panic!("it admits everybody");
    };
    // It has three steps, and has written 100 records, of 4 KiB with their headers, since.
    other.expect("has 196608, is short");
    let mut buffer = Vec::new();
    let mut expected = None;
    let mut read = 0;
    loop {
        match reader.next() {
            Ok(Some(mut record)) => {
                let number = record.sequence();
                let bytes = record.read(&mut buffer).expect("it has ended to write");
                assert_eq!(bytes, [number.to_le_bytes()[0]; RECORD_LEN]);
                assert!(expected.is_none_or(|expected| number == expected));
                expected = Some(number + 1);
                read += 1;
            }
            Ok(None) => break,
            Err(NextError::Overrun(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert!(read > 0 && reader.lost().records > 0);
    let all = expected.expect("read some");
    assert_eq!(read + reader.lost().records, all);
    other.go_on();
    // Who reads what comes is not overrun, round after round.
    for number in all..all + 1000 {
        let bytes = loop {
            match reader.next().expect("it keeps up") {
                Some(mut record) => break record.read(&mut buffer).expect("in time").to_vec(),
                None => sleep(&place.ear, &reader),
            }
        };
        assert_eq!(bytes, [number.to_le_bytes()[0]; RECORD_LEN]);
        other.go_on();
    }
    other.expect("has 196608, is short");
}

/// Reads until the record that says so, and says how many that were.
fn follow(gating: Gating) {
    let mut place = Place::new();
    let ticket = place.meeting.ask(host(), id(), gating);
    let ticket = ticket.expect("the parent is there");
    let MeetingEvent::Joined {
        mut reader,
        ticket: of,
    } = place.event()
    else {
        panic!("the parent admits us");
    };
    assert_eq!(of, ticket);
    say("joined");
    let (mut read, mut buffer) = (0, Vec::new());
    loop {
        let bytes = match reader.next() {
            Ok(Some(mut record)) => record.read(&mut buffer),
            Ok(None) => {
                sleep(&place.ear, &reader);
                continue;
            }
            Err(NextError::Overrun(_)) => continue,
            Err(error) => panic!("{error}"),
        };
        match bytes {
            Ok(b"end") => break,
            Ok(_) => read += 1,
            Err(_) => {}
        }
    }
    say(&format!("read {read}, lost {}", reader.lost().records));
}

fn sleep(ear: &Ear, reader: &LogReader) {
    if ear.lie_down([reader]) {
        wait(ear.as_fd());
        ear.drain();
    }
    ear.wake();
}

/// Publishes three records to the first that asks, and stays until it is killed.
fn write() {
    let mut place = Place::new();
    let mut writer = LogWriter::new(MIN_LOG_BYTES).expect("memory");
    say(&place.meeting.name().to_string());
    place.admit(&mut writer);
    for _ in 0..3 {
        place.publish(&mut writer, &[7; 100]);
    }
    say("published");
    loop {
        place.turn();
    }
}

/// Loses the right to memory when its log has three steps of it, writes on, and then a record for each line of its
/// input.
fn write_until_short() {
    let mut place = Place::new();
    let mut writer = LogWriter::new(1 << 20).expect("memory");
    say(&place.meeting.name().to_string());
    place.admit(&mut writer);
    let mut number = 0_u64;
    let mut write = |writer: &mut LogWriter| {
        let payload = [number.to_le_bytes()[0]; RECORD_LEN];
        place.publish(writer, &payload);
        number += 1;
    };
    while writer.backed() < 3 << 16 {
        write(&mut writer);
    }
    let limit = Rlimit {
        current: Some(1 << 16),
        maximum: Some(1 << 16),
    };
    setrlimit(Resource::Fsize, limit).expect("a process may limit itself");
    for _ in 0..100 {
        write(&mut writer);
    }
    let state = |writer: &LogWriter| {
        let is = if writer.is_short() { "is" } else { "is not" };
        format!("has {}, {is} short", writer.backed())
    };
    say(&state(&writer));
    for _ in 0..1000 {
        wait_for_line();
        write(&mut writer);
    }
    // The last one has been read.
    wait_for_line();
    let (len, max) = (200_000, writer.max_len());
    let error = writer.claim(len).expect_err("no memory for that");
    assert_eq!(error, ClaimError::TooLong { len, max });
    assert!(writer.claim(max).is_ok());
    say(&state(&writer));
}

fn wait_for_line() {
    std::io::stdin()
        .read_line(&mut String::new())
        .expect("a line");
}

const RECORD_LEN: usize = 4096 - 16;

/// Holds the first sample, leaves when told of the second, and lets go when it is given a line.
fn borrow() {
    let mut place = Place::new();
    let ticket = place.meeting.ask(host(), id(), Gating::Overruns);
    let ticket = ticket.expect("the parent is there");
    let MeetingEvent::Joined { mut reader, .. } = place.event() else {
        panic!("the parent admits us");
    };
    let borrowed = place.borrow(&mut reader);
    let what = |borrowed: &Borrowed| {
        let bytes = borrowed.trusted_bytes();
        assert!(bytes.iter().all(|byte| *byte == bytes[0]));
        format!("{} times {}", bytes.len(), bytes[0])
    };
    say(&format!("holds {}", what(&borrowed)));
    place.told(&mut reader);
    place.meeting.leave(ticket);
    drop(reader);
    say("left");
    wait_for_line();
    say(&format!("held {}", what(&borrowed)));
    drop(borrowed);
    say("let go");
}

/// Lends two samples to the first that asks, and stays until it is killed.
fn lend_and_stay() {
    let mut place = Place::new();
    let (pool, mut writer) = pool_and_log();
    say(&place.meeting.name().to_string());
    place.admit(&mut writer);
    let _lent = [1, 2].map(|byte| place.lend(&pool, &mut writer, byte));
    loop {
        place.turn();
    }
}

fn pool_and_log() -> (Pool, LogWriter) {
    let pool = Pool::new(LOAN_LEN, CHUNKS).expect("memory");
    let writer = LogWriter::with_pool(MIN_LOG_BYTES, pool.clone()).expect("memory");
    (pool, writer)
}

const LOAN_LEN: usize = 1 << 20;
const CHUNKS: usize = 8;

/// Where this process meets others.
struct Place {
    ear: Arc<Ear>,
    meeting: Meeting,
}

impl Place {
    fn new() -> Self {
        let ear = Arc::new(Ear::new().expect("descriptors"));
        let meeting = Meeting::new(Arc::clone(&ear)).expect("descriptors");
        Self { ear, meeting }
    }

    fn turn(&mut self) {
        wait(self.meeting.as_fd());
        self.meeting.turn().expect("epoll works");
    }

    fn event(&mut self) -> MeetingEvent {
        loop {
            match self.meeting.next_event() {
                Some(event) => return event,
                None => self.turn(),
            }
        }
    }

    fn admit(&mut self, writer: &mut LogWriter) -> Seat {
        let MeetingEvent::Asked(asked) = self.event() else {
            panic!("nobody has a seat yet");
        };
        let admission = writer.seat(Arc::clone(&asked.bell), asked.gating);
        let admission = admission.expect("a free seat");
        self.meeting.admit(&asked, writer.files(), &admission);
        admission.seat()
    }

    /// Tells of a loan full of that byte.
    fn lend(&self, pool: &Pool, writer: &mut LogWriter, byte: u8) -> Lent {
        let mut loan = pool.loan(LOAN_LEN).expect("an idle chunk");
        loan.bytes_mut().fill(byte);
        let lent = loan.publish();
        self.publish(writer, &lent.place().to_bytes());
        lent
    }

    /// The place that the next record tells.
    fn told(&self, reader: &mut LogReader) -> LoanPlace {
        let mut bytes = [0; LoanPlace::LEN];
        loop {
            match reader.next().expect("sound") {
                Some(mut record) => {
                    record.read_start(&mut bytes).expect("in time");
                    return LoanPlace::from_bytes(bytes);
                }
                None => sleep(&self.ear, reader),
            }
        }
    }

    fn borrow(&self, reader: &mut LogReader) -> Borrowed {
        let place = self.told(reader);
        let pool = reader.pool().expect("it has one");
        pool.borrow(place).expect("in time")
    }

    /// Waits as long as it takes for readers to make room.
    fn publish(&self, writer: &mut LogWriter, payload: &[u8]) {
        while writer.publish(payload) == Err(ClaimError::Full) {
            writer.want_room(&self.ear);
            if writer.claim(payload.len()).is_err() {
                wait(self.ear.as_fd());
                self.ear.drain();
            }
            self.ear.wake();
        }
        drop(writer.ringing());
    }
}

/// Waits long, but not for ever.
fn wait(fd: BorrowedFd<'_>) {
    let mut fds = [PollFd::new(fd, PollFlags::POLLIN)];
    let ready = poll(&mut fds, PollTimeout::from(60_000_u16));
    assert_eq!(ready, Ok(1), "nothing happened");
}

fn id() -> LogId {
    LogId::new(b"prices").expect("short")
}

fn host() -> MeetingName {
    name_of(&env::var(HOST).expect("the parent says"))
}

fn name_of(text: &str) -> MeetingName {
    let number = u128::from_str_radix(text, 16).expect("hexadecimal digits");
    MeetingName(number.to_be_bytes())
}

/// On a line of its own, as the harness of tests writes, too.
fn say(text: &str) {
    println!("\nsays {text}");
}

/// The other process, killed when dropped.
struct Other {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Other {
    fn start(role: &str, host: Option<&Place>) -> Self {
        let program = env::current_exe().expect("the test's path");
        let mut command = Command::new(program);
        command
            .args(["--exact", "other_process", "--nocapture"])
            .env(ROLE, role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if let Some(place) = host {
            command.env(HOST, place.meeting.name().to_string());
        }
        if role == "stranger" {
            command.uid(NOBODY);
        }
        let mut child = command.spawn().expect("a process");
        let out = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, out }
    }

    /// What it says next.
    fn line(&mut self) -> String {
        loop {
            let mut line = String::new();
            let len = self.out.read_line(&mut line).expect("text");
            assert!(len > 0, "it has ended");
            if let Some(said) = line.trim_end().strip_prefix("says ") {
                return said.to_owned();
            }
        }
    }

    fn expect(&mut self, text: &str) {
        assert_eq!(self.line(), text);
    }

    /// Gives it a line.
    fn go_on(&mut self) {
        let stdin = self.child.stdin.as_mut().expect("piped");
        stdin.write_all(b"\n").expect("it reads");
    }

    fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).expect("it lives");
    }

    fn wait_until_stopped(&self) {
        use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
        let status = waitpid(self.pid(), Some(WaitPidFlag::WUNTRACED));
        assert_eq!(status, Ok(WaitStatus::Stopped(self.pid(), Signal::SIGSTOP)));
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const NOBODY: u32 = 65_534;
