//! Sends COUNT messages to `local_thr`, and one before them.
use lat_thr::{PATIENCE, Result, arguments, participant, writer};

fn main() -> Result<()> {
    let arguments = arguments("remote_thr HOST SIZE COUNT");
    let (size, count): (usize, u32) = (arguments[1].parse()?, arguments[2].parse()?);
    let participant = participant(&arguments[0], &[])?;
    let messages = writer(&participant, "messages")?;
    let buffer = vec![0; size];
    eprintln!("waiting for `local_thr`, for a minute at most");
    messages.wait_for_matched(1, PATIENCE)?;
    for _ in 0..=count {
        messages.write_bytes(&buffer)?;
    }
    messages.wait_for_acknowledgments(PATIENCE)?;
    Ok(())
}
