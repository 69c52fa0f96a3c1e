//! Processes that share memory may be killed or stopped at any time, or have no memory: nobody else notices
//! more than that they are gone.
//!
//! The other process is this test binary again, told by its environment what to do.

#[path = "suite/common/mod.rs"]
mod common;

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use common::{PATIENCE, Quote, quote, wait_for_logs};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use tickwire::{
    BytesInPlace, BytesType, DataReader, DataReaderQos, DataWriter, DataWriterQos,
    DomainParticipant, Loan, Obstacle, Samples, Topic, Way,
};

/// How often somebody is killed; as often as TICKWIRE_KILLS says, if it does.
fn rounds() -> usize {
    let said = env::var("TICKWIRE_KILLS").ok();
    said.map_or(10, |said| said.parse().expect("TICKWIRE_KILLS: a number"))
}

fn participant(tag: &str) -> DomainParticipant {
    let builder = DomainParticipant::builder(212).domain_tag(tag);
    let builder = builder.shared_memory(true).trusts_lenders(true);
    builder.build().expect("a participant")
}

fn tag(test: &str) -> String {
    format!("{test}-{}", std::process::id())
}

fn writer(participant: &DomainParticipant) -> DataWriter<Quote> {
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    participant.writer_with(&topic, qos).expect("a writer")
}

fn reader(participant: &DomainParticipant, qos: DataReaderQos) -> DataReader<Quote> {
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = qos.keep_all();
    participant.reader_with(&topic, qos).expect("a reader")
}

#[derive(Topic, Clone, Debug)]
#[topic(name = "test::Frame", final)]
struct Frame {
    bytes: Vec<u8>,
}

/// As long as loans are, of which there are so many.
const LEN: usize = 64 << 10;
const LOANS: usize = 8;

fn lender(participant: &DomainParticipant) -> DataWriter<Frame> {
    let topic = participant.topic::<Frame>("Frames").expect("a topic");
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let qos = qos.max_loan_bytes(LEN).loan_count(LOANS);
    participant.writer_with(&topic, qos).expect("a writer")
}

fn borrower(participant: &DomainParticipant, qos: DataReaderQos) -> DataReader<BytesInPlace> {
    let ty = BytesType::of::<Frame>().expect("bytes");
    let topic = participant.topic_of("Frames", ty).expect("a topic");
    let qos = qos.keep_all();
    participant.reader_with(&topic, qos).expect("a reader")
}

/// A loan that says its number everywhere.
fn filled(writer: &DataWriter<Frame>, number: u64) -> Loan<'_, Frame> {
    let mut loan = writer.loan(LEN).expect("bytes");
    for word in loan.bytes_mut().as_chunks_mut().0 {
        *word = number.to_le_bytes();
    }
    loan
}

/// The number that all of a sample says.
fn number(sample: &[u8]) -> u64 {
    let words = sample.as_chunks().0;
    assert_eq!(words.len(), LEN / 8);
    assert!(words.iter().all(|word| *word == words[0]), "torn");
    u64::from_le_bytes(words[0])
}

/// The next sample, taken.
fn next(reader: &DataReader<BytesInPlace>) -> Samples<BytesInPlace> {
    loop {
        let taken = reader.select().max_samples(1).take();
        if !taken.is_empty() {
            return taken;
        }
        reader.wait_for_data(PATIENCE).expect("samples");
    }
}

/// Lends what it has written, and is killed with a loan in its hands.
fn lends(participant: &DomainParticipant, say: impl Fn(String)) {
    let writer = lender(participant);
    wait_for_logs(participant, 1);
    let loan = filled(&writer, 7);
    assert!(loan.is_lent());
    loan.write().expect("room");
    let _out = filled(&writer, 8);
    say("\nlent 7\n".to_owned());
    loop {
        std::thread::park();
    }
}

/// Holds the first sample, and looks at it whenever another one comes.
fn holds(participant: &DomainParticipant, say: impl Fn(String)) {
    let reader = borrower(participant, DataReaderQos::default());
    let held = next(&reader);
    let sample = || held.data().next().expect("a value");
    assert!(sample().is_in_place());
    let first = number(sample());
    say(format!("\nholds {first}\n"));
    loop {
        let newer = next(&reader);
        assert_eq!(number(sample()), first, "it stays as it is");
        let newer = number(newer.data().next().expect("a value"));
        say(format!("\nread {newer}\n"));
    }
}

/// Not a test of its own: what the other process does.
#[test]
fn plays_its_role() {
    let (Ok(role), Ok(tag)) = (env::var("SHM_ROLE"), env::var("SHM_TAG")) else {
        return;
    };
    let participant = participant(&tag);
    let say = |line: String| {
        let mut out = std::io::stdout().lock();
        out.write_all(line.as_bytes()).unwrap();
        out.flush().unwrap();
    };
    if role == "short" {
        let writer = writer(&participant);
        writer.wait_for_matched(1, PATIENCE).expect("a reader");
        wait_for_logs(&participant, 1);
        // What a process may have of files counts for memory, too, and there is no more from here on.
        let limit = 1 << 16;
        setrlimit(Resource::RLIMIT_FSIZE, limit, limit).expect("a process may limit itself");
        for price in 0..10 {
            writer.write(&quote(&LONG, price)).expect("room");
        }
        writer.wait_for_acknowledgments(PATIENCE).expect("a reader");
        let counters = participant.counters().shared_memory;
        let (short, unsent) = (counters.short_logs, counters.records_unsent);
        say(format!("\nshort {short}\nunsent {unsent}\n"));
    }
    match role.as_str() {
        "lender" => return lends(&participant, say),
        "holder" => return holds(&participant, say),
        _ => {}
    }
    if role == "publisher" {
        let writer = writer(&participant);
        writer.wait_for_matched(1, PATIENCE).expect("a reader");
        for price in 0.. {
            writer.write(&quote("CHILD", price)).expect("room");
            say(format!("\nwritten {price}\n"));
        }
    }
    let reader = reader(&participant, DataReaderQos::default());
    while reader.wait_for_data(PATIENCE).is_ok() {
        for quote in reader.take().data() {
            say(format!("\nread {}\n", quote.price));
        }
    }
}

/// The other process. Ends with this.
struct Other {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Other {
    fn start(role: &str, tag: &str, wrapper: &[&str]) -> Self {
        let program = env::current_exe().expect("the test's path");
        let mut command = match wrapper {
            [] => Command::new(&program),
            [wrapper, arguments @ ..] => {
                let mut command = Command::new(wrapper);
                command.args(arguments).arg(&program);
                command
            }
        };
        let mut child = command
            .args(["--exact", "plays_its_role", "--nocapture"])
            .env("SHM_ROLE", role)
            .env("SHM_TAG", tag)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process");
        let out = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, out }
    }

    /// Waits until it says that, or a larger number.
    fn says(&mut self, word: &str, at_least: i64) {
        let mut line = String::new();
        loop {
            line.clear();
            let len = self.out.read_line(&mut line).expect("its output");
            assert!(len > 0, "it has ended before it said {word} {at_least}");
            let number = line.strip_prefix(word).map(str::trim);
            if number.is_some_and(|number| number.parse::<i64>().is_ok_and(|n| n >= at_least)) {
                return;
            }
        }
    }

    /// Stops it, and waits until it does nothing more.
    fn stop(&self) {
        self.signal(Signal::SIGSTOP);
        let pid = i32::try_from(self.child.id()).expect("a pid");
        let stopped = waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WUNTRACED));
        assert!(
            matches!(stopped, Ok(WaitStatus::Stopped(..))),
            "{stopped:?}"
        );
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).expect("a pid");
        kill(Pid::from_raw(pid), signal).expect("it is ours");
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn take(reader: &DataReader<Quote>, count: usize) -> Vec<i64> {
    let mut prices = Vec::new();
    while prices.len() < count {
        reader.wait_for_data(PATIENCE).expect("samples");
        prices.extend(reader.take().data().map(|quote| quote.price));
    }
    prices
}

/// Descriptors and shared memory of this process.
fn possessions() -> (usize, usize) {
    let descriptors = fs::read_dir("/proc/self/fd").expect("Linux");
    let maps = fs::read_to_string("/proc/self/maps").expect("Linux");
    let shared = maps.lines().filter(|line| line.contains("memfd:tickwire"));
    (descriptors.count(), shared.count())
}

/// What is left behind goes away, on threads that say nothing when they are done.
fn wait_for_possessions(expected: (usize, usize)) {
    let begin = Instant::now();
    while possessions() != expected {
        let had = possessions();
        assert!(begin.elapsed() < PATIENCE, "{had:?}, not {expected:?}");
        std::thread::yield_now();
    }
}

/// Possessions are the process's.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn whoever_is_killed_leaves_nothing_behind_and_the_others_go_on() {
    let _alone = alone();
    readers_that_are_killed();
    writers_that_are_killed();
}

fn readers_that_are_killed() {
    let tag = tag("readers");
    let (ours, theirs) = (participant(&tag), participant(&tag));
    let (writer, steady) = (
        writer(&ours),
        reader(&theirs, DataReaderQos::default().reliable()),
    );
    wait_for_logs(&ours, 1);
    wait_for_logs(&theirs, 1);
    let before = possessions();
    for round in 0..rounds() {
        let price = i64::try_from(round).expect("few");
        let mut other = Other::start("subscriber", &tag, &[]);
        wait_for_logs(&ours, 2);
        writer.write(&quote("OURS", price)).expect("room");
        other.says("read", price);
        other.signal(Signal::SIGKILL);
        drop(other);
        wait_for_logs(&ours, 1);
        wait_for_possessions(before);
        assert_eq!(take(&steady, 1), [price]);
    }
    assert_eq!(ours.counters().shared_memory.refused, 0);
}

fn writers_that_are_killed() {
    let tag = tag("writers");
    let (ours, theirs) = (participant(&tag), participant(&tag));
    let writer = writer(&ours);
    let steady = reader(&theirs, DataReaderQos::default().reliable());
    wait_for_logs(&ours, 1);
    wait_for_logs(&theirs, 1);
    let before = possessions();
    for round in 0..rounds() {
        let other = Other::start("publisher", &tag, &[]);
        wait_for_logs(&theirs, 2);
        let records = || theirs.counters().shared_memory.records_received;
        let begin = records();
        let mut prices = Vec::new();
        while records() < begin + 100 || prices.is_empty() {
            prices.extend(take(&steady, 1));
        }
        other.signal(Signal::SIGKILL);
        drop(other);
        wait_for_logs(&theirs, 1);
        // What was in the log is still read, and our own goes on.
        let price = -1 - i64::try_from(round).expect("few");
        writer.write(&quote("OURS", price)).expect("room");
        while !prices.contains(&price) {
            prices.extend(take(&steady, 1));
        }
        wait_for_own_maps(2);
        prices.extend(steady.take().data().map(|quote| quote.price));
        prices.retain(|&price| price >= 0);
        assert_eq!(prices, (0..).take(prices.len()).collect::<Vec<_>>());
        wait_for_possessions(before);
    }
    let received = theirs.counters().shared_memory;
    assert!(received.records_received >= 100 * rounds() as u64);
    let begin = Instant::now();
    while theirs.discovery().counters().processes_ended < rounds() as u64 {
        assert!(begin.elapsed() < PATIENCE, "not all are known to be gone");
        std::thread::yield_now();
    }
}

/// Waits until only so many logs are mapped: the writer's own, and by who follows it.
fn wait_for_own_maps(count: usize) {
    let logs = || {
        let maps = fs::read_to_string("/proc/self/maps").expect("Linux");
        let long = maps.lines().filter(|line| {
            let range = line
                .split(' ')
                .next()
                .and_then(|range| range.split_once('-'));
            let number = |text: &str| u64::from_str_radix(text, 16).expect("an address");
            let len = range.map_or(0, |(from, to)| number(to) - number(from));
            line.contains("memfd:tickwire") && len > 1 << 20
        });
        long.count()
    };
    let begin = Instant::now();
    while logs() != count {
        assert!(begin.elapsed() < PATIENCE, "{} logs", logs());
        std::thread::yield_now();
    }
}

#[test]
fn a_reader_that_is_stopped_holds_up_nobody_and_goes_on_later() {
    let _alone = alone();
    let tag = tag("stopped");
    let (ours, theirs) = (participant(&tag), participant(&tag));
    let (writer, steady) = (
        writer(&ours),
        reader(&theirs, DataReaderQos::default().reliable()),
    );
    let mut other = Other::start("subscriber", &tag, &[]);
    wait_for_logs(&ours, 2);
    writer.write(&quote("OURS", 0)).expect("room");
    other.says("read", 0);
    other.signal(Signal::SIGSTOP);
    // Far more than the log holds.
    let long = "LONG".repeat(2_500);
    for price in 1..=2_000 {
        writer.write(&quote(&long, price)).expect("room");
    }
    assert_eq!(take(&steady, 2_001), (0..=2_000).collect::<Vec<_>>());
    other.signal(Signal::SIGCONT);
    // It goes on with the newest record, whatever that is.
    let has_read = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for price in 2_001.. {
                writer.write(&quote("OURS", price)).expect("room");
                writer.wait_for_acknowledgments(PATIENCE).expect("steady");
                if has_read.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        other.says("read", 2_001);
        has_read.store(true, Ordering::Relaxed);
    });
}

/// Longer than what a log has from the beginning.
static LONG: LazyLock<String> = LazyLock::new(|| "LONG".repeat(50_000));

#[test]
fn a_log_that_finds_no_more_memory_carries_long_samples_in_pieces() {
    let _alone = alone();
    let tag = tag("short");
    let theirs = participant(&tag);
    let reader = reader(&theirs, DataReaderQos::default().reliable());
    let mut other = Other::start("short", &tag, &[]);
    assert_eq!(take(&reader, 10), (0..10).collect::<Vec<_>>());
    // The first was lost and repaired, the others came in pieces.
    other.says("short", 1);
    other.says("unsent", 1);
    let received = theirs.counters().shared_memory;
    assert!(received.records_received >= 9 * 4, "{received:?}");
}

#[test]
fn what_a_killed_writer_has_lent_stays_with_who_holds_it() {
    let _alone = alone();
    let tag = tag("lenders");
    let (ours, theirs) = (participant(&tag), participant(&tag));
    let writer = lender(&ours);
    let reader = borrower(&theirs, DataReaderQos::default().reliable());
    wait_for_logs(&ours, 1);
    wait_for_logs(&theirs, 1);
    // What it took to give seats is let go of by whoever takes acknowledgements.
    filled(&writer, 1).write().expect("room");
    drop(next(&reader));
    writer.wait_for_acknowledgments(PATIENCE).expect("a reader");
    let before = possessions();
    for round in 0..rounds() {
        let mut other = Other::start("lender", &tag, &[]);
        let held = next(&reader);
        let sample = held.data().next().expect("a value");
        assert!(sample.is_in_place());
        other.says("lent", 7);
        other.signal(Signal::SIGKILL);
        drop(other);
        wait_for_logs(&theirs, 1);
        assert_eq!(number(sample), 7);
        // Our own goes on.
        let loan = filled(&writer, 100 + round as u64);
        assert!(loan.is_lent());
        loan.write().expect("room");
        let taken = next(&reader);
        let taken = taken.data().next().expect("a value");
        assert!(taken.is_in_place());
        assert_eq!((number(taken), number(sample)), (100 + round as u64, 7));
        drop(held);
        wait_for_possessions(before);
    }
}

#[test]
fn what_a_killed_reader_holds_is_lent_again() {
    let _alone = alone();
    for round in 0..rounds() {
        // Whom the killed one matched reaches it by UDP until its lease ends.
        let tag = tag(&format!("holders-{round}"));
        let (ours, theirs) = (participant(&tag), participant(&tag));
        let writer = lender(&ours);
        let steady = borrower(&theirs, DataReaderQos::default().reliable());
        wait_for_logs(&ours, 1);
        wait_for_logs(&theirs, 1);
        let free = || {
            let loans = [(); LOANS].map(|()| writer.loan(LEN).expect("bytes"));
            loans.iter().filter(|loan| loan.is_lent()).count()
        };
        let mut other = Other::start("holder", &tag, &[]);
        wait_for_logs(&ours, 2);
        filled(&writer, round as u64).write().expect("room");
        other.says("holds", round as i64);
        assert_eq!(
            number(next(&steady).data().next().expect("a value")),
            round as u64
        );
        writer.wait_for_acknowledgments(PATIENCE).expect("steady");
        assert_eq!(free(), LOANS - 1);
        other.signal(Signal::SIGKILL);
        drop(other);
        assert_eq!(free(), LOANS);
    }
}

#[test]
fn what_a_stopped_reader_holds_stays_and_holds_up_nobody() {
    let _alone = alone();
    let tag = tag("halted");
    let (ours, theirs) = (participant(&tag), participant(&tag));
    let writer = lender(&ours);
    let steady = borrower(&theirs, DataReaderQos::default().reliable());
    let mut other = Other::start("holder", &tag, &[]);
    wait_for_logs(&ours, 2);
    wait_for_logs(&theirs, 1);
    filled(&writer, 0).write().expect("room");
    other.says("holds", 0);
    other.stop();
    assert_eq!(number(next(&steady).data().next().expect("a value")), 0);
    for expected in 1..=1_000 {
        let loan = filled(&writer, expected);
        assert!(loan.is_lent());
        loan.write().expect("room");
        let taken = next(&steady);
        assert_eq!(number(taken.data().next().expect("a value")), expected);
    }
    other.signal(Signal::SIGCONT);
    let has_read = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for expected in 1_001.. {
                filled(&writer, expected).write().expect("room");
                assert_eq!(
                    number(next(&steady).data().next().expect("a value")),
                    expected
                );
                if has_read.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        other.says("read", 1_001);
        has_read.store(true, Ordering::Relaxed);
    });
}

#[test]
fn without_memory_for_a_log_samples_come_by_udp() {
    let _alone = alone();
    let tag = tag("memory");
    let theirs = participant(&tag);
    let reader = reader(&theirs, DataReaderQos::default().reliable());
    // No file of more than 16 blocks of 512 bytes, which counts for memory, too.
    let limited = r#"ulimit -f 16; exec "$0" "$@""#;
    let _other = Other::start("publisher", &tag, &["sh", "-c", limited]);
    assert_eq!(take(&reader, 10)[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let view = theirs.discovery();
    let refused = || {
        let pairs = view.pairs();
        let way = pairs.into_iter().find_map(|pair| pair.way)?;
        (way == Way::Network(Obstacle::NoMemory)).then_some(())
    };
    view.wait_for(PATIENCE, refused).expect("a reason");
    assert_eq!(theirs.counters().shared_memory.records_received, 0);
    assert_eq!(theirs.counters().shared_memory.refused, 1);
}

#[test]
fn who_is_killed_is_gone_before_its_lease_has_ended() {
    let _alone = alone();
    for role in ["subscriber", "publisher"] {
        let tag = tag(role);
        let ours = participant(&tag);
        let (_writer, _reader) = (writer(&ours), reader(&ours, DataReaderQos::default()));
        let other = Other::start(role, &tag, &[]);
        wait_for_logs(&ours, 1);
        let knows = || !ours.discovery().participants().is_empty();
        assert!(knows());
        // Not waited for, so that its number stays its own.
        other.signal(Signal::SIGKILL);
        let begin = Instant::now();
        while knows() {
            assert!(begin.elapsed() < PATIENCE, "{role}: it is still there");
            std::thread::yield_now();
        }
        let counters = ours.discovery().counters();
        assert_eq!(
            (counters.processes_ended, counters.leases_expired),
            (1, 0),
            "{role}"
        );
    }
}
