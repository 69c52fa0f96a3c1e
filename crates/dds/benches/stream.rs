//! What a sample of a reliable KEEP_ALL stream costs, from one participant of this process to another.
//!
//! ```text
//! cargo bench -p tickwire --bench stream -- [--size BYTES] [--samples N] [--suspend | --budget] [--latency] [--transport shm|udp] [--lend]
//!     [--keep-last N] [--best-effort] [--transient-local] [--several N]
//! ```
//!
//! The second line makes it a stream of another kind, of which samples may be lost or replaced: what is of interest then is
//! what writing costs.
//!
//! With `--several`, so many samples are written at a time.
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

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tickwire::{
    BytesInPlace, BytesType, DataReader, DataReaderQos, DataWriter, DataWriterQos,
    DomainParticipant, PublisherQos, Topic, TopicSupport, Transport, Way,
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
    transport: Transport,
    lends: bool,
    keep_last: Option<u32>,
    best_effort: bool,
    transient_local: bool,
    several: Option<usize>,
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
    let transports = [Transport::Udp, Transport::Multicast, arguments.transport];
    let participant = || {
        let builder = DomainParticipant::builder(119).domain_tag(&tag);
        let builder = builder.latency_histograms(arguments.counts_latency);
        let builder = builder.trusts_lenders(arguments.lends);
        builder.transports(transports).build()
    };
    let (one, two) = (participant()?, participant()?);
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
    let (mut copies, mut in_place) = (None, None);
    if arguments.lends {
        let topic = two.topic_of::<BytesInPlace>("Stream", BytesType::of::<Bytes>()?)?;
        let reader = in_place.insert(two.reader_with(&topic, qos)?);
        count(reader, &taken, |bytes| u64::from(bytes.is_in_place()));
    } else {
        let topic = two.topic::<Bytes>("Stream")?;
        let reader = copies.insert(two.reader_with(&topic, qos)?);
        count(reader, &taken, |_| 0);
    }
    writer.wait_for_matched(1, PATIENCE)?;
    let by_log = |way: &Way| matches!(way, Way::SharedMemory);
    let begin = Instant::now();
    while arguments.transport == Transport::Shm
        && !one
            .discovery()
            .pairs()
            .iter()
            .any(|pair| pair.way.as_ref().is_some_and(by_log))
    {
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
            for _ in 0..arguments.samples {
                match arguments.lends {
                    true => lend(&writer, arguments.size)?,
                    false => drop(writer.write(&sample)?),
                }
            }
        }
    }
    drop(suspended);
    writer.wait_for_acknowledgments(PATIENCE)?;
    // The last have come, and are about to be taken.
    while arguments.is_whole() && taken.load(Ordering::Relaxed) < arguments.samples {
        if begin.elapsed() > PATIENCE {
            return Err("some samples were not taken".into());
        }
        std::thread::yield_now();
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

/// Counts what a reader takes in its listener, and what `look` makes of it.
fn count<T: TopicSupport>(
    reader: &DataReader<T>,
    taken: &Arc<AtomicU64>,
    look: impl Fn(&T) -> u64 + Send + 'static,
) {
    let taken = Arc::clone(taken);
    reader.set_listener(move |reader: &DataReader<T>| {
        let samples = reader.take();
        std::hint::black_box(samples.data().map(&look).sum::<u64>());
        taken.fetch_add(samples.len() as u64, Ordering::Relaxed);
    });
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
        transport: Transport::Udp,
        lends: false,
        keep_last: None,
        best_effort: false,
        transient_local: false,
        several: None,
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
            "--keep-last" => arguments.keep_last = Some(u32::try_from(number()?)?),
            "--best-effort" => arguments.best_effort = true,
            "--several" => arguments.several = Some(usize::try_from(number()?)?),
            "--transient-local" => arguments.transient_local = true,
            "--transport" => {
                arguments.transport = match words.next().as_deref() {
                    Some("shm") => Transport::Shm,
                    Some("udp") => Transport::Udp,
                    _ => return Err("--transport is shm or udp".into()),
                }
            }
            // Cargo's own.
            "--bench" => {}
            other => return Err(format!("there is no option {other}").into()),
        }
    }
    Ok(arguments)
}

const PATIENCE: Duration = Duration::from_secs(60);
