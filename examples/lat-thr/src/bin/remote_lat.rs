//! Sends back what `local_lat` sends.
use lat_thr::{PATIENCE, Result, arguments, participant, reader, receive, writer};

fn main() -> Result<()> {
    let arguments = arguments("remote_lat HOST IN-INTERFACE OUT-INTERFACE SIZE COUNT");
    let (size, count): (usize, u32) = (arguments[3].parse()?, arguments[4].parse()?);
    let participant = participant(&arguments[0], &[&arguments[1], &arguments[2]])?;
    let (there, back) = (
        reader(&participant, "there")?,
        writer(&participant, "back")?,
    );
    eprintln!("waiting for `local_lat`, for a minute at most");
    back.wait_for_matched(1, PATIENCE)?;
    let mut echoed = 0;
    while echoed < count {
        for message in receive(&participant, &there)?.data() {
            assert_eq!(message.len(), size);
            back.write_bytes(message)?;
            echoed += 1;
        }
    }
    back.wait_for_acknowledgments(PATIENCE)?;
    Ok(())
}
