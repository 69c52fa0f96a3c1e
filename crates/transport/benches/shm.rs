//! What a log in shared memory costs, next to what it would cost by hand.
//!
//! `cargo bench -p tickwire-transport --bench shm` prints medians of rounds that take turns with their floors, so that what
//! disturbs the machine disturbs both alike. Two threads, one per core; the log is mapped twice, as between processes. `-- --publish SEATS` publishes
//! 100,000 records of 32 bytes to a log with that many readers that are awake, and `-- --lend BYTES` lends and borrows
//! as many samples of that length, one word of which is written and read: both for callgrind.

#[path = "shm/floor.rs"]
mod floor;

use std::hint::black_box;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use tickwire_transport::clock::now;
use tickwire_transport::shm::{ClaimError, Ear, Gating, LogReader, LogWriter, Place, Pool};

const ROUNDS: usize = 9;
const LOG_BYTES: usize = 1 << 22;
const CHUNKS: usize = 8;

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if let [flag, number, ..] = &arguments[..] {
        let number = number.parse().expect("a number");
        match flag.as_str() {
            "--publish" => return publish(number),
            "--lend" => return lend_alone(number),
            _ => {}
        }
    }
    pin(0);
    for len in [16, 64, 256, 1024, 4096, 16_384, 65_536] {
        let count = if len > 4096 { 3_000 } else { 30_000 };
        let pair = || (spinning(len, count), floor::spinning(len, count));
        print(&format!("spinning, one way, {len} B"), "ns", pair);
    }
    // What a loan adds to a record that tells of it, and what its length does.
    print("lent, one way, 64 B", "ns", || {
        (lending(64, 30_000), spinning(Place::LEN, 30_000))
    });
    print("lent, one way, 1 MiB", "ns", || {
        (lending(1 << 20, 30_000), lending(64, 30_000))
    });
    print("lent, 1 MiB, to copied", "ns", || {
        (lending(1 << 20, 3_000), spinning((1 << 20) - 16, 300))
    });
    print("blocking, one way, 64 B", "ns", || {
        (blocking(3_000), floor::blocking(3_000))
    });
    print("streaming 32 B, M records/s", "", || {
        (
            1e3 / streaming(32, 3_000_000),
            1e3 / floor::copying(32, 3_000_000),
        )
    });
    print("streaming 64 KB, GB/s", "", || {
        (
            65_536.0 / streaming(65_536, 20_000),
            65_536.0 / floor::copying(65_536, 20_000),
        )
    });
}

/// Medians of ours, of the floor's, and of their quotients.
fn print(name: &str, unit: &str, mut pair: impl FnMut() -> (f64, f64)) {
    pair();
    let pairs: Vec<_> = (0..ROUNDS).map(|_| pair()).collect();
    let median = |value: fn(&(f64, f64)) -> f64| {
        let mut values: Vec<_> = pairs.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let (ours, floor) = (median(|pair| pair.0), median(|pair| pair.1));
    let quotient = median(|pair| pair.0 / pair.1);
    println!("{name:32} {ours:10.2} {unit:2}  floor {floor:10.2} {unit:2}  x {quotient:.2}");
}

/// A log and its reader, mapped apart.
fn log(ear: &Ear, gating: Gating) -> (LogWriter, LogReader) {
    let mut writer = LogWriter::new(LOG_BYTES).expect("memory");
    let reader = follow(&mut writer, ear, gating);
    (writer, reader)
}

fn follow(writer: &mut LogWriter, ear: &Ear, gating: Gating) -> LogReader {
    let bell = Arc::new(ear.bell().expect("descriptors"));
    let admission = writer.seat(bell, gating).expect("a free seat");
    let descriptors = writer.descriptors();
    let descriptors = descriptors.map(|fd| fd.try_clone_to_owned().expect("descriptors"));
    LogReader::new(descriptors, admission, None).expect("a log")
}

/// Half a round trip, in nanoseconds: payloads are copied in and out on both ways.
fn spinning(len: usize, count: u32) -> f64 {
    let ear = Ear::new().expect("descriptors");
    let (mut there, mut there_reader) = log(&ear, Gating::Waits);
    let (mut back, mut back_reader) = log(&ear, Gating::Waits);
    let echo = thread::spawn(move || {
        pin(1);
        let mut buffer = Vec::new();
        for _ in 0..count {
            let payload = spin(&mut there_reader, &mut buffer);
            send(&mut back, payload);
        }
    });
    let (payload, mut buffer) = (vec![7; len], Vec::new());
    let start = now();
    for _ in 0..count {
        send(&mut there, &payload);
        black_box(spin(&mut back_reader, &mut buffer));
    }
    let taken = now().since(start);
    echo.join().expect("no panic");
    taken.as_nanos() as f64 / f64::from(count) / 2.0
}

/// Half a round trip of loans of which one word is written and read, in nanoseconds.
fn lending(len: usize, count: u32) -> f64 {
    let ear = Ear::new().expect("descriptors");
    let [there, back] = [(); 2].map(|()| {
        let pool = Pool::new(len, CHUNKS).expect("memory");
        let mut writer = LogWriter::with_pool(LOG_BYTES, pool.clone()).expect("memory");
        let reader = follow(&mut writer, &ear, Gating::Waits);
        (pool, writer, reader)
    });
    let (pool, mut writer, mut there_reader) = there;
    let (back_pool, mut back_writer, mut reader) = back;
    let echo = thread::spawn(move || {
        pin(1);
        for _ in 0..count {
            let number = borrow(&mut there_reader);
            lend(&back_pool, &mut back_writer, len, number);
        }
    });
    let start = now();
    for number in 0..count {
        lend(&pool, &mut writer, len, number);
        assert_eq!(borrow(&mut reader), number);
    }
    let taken = now().since(start);
    echo.join().expect("no panic");
    taken.as_nanos() as f64 / f64::from(count) / 2.0
}

fn lend(pool: &Pool, writer: &mut LogWriter, len: usize, number: u32) {
    let mut loan = pool.loan(len).expect("an idle chunk");
    loan.bytes_mut()[..4].copy_from_slice(&number.to_ne_bytes());
    let lent = loan.publish();
    send(writer, &lent.place().to_bytes());
}

fn borrow(reader: &mut LogReader) -> u32 {
    let mut place = [0; Place::LEN];
    loop {
        if let Some(mut record) = reader.next().expect("sound") {
            record.read_start(&mut place).expect("waited for");
            break;
        }
        std::hint::spin_loop();
    }
    let pool = reader.pool().expect("it has one");
    let borrowed = pool.borrow(Place::from_bytes(place)).expect("in time");
    let number = borrowed.trusted_bytes()[..4].try_into();
    u32::from_ne_bytes(number.expect("four bytes"))
}

fn send(writer: &mut LogWriter, payload: &[u8]) {
    while writer.publish(payload) == Err(ClaimError::Full) {
        std::hint::spin_loop();
    }
    drop(writer.ringing());
}

fn spin<'a>(reader: &mut LogReader, buffer: &'a mut Vec<u8>) -> &'a [u8] {
    loop {
        if let Some(mut record) = reader.next().expect("sound") {
            return record.read(buffer).expect("waited for");
        }
        std::hint::spin_loop();
    }
}

/// Half a round trip of two threads that sleep until they are rung, in nanoseconds.
fn blocking(count: u32) -> f64 {
    let ears = [(); 2].map(|()| Ear::new().expect("descriptors"));
    let [ear, other_ear] = ears;
    let (mut there, mut there_reader) = log(&other_ear, Gating::Waits);
    let (mut back, mut back_reader) = log(&ear, Gating::Waits);
    let echo = thread::spawn(move || {
        pin(1);
        let mut buffer = Vec::new();
        for _ in 0..count {
            sleep(&other_ear, &mut there_reader, &mut buffer);
            send(&mut back, &buffer);
        }
    });
    let mut buffer = Vec::new();
    let start = now();
    for _ in 0..count {
        send(&mut there, &[7; 64]);
        sleep(&ear, &mut back_reader, &mut buffer);
    }
    let taken = now().since(start);
    echo.join().expect("no panic");
    taken.as_nanos() as f64 / f64::from(count) / 2.0
}

fn sleep(ear: &Ear, reader: &mut LogReader, buffer: &mut Vec<u8>) {
    loop {
        if let Some(mut record) = reader.next().expect("sound") {
            record.read(buffer).expect("waited for");
            return;
        }
        if ear.lie_down([&*reader]) {
            let mut fds = [PollFd::new(ear.as_fd(), PollFlags::POLLIN)];
            poll(&mut fds, PollTimeout::NONE).expect("an eventfd");
            ear.drain();
        }
        ear.wake();
    }
}

/// Nanoseconds a record, of a writer that waits for its reader.
fn streaming(len: usize, count: u32) -> f64 {
    let ear = Ear::new().expect("descriptors");
    let (mut writer, mut reader) = log(&ear, Gating::Waits);
    let other = thread::spawn(move || {
        pin(1);
        let mut buffer = Vec::new();
        for _ in 0..count {
            black_box(spin(&mut reader, &mut buffer));
        }
    });
    let payload = vec![7; len];
    let start = now();
    for _ in 0..count {
        send(&mut writer, &payload);
    }
    other.join().expect("no panic");
    now().since(start).as_nanos() as f64 / f64::from(count)
}

fn publish(seats: usize) {
    let ear = Ear::new().expect("descriptors");
    let mut writer = LogWriter::new(LOG_BYTES).expect("memory");
    let readers: Vec<_> = (0..seats)
        .map(|_| follow(&mut writer, &ear, Gating::Overruns))
        .collect();
    for _ in 0..100_000 {
        send(&mut writer, black_box(&[7; 32]));
    }
    println!("{} readers", readers.len());
}

fn lend_alone(len: usize) {
    let ear = Ear::new().expect("descriptors");
    let pool = Pool::new(len, CHUNKS).expect("memory");
    let mut writer = LogWriter::with_pool(LOG_BYTES, pool.clone()).expect("memory");
    let mut reader = follow(&mut writer, &ear, Gating::Waits);
    for number in 0..100_000 {
        lend(&pool, &mut writer, len, number);
        assert_eq!(borrow(&mut reader), number);
    }
    println!("{len} bytes");
}

fn pin(core: usize) {
    let mut set = CpuSet::new();
    set.set(core).expect("a core's number");
    // Where there is one core, there is nothing to pin.
    let _ = sched_setaffinity(Pid::from_raw(0), &set);
}
