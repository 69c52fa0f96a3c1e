//! One example: its feed, its three processes, and what they report.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use tickwire_feed::generate::{
    COMPLEX_TEMPLATES, ComplexOptions, SIMPLE_TEMPLATES, SimpleOptions, Summary,
};
use tickwire_feed::{Generator, OURS, PacketNumber};

use super::report::{Article, Report};
use crate::failure::{Failure, Result};
use crate::progress::Progress;
use crate::stage::Stage;

/// The article's examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Example {
    Simple,
    Complex,
}

impl Example {
    /// Runs all stages to their ends.
    pub(super) fn run(
        self,
        folder: &Path,
        domain: u32,
        group: SocketAddr,
        messages: u32,
    ) -> Result<Report> {
        let feed = Feed::generate(self, folder, messages)?;
        let decoded_alone = feed.decode_alone()?;
        let started = Instant::now();
        let domain = domain.to_string();
        let group = group.to_string();
        let mut subscriber = Stage::start(
            "subscriber",
            &words(&["feed", "subscribe", "--domain", &domain]),
        )?;
        subscriber.wait_for("ready", PATIENCE, |_| {})?;
        let mut run = words(&[
            "feed", "run", "--domain", &domain, "--group", &group, "--wait", "1",
        ]);
        // A feed that falls silent without its Done has lost it: what else is lost will be told.
        let limits = ["--patience", "20s", "--silence", "5s"];
        run.extend(words(&["--templates", &feed.templates]));
        run.extend(words(&limits));
        run.extend(words(self.handler_options()));
        let mut handler = Stage::start("feed handler", &run)?;
        handler.wait_for("ready", PATIENCE, |_| {})?;
        let send = words(&[
            "feed",
            "send",
            &feed.data,
            "--group",
            &group,
            "--pause",
            self.pause(),
        ]);
        let begin = Instant::now();
        let mut exchange = Stage::start("multicaster", &send)?;
        let sent = exchange.wait_for("report", LIMIT, |_| {})?;
        exchange.wait(PATIENCE)?;
        let progress = Progress::new(self.name(), feed.summary.samples);
        let handled = handler.wait_for("report", LIMIT, |event| {
            progress.set(number(&event, "echoed"));
        })?;
        let mut received = Value::Null;
        // Without its Done the subscriber does not end: what it has told last must do.
        if let Ok(report) = subscriber.wait_for("report", PATIENCE, |event| received = event) {
            received = report;
        }
        progress.finish();
        let elapsed = begin.elapsed();
        handler.wait(PATIENCE)?;
        Ok(Report {
            name: self.name(),
            summary: feed.summary,
            sent,
            handled,
            received,
            decoded_alone,
            elapsed,
            start_up: begin - started,
            article: self.article(),
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Complex => "complex",
        }
    }

    /// A packet of the simple feed has some 9 messages, one of the complex feed has one: between
    /// packets the handler and the subscriber must get done, or what is measured is the queue.
    fn pause(self) -> &'static str {
        match self {
            Self::Simple => "400us",
            Self::Complex => "120us",
        }
    }

    fn handler_options(self) -> &'static [&'static str] {
        match self {
            Self::Simple => &[],
            Self::Complex => &["--securities", "1000-1099"],
        }
    }

    fn article(self) -> Article {
        match self {
            Self::Simple => Article {
                decode_ns: "448",
                publish_us: "2.1 to 2.2",
                latency_us: "38.5 to 42.0",
                elapsed_s: "2.85",
            },
            Self::Complex => Article {
                decode_ns: "under 2,500",
                publish_us: "23.6 MarketData, 5.9 QuoteRequest",
                latency_us: "65.0 MarketData, 61.3 QuoteRequest",
                elapsed_s: "4.50",
            },
        }
    }
}

/// A generated feed in files.
struct Feed {
    data: String,
    templates: String,
    summary: Summary,
}

impl Feed {
    fn generate(example: Example, folder: &Path, messages: u32) -> Result<Self> {
        let (generator, xml) = match example {
            Example::Simple => {
                let options = SimpleOptions {
                    messages,
                    packet_bytes: SIMPLE_PACKET_BYTES,
                    ..SimpleOptions::default()
                };
                (Generator::simple(options), SIMPLE_TEMPLATES)
            }
            Example::Complex => {
                let options = ComplexOptions {
                    messages,
                    ..ComplexOptions::default()
                };
                (Generator::complex(options), COMPLEX_TEMPLATES)
            }
        };
        let mut generator = generator.map_err(Failure::new)?;
        let (mut file, mut packet) = (Vec::new(), Vec::new());
        while generator.next_packet(&mut packet).map_err(Failure::new)? {
            OURS.append_packet(PacketNumber::default(), &[&packet], &mut file)
                .map_err(Failure::new)?;
        }
        let save = |extension: &str, bytes: &[u8]| -> Result<String> {
            let path = folder.join(example.name()).with_extension(extension);
            let text = path.display().to_string();
            match fs::write(&path, bytes) {
                Ok(()) => Ok(text),
                Err(error) => Err(Failure::new(format_args!("cannot write {text}: {error}"))),
            }
        };
        Ok(Self {
            data: save("dat", &file)?,
            templates: save("xml", xml.as_bytes())?,
            summary: *generator.summary(),
        })
    }

    /// Decodes the whole feed from its file, and makes nothing of it.
    fn decode_alone(&self) -> Result<Value> {
        let run = words(&["feed", "run", "--decode-only", "--file", &self.data]);
        let templates = words(&["--templates", &self.templates]);
        let mut decoder = Stage::start("decoder", &[run, templates].concat())?;
        let report = decoder.wait_for("report", LIMIT, |_| {})?;
        decoder.wait(PATIENCE)?;
        Ok(report)
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A number of a stage's event; 0 if it does not have it, which the reconciliation will notice.
pub(super) fn number(event: &Value, name: &str) -> u64 {
    event[name].as_u64().unwrap_or(0)
}

/// How long a stage may take to start, and to end.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long a stage may take for its work.
const LIMIT: Duration = Duration::from_secs(600);

/// Of the simple feed, as in the article: bursts of some 80 messages, which wait for each other in
/// the latency that is shown.
const SIMPLE_PACKET_BYTES: usize = 1024;
