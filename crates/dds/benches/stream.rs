//! What a sample of a reliable KEEP_ALL stream costs, from one participant of this process to another, or to several.
//!
//! ```text
//! cargo bench -p tickwire --bench stream -- [--size BYTES] [--samples N] [--suspend | --budget] [--latency] [--transport LIST] [--lend]
//!     [--each] [--keep-last N] [--best-effort] [--transient-local] [--several N] [--readers N] [--pause MS | --busy]
//! ```
//!
//! The second line makes it a stream of another kind, of which samples may be lost or replaced: what is of interest then is
//! what writing costs.
//!
//! With `--each`, readers hand out samples as they come. With `--several`, so many samples are written at a time. With `--readers`, so many participants have a reader each. With
//! `--pause`, each sample waits until all readers have taken the one before, and so many milliseconds more, in which they
//! fall asleep; with `--busy`, they never do. `--transport` has names as TICKWIRE_TRANSPORT has them, `udp,multicast` unless it is said.
//!
//! With `--budget`, samples may wait for others by their LATENCY_BUDGET, as those of a busy thread may: what callgrind runs
//! is too slow to be taken for busy.
//!
//! prints a rate, with `--latency` that of a reader that counts how long its samples take, with `--lend` that of samples
//! of which a word is written and read in place. Instructions are counted by thread, where the main thread is the writer's and
//! `data` the reader's, and the differences of two runs of different length divided by the
//! difference of samples:
//!
//! ```text
//! valgrind --tool=callgrind --separate-threads=yes target/release/deps/stream-... --samples 100000
//! ```
//!
//! With `--toggle-collect=stream::write_one`, those of writes alone are counted, without what the main thread does between
//! them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tickwire::error::WriteError;
use tickwire::{
    BytesInPlace, BytesType, DataReader, DataReaderQos, DataWriter, DataWriterQos,
    DomainParticipant, PublisherQos, Topic, TopicSupport, Transport, Transports, Way,
};

#[derive(Topic)]
#[topic(final)]
struct Bytes {
    data: Vec<u8>,
}

struct Arguments {
    size: usize,
    samples: u64,
    suspends: bool,
    budget: Duration,
    counts_latency: bool,
    transports: Transports,
    lends: bool,
    hands_out: bool,
    keep_last: Option<u32>,
    best_effort: bool,
    transient_local: bool,
    several: Option<usize>,
    readers: u32,
    pause: Option<Duration>,
    is_busy: bool,
}

impl Arguments {
    /// Whether each sample comes.
    fn is_whole(&self) -> bool {
        self.keep_last.is_none() && !self.best_effort
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = arguments()?;
    let tag = std::process::id().to_string();
    let participant = |busy_poll| {
        let builder = DomainParticipant::builder(119).domain_tag(&tag);
        let builder = builder.latency_histograms(arguments.counts_latency);
        let builder = builder.trusts_lenders(arguments.lends);
        let builder = builder.busy_poll(busy_poll);
        builder.transports(arguments.transports.iter()).build()
    };
    let one = participant(Duration::ZERO)?;
    let busy_poll = match arguments.is_busy {
        true => PATIENCE,
        false => Duration::ZERO,
    };
    let others = (0..arguments.readers).map(|_| participant(busy_poll));
    let others = others.collect::<Result<Vec<_>, _>>()?;
    let publisher = one.publisher(PublisherQos::default());
    let qos = match arguments.best_effort {
        true => DataWriterQos::default().best_effort(),
        false => DataWriterQos::default().reliable(PATIENCE),
    };
    let qos = match arguments.keep_last {
        Some(depth) => qos.keep_last(depth),
        None => qos.keep_all(),
    };
    let qos = match arguments.transient_local {
        true => qos.transient_local(),
        false => qos,
    };
    let qos = match arguments.lends {
        true => qos.max_loan_bytes(arguments.size).loan_count(64),
        false => qos,
    };
    let qos = qos.latency_budget(arguments.budget);
    let writer = publisher.writer(&one.topic::<Bytes>("Stream")?, qos)?;
    let qos = match arguments.best_effort {
        true => DataReaderQos::default().best_effort().keep_all(),
        false => DataReaderQos::default().reliable().keep_all(),
    };
    let qos = qos.latency_budget(arguments.budget);
    let taken = Arc::new(AtomicU64::new(0));
    let (mut copies, mut in_place) = (Vec::new(), Vec::new());
    for other in &others {
        let qos = qos.clone();
        if arguments.lends {
            let topic = other.topic_of::<BytesInPlace>("Stream", BytesType::of::<Bytes>()?)?;
            let reader = other.reader_with(&topic, qos)?;
            let look = |bytes: &BytesInPlace| u64::from(bytes.is_in_place());
            count(&reader, arguments.hands_out, &taken, look);
            in_place.push(reader);
        } else {
            let reader = other.reader_with(&other.topic::<Bytes>("Stream")?, qos)?;
            count(&reader, arguments.hands_out, &taken, |_| 0);
            copies.push(reader);
        }
    }
    writer.wait_for_matched(arguments.readers, PATIENCE)?;
    let begin = Instant::now();
    while arguments.transports.contains(Transport::Shm) && by_log(&one) < others.len() {
        if begin.elapsed() > PATIENCE {
            return Err("shared memory is not used".into());
        }
        std::thread::yield_now();
    }
    let sample = Bytes {
        data: vec![7; arguments.size],
    };
    let begin = Instant::now();
    let suspended = arguments.suspends.then(|| publisher.suspend_publications());
    match arguments.several {
        Some(count) => write_all(&writer, &arguments, count)?,
        None => {
            for number in 1..=arguments.samples {
                match arguments.lends {
                    true => lend(&writer, arguments.size)?,
                    false => write_one(&writer, &sample)?,
                }
                if let Some(pause) = arguments.pause {
                    wait_for_all(&taken, number * u64::from(arguments.readers))?;
                    #[expect(clippy::disallowed_methods, reason = "readers fall asleep")]
                    std::thread::sleep(pause);
                }
            }
        }
    }
    drop(suspended);
    writer.wait_for_acknowledgments(PATIENCE)?;
    if arguments.is_whole() {
        wait_for_all(&taken, arguments.samples * u64::from(arguments.readers))?;
    }
    let seconds = begin.elapsed().as_secs_f64();
    let rate = arguments.samples as f64 / seconds;
    println!("{} B: {rate:.0} samples/s", arguments.size);
    println!("{:?}", writer.counters());
    if arguments.lends {
        let counters = one.counters().shared_memory;
        println!("{counters:?}, used up {} times", writer.loans_used_up());
    }
    Ok(())
}

/// How many pairs of a participant go by shared memory.
fn by_log(participant: &DomainParticipant) -> usize {
    let pairs = participant.discovery().pairs().into_iter();
    pairs
        .filter(|pair| pair.way == Some(Way::SharedMemory))
        .count()
}

/// Waits for samples that have come and are about to be taken.
fn wait_for_all(taken: &AtomicU64, count: u64) -> Result<(), &'static str> {
    let begin = Instant::now();
    while taken.load(Ordering::Relaxed) < count {
        if begin.elapsed() > PATIENCE {
            return Err("some samples were not taken");
        }
        std::thread::yield_now();
    }
    Ok(())
}

/// Counts what a reader takes in its listener, or is handed, and what `look` makes of it.
fn count<T: TopicSupport>(
    reader: &DataReader<T>,
    hands_out: bool,
    taken: &Arc<AtomicU64>,
    look: impl Fn(&T) -> u64 + Send + 'static,
) {
    let taken = Arc::clone(taken);
    if hands_out {
        return reader.take_each(move |sample| {
            std::hint::black_box(sample.data().map(&look));
            taken.fetch_add(1, Ordering::Relaxed);
        });
    }
    reader.set_listener(move |reader: &DataReader<T>| {
        let samples = reader.take();
        std::hint::black_box(samples.data().map(&look).sum::<u64>());
        taken.fetch_add(samples.len() as u64, Ordering::Relaxed);
    });
}

#[inline(never)]
fn write_one(writer: &DataWriter<Bytes>, sample: &Bytes) -> Result<(), WriteError> {
    writer.write(sample).map(drop)
}

fn write_all(
    writer: &DataWriter<Bytes>,
    arguments: &Arguments,
    count: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let sample = || Bytes {
        data: vec![7; arguments.size],
    };
    let several: Vec<_> = (0..count.max(1)).map(|_| sample()).collect();
    let mut left = usize::try_from(arguments.samples)?;
    while left > 0 {
        let next = several.get(..left).unwrap_or(&several);
        writer.write_all(next)?;
        left -= next.len();
    }
    Ok(())
}

fn lend(writer: &DataWriter<Bytes>, len: usize) -> Result<(), Box<dyn std::error::Error>> {
    let mut loan = writer.loan(len)?;
    if let Some(word) = loan.bytes_mut().first_chunk_mut() {
        *word = 7_u64.to_le_bytes();
    }
    loan.write()?;
    Ok(())
}

fn arguments() -> Result<Arguments, Box<dyn std::error::Error>> {
    let mut arguments = Arguments {
        size: 64,
        samples: 1_000_000,
        suspends: false,
        budget: Duration::ZERO,
        counts_latency: false,
        transports: Transports::of([Transport::Multicast]),
        lends: false,
        hands_out: false,
        keep_last: None,
        best_effort: false,
        transient_local: false,
        several: None,
        readers: 1,
        pause: None,
        is_busy: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next().unwrap_or_default().parse::<u64>();
        match word.as_str() {
            "--size" => arguments.size = usize::try_from(number()?)?,
            "--samples" => arguments.samples = number()?,
            "--latency" => arguments.counts_latency = true,
            "--suspend" => arguments.suspends = true,
            "--budget" => arguments.budget = Duration::from_millis(10),
            "--lend" => arguments.lends = true,
            "--each" => arguments.hands_out = true,
            "--keep-last" => arguments.keep_last = Some(u32::try_from(number()?)?),
            "--best-effort" => arguments.best_effort = true,
            "--several" => arguments.several = Some(usize::try_from(number()?)?),
            "--transient-local" => arguments.transient_local = true,
            "--readers" => arguments.readers = u32::try_from(number()?)?,
            "--pause" => arguments.pause = Some(Duration::from_millis(number()?)),
            "--busy" => arguments.is_busy = true,
            "--transport" => arguments.transports = words.next().unwrap_or_default().parse()?,
            // Cargo's own.
            "--bench" => {}
            other => return Err(format!("there is no option {other}").into()),
        }
    }
    Ok(arguments)
}

const PATIENCE: Duration = Duration::from_secs(60);
