//! What a round trip costs between two participants that the application polls busily.
//!
//! ```text
//! cargo bench -p tickwire --bench ping -- [--size BYTES] [--rounds N] [--transport shm|udp] [--key] [--each] [--apart]
//! ```
//!
//! prints the time of half a round, in which one thread drives both participants in turn: nobody is woken, and what is
//! looked at in vain is next to nothing. With `--key` samples are of instances, which a symbol names. With
//! `--each` readers hand out samples as they come, instead of telling a listener that takes them. With `--apart` the answering side has a thread of its own, and the time is that of
//! two cores which wait for each other. Instructions are counted without the meeting of the two, and divided by the
//! rounds:
//!
//! ```text
//! valgrind --tool=callgrind --toggle-collect='ping::exchange' target/release/deps/ping-... --rounds 20000
//! ```
//!
//! System calls are what `strace -c` counts in a long run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tickwire::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, Driving, Topic,
    TopicSupport, Transport, Way,
};

#[derive(Topic)]
#[topic(final)]
struct Bytes {
    data: Vec<u8>,
}

#[derive(Topic)]
#[topic(final)]
struct Keyed {
    #[topic(key)]
    symbol: String,
    data: Vec<u8>,
}

struct Arguments {
    size: usize,
    rounds: u64,
    transport: Transport,
    has_key: bool,
    hands_out: bool,
    apart: bool,
}

/// A participant with what it sends and what it hears.
struct Side<T: TopicSupport<Type = ()>> {
    participant: DomainParticipant,
    writer: DataWriter<T>,
    reader: DataReader<T>,
}

impl<T: TopicSupport<Type = ()>> Side<T> {
    fn new(transport: Transport, tag: &str, says: &str, hears: &str) -> Result<Self, Failure> {
        let participant = DomainParticipant::builder(119)
            .domain_tag(tag)
            .transports([Transport::Udp, Transport::Multicast, transport])
            .driving(Driving::Polled)
            .busy_poll(PATIENCE)
            .build()?;
        let qos = DataWriterQos::default().keep_last(DEPTH);
        let writer = participant.writer_with(&participant.topic(says)?, qos)?;
        let qos = DataReaderQos::default().reliable().keep_last(DEPTH);
        let reader = participant.reader_with(&participant.topic(hears)?, qos)?;
        Ok(Self {
            participant,
            writer,
            reader,
        })
    }

    fn is_ready(&self, transport: Transport) -> bool {
        let discovery = self.participant.discovery();
        let by_log = |way: &Way| matches!(way, Way::SharedMemory);
        let pairs = discovery.pairs();
        let mut ways = pairs.iter().map(|pair| pair.way.as_ref());
        self.writer.publication_matched_status().current_count > 0
            && self.reader.subscription_matched_status().current_count > 0
            && (transport != Transport::Shm || ways.all(|way| way.is_some_and(by_log)))
    }
}

fn main() -> Result<(), Failure> {
    let arguments = arguments()?;
    let data = vec![7; arguments.size];
    match arguments.has_key {
        false => measure(&arguments, &Bytes { data }),
        true => {
            let symbol = "TICK".into();
            measure(&arguments, &Keyed { symbol, data })
        }
    }
}

fn measure<T: TopicSupport<Type = ()>>(arguments: &Arguments, sample: &T) -> Result<(), Failure> {
    let &Arguments {
        size,
        rounds,
        transport,
        hands_out,
        apart,
        ..
    } = arguments;
    let tag = std::process::id().to_string();
    let one = Side::new(transport, &tag, "Ping", "Pong")?;
    let two = Side::new(transport, &tag, "Pong", "Ping")?;
    let begin = Instant::now();
    while !(one.is_ready(transport) && two.is_ready(transport)) {
        one.participant.poll(Duration::ZERO)?;
        two.participant.poll(Duration::ZERO)?;
        if begin.elapsed() > PATIENCE {
            return Err("the participants have not met by that transport".into());
        }
    }
    let answers = Arc::new(AtomicU64::new(0));
    let pong = two.writer.clone();
    let echo = move |sample: &T| pong.write(sample).map(drop).expect("room for the answer");
    let came = Arc::clone(&answers);
    let count = move |count| {
        came.fetch_add(count, Ordering::Relaxed);
    };
    if hands_out {
        let reader = &two.reader;
        reader.take_each(move |ping| ping.data().into_iter().for_each(&echo));
        one.reader.take_each(move |_| count(1));
    } else {
        let answer = move |ping: &DataReader<T>| ping.take().data().for_each(&echo);
        two.reader.set_listener(answer);
        let hear = move |pong: &DataReader<T>| count(pong.take().len() as u64);
        one.reader.set_listener(hear);
    }

    let begin = Instant::now();
    match apart {
        false => exchange(&one, &two, sample, rounds, &answers)?,
        true => exchange_apart(&one, &two, sample, rounds, &answers)?,
    }
    let half = begin.elapsed() / 2;
    println!(
        "{size} B: {:.0} ns one way",
        half.as_secs_f64() * 1e9 / rounds as f64
    );
    println!("{:?}", one.writer.counters());
    Ok(())
}

/// Has the answers counted for so many rounds.
#[inline(never)]
fn exchange<T: TopicSupport<Type = ()>>(
    one: &Side<T>,
    two: &Side<T>,
    sample: &T,
    rounds: u64,
    answers: &AtomicU64,
) -> Result<(), Failure> {
    for round in 0..rounds {
        one.writer.write(sample)?;
        while answers.load(Ordering::Relaxed) <= round {
            two.participant.poll(PATIENCE)?;
            one.participant.poll(PATIENCE)?;
        }
    }
    Ok(())
}

/// The same with a thread for each side.
fn exchange_apart<T: TopicSupport<Type = ()>>(
    one: &Side<T>,
    two: &Side<T>,
    sample: &T,
    rounds: u64,
    answers: &AtomicU64,
) -> Result<(), Failure> {
    let has_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !has_ended.load(Ordering::Relaxed) {
                two.participant.poll(LOOK).expect("sockets to look at");
            }
        });
        let mut rounds = 0..rounds;
        let exchanged = rounds.try_for_each(|round| {
            one.writer.write(sample)?;
            while answers.load(Ordering::Relaxed) <= round {
                one.participant.poll(LOOK)?;
            }
            Ok(())
        });
        has_ended.store(true, Ordering::Relaxed);
        exchanged
    })
}

fn arguments() -> Result<Arguments, Failure> {
    let mut arguments = Arguments {
        size: 16,
        rounds: 100_000,
        transport: Transport::Shm,
        has_key: false,
        hands_out: false,
        apart: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next().unwrap_or_default().parse::<u64>();
        match word.as_str() {
            "--size" => arguments.size = usize::try_from(number()?)?,
            "--rounds" => arguments.rounds = number()?,
            "--transport" => {
                arguments.transport = match words.next().as_deref() {
                    Some("shm") => Transport::Shm,
                    Some("udp") => Transport::Udp,
                    _ => return Err("--transport is shm or udp".into()),
                }
            }
            "--key" => arguments.has_key = true,
            "--each" => arguments.hands_out = true,
            "--apart" => arguments.apart = true,
            // Cargo's own.
            "--bench" => {}
            other => return Err(format!("there is no option {other}").into()),
        }
    }
    Ok(arguments)
}

type Failure = Box<dyn std::error::Error>;

const DEPTH: u32 = 16;
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(10);
