//! Publishes the messages of a feed as they are decoded: no field is touched by hand.
//!
//! ```text
//! cargo run --release -- feed generate complex --out complex.dat
//! cargo run --release -p typed-feed -- complex.dat
//! ```
//!
//! `cargo run --release -- topic echo MarketData` in another terminal, started before it, shows the samples.

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use market::{Decoder, Handler, MarketData};
use tickwire::{DataWriter, DataWriterQos, DomainParticipant, error::WriteError};
use tickwire_fast::{DecoderOptions, ResetPolicy};
use tickwire_feed::{Frames, Framing};

#[allow(unreachable_pub, reason = "what is generated is public, for libraries")]
mod market {
    include!(concat!(env!("OUT_DIR"), "/complex.rs"));
}

/// How long a reader may keep the feed waiting.
const PATIENCE: Duration = Duration::from_secs(10);

/// Writes each MarketData message to its topic.
struct Publish {
    writer: DataWriter<MarketData>,
    published: Result<u64, WriteError>,
}

impl Handler for Publish {
    fn market_data(&mut self, message: &MarketData) {
        if let Ok(count) = self.published {
            self.published = self.writer.write(message).map(|_| count + 1);
        }
    }
}

fn main() -> ExitCode {
    match publish() {
        Ok(count) => {
            println!("messages published: {count}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            eprintln!(
                "hint: `tickwire feed generate complex --out complex.dat` makes a file that `typed-feed complex.dat` publishes"
            );
            ExitCode::FAILURE
        }
    }
}

/// Publishes the file that the command line names, and counts its messages.
fn publish() -> Result<u64, Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("no file is named")?;
    let file = std::fs::read(&path).map_err(|error| format!("cannot read {path}: {error}"))?;
    let participant = DomainParticipant::new(0)?;
    let topic = participant.topic::<MarketData>("MarketData")?;
    // Every message, to readers that ask for all.
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let mut publish = Publish {
        writer: participant.writer_with(&topic, qos)?,
        published: Ok(0),
    };
    // A reader that is there already gets the first message too. None has to be.
    let _nobody = publish.writer.wait_for_matched(1, Duration::from_secs(1));
    let mut decoder = Decoder::with_options(DecoderOptions {
        reset: ResetPolicy::Packet,
        ..DecoderOptions::default()
    });
    for frame in Frames::new(Framing::U32Le, &file) {
        decoder.decode_packet(frame?.packet, &mut publish)?;
    }
    publish.writer.wait_for_acknowledgments(PATIENCE)?;
    Ok(publish.published?)
}
