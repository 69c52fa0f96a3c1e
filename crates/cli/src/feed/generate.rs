//! `tickwire feed generate`: sample data in a file, and the templates to read it with.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use tickwire_fast::{Encoder, ResetPolicy};
use tickwire_feed::generate::{COMPLEX_TEMPLATES, ComplexOptions, SIMPLE_TEMPLATES, SimpleOptions};
use tickwire_feed::{Generator, OURS, PacketNumber, Venue};

use crate::failure::{Failure, Result};
use crate::fast::source::venue_parser;
use crate::output::{counted, note};

/// Make a file of sample data
#[derive(Subcommand)]
#[command(
    long_about = "\
Makes a file of FAST packets, each after its length (4 bytes, little-endian), and writes the \
templates beside it. With `--venue` packets have the form that this exchange gives its own. The same \
options always make the same file.",
    after_help = "\
Examples:
  tickwire feed generate simple --out simple.dat --messages 30000
  tickwire feed generate complex --out complex.dat --entries 5 --one-security
  tickwire feed generate simple --out step.dat --venue sse"
)]
pub(crate) enum Command {
    Simple(Simple),
    Complex(Complex),
}

#[derive(Args)]
struct Output {
    /// File to write; templates go beside it, named `.xml` instead
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,

    /// Messages before Done
    #[arg(short = 'n', long, value_name = "N", default_value_t = 30_000)]
    messages: u32,

    /// Which of the possible data
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Frame the packets as this exchange does; `tickwire feed venues` shows how
    #[arg(long, value_name = "NAME", value_parser = venue_parser())]
    venue: Option<Venue>,
}

impl Output {
    fn venue(&self) -> Venue {
        self.venue.unwrap_or(OURS)
    }

    /// Where dictionaries are reset at each message, no packet has more than one.
    fn packet_bytes(&self, asked: usize) -> usize {
        match self.venue().reset {
            ResetPolicy::Message => 1,
            _ => asked,
        }
    }
}

/// Many small messages: Quote, New, Change and Remove in turn, then Done
#[derive(Args)]
#[command(
    long_about = "\
Makes a feed of many small messages: Quote, New, Change and Remove in turn, as many of each, then \
Done. Each packet takes as many messages as fit and can be decoded without those before it. \
Constants, copied and incremented fields show what FAST saves: a message takes some 13 bytes.",
    after_help = "\
Examples:
  tickwire feed generate simple --out simple.dat
  tickwire feed generate simple --out small.dat -n 100 --packet-bytes 256"
)]
pub(crate) struct Simple {
    #[command(flatten)]
    output: Output,

    /// Most bytes of messages in a packet, 1 to 65507 less what the venue puts around them; a message that is larger
    /// has a packet of its own, and dictionaries start afresh with each packet
    #[arg(short, long, value_name = "BYTES", default_value_t = 1_024, value_parser = clap::value_parser!(u16).range(1..=65_507))]
    packet_bytes: u16,
}

/// Fewer with repeating groups: MarketData over many securities, QuoteRequest, then Done
#[derive(Args)]
#[command(
    long_about = "\
Makes a feed of messages with repeating groups: MarketData with entries of several securities, a \
QuoteRequest for every 100 messages, then Done. A feed handler splits MarketData by security, so \
that samples are more than messages, unless each message keeps to one security.",
    after_help = "\
Examples:
  tickwire feed generate complex --out complex.dat
  tickwire feed generate complex --out five.dat --entries 5 \\
      --one-security --securities 20"
)]
pub(crate) struct Complex {
    #[command(flatten)]
    output: Output,

    /// Most bytes of messages in a packet, 1 to 65507 less what the venue puts around them [default: each message is a
    /// packet]
    #[arg(short, long, value_name = "BYTES", value_parser = clap::value_parser!(u16).range(1..=65_507))]
    packet_bytes: Option<u16>,

    /// Securities that the feed is about
    #[arg(long, value_name = "N", default_value_t = 100)]
    securities: u32,

    /// Average number of entries in a MarketData message
    #[arg(long, value_name = "N", default_value_t = 3)]
    entries: u32,

    /// Keep all entries of a message to one security
    #[arg(long)]
    one_security: bool,
}

impl Command {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Simple(simple) => {
                let options = SimpleOptions {
                    messages: simple.output.messages,
                    packet_bytes: simple.output.packet_bytes(simple.packet_bytes.into()),
                    seed: simple.output.seed,
                };
                write(&simple.output, SIMPLE_TEMPLATES, Generator::simple(options))
            }
            Self::Complex(complex) => {
                let packet_bytes = match complex.packet_bytes {
                    Some(bytes) => bytes.into(),
                    None => ComplexOptions::default().packet_bytes,
                };
                let options = ComplexOptions {
                    messages: complex.output.messages,
                    packet_bytes: complex.output.packet_bytes(packet_bytes),
                    securities: complex.securities,
                    entries: complex.entries,
                    one_security: complex.one_security,
                    seed: complex.output.seed,
                };
                write(
                    &complex.output,
                    COMPLEX_TEMPLATES,
                    Generator::complex(options),
                )
            }
        }
    }
}

fn write(
    output: &Output,
    templates: &str,
    generator: Result<Generator, tickwire_feed::generate::GenerateError>,
) -> Result<()> {
    let mut generator = generator.map_err(Failure::usage)?;
    let (path, venue) = (&output.out, output.venue());
    let templates_path = path.with_extension("xml");
    if templates_path == *path {
        return Err(
            Failure::usage("the templates would replace the data: both are `.xml`")
                .hint("name the data `.dat`"),
        );
    }
    let (bytes, resets) =
        write_packets(path, venue, &mut generator).inspect_err(|_| discard(path))?;
    fs::write(&templates_path, templates).map_err(|error| unwritable(&templates_path, &error))?;
    let summary = generator.summary();
    note(format_args!(
        "wrote {}: {}{} in {}, {bytes} bytes, for {} on topics",
        path.display(),
        counted(summary.messages, "message", "messages"),
        match resets {
            0 => String::new(),
            resets => format!(" and {}", counted(resets, "reset", "resets")),
        },
        counted(summary.packets, "packet", "packets"),
        counted(summary.samples, "sample", "samples")
    ));
    note(format_args!("wrote {}", templates_path.display()));
    note(format_args!(
        "hint: `tickwire fast decode {} --templates {}{}` shows it",
        path.display(),
        templates_path.display(),
        output
            .venue
            .map_or_else(String::new, |venue| format!(" --venue {}", venue.name))
    ));
    Ok(())
}

/// Writes the packets in the form of the venue; gives how many bytes they take, and how many messages
/// that reset the dictionaries are among them.
fn write_packets(path: &Path, venue: Venue, generator: &mut Generator) -> Result<(u64, u64)> {
    let file = File::create(path).map_err(|error| unwritable(path, &error))?;
    let mut file = BufWriter::new(file);
    let (mut bytes, mut resets) = (0, 0);
    let (mut packet, mut framed) = (Vec::new(), Vec::new());
    // The generator resets at each packet; where that is not the policy, a message must say so.
    let mut reset = Vec::new();
    if venue.reset == ResetPolicy::Template {
        Encoder::new(generator.templates()).encode_reset(&mut reset);
    }
    let mut number = PacketNumber::default();
    while generator.next_packet(&mut packet).map_err(Failure::new)? {
        framed.clear();
        venue
            .append_packet(number, &[&[&reset[..], &packet].concat()], &mut framed)
            .map_err(|error| Failure::new(error).hint("smaller packets: `--packet-bytes`"))?;
        file.write_all(&framed)
            .map_err(|error| unwritable(path, &error))?;
        bytes += framed.len() as u64;
        resets += u64::from(!reset.is_empty());
        number = number.next();
    }
    file.flush().map_err(|error| unwritable(path, &error))?;
    Ok((bytes, resets))
}

/// Removes what was written of a file that cannot be whole; of a device or link nothing.
fn discard(path: &Path) {
    if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        // The failure that brought us here is what the user has to know.
        let _ = fs::remove_file(path);
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format_args!("cannot write {}: {error}", path.display()))
}
