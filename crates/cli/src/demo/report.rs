//! What the stages of an example have counted and measured, side by side, and whether it agrees.

use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};
use tickwire_feed::generate::Summary;

use super::example::number;
use crate::failure::Result;
use crate::output::{ListFormat, table, write_list};

/// One example's outcome.
pub(super) struct Report {
    pub(super) name: &'static str,
    /// What the feed contains.
    pub(super) summary: Summary,
    /// The multicaster's report.
    pub(super) sent: Value,
    /// The feed handler's.
    pub(super) handled: Value,
    /// The subscriber's.
    pub(super) received: Value,
    /// That of a handler which decoded the feed from its file and published nothing.
    pub(super) decoded_alone: Value,
    /// From the first packet to the last echo.
    pub(super) elapsed: Duration,
    /// From the start of the processes until all endpoints had found each other.
    pub(super) start_up: Duration,
    pub(super) article: Article,
}

/// What the article reports of the same example (2010, two hosts, QDR InfiniBand).
pub(super) struct Article {
    pub(super) decode_ns: &'static str,
    pub(super) publish_us: &'static str,
    pub(super) latency_us: &'static str,
    pub(super) elapsed_s: &'static str,
}

impl Report {
    /// Messages without Done.
    fn messages(&self) -> u64 {
        self.summary.messages - 1
    }

    /// Where counts do not agree, in the order of the road.
    pub(super) fn discrepancies(&self) -> Vec<String> {
        let (sent, handled, received) = (&self.sent, &self.handled, &self.received);
        let steps = [
            (
                "packets",
                "generated",
                self.summary.packets,
                "sent",
                number(sent, "packets"),
            ),
            (
                "packets",
                "sent",
                number(sent, "packets"),
                "received by the feed handler",
                number(handled, "packets"),
            ),
            (
                "messages",
                "generated",
                self.messages(),
                "decoded",
                number(handled, "decoded"),
            ),
            (
                "samples",
                "in the feed",
                self.summary.samples,
                "published",
                number(handled, "published"),
            ),
            (
                "samples",
                "published",
                number(handled, "published"),
                "received by the subscriber",
                number(received, "received"),
            ),
            (
                "samples",
                "received by the subscriber",
                number(received, "received"),
                "echoed by it",
                number(received, "echoed"),
            ),
            (
                "samples",
                "echoed by the subscriber",
                number(received, "echoed"),
                "received back",
                number(handled, "echoed"),
            ),
        ];
        let differing = steps
            .into_iter()
            .filter(|(_, _, before, _, after)| before != after);
        differing
            .map(|(what, from, before, to, after)| {
                format!("{}: {before} {what} {from}, {after} {to}", self.name)
            })
            .collect()
    }

    pub(super) fn write(&self, out: &mut impl Write) -> Result<()> {
        let topics = number(&self.handled, "topics");
        writeln!(
            out,
            "{}: {} messages on {topics} topics",
            self.name,
            self.messages()
        )?;
        writeln!(out)?;
        let counts = [
            json!(self.messages()),
            self.handled["decoded"].clone(),
            self.handled["published"].clone(),
            self.received["received"].clone(),
            self.handled["echoed"].clone(),
        ];
        let columns = ["sent", "decoded", "published", "received", "echoed"];
        writeln!(out, "{}", table(&columns, &[counts.to_vec()]))?;
        writeln!(out)?;
        writeln!(out, "{}", table(&GROUP_COLUMNS, &self.groups()))?;
        writeln!(out)?;
        let seconds = self.elapsed.as_secs_f64();
        writeln!(
            out,
            "elapsed {seconds:.2} s, after {:.2} s to find all endpoints",
            self.start_up.as_secs_f64()
        )?;
        self.write_notes(out)?;
        Ok(writeln!(out)?)
    }

    /// What the columns have in them, and the article's figures.
    fn write_notes(&self, out: &mut impl Write) -> Result<()> {
        let Article {
            decode_ns,
            publish_us,
            latency_us,
            elapsed_s,
        } = self.article;
        let notes = format!(
            "\
decode is of packets that come after a pause, in which the core slept or did other work;
  back to back is the same feed from its file, decoded at a stretch, nothing published
decode+publish leaves out the system calls that send at the end of each packet;
  one-way times have them, and the wait for the rest of the packet
QuickFAST and OpenDDS with the same examples, as an article of 2010 has them, means:
  decode {decode_ns} ns, decode+publish {publish_us} us, one-way {latency_us} us,
  elapsed {elapsed_s} s; two hosts, InfiniBand"
        );
        Ok(writeln!(out, "{notes}")?)
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "example": self.name,
            "sent": self.messages(),
            "decoded": self.handled["decoded"],
            "published": self.handled["published"],
            "received": self.received["received"],
            "echoed": self.handled["echoed"],
            "topics": self.handled["topics"],
            "groups": self.handled["groups"],
            "groups_decoded_alone": self.decoded_alone["groups"],
            "elapsed_s": self.elapsed.as_secs_f64(),
            "start_up_s": self.start_up.as_secs_f64(),
        })
    }

    /// A row for each group of topics.
    fn groups(&self) -> Vec<Vec<Value>> {
        let groups = |report: &Value| report["groups"].as_array().cloned().unwrap_or_default();
        let alone = groups(&self.decoded_alone);
        let back_to_back = |group: &Value| {
            let same = |it: &&Value| it["template"] == group["template"];
            alone
                .iter()
                .find(same)
                .map_or(Value::Null, |it| it["decode_p50_ns"].clone())
        };
        let us = |value: &Value| json!(value.as_f64().unwrap_or(0.0) / 1e3);
        let row = |group: &Value| {
            vec![
                group["template"].clone(),
                group["samples"].clone(),
                group["decode_p50_ns"].clone(),
                back_to_back(group),
                us(&group["publish_mean_ns"]),
                us(&group["one_way_p50_ns"]),
                us(&group["one_way_p99_ns"]),
                us(&group["one_way_max_ns"]),
            ]
        };
        groups(&self.handled).iter().map(row).collect()
    }
}

/// The groups of all examples, one table.
pub(super) fn write_csv(out: &mut impl Write, reports: &[Report]) -> Result<()> {
    let mut columns = vec!["example"];
    columns.extend(GROUP_COLUMNS);
    let rows: Vec<Vec<Value>> = reports
        .iter()
        .flat_map(|report| report.groups().into_iter().map(move |row| (report, row)))
        .map(|(report, row)| [vec![json!(report.name)], row].concat())
        .collect();
    Ok(write_list(out, ListFormat::Csv, &columns, &rows)?)
}

const GROUP_COLUMNS: [&str; 8] = [
    "topics",
    "samples",
    "decode ns p50",
    "back to back",
    "decode+publish us",
    "one-way us p50",
    "p99",
    "max",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn report(received: u64, echoed_back: u64) -> Report {
        let summary = Summary {
            messages: 101,
            packets: 12,
            bytes: 1_000,
            entries: 300,
            samples: 140,
        };
        Report {
            name: "complex",
            summary,
            sent: json!({"packets": 12}),
            handled: json!({"packets": 12, "decoded": 100, "published": 140, "echoed": echoed_back}),
            received: json!({"received": received, "echoed": received}),
            decoded_alone: Value::Null,
            elapsed: Duration::from_secs(1),
            start_up: Duration::ZERO,
            article: Article {
                decode_ns: "",
                publish_us: "",
                latency_us: "",
                elapsed_s: "",
            },
        }
    }

    #[test]
    fn equal_counts_need_no_words() {
        assert_eq!(report(140, 140).discrepancies(), [] as [String; 0]);
    }

    #[test]
    fn what_was_lost_is_told_where_it_was_lost() {
        assert_eq!(
            report(138, 138).discrepancies(),
            ["complex: 140 samples published, 138 received by the subscriber"]
        );
        assert_eq!(
            report(140, 139).discrepancies(),
            ["complex: 140 samples echoed by the subscriber, 139 received back"]
        );
        let mut silent = report(0, 0);
        silent.received = Value::Null;
        assert!(silent.discrepancies()[0].contains("0 received by the subscriber"));
    }
}
