//! What the feed handler has counted and measured.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::Duration;

use clap::ValueEnum;
use serde_json::{Value, json};
use tickwire_feed::{ArbiterCounters, Line, LineCounters, ReassemblyCounters};
use tickwire_gateway::feed_handler::{Group, MalformedKind};
use tickwire_gateway::{
    FeedHandler, HandlerCounters, PublicationCounters, Publish, RoundTrips, Timing,
};

use crate::failure::{Failure, Result};
use crate::output::{ListFormat, counted, note, stdout, table, write_list};
use crate::stage::{is_stage, tell};

/// The form of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Form {
    /// Tables for people
    #[default]
    Table,
    /// One object
    Json,
    /// A line for each template
    Csv,
    /// The table that the article's publishers print, in microseconds: a count and mean by sample,
    /// the deviation by message; of decoding alone by message, with the one that ends the feed
    Article,
}

/// The result of a run.
pub(super) struct Report {
    topics: usize,
    groups: Vec<GroupReport>,
    /// Of all messages.
    decode: Timing,
    counts: Value,
    /// What went wrong, worst first.
    troubles: Vec<String>,
    /// Packets were malformed, or are none.
    is_unreadable: bool,
    /// Template ids that packets ask for and no template has.
    unknown_templates: BTreeSet<u32>,
    elapsed: Duration,
}

struct GroupReport {
    template: String,
    messages: u64,
    samples: u64,
    decode: Timing,
    publish: Timing,
    round_trip: Timing,
}

impl Report {
    /// Of a handler; the template `done` ended the feed, its one message is not data.
    pub(super) fn new<P: Publish>(
        handler: &FeedHandler<P>,
        done: &str,
        overflowed: u64,
        echoes: Option<(&RoundTrips, Option<u64>)>,
        elapsed: Duration,
    ) -> Self {
        let counters = handler.counters();
        let lines = handler.arbiter_counters();
        let group = |group: &Group| GroupReport {
            template: group.template.clone(),
            messages: group.messages,
            samples: group.samples,
            decode: group.decode.clone(),
            publish: group.publish.clone(),
            round_trip: echoes
                .and_then(|(echoes, _)| echoes.of(&group.template))
                .unwrap_or_default(),
        };
        let is_data = |group: &&Group| group.template != done && group.messages > 0;
        let groups: Vec<_> = counters.groups.iter().filter(is_data).map(group).collect();
        let mut decode = Timing::new();
        counters
            .groups
            .iter()
            .for_each(|group| decode.merge(&group.decode));
        let sum = |of: fn(&GroupReport) -> u64| groups.iter().map(of).sum::<u64>();
        let echoed = echoes.map_or(0, |(echoes, _)| echoes.count());
        let line = |line: &LineCounters| {
            json!({
                "won": line.won,
                "duplicate": line.duplicate,
                "late": line.late,
                "stray": line.stray,
                "lost": line.lost,
            })
        };
        let chunks = [Line::A, Line::B].map(|line| handler.reassembly_counters(line));
        // What one of two lines lacks the other may have brought: their arbiter tells what neither did.
        let only_line = match lines.b == LineCounters::default() {
            true => chunks[0],
            false => ReassemblyCounters::default(),
        };
        let counts = json!({
            "packets": counters.packets,
            "malformed": counters.malformed,
            "malformed_by": malformed_by(counters).into_iter().collect::<serde_json::Map<_, _>>(),
            "losses": counters.losses,
            "decoded": sum(|group| group.messages),
            "unresolved": counters.unresolved,
            "empty": counters.empty,
            "refused": counters.refused,
            "published": sum(|group| group.samples),
            "echoed": echoed,
            "overflowed": overflowed,
            "not_stored": 0,
            "not_synced": 0,
            "blocked": 0,
            "blocked_s": 0.0,
            "lost_packets": lines.lost,
            "gaps": lines.gaps,
            "restarts": lines.restarts,
            "undecided": lines.undecided,
            "line_a": line(&lines.a),
            "line_b": line(&lines.b),
            "chunks_a": chunk_counts(&chunks[0]),
            "chunks_b": chunk_counts(&chunks[1]),
        });
        let expected = echoes.and_then(|(_, expected)| expected);
        Self {
            topics: 0,
            groups,
            decode,
            counts,
            troubles: troubles(counters, overflowed, lines, only_line, echoed, expected),
            unknown_templates: counters.unknown_templates.clone(),
            is_unreadable: counters.malformed > 0 || counters.losses > overflowed,
            elapsed,
        }
    }

    /// Adds the topics, and what went wrong with their samples.
    pub(super) fn published_on(&mut self, topics: usize, counters: &PublicationCounters) {
        self.topics = topics;
        self.counts["not_stored"] = json!(counters.not_stored);
        self.counts["not_synced"] = json!(counters.not_synced);
        self.counts["blocked"] = json!(counters.blocked);
        self.counts["blocked_s"] = json!(counters.blocked_for.as_secs_f64());
        self.troubles.extend(not_kept(counters));
    }

    /// Samples published, those of the template that ends the feed apart.
    pub(super) fn published(counters: &HandlerCounters, done: &str) -> u64 {
        let groups = counters
            .groups
            .iter()
            .filter(|group| group.template != done);
        groups.map(|group| group.samples).sum()
    }

    /// Whether no packet came.
    pub(super) fn is_of_nothing(&self) -> bool {
        self.counts["packets"] == 0
    }

    /// Whether one thing that is no packet is all that could not be read.
    pub(super) fn is_one_loss(&self) -> bool {
        self.counts["losses"] == 1 && self.counts["malformed"] == 0
    }

    /// Writes it to standard output; as an event if this process is a stage.
    pub(super) fn write(&self, form: Form) -> Result<()> {
        if is_stage() {
            return tell(&self.to_json());
        }
        let mut out = stdout();
        match form {
            Form::Table => self.write_table(&mut out)?,
            Form::Json => writeln!(out, "{:#}", self.to_json())?,
            Form::Csv => write_list(&mut out, ListFormat::Csv, &COLUMNS, &self.rows())?,
            Form::Article => self.write_article(&mut out)?,
        }
        Ok(out.flush()?)
    }

    /// Fails if anything was lost on the way. If packets could not be read, `advice` says what to try, given the
    /// template ids that no template has.
    pub(super) fn verdict(
        &self,
        advice: impl FnOnce(&BTreeSet<u32>) -> Option<String>,
    ) -> Result<()> {
        if self.troubles.is_empty() {
            return Ok(());
        }
        let failure = Failure::new(self.troubles.join("; "));
        Err(match self.is_unreadable {
            true => failure.hint(advice(&self.unknown_templates).unwrap_or_else(|| {
                "`tickwire fast decode` names each bad packet of a file; if most are bad, try another `--venue`, \
                 `--framing`, `--preamble` or `--reset`"
                    .to_owned()
            })),
            false => failure,
        })
    }

    /// Says on standard error what went wrong beside what ended the feed.
    pub(super) fn note_troubles(&self) {
        if !self.troubles.is_empty() && !is_stage() {
            note(self.troubles.join("; "));
        }
    }

    fn to_json(&self) -> Value {
        let mut object = self.counts.clone();
        object["event"] = json!("report");
        object["topics"] = json!(self.topics);
        object["elapsed_s"] = json!(self.elapsed.as_secs_f64());
        object["groups"] = self.groups.iter().map(GroupReport::to_json).collect();
        object
    }

    fn rows(&self) -> Vec<Vec<Value>> {
        self.groups.iter().map(GroupReport::row).collect()
    }

    fn write_table(&self, out: &mut impl Write) -> Result<()> {
        writeln!(out, "{}", table(&COLUMNS, &self.rows()))?;
        writeln!(out)?;
        let counts = &self.counts;
        let names = ["packets", "decoded", "published", "echoed"];
        for name in names {
            writeln!(out, "{name:<12}{}", counts[name])?;
        }
        if let Some(empty @ 1..) = counts["empty"].as_u64() {
            writeln!(
                out,
                "{:<12}{}",
                "empty",
                counted(empty, "message", "messages")
            )?;
        }
        if let Some(writes @ 1..) = counts["blocked"].as_u64() {
            let writes = counted(writes, "write", "writes");
            let seconds = counts["blocked_s"].as_f64().unwrap_or_default();
            writeln!(out, "{:<12}{writes}, {seconds:.3} s", "blocked")?;
        }
        for (name, count) in [("not stored", "not_stored"), ("not synced", "not_synced")] {
            if let Some(samples @ 1..) = counts[count].as_u64() {
                let samples = counted(samples, "sample", "samples");
                writeln!(out, "{name:<12}{samples}")?;
            }
        }
        let is_zero = |counts: &Value, names: &[&str]| names.iter().all(|name| counts[name] == 0);
        let row = |counts: &Value, names: &[&str]| {
            let cells = names.iter().map(|name| format!("{} {name}", counts[name]));
            cells.collect::<Vec<_>>().join(", ")
        };
        let (a, b) = (&counts["line_a"], &counts["line_b"]);
        let has_b = !is_zero(b, &LINE_COUNTS[..2]);
        // With one line all packets are its own, unless numbers come again or not at all.
        if has_b || !is_zero(a, &LINE_COUNTS[1..]) {
            writeln!(out, "{:<12}{}", "line A", row(a, &LINE_COUNTS))?;
        }
        if has_b {
            writeln!(out, "{:<12}{}", "line B", row(b, &LINE_COUNTS))?;
        }
        if counts["restarts"] != 0 {
            writeln!(out, "{:<12}{}", "restarts", counts["restarts"])?;
        }
        for (name, chunks) in [("chunks A", "chunks_a"), ("chunks B", "chunks_b")] {
            if !is_zero(&counts[chunks], &CHUNK_COUNTS) {
                writeln!(out, "{name:<12}{}", row(&counts[chunks], &CHUNK_COUNTS))?;
            }
        }
        Ok(writeln!(
            out,
            "{:<12}{:.3} s",
            "elapsed",
            self.elapsed.as_secs_f64()
        )?)
    }

    /// Rows as in the article: round trips, messages with their publication, and the decoder's run.
    fn write_article(&self, out: &mut impl Write) -> Result<()> {
        let elapsed_us = self.elapsed.as_micros();
        writeln!(
            out,
            "Elapsed time from first start time to last end time: {elapsed_us}"
        )?;
        writeln!(
            out,
            "name\tcount\tsum\tmean\tstd_dev\trecursions\trsum\trmean\trstd_dev"
        )?;
        let echoed = |group: &&GroupReport| group.round_trip.count() > 0;
        for group in self.groups.iter().filter(echoed) {
            let echoes = group.round_trip.count();
            write_article_row(out, "Echo::on_data_availa()", &group.round_trip, echoes)?;
        }
        let published = |group: &&GroupReport| group.samples > 0;
        for group in self.groups.iter().filter(published) {
            write_article_row(out, "::endMessage()", &group.publish, group.samples)?;
        }
        if !self.groups.iter().any(|group| group.samples > 0) {
            let messages = self.decode.count();
            write_article_row(out, "EmptyBuilder::endMessage", &self.decode, messages)?;
        }
        Ok(writeln!(
            out,
            "decoder.decode(source, builder)\t1\t{elapsed_us}"
        )?)
    }
}

impl GroupReport {
    fn to_json(&self) -> Value {
        let (publish, echo) = (&self.publish, &self.round_trip);
        let one_way = |quantile| measured(echo, echo.quantile_ns(quantile) / 2);
        json!({
            "template": self.template,
            "messages": self.messages,
            "samples": self.samples,
            "decode_mean_ns": self.decode.mean_ns(),
            "decode_p50_ns": self.decode.quantile_ns(0.5),
            "publish_mean_ns": measured(publish, publish.mean_ns()),
            "publish_p50_ns": measured(publish, publish.quantile_ns(0.5)),
            "publish_p99_ns": measured(publish, publish.quantile_ns(0.99)),
            "one_way_p50_ns": one_way(0.5),
            "one_way_p99_ns": one_way(0.99),
            "one_way_max_ns": measured(echo, echo.max_ns() / 2),
            "round_trip_mean_ns": measured(echo, echo.mean_ns()),
        })
    }

    fn row(&self) -> Vec<Value> {
        let echo = &self.round_trip;
        let one_way_us = |round_trip_ns: u64| measured(echo, round_trip_ns as f64 / 2e3);
        vec![
            json!(self.template),
            json!(self.messages),
            json!(self.samples),
            json!(self.decode.mean_ns().round() as u64),
            measured(&self.publish, self.publish.mean_ns() / 1e3),
            one_way_us(echo.quantile_ns(0.5)),
            one_way_us(echo.quantile_ns(0.99)),
            one_way_us(echo.max_ns()),
        ]
    }
}

/// How many packets were given up for each error code.
fn malformed_by(counters: &HandlerCounters) -> Vec<(String, Value)> {
    let name = |kind: &MalformedKind| match kind {
        MalformedKind::Preamble => "preamble".to_owned(),
        MalformedKind::Code(code) => format!("{code:?}"),
    };
    let kinds = counters.malformed_by.iter();
    kinds
        .map(|(kind, count)| (name(kind), json!(count)))
        .collect()
}

fn chunk_counts(chunks: &ReassemblyCounters) -> Value {
    json!({
        "whole": chunks.whole,
        "incomplete": chunks.incomplete,
        "duplicate": chunks.duplicate,
        "refused": chunks.refused,
    })
}

/// A figure of `timing`, or nothing where nothing was timed.
fn measured(timing: &Timing, figure: impl Into<Value>) -> Value {
    match timing.count() {
        0 => Value::Null,
        _ => figure.into(),
    }
}

/// `count` things took as long as all of `timing`.
fn write_article_row(out: &mut impl Write, name: &str, timing: &Timing, count: u64) -> Result<()> {
    let sum = timing.mean_ns() / 1e3 * timing.count() as f64;
    let (mean, deviation) = (sum / count.max(1) as f64, timing.deviation_ns() / 1e3);
    Ok(writeln!(
        out,
        "{name}\t{count}\t{sum:.0}\t{mean:.3}\t{deviation:.3}\t0"
    )?)
}

/// What readers to come will miss.
fn not_kept(counters: &PublicationCounters) -> Option<String> {
    let first = counters.first_not_stored.as_ref()?;
    let what = match (counters.not_stored, counters.not_synced) {
        (0, unsynced) => format!(
            "the disk failed {} of a durable writer",
            counted(unsynced, "write", "writes")
        ),
        (samples, _) => format!(
            "{} sent but not stored, which readers to come will miss",
            counted(samples, "sample was", "samples were")
        ),
    };
    Some(format!("{what}, the first: {first}"))
}

fn troubles(
    counters: &HandlerCounters,
    overflowed: u64,
    lines: &ArbiterCounters,
    chunks: ReassemblyCounters,
    echoed: u64,
    expected: Option<u64>,
) -> Vec<String> {
    let mut troubles = Vec::new();
    if let Some(first) = &counters.first_malformed {
        let kinds = malformed_by(counters).into_iter();
        let kinds: Vec<_> = kinds
            .map(|(kind, count)| format!("{kind} {count}"))
            .collect();
        let kinds = match &kinds[..] {
            [_] => String::new(),
            kinds => format!(" ({})", kinds.join(", ")),
        };
        troubles.push(format!(
            "{} malformed{kinds}, the first: {first}",
            counted(counters.malformed, "packet", "packets")
        ));
    }
    if chunks.incomplete + chunks.refused > 0 {
        troubles.push(format!(
            "messages that lack chunks: {}, chunks that belong to none: {}",
            chunks.incomplete, chunks.refused
        ));
    }
    if counters.losses > 0 && overflowed == 0 {
        let parts = counted(
            counters.losses,
            "part of the file is",
            "parts of the file are",
        );
        troubles.push(format!("{parts} no packets"));
    }
    if counters.unresolved > 0 {
        troubles.push(format!(
            "{} values of others that were lost before",
            counted(counters.unresolved, "packet needs", "packets need")
        ));
    }
    if let Some(first) = &counters.first_refused {
        troubles.push(format!(
            "{} without sample, the first: {first}",
            counted(counters.refused, "message", "messages")
        ));
    }
    if overflowed > 0 {
        troubles.push(format!(
            "{} beyond what memory is set aside for",
            counted(overflowed, "packet", "packets")
        ));
    }
    if lines.lost > 0 {
        let packets = counted(lines.lost, "packet", "packets");
        let or_late = match lines.a.late + lines.b.late {
            0 => "",
            _ => ", or later than they are waited for",
        };
        troubles.push(format!("{packets} lost on all lines{or_late}"));
    }
    let stray = lines.a.stray + lines.b.stray;
    if stray > 0 {
        troubles.push(format!(
            "{} far ahead of all others, and passed over",
            counted(stray, "packet has a number", "packets have numbers")
        ));
    }
    if lines.undecided > 0 {
        troubles.push(format!(
            "{} at the end with numbers that came before, too few to tell whether the feed has started over: \
             passed over",
            counted(lines.undecided, "packet", "packets")
        ));
    }
    match expected {
        Some(expected) if echoed < expected => {
            troubles.push(format!("{echoed} of {expected} samples came back"));
        }
        Some(expected) if echoed > expected => troubles.push(format!(
            "{echoed} samples came back, but {expected} were expected: \
             there are more subscribers than `--wait` says, or others publish these topics"
        )),
        _ => {}
    }
    troubles
}

const LINE_COUNTS: [&str; 5] = ["won", "duplicate", "late", "stray", "lost"];
const CHUNK_COUNTS: [&str; 4] = ["whole", "incomplete", "duplicate", "refused"];
const COLUMNS: [&str; 8] = [
    "template",
    "messages",
    "samples",
    "decode ns",
    "decode+publish us",
    "one-way us p50",
    "p99",
    "max",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_echoes_are_trouble_like_too_few() {
        let troubles = |echoed, expected| {
            let (lines, chunks) = (ArbiterCounters::default(), ReassemblyCounters::default());
            troubles(
                &HandlerCounters::default(),
                0,
                &lines,
                chunks,
                echoed,
                expected,
            )
        };
        assert!(troubles(10, Some(10)).is_empty());
        assert!(troubles(10, None).is_empty());
        assert!(troubles(9, Some(10))[0].starts_with("9 of 10 samples came back"));
        assert!(troubles(12, Some(10))[0].starts_with("12 samples came back, but 10"));
    }
}
