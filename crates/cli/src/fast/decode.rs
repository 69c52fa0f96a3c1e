//! `tickwire fast decode`: a file of messages as text or JSON, or counted.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use tickwire_fast::{DecodeError, Decoder, Message, Record, Value, json};

use super::packets::{PacketFile, PacketOptions};
use super::source::TemplateOptions;
use super::statistics::Statistics;
use crate::failure::{Failure, Result};
use crate::output::{note, stdout};

/// Decode a file of FAST messages
#[derive(Args)]
#[command(
    long_about = "\
Decodes a file of FAST messages by its templates and shows what is in it.

The file holds packets, each after its length (4 bytes, little-endian), as `tickwire feed generate` \
writes it, or is a capture (pcap, pcapng) of which the UDP datagrams are packets, or has another \
`--framing`. `--venue` says in one word how an exchange frames its packets and when it resets \
dictionaries. Where a message cannot be decoded, the rest of its packet is given up, with the file's \
byte, the template and the field on standard error (of the first 10 such packets), and the next packet \
is decoded; no value is taken from what was lost. The exit status is then 1. The same holds for what is \
no packet: after garbage, a stream of STEP messages or blocks goes on where the next one begins. `byte` counts from the \
start of the file.",
    after_help = "\
Examples:
  tickwire fast decode feed.dat --templates feed.xml --limit 10
  tickwire fast decode feed.dat --templates feed.xml --stats
  tickwire fast decode feed.pcap --templates moex.xml --venue moex-asts --to 239.192.3.1:16001
  tickwire fast decode feed.dat --templates feed.xml -o jsonl | jq 'select(.template == \"Quote\")'"
)]
pub(crate) struct Arguments {
    /// File of packets
    file: PathBuf,

    #[command(flatten)]
    templates: TemplateOptions,

    #[command(flatten)]
    packets: PacketOptions,

    /// Count instead: messages, entries and values of each template, and how fast they decode
    #[arg(long)]
    stats: bool,

    /// Form of the messages or counts
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t = Form::Table)]
    output: Form,

    /// Stop after so many messages
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// For people
    Table,
    /// Of messages: a JSON object a line
    Jsonl,
    /// Of counts: one JSON object
    Json,
    /// Of counts: a line for each template
    Csv,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        self.check_form()?;
        let templates = self.templates.load()?;
        let file = self.packets.open(&self.file, &self.templates.feed)?;
        let mut decoder = self.templates.decoder(&templates);
        let mut bad = BadPackets::default();
        let mut out = stdout();
        match self.output {
            form if self.stats => self
                .statistics(&file, &mut decoder, &mut bad)?
                .write(form, &mut out)?,
            Form::Jsonl => self.write_lines(&file, &mut decoder, &mut bad, &mut out)?,
            _ => self.write_table(&file, &mut decoder, &mut bad, &mut out)?,
        }
        out.flush()?;
        bad.verdict()
    }

    fn check_form(&self) -> Result<()> {
        match (self.stats, self.output) {
            (false, Form::Json | Form::Csv) => Err(Failure::usage("only counts have that form")
                .hint("`--stats` counts; messages are written with `-o jsonl`")),
            (true, Form::Jsonl) => Err(Failure::usage("only messages have that form")
                .hint("counts are written with `-o json` or `-o csv`")),
            _ => Ok(()),
        }
    }

    fn write_lines(
        &self,
        file: &PacketFile,
        decoder: &mut Decoder,
        bad: &mut BadPackets,
        out: &mut impl Write,
    ) -> Result<()> {
        let mut line = String::new();
        self.each_message(file, decoder, bad, |_, message| {
            // The session's reset message has no template and says nothing.
            if message.template().is_none() {
                return Ok(());
            }
            line.clear();
            // Text in memory takes all that is written to it.
            let _infallible = json::write(message, &mut line);
            line.push('\n');
            Ok(out.write_all(line.as_bytes())?)
        })
    }

    fn write_table(
        &self,
        file: &PacketFile,
        decoder: &mut Decoder,
        bad: &mut BadPackets,
        out: &mut impl Write,
    ) -> Result<()> {
        let (message, byte, template) = ("message", "byte", "template");
        writeln!(out, "{message:>8} {byte:>10}  {template:<16} fields")?;
        self.each_message(file, decoder, bad, |place, message| {
            let template = message.template().map_or(RESET, |template| template.name());
            let Place {
                message: at,
                offset,
            } = place;
            write!(out, "{at:>8} {offset:>10}  {template:<16} ")?;
            write_fields(out, message.record())?;
            Ok(writeln!(out)?)
        })
    }

    /// Calls `act` with each message and its place in the file.
    fn each_message(
        &self,
        file: &PacketFile,
        decoder: &mut Decoder,
        bad: &mut BadPackets,
        mut act: impl FnMut(Place, &Message) -> Result<()>,
    ) -> Result<()> {
        let mut message = Message::new();
        let mut count = 0;
        for packet in file.packets() {
            let mut failed = |what: &dyn std::fmt::Display| {
                bad.note(format_args!("{}: {what}", file.path().display()));
            };
            let packet = match packet {
                Ok(packet) => packet,
                Err(error) => {
                    failed(&error);
                    decoder.lose();
                    continue;
                }
            };
            if !packet.follows {
                decoder.lose();
            }
            decoder.begin_packet();
            'blocks: for block in packet.blocks() {
                let block = match block {
                    Ok(block) => block,
                    Err(error) => {
                        failed(&error);
                        decoder.lose();
                        break;
                    }
                };
                let mut at = 0;
                while let Some(rest @ [_, ..]) = block.packet.get(at..) {
                    if self.limit.is_some_and(|limit| count >= limit) {
                        return Ok(());
                    }
                    let offset = block.offset + at;
                    match decoder.decode(rest, &mut message) {
                        Ok(len) => at += len,
                        Err(error) => {
                            let offset = offset + error.offset;
                            let error = DecodeError { offset, ..error };
                            failed(&format_args!("packet {}: {error}", packet.index));
                            break 'blocks;
                        }
                    }
                    let message_at = count;
                    count += 1;
                    act(
                        Place {
                            message: message_at,
                            offset,
                        },
                        &message,
                    )?;
                }
            }
        }
        Ok(())
    }

    /// Decodes twice: the second time, with memory warm, counts for the speed.
    fn statistics(
        &self,
        file: &PacketFile,
        decoder: &mut Decoder,
        bad: &mut BadPackets,
    ) -> Result<Statistics> {
        let mut statistics = Statistics::default();
        self.each_message(file, decoder, bad, |_, message| {
            statistics.count(message);
            Ok(())
        })?;
        decoder.reset();
        let begin = Instant::now();
        self.each_message(file, decoder, &mut BadPackets::known(), |_, _| Ok(()))?;
        statistics.timed(begin.elapsed(), file.bytes().len());
        Ok(statistics)
    }
}

/// Packets that could not be decoded, or not to their ends.
#[derive(Default)]
struct BadPackets {
    count: u64,
    /// Those that need no words.
    silent: bool,
}

impl BadPackets {
    /// Those of a second run over the same packets.
    fn known() -> Self {
        Self {
            count: 0,
            silent: true,
        }
    }

    fn note(&mut self, what: std::fmt::Arguments<'_>) {
        self.count += 1;
        if !self.silent && self.count <= MAX_REPORTED {
            note(what);
        }
    }

    fn verdict(&self) -> Result<()> {
        match self.count {
            0 => Ok(()),
            1 => Err(Failure::new("1 packet could not be decoded")),
            count => Err(Failure::new(format_args!(
                "{count} packets could not be decoded"
            ))),
        }
    }
}

/// How the session's reset message is shown.
pub(super) const RESET: &str = "(reset)";

/// Bad packets that are reported one by one.
const MAX_REPORTED: u64 = 10;

/// Where a message is in the file.
#[derive(Clone, Copy)]
struct Place {
    /// From 0.
    message: u64,
    /// Byte of the file at which it starts.
    offset: usize,
}

/// `NAME=VALUE ...`, sequences as `NAME=[{...} {...}]`.
fn write_fields(out: &mut impl Write, record: Record<'_>) -> Result<()> {
    for (at, (field, value)) in record.enumerate() {
        if at > 0 {
            write!(out, " ")?;
        }
        write!(out, "{}=", field.name())?;
        match value {
            Value::Unsigned(value) => write!(out, "{value}")?,
            Value::Signed(value) => write!(out, "{value}")?,
            Value::Decimal(value) => write!(out, "{value}")?,
            Value::Text(value) => write!(out, "{value:?}")?,
            Value::Bytes(value) => value
                .iter()
                .try_for_each(|byte| write!(out, "{byte:02x}"))?,
            Value::Group(record) => write_braced(out, record)?,
            Value::Template(template, record) => {
                write!(out, "{}", template.name())?;
                write_braced(out, record)?;
            }
            Value::Sequence(sequence) => {
                write!(out, "[")?;
                sequence
                    .iter()
                    .try_for_each(|element| write_braced(out, element))?;
                write!(out, "]")?;
            }
        }
    }
    Ok(())
}

fn write_braced(out: &mut impl Write, record: Record<'_>) -> Result<()> {
    write!(out, "{{")?;
    write_fields(out, record)?;
    Ok(write!(out, "}}")?)
}
