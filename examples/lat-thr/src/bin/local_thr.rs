//! How many messages of `remote_thr` arrive in a second, the first one not counted.
use std::time::Instant;

use lat_thr::{Result, arguments, participant, reader, receive};

fn main() -> Result<()> {
    let arguments = arguments("local_thr HOST INTERFACE SIZE COUNT");
    let (size, count): (usize, u32) = (arguments[2].parse()?, arguments[3].parse()?);
    println!("message size: {size} [B]");
    println!("message count: {count}");
    let participant = participant(&arguments[0], &[&arguments[1]])?;
    let messages = reader(&participant, "messages")?;
    eprintln!("waiting for `remote_thr`, for a minute at most");
    let (mut begin, mut received) = (None, 0);
    while received <= count {
        for message in receive(&participant, &messages)?.data() {
            assert_eq!(message.len(), size);
            begin.get_or_insert_with(Instant::now);
            received += 1;
        }
    }
    let seconds = begin.map_or(0.0, |begin| begin.elapsed().as_secs_f64());
    let rate = f64::from(count) / seconds;
    println!("Your average throughput is {rate:.0} [msg/s]");
    let megabits = rate * size as f64 * 8.0 / 1e6;
    println!("Your average throughput is {megabits:.0} [Mb/s]");
    Ok(())
}
