//! Processes that share memory may be killed or stopped at any time, or have no memory: nobody else notices
//! more than that they are gone.
//!
//! The other process is this test binary again, told by its environment what to do.

#[path = "suite/common/mod.rs"]
mod common;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::ops::RangeInclusive;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use common::{PATIENCE, Quote, quote, wait_for_logs};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use tickwire::error::WriteError;
use tickwire::qos::ResourceLimits;
use tickwire::{
    BytesInPlace, BytesType, DataReader, DataReaderQos, DataWriter, DataWriterQos,
    DomainParticipant, Loan, Obstacle, Samples, SequenceNumber, Topic, Way,
};
use tickwire_simnet::Rng;

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

/// Samples of a stream that may be unacknowledged.
const WINDOW: u32 = 64;

/// The writer of a stream, which waits for its readers where so many samples are not acknowledged, or as many bytes as
/// may be.
fn streamer(
    participant: &DomainParticipant,
    max_blocking_time: Duration,
    max_samples: Option<u32>,
) -> DataWriter<Frame> {
    let topic = participant.topic::<Frame>("Stream").expect("a topic");
    let qos = DataWriterQos::default().reliable(max_blocking_time);
    let qos = qos.keep_all().resource_limits(ResourceLimits {
        max_samples,
        ..ResourceLimits::default()
    });
    participant.writer_with(&topic, qos).expect("a writer")
}

fn stream_reader(participant: &DomainParticipant) -> DataReader<Frame> {
    let topic = participant.topic::<Frame>("Stream").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    participant.reader_with(&topic, qos).expect("a reader")
}

/// A sample of a stream, with so many bytes behind its number.
fn frame(number: i64, len: usize) -> Frame {
    let mut bytes = number.to_le_bytes().to_vec();
    bytes.resize(8 + len, number as u8);
    Frame { bytes }
}

/// The number of such a sample.
fn frame_number(frame: &Frame) -> i64 {
    let (number, rest) = frame.bytes.split_first_chunk().expect("a number");
    let number = i64::from_le_bytes(*number);
    assert!(rest.iter().all(|&byte| byte == number as u8), "torn");
    number
}

/// Takes a stream from where it comes in, one sample after the other.
fn follows(participant: &DomainParticipant, say: impl Fn(String)) {
    let reader = stream_reader(participant);
    let mut last = None;
    loop {
        reader.wait_for_data(PATIENCE).expect("samples");
        for frame in reader.take().data() {
            let number = frame_number(frame);
            assert!(last.is_none_or(|last| last + 1 == number), "{number}");
            last = Some(number);
            say(format!("\nread {number}\n"));
        }
    }
}

/// Not a test of its own: what the other process does.
#[test]
fn plays_its_role() {
    let (Ok(role), Ok(tag)) = (env::var("SHM_ROLE"), env::var("SHM_TAG")) else {
        return;
    };
    let say = |line: String| {
        let mut out = std::io::stdout().lock();
        out.write_all(line.as_bytes()).unwrap();
        out.flush().unwrap();
    };
    let participant = participant(&tag);
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
        "follower" => return follows(&participant, say),
        "mayfly" => return follows(&participant, |_| ()),
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

    /// Kills it, and waits until it has ended.
    fn kill(&mut self) -> ExitStatus {
        self.signal(Signal::SIGKILL);
        self.child.wait().expect("it is ours")
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

/// Descriptors and shared memory of this process, but for the sockets that are connected to where datagrams go again
/// and again: of these there are a few, which stay until another address wants their place.
fn possessions() -> (usize, usize) {
    let descriptors = fs::read_dir("/proc/self/fd").expect("Linux").flatten();
    let files = descriptors.filter_map(|descriptor| fs::read_link(descriptor.path()).ok());
    let sockets = fs::read_to_string("/proc/self/net/udp").expect("Linux");
    let connected = sockets.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(3);
        let (state, inode) = (words.next()?, words.nth(5)?);
        (state == "01").then(|| format!("socket:[{inode}]"))
    });
    let connected: BTreeSet<_> = connected.map(PathBuf::from).collect();
    let maps = fs::read_to_string("/proc/self/maps").expect("Linux");
    let shared = maps.lines().filter(|line| line.contains("memfd:tickwire"));
    (
        files.filter(|file| !connected.contains(file)).count(),
        shared.count(),
    )
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

/// A stream to a reader of this process, and to whoever comes.
struct Stream {
    writer: DataWriter<Frame>,
    steady: DataReader<Frame>,
    /// The last sample whose write has returned.
    written: AtomicI64,
    ends: AtomicBool,
}

impl Stream {
    /// Writes until it is to end.
    fn write(&self, mut rng: Rng) {
        for number in 1.. {
            if self.ends.load(Ordering::Relaxed) {
                return;
            }
            // Mostly short ones.
            let longest = if rng.chance(60) { 40_000 } else { 200 };
            let len = usize::try_from(rng.below(longest)).expect("short");
            let frame = frame(number, len);
            let SequenceNumber(given) = self.writer.write(&frame).expect("room");
            assert_eq!(given, number);
            self.written.store(number, Ordering::Release);
        }
    }

    /// Takes all that is written, one after the other, until nothing more is.
    fn take(&self) {
        let mut last = 0;
        while !self.ends.load(Ordering::Acquire) || last < self.written.load(Ordering::Acquire) {
            // It may have ended meanwhile.
            if self
                .steady
                .wait_for_data(Duration::from_millis(100))
                .is_err()
            {
                continue;
            }
            for frame in self.steady.take().data() {
                last += 1;
                assert_eq!(frame_number(frame), last);
            }
        }
    }

    /// Waits until so many more have been written.
    fn goes_on(&self, count: i64) {
        let (begin, from) = (Instant::now(), self.written.load(Ordering::Acquire));
        while self.written.load(Ordering::Acquire) < from + count {
            assert!(begin.elapsed() < PATIENCE, "the stream has stopped");
            std::thread::yield_now();
        }
    }

    /// The last that the reader which has come has acknowledged.
    fn acknowledged(&self) -> Option<i64> {
        let matched = self.writer.matched_subscriptions().into_iter();
        let mut others = matched.filter(|reader| reader.guid != self.steady.guid());
        let SequenceNumber(acknowledged) = others.next()?.acknowledged;
        Some(acknowledged)
    }
}

/// Ends a stream, also if something has failed.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn a_reader_that_is_killed_in_a_stream_with_samples_unacknowledged_loses_nobody_else_any() {
    let _alone = alone();
    let seed = UNIX_EPOCH.elapsed().expect("after 1970").as_nanos() as u64;
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    let tag = tag("followers");
    let (ours, theirs) = (participant(&tag), participant(&tag));
    let stream = Stream {
        writer: streamer(&ours, PATIENCE, Some(WINDOW)),
        steady: stream_reader(&theirs),
        written: AtomicI64::new(0),
        ends: AtomicBool::new(false),
    };
    wait_for_logs(&ours, 1);
    wait_for_logs(&theirs, 1);
    let samples = Rng::new(rng.next_u64());
    std::thread::scope(|scope| {
        scope.spawn(|| stream.write(samples));
        scope.spawn(|| stream.take());
        let _ends = Ends(&stream.ends);
        stream.goes_on(1_000);
        let before = possessions();
        let (mut kills, mut outstanding) = (0, 0);
        // Some have acknowledged everything in that moment, which proves less.
        while kills < rounds() || outstanding < rounds() / 2 {
            let mut other = Other::start("mayfly", &tag, &[]);
            wait_for_logs(&ours, 2);
            stream.goes_on(rng.below(2_000) as i64);
            let written = stream.written.load(Ordering::Acquire);
            let status = other.kill();
            drop(other);
            kills += 1;
            assert_eq!(
                status.signal(),
                Some(Signal::SIGKILL as i32),
                "{status}: not by itself"
            );
            // What it has acknowledged in the end, unless the writer has forgotten it already.
            let (begin, mut acknowledged) = (Instant::now(), None);
            while let Some(last) = stream.acknowledged() {
                acknowledged = Some(last);
                assert!(begin.elapsed() < PATIENCE, "it is still there");
                std::thread::yield_now();
            }
            outstanding += usize::from(acknowledged.is_some_and(|last| last < written));
            wait_for_logs(&ours, 1);
            stream.goes_on(i64::from(WINDOW) + 1);
            wait_for_possessions(before);
        }
        assert_eq!(ours.discovery().counters().leases_expired, 0);
    });
    assert_eq!(ours.counters().shared_memory.refused, 0);
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

/// Writes wait no longer than they may for a reader that does not acknowledge, also where samples are in shared memory.
#[test]
fn a_reliable_reader_that_is_stopped_lets_writes_time_out_and_gets_everything_later() {
    let _alone = alone();
    let blocking = Duration::from_millis(200);
    for (name, max_samples, len) in [
        ("by samples", Some(WINDOW), 100),
        ("by bytes", None, 10_000),
    ] {
        let tag = tag(name);
        let (ours, theirs) = (participant(&tag), participant(&tag));
        let writer = streamer(&ours, blocking, max_samples);
        let steady = stream_reader(&theirs);
        let mut other = Other::start("follower", &tag, &[]);
        wait_for_logs(&ours, 2);
        wait_for_logs(&theirs, 1);
        writer.write(&frame(1, len)).expect("room");
        other.says("read", 1);
        other.stop();
        let mut last = 1;
        // Also those that find it full.
        for _ in 0..2 {
            let (error, waited) = loop {
                let begin = Instant::now();
                match writer.write(&frame(last + 1, len)) {
                    Ok(_) => last += 1,
                    Err(error) => break (error, begin.elapsed()),
                }
            };
            assert_eq!(error, WriteError::Timeout { waited: blocking });
            assert!((blocking..PATIENCE / 2).contains(&waited), "{waited:?}");
        }
        let matched = writer.matched_subscriptions().into_iter();
        let mut stopped = matched.filter(|reader| reader.guid != steady.guid());
        let stopped = stopped.next().expect("it is there");
        let lag = writer.lag_of(stopped.guid).expect("a reliable reader");
        match max_samples {
            Some(max) => assert_eq!(lag.samples, max as usize),
            None => assert!(lag.bytes > 1 << 17, "{lag:?}"),
        }
        take_frames(&steady, 1..=last);
        other.signal(Signal::SIGCONT);
        for number in 2..=last {
            other.says("read", number);
        }
        writer.wait_for_acknowledgments(PATIENCE).expect("both");
        writer.write(&frame(last + 1, len)).expect("room again");
        other.says("read", last + 1);
        take_frames(&steady, last + 1..=last + 1);
        writer.wait_for_acknowledgments(PATIENCE).expect("both");
        let sent = ours.counters().shared_memory;
        assert!(sent.records_sent >= last as u64, "{sent:?}");
    }
}

/// Takes just these samples of a stream.
fn take_frames(reader: &DataReader<Frame>, numbers: RangeInclusive<i64>) {
    let mut expected = *numbers.start();
    while expected <= *numbers.end() {
        reader.wait_for_data(PATIENCE).expect("samples");
        for frame in reader.take().data() {
            assert_eq!(frame_number(frame), expected);
            expected += 1;
        }
    }
    assert_eq!(expected, numbers.end() + 1);
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
