//! Half of the time of a round trip to `remote_lat`, on average.
use std::time::Instant;

use lat_thr::{PATIENCE, Result, arguments, participant, reader, receive, writer};

fn main() -> Result<()> {
    let arguments = arguments("local_lat HOST SIZE COUNT");
    let (size, count): (usize, u32) = (arguments[1].parse()?, arguments[2].parse()?);
    println!("message size: {size} [B]");
    println!("roundtrip count: {count}");
    let participant = participant(&arguments[0], &[])?;
    let (there, back) = (
        writer(&participant, "there")?,
        reader(&participant, "back")?,
    );
    let buffer = vec![0; size];
    eprintln!("waiting for `remote_lat`, for a minute at most");
    there.wait_for_matched(1, PATIENCE)?;
    let begin = Instant::now();
    for _ in 0..count {
        there.write_bytes(&buffer)?;
        let mut echoed = false;
        while !echoed {
            for message in receive(&participant, &back)?.data() {
                assert_eq!(message.len(), size);
                echoed = true;
            }
        }
    }
    let latency = begin.elapsed().as_secs_f64() * 1e6 / f64::from(count) / 2.0;
    println!("Your average latency is {latency:.2} [us]");
    Ok(())
}
