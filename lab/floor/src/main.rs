//! What the machine itself gives: what every system stands on, without anything above.

mod credit;
mod doorbell;
mod ring;
mod shared;
mod sockets;

use std::hint::black_box;
use std::process::ExitCode;

use lab_program::{HEADER_LEN, Job, Message, Options, fill};
use memmap2::MmapMut;

use shared::SharedMemory;
use sockets::{Kind, Sockets};

/// The floor has no options of its own.
#[derive(clap::Args)]
struct Own {}

fn main() -> ExitCode {
    let (options, Own {}) = lab_program::parse();
    let kind = match options.system.as_str() {
        "floor-tcp" => Kind::Tcp,
        "floor-tcp-batched" => Kind::BatchedTcp,
        "floor-unix" => Kind::Unix,
        "floor-udp" => Kind::Udp,
        "floor-udp-batched" => Kind::BatchedUdp,
        "floor-shm" => {
            return lab_program::finish(&options, || {
                lab_program::converse(&options, VERSION, SharedMemory::open(&options)?)
            });
        }
        "floor-memcpy" => return lab_program::finish(&options, || copy(&options)),
        other => return lab_program::misused(&options, &format!("there is no system {other:?}")),
    };
    if let Some(refusal) = sockets::refusal(kind, &options) {
        return lab_program::misused(&options, &refusal);
    }
    lab_program::finish(&options, || {
        lab_program::converse(&options, VERSION, Sockets::open(kind, &options)?)
    })
}

/// Copies messages in and out.
fn copy(options: &Options) -> Result<lab_program::Answer, String> {
    if options.job != Job::Codec {
        return Err("only copies: --job codec".into());
    }
    let mut message = vec![0; options.payload_len()];
    fill(&mut message, 0, 0);
    let expected = message.clone();
    let marked = message.len().min(HEADER_LEN);
    let mut buffers = (
        vec![0; options.payload_len()],
        vec![0; options.payload_len()],
    );
    lab_program::measure_codec(
        options,
        VERSION,
        &mut buffers,
        |(middle, _), number| {
            fill(&mut message[..marked], number, 0);
            black_box(middle).copy_from_slice(black_box(&message));
            message.len()
        },
        |(middle, out), _| black_box(out).copy_from_slice(black_box(middle)),
        // One buffer holds the whole batch, and its last message in the end.
        |(middle, out), _| middle == out && expected[marked..] == out[marked..],
    )
}

/// Messages of one of the processes on the other side, of which one is looked at.
struct Incoming {
    link: usize,
    /// Begins a page: of 128 KiB and more, what an allocator gives begins 16 bytes behind one, where the kernel's copy takes
    /// more than three times as long on AMD's Zen 3.
    buffer: MmapMut,
    /// Where that message begins.
    at: usize,
    len: usize,
}

impl Incoming {
    /// Room for `count` messages of `len` bytes.
    fn new(link: usize, len: usize, count: usize) -> Self {
        Self {
            link,
            buffer: MmapMut::map_anon((len * count).max(1)).expect("the system has memory"),
            at: 0,
            len,
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[self.at..self.at + self.len]
    }
}

impl Message for Incoming {
    fn number(&self, expected: u64) -> u64 {
        self.bytes().number(expected)
    }

    fn time(&self) -> Option<u64> {
        self.bytes().time()
    }

    fn is_intact(&self, number: u64) -> bool {
        self.bytes().is_intact(number)
    }
}

/// The numbers, from 0, of the pairs of processes that this one is in.
fn pairs(options: &Options) -> Vec<u16> {
    let (publishers, subscribers) = (
        u16::from(options.publishers),
        u16::from(options.subscribers),
    );
    let own = u16::from(options.index);
    match options.job.is_passive() {
        true => (0..publishers)
            .map(|other| other * subscribers + own)
            .collect(),
        false => (0..subscribers)
            .map(|other| own * subscribers + other)
            .collect(),
    }
}

const VERSION: &str = "";
