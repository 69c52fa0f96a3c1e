//! One end of a conversation, as Tickwire speaks it: the same command line, values and output as
//! `cyclone_peer.py`, which says what they are.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use tickwire::{
    DataReaderQos, DataWriterQos, DomainParticipant, InstanceState, StateMask, TopicSupport,
    WaitSet,
};

#[derive(Parser)]
struct Options {
    role: Role,
    #[arg(long)]
    topic: String,
    #[arg(long)]
    samples: u32,
    #[arg(long, default_value_t = 10)]
    keys: u32,
    #[arg(long, default_value_t = 0)]
    payload: usize,
    #[arg(long, default_value = "final")]
    r#type: Extensibility,
    #[arg(long, default_value = "volatile")]
    durability: Durability,
    #[arg(long, default_value_t = 30)]
    timeout: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Role {
    Pub,
    Sub,
}

#[derive(Clone, Copy, ValueEnum)]
enum Extensibility {
    Final,
    Appendable,
    Mutable,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Durability {
    Volatile,
    TransientLocal,
}

type Failure = Box<dyn std::error::Error>;

/// A topic type of which every sample is known beforehand.
trait Conversation: TopicSupport<Type = ()> + Default + PartialEq + std::fmt::Debug {
    /// Sample `index` of the conversation.
    fn expected(index: u32, keys: u32, payload: usize) -> Self;
    /// Which sample of the conversation this claims to be.
    fn index(&self) -> u32;
}

macro_rules! conversation {
    ($module:ident, $extensibility:ident) => {
        mod $module {
            use tickwire::Topic;

            #[derive(Topic, Clone, Debug, Default, PartialEq)]
            #[topic(name = "interop::Price", $extensibility)]
            struct Price {
                mantissa: i64,
                exponent: i8,
            }

            #[derive(Topic, Clone, Debug, Default, PartialEq)]
            #[topic(name = "interop::Entry", $extensibility)]
            struct Entry {
                update_action: u32,
                entry_type: String,
                price: Price,
                size: Option<i32>,
                net_change: f64,
            }

            #[derive(Topic, Clone, Debug, Default, PartialEq)]
            #[topic(name = "interop::MarketData", $extensibility)]
            pub(super) struct MarketData {
                #[topic(key)]
                security_id: u32,
                sequence_number: u32,
                sender: String,
                entries: Vec<Entry>,
                blob: Vec<u8>,
            }

            impl super::Conversation for MarketData {
                fn expected(index: u32, keys: u32, payload: usize) -> Self {
                    let number = i64::from(index);
                    let entry = |n: u32| Entry {
                        update_action: n,
                        entry_type: if n % 2 == 0 { "0" } else { "1" }.to_owned(),
                        price: Price {
                            mantissa: number * 25 - i64::from(n),
                            exponent: -2,
                        },
                        size: (n % 3 != 2).then_some(n as i32 - index as i32),
                        net_change: f64::from(index) / 4.0,
                    };
                    let sender = if index % 2 == 1 { "Test Exchange" } else { "" };
                    let octet = |n: usize| ((index as usize + n) % 251) as u8;
                    Self {
                        security_id: 1000 + index % keys,
                        sequence_number: index,
                        sender: sender.to_owned(),
                        entries: (0..index % 4).map(entry).collect(),
                        blob: (0..payload).map(octet).collect(),
                    }
                }

                fn index(&self) -> u32 {
                    self.sequence_number
                }
            }
        }
    };
}

conversation!(in_final, final);
conversation!(in_appendable, appendable);
conversation!(in_mutable, mutable);

fn main() -> ExitCode {
    let options = Options::parse();
    let result = match options.r#type {
        Extensibility::Final => converse::<in_final::MarketData>(&options),
        Extensibility::Appendable => converse::<in_appendable::MarketData>(&options),
        Extensibility::Mutable => converse::<in_mutable::MarketData>(&options),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn converse<T: Conversation>(options: &Options) -> Result<ExitCode, Failure> {
    match options.role {
        Role::Pub => publish::<T>(options),
        Role::Sub => subscribe::<T>(options),
    }
}

/// Standard output is a pipe to the runner, which waits for these lines.
fn say(line: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

fn publish<T: Conversation>(options: &Options) -> Result<ExitCode, Failure> {
    let participant = DomainParticipant::new(0)?;
    let topic = participant.topic::<T>(&options.topic)?;
    let mut qos = DataWriterQos::default()
        .reliable(Duration::from_secs(10))
        .keep_all();
    if options.durability == Durability::TransientLocal {
        qos = qos.transient_local();
    }
    let writer = participant.writer_with(&topic, qos)?;
    if options.durability == Durability::Volatile {
        writer.wait_for_matched(1, Duration::from_secs(options.timeout))?;
    }
    for index in 0..options.samples {
        writer.write(&T::expected(index, options.keys, options.payload))?;
    }
    writer.dispose(&T::expected(0, options.keys, 0))?;
    say("written")?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(ExitCode::SUCCESS)
}

fn subscribe<T: Conversation>(options: &Options) -> Result<ExitCode, Failure> {
    let participant = DomainParticipant::new(0)?;
    let topic = participant.topic::<T>(&options.topic)?;
    let mut qos = DataReaderQos::default().reliable().keep_all();
    if options.durability == Durability::TransientLocal {
        qos = qos.transient_local();
    }
    let reader = participant.reader_with(&topic, qos)?;
    say("subscribed")?;

    let wait_set = WaitSet::new();
    wait_set.attach(&reader.read_condition(StateMask::ANY));
    let deadline = Instant::now() + Duration::from_secs(options.timeout);
    let mut seen = vec![false; options.samples as usize];
    let (mut received, mut wrong, mut disposed) = (0, 0, 0);
    while received < options.samples || disposed == 0 {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        let _ = wait_set.wait(left.min(Duration::from_millis(100)));
        for sample in reader.take().iter() {
            // A disposal shows on the instance's samples if they were not taken before it came.
            if sample.info().instance_state == InstanceState::Disposed {
                disposed = 1;
            }
            let Some(data) = sample.data() else {
                continue;
            };
            let expected = T::expected(data.index(), options.keys, options.payload);
            match seen.get_mut(data.index() as usize) {
                Some(seen) if !*seen && *data == expected => {
                    *seen = true;
                    received += 1;
                }
                place => {
                    wrong += 1;
                    let what = match (*data == expected, place) {
                        (_, None) => "was not written",
                        (false, _) => "has another value",
                        (true, _) => "came before",
                    };
                    let number = sample.info().sequence_number.0;
                    eprintln!("sample {} {what}, number {number}", data.index());
                }
            }
        }
    }
    say(&format!(
        r#"{{"received": {received}, "wrong": {wrong}, "disposed": {disposed}}}"#
    ))?;
    let complete = received == options.samples && wrong == 0;
    Ok(if complete {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
