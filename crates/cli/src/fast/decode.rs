//! `tickwire fast decode`: a file of messages as text or JSON, or counted.

use std::fmt::{self, Write as _};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use clap::{Args, ValueEnum};
use tickwire_fast::{Message, Record, ResetPolicy, Templates, Value, json};

use super::diagnosis::{advice, cut_off, is_misread};
use super::events::{Batch, Event, Line, PacketDecoder};
use super::packets::{FileForm, MissingPackets, PacketFile, PacketOptions};
use super::parallel::in_order;
use super::source::{DefaultTemplate, TemplateOptions};
use super::statistics::{Counting, Statistics};
use crate::failure::{Failure, Result};
use crate::output::{counted, note, stdout};

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
no packet: after garbage, a stream of STEP messages or blocks goes on where the next one begins. Where most \
of the first packets are bad, the hint names the `--framing`, `--preamble` or `--reset` with which they can be \
decoded, or the template ids that they ask for, and the table has no messages, which would be nonsense: `-o \
jsonl` writes those that decode all the same. Where packets have numbers (`--preamble`), those that are missing are told on \
standard error; that is no failure. `byte` counts from the start of the file. In lines of JSON, `{}` is the session's reset message.

With `--threads` packets are decoded side by side and their messages come in the file's order, with as \
many packets in memory as the threads are working on. That needs packets that do not build on each other: \
dictionaries that are reset with each packet or message (`--reset`), or by every template, in which case \
the first message of each packet has to bring its template id.",
    after_help = "\
Examples:
  tickwire fast decode feed.dat --templates feed.xml --limit 10
  tickwire fast decode feed.dat --templates feed.xml --stats
  tickwire fast decode day.pcap -t feed.xml --threads 8 -o jsonl > day.jsonl
  tickwire fast decode feed.pcap -t moex.xml --venue moex-asts \\
      --to 239.192.3.1:16001
  tickwire fast decode feed.dat -t feed.xml -o jsonl \\
      | jq 'select(.template == \"Quote\")'"
)]
pub(crate) struct Arguments {
    /// File of packets
    file: PathBuf,

    #[command(flatten)]
    templates: TemplateOptions,

    #[command(flatten)]
    default: DefaultTemplate,

    #[command(flatten)]
    packets: PacketOptions,

    /// Count instead: messages, entries and values of each template, and how fast their bytes decode
    #[arg(long)]
    stats: bool,

    /// Form of the messages or counts
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t = Form::Table)]
    output: Form,

    /// Stop after so many messages
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u64>,

    /// Decode packets on so many threads, 1 to 256, where each packet can be decoded by itself
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
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
        self.check_options()?;
        let templates = self.default.of(self.templates.load()?)?;
        if self.threads > 1 {
            self.check_independent(&templates)?;
        }
        let file = self.packets.open(&self.file, &self.templates.feed)?;
        let mut bad = BadPackets::default();
        let mut out = stdout();
        if self.stats {
            let statistics = self.statistics(&file, &templates, &mut bad)?;
            statistics.write(self.output, &mut out)?;
        } else {
            self.write_messages(&file, &templates, &mut bad, &mut out)?;
        }
        out.flush()?;
        bad.verdict(&file, || advice(&file, &self.templates, &templates))
    }

    /// That the options suit each other.
    fn check_options(&self) -> Result<()> {
        match (self.stats, self.output) {
            (false, Form::Json | Form::Csv) => Err(Failure::usage("only counts have that form")
                .hint("`--stats` counts; messages are written with `-o jsonl`")),
            (true, Form::Jsonl) => Err(Failure::usage("only messages have that form")
                .hint("counts are written with `-o json` or `-o csv`")),
            // Threads count what they decode, also ahead of the limit.
            _ if self.stats && self.limit.is_some() && self.threads > 1 => {
                Err(Failure::usage("several threads cannot count up to a limit")
                    .hint("`--threads 1` counts the first messages of a file"))
            }
            _ => Ok(()),
        }
    }

    /// That packets can be decoded each by itself.
    fn check_independent(&self, templates: &Templates) -> Result<()> {
        let feed = &self.templates.feed;
        if self.packets.framing(feed) == FileForm::None {
            return Err(
                Failure::usage("a file without packets cannot be split for threads")
                    .hint("`--threads 1` decodes its messages one after the other"),
            );
        }
        let mut with_messages = templates.iter().filter(|template| template.has_messages());
        let keeps = match feed.reset() {
            ResetPolicy::Packet | ResetPolicy::Message => return Ok(()),
            ResetPolicy::Template => with_messages.find(|template| !template.resets()),
            ResetPolicy::Never => with_messages.next(),
        };
        match keeps {
            None => Ok(()),
            Some(template) => Err(Failure::usage(format_args!(
                "packets build on each other: messages of template {} keep the dictionaries",
                template.name()
            ))
            .hint("`--threads 1`, or `--reset packet` if that is what the exchange does")),
        }
    }

    fn write_messages(
        &self,
        file: &PacketFile,
        templates: &Templates,
        bad: &mut BadPackets,
        out: &mut impl Write,
    ) -> Result<()> {
        let is_table = self.output == Form::Table;
        let is_nonsense = is_table && is_misread(file, &self.templates, templates);
        if is_nonsense {
            note(
                "no messages are shown, as most of the first packets cannot be decoded; `-o jsonl` writes \
                 those that can",
            );
        } else if is_table {
            let (message, byte, template) = ("message", "byte", "template");
            writeln!(out, "{message:>8} {byte:>10}  {template:<16} fields")?;
        }
        let show = move |text: &mut String, message: &Message| {
            // Text in memory takes all that is written to it.
            let _infallible = match is_table {
                true => write_row(text, message),
                false => json::write(message, text),
            };
        };
        let mut count = 0;
        let tally = self.each_message(
            file,
            templates,
            bad,
            || show,
            |line| {
                match (is_nonsense, is_table) {
                    (true, _) => {}
                    (false, true) => {
                        writeln!(out, "{count:>8} {:>10}  {}", line.offset, line.text)?
                    }
                    (false, false) => writeln!(out, "{}", line.text)?,
                }
                count += 1;
                Ok(())
            },
        )?;
        if tally.duplicate_chunks > 0 {
            let copies = counted(
                tally.duplicate_chunks,
                "chunk is a copy",
                "chunks are copies",
            );
            note(format_args!("{copies} of others: passed over"));
        }
        tally.note_missing();
        Ok(())
    }

    /// Has each message shown, on as many threads as there are to be, and calls `take` with what was shown, in order.
    fn each_message<S: FnMut(&mut String, &Message)>(
        &self,
        file: &PacketFile,
        templates: &Templates,
        bad: &mut BadPackets,
        shower: impl Fn() -> S + Sync,
        mut take: impl FnMut(Line<'_>) -> Result<()>,
    ) -> Result<Tally> {
        let mut tally = Tally::default();
        let mut left = self.limit.unwrap_or(u64::MAX);
        if left == 0 {
            return Ok(tally);
        }
        let name = file.path().display();
        let mut take = |event: Event<'_>| {
            match event {
                Event::Bad(problem) => bad.note(format_args!("{name}: {problem}")),
                Event::Message(line) if left > 0 => {
                    tally.bytes += line.len as u64;
                    take(line)?;
                    left -= 1;
                }
                Event::Message(_) => {}
            }
            Ok(left > 0)
        };
        let mut packets = file.packets();
        let worker = || PacketDecoder::new(self.templates.decoder(templates), shower());
        if self.threads == 1 {
            let mut worker = worker();
            for packet in packets.by_ref() {
                if !worker.packet(packet, &mut take)? {
                    break;
                }
            }
            tally.duplicate_chunks = packets.duplicate_chunks();
            tally.missing = packets.missing();
            return Ok(tally);
        }
        let batch_worker = || {
            let mut worker = worker();
            move |packets: Vec<_>| {
                let mut done = Batch::default();
                for packet in packets {
                    worker.forget();
                    let _infallible = worker.packet(packet, &mut |event| done.push(event));
                }
                done
            }
        };
        let threads = usize::from(self.threads);
        in_order(threads, packets.by_ref(), batch_worker, |batch: Batch| {
            batch.replay(&mut take)
        })?;
        tally.duplicate_chunks = packets.duplicate_chunks();
        tally.missing = packets.missing();
        Ok(tally)
    }

    /// Decodes twice: the second time, with memory warm, counts for the speed.
    fn statistics(
        &self,
        file: &PacketFile,
        templates: &Templates,
        bad: &mut BadPackets,
    ) -> Result<Statistics> {
        let total = Mutex::new(Statistics::default());
        let counter = || {
            let mut counts = Counting::into(&total);
            move |_: &mut String, message: &Message| counts.count(message)
        };
        let tally = self.each_message(file, templates, bad, counter, |_| Ok(()))?;
        tally.note_missing();
        let begin = Instant::now();
        let known = &mut BadPackets::known();
        self.each_message(
            file,
            templates,
            known,
            || |_: &mut String, _: &Message| {},
            |_| Ok(()),
        )?;
        let elapsed = begin.elapsed();
        let mut statistics = total.into_inner().unwrap_or_else(PoisonError::into_inner);
        statistics.measured(elapsed, tally);
        Ok(statistics)
    }
}

/// What decoding came to, beside messages.
#[derive(Default)]
pub(super) struct Tally {
    /// Bytes of the messages.
    pub(super) bytes: u64,
    /// Chunks that were copies of others.
    pub(super) duplicate_chunks: u64,
    /// Packets that are not there.
    pub(super) missing: MissingPackets,
}

impl Tally {
    fn note_missing(&self) {
        if self.missing.count > 0 {
            let packets = counted(self.missing.count, "packet", "packets");
            note(format_args!("{packets} missing: {}", self.missing));
        }
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

    fn note(&mut self, what: fmt::Arguments<'_>) {
        self.count += 1;
        if !self.silent && self.count <= MAX_REPORTED {
            note(what);
        }
    }

    /// Fails if there are any, with what to try: `advice` if most packets are bad.
    fn verdict(&self, file: &PacketFile, advice: impl FnOnce() -> Option<String>) -> Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        let packets = counted(self.count, "packet", "packets");
        let failure = Failure::new(format_args!("{packets} could not be decoded"));
        let end = || (self.count == 1).then(|| cut_off(file)).flatten();
        Err(match advice().or_else(end) {
            Some(advice) => failure.hint(advice),
            None => failure.hint(EXPLAIN),
        })
    }
}

/// What to try where a few packets are bad.
const EXPLAIN: &str =
    "`tickwire fast explain --failed` with the same options shows where a message goes wrong";

/// How the session's reset message is shown.
pub(super) const RESET: &str = "(reset)";

/// Bad packets that are reported one by one.
const MAX_REPORTED: u64 = 10;

/// The template's name and the fields.
fn write_row(out: &mut String, message: &Message) -> fmt::Result {
    let template = message.template().map_or("", |template| template.name());
    write!(out, "{template:<16} ")?;
    write_fields(out, message.record())
}

/// `NAME=VALUE ...`, sequences as `NAME=[{...} {...}]`.
fn write_fields(out: &mut String, record: Record<'_>) -> fmt::Result {
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

fn write_braced(out: &mut String, record: Record<'_>) -> fmt::Result {
    write!(out, "{{")?;
    write_fields(out, record)?;
    write!(out, "}}")
}
