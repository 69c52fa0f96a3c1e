//! The thread of a feed: packets in, batches out.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use arrow_schema::SchemaRef;
use tickwire::Serialized;
use tickwire::cdr::dynamic::Form;
use tickwire_arrow::{Options, Rows};
use tickwire_feed::Line;
use tickwire_gateway::{FeedHandler, FeedTopic, Lines, Mapper, Mapping, Publish, TopicIndex};
use tickwire_transport::clock;

use super::settings::{FeedSettings, FeedSource, Source};
use super::{Counts, Given};
use crate::arrow::{LeftOut, MAX_WEIGHT, options};
use crate::owned::lock;
use crate::wait::PART;

/// Where batches go.
type Sender = SyncSender<Result<Given, String>>;

/// A feed that has not begun.
pub(super) struct Work {
    source: Source,
    handler: FeedHandler<Collector>,
    silence: Duration,
    raises: bool,
    /// Of the one message that is meant.
    pub(super) schema: Option<SchemaRef>,
    /// The templates whose messages become rows.
    pub(super) messages: Vec<String>,
    /// Those whose messages cannot, and why.
    pub(super) unmapped: Vec<(String, String)>,
}

/// Why a feed ends early.
enum End {
    /// Nobody takes batches any more.
    Gone,
    Failed(String),
}

/// Collects messages as rows.
struct Collector {
    /// By topic, of which each template has one.
    tables: Vec<Table>,
    max_rows: usize,
    every: Option<Duration>,
    raises: bool,
    /// When the first row came that waits.
    since: Option<Instant>,
    /// Bytes that wait, about.
    weight: usize,
    skipped: u64,
    undecodable: u64,
    rows: u64,
    /// Batches were handed over since that was last asked.
    has_given: bool,
    /// None before the feed begins.
    sender: Option<Sender>,
}

/// Rows of a template.
struct Table {
    name: Arc<str>,
    rows: Result<Rows, NoRows>,
    left_out: LeftOut,
}

/// Why a template has no rows.
enum NoRows {
    NotMeant,
    Unmapped(String),
}

impl Work {
    pub(super) fn new(source: FeedSource, settings: &FeedSettings) -> Result<Self, String> {
        let templates = settings.templates()?;
        let columns = options(settings.decimals, &settings.enums, &[])?;
        let mapper = Mapper::new(&templates, Mapping::TopicPerType);
        let tables = tables(&mapper, settings.message.as_deref(), &columns);
        let unmapped = mapper.unmapped().iter();
        let mut unmapped: Vec<_> = unmapped
            .map(|(name, reason)| (name.clone(), reason.to_string()))
            .collect();
        let (mut messages, mut schema) = (Vec::new(), None);
        for table in &tables {
            match &table.rows {
                Ok(rows) => {
                    messages.push(table.name.to_string());
                    schema = Some(Arc::clone(rows.schema()));
                }
                Err(NoRows::NotMeant) => {}
                Err(NoRows::Unmapped(why)) => unmapped.push((table.name.to_string(), why.clone())),
            }
        }
        if let Some(message) = &settings.message {
            check_message(message, &messages, &unmapped, &tables)?;
        }
        let raises = settings.raises()?;
        let collector = Collector {
            tables,
            max_rows: settings.rows.max(1),
            every: settings.every.map(seconds).transpose()?,
            raises,
            since: None,
            weight: 0,
            skipped: 0,
            undecodable: 0,
            rows: 0,
            has_given: false,
            sender: None,
        };
        let handler_options = source.handler_options(settings)?;
        Ok(Self {
            source: source.open(settings)?,
            handler: FeedHandler::new(&templates, handler_options, Some(mapper), collector),
            silence: settings.silence.map_or(Ok(Duration::MAX), seconds)?,
            raises,
            schema: schema.filter(|_| settings.message.is_some()),
            messages,
            unmapped,
        })
    }

    /// Decodes until the source ends, nobody takes batches any more, or something is wrong that must not be.
    pub(super) fn run(mut self, sender: Sender, stop: &AtomicBool, counts: &Mutex<Counts>) {
        self.handler.publish().sender = Some(sender.clone());
        let ended = self.drive(stop, counts);
        let ended = ended.and_then(|()| {
            self.handler.finish()?;
            self.check(0)?;
            self.handler.publish().give_all()
        });
        *lock(counts) = self.counts();
        if let Err(End::Failed(error)) = ended {
            // What was decoded before comes before.
            let _given = self.handler.publish().give_all();
            // Nobody may wait for it.
            let _sent = sender.send(Err(error));
        }
    }

    fn drive(&mut self, stop: &AtomicBool, counts: &Mutex<Counts>) -> Result<(), End> {
        let source = std::mem::replace(&mut self.source, Source::Done);
        match source {
            Source::File(file) => {
                for frame in file.frames() {
                    if stop.load(Ordering::Relaxed) {
                        return Err(End::Gone);
                    }
                    match frame {
                        Ok(frame) => self.handler.handle_packet(Line::A, frame.packet)?,
                        Err(error) if self.raises => return Err(End::Failed(error.to_string())),
                        Err(_) => self.handler.handle_loss(),
                    }
                    self.check(0)?;
                    self.tell(counts);
                }
                Ok(())
            }
            Source::Lines(lines) => self.receive(*lines, stop, counts),
            Source::Done => Ok(()),
        }
    }

    fn receive(
        &mut self,
        mut lines: Lines,
        stop: &AtomicBool,
        counts: &Mutex<Counts>,
    ) -> Result<(), End> {
        let failed = |error: &dyn std::fmt::Display| End::Failed(error.to_string());
        let mut last = Instant::now();
        while !self.handler.is_done() {
            if stop.load(Ordering::Relaxed) {
                return Err(End::Gone);
            }
            lines.drain().map_err(|error| failed(&error))?;
            if let Some(packet) = lines.next_packet() {
                last = Instant::now();
                if packet.after_loss {
                    self.handler.handle_loss();
                }
                self.handler.handle_packet(packet.line, &packet.bytes)?;
                lines.recycle(packet);
            } else if last.elapsed() > self.silence {
                return Ok(());
            } else {
                let next = clock::now() + self.handler.publish().patience();
                let timeout = self.handler.poll_timeout();
                let deadline = timeout.map_or(next, |timeout| timeout.min(next));
                lines.wait(Some(deadline)).map_err(|error| failed(&error))?;
            }
            self.handler.handle_timeout()?;
            self.check(lines.overflowed())?;
            self.handler.publish().give_late()?;
            self.tell(counts);
        }
        Ok(())
    }

    /// That nothing is wrong that must not be.
    fn check(&self, overflowed: u64) -> Result<(), End> {
        if !self.raises {
            return Ok(());
        }
        let counters = self.handler.counters();
        if let Some(malformed) = &counters.first_malformed {
            return Err(End::Failed(malformed.to_string()));
        }
        if let Some(refused) = &counters.first_refused {
            return Err(End::Failed(refused.clone()));
        }
        if counters.unresolved > 0 || overflowed > 0 {
            let text = "packets were lost, and others need values of theirs";
            return Err(End::Failed(text.to_owned()));
        }
        Ok(())
    }

    /// Tells what is counted, now and then.
    fn tell(&mut self, counts: &Mutex<Counts>) {
        if std::mem::take(&mut self.handler.publish().has_given) {
            *lock(counts) = self.counts();
        }
    }

    fn counts(&mut self) -> Counts {
        let collector = self.handler.publish();
        let (skipped, undecodable) = (collector.skipped, collector.undecodable);
        let rows = collector.rows;
        let counters = self.handler.counters();
        let messages = counters.groups.iter().map(|group| group.messages).sum();
        Counts(vec![
            ("packets", counters.packets),
            ("bytes", counters.bytes),
            ("messages", messages),
            ("rows", rows),
            ("skipped", skipped),
            ("malformed", counters.malformed),
            ("unresolved", counters.unresolved),
            ("losses", counters.losses),
            ("refused", counters.refused),
            ("undecodable", undecodable),
        ])
    }
}

fn tables(mapper: &Mapper, message: Option<&str>, options: &Options) -> Vec<Table> {
    let topics = mapper.topics().iter();
    let tables = topics.map(|topic| {
        let is_meant = message.is_none_or(|message| message == topic.template);
        let ty = mapper.types().get(topic.type_index);
        let rows = match ty.filter(|_| is_meant) {
            Some(ty) => Rows::new(ty.description(), options)
                .map_err(|error| NoRows::Unmapped(error.to_string())),
            None => Err(NoRows::NotMeant),
        };
        Table {
            name: Arc::from(&*topic.template),
            rows,
            left_out: LeftOut::default(),
        }
    });
    tables.collect()
}

/// That the one message that is meant has rows.
fn check_message(
    message: &str,
    messages: &[String],
    unmapped: &[(String, String)],
    tables: &[Table],
) -> Result<(), String> {
    if let Some((_, why)) = unmapped.iter().find(|(name, _)| name == message) {
        return Err(format!("messages of {message} cannot be rows: {why}"));
    }
    if messages.is_empty() {
        let known: Vec<_> = tables.iter().map(|table| &*table.name).collect();
        let known = known.join(", ");
        return Err(format!(
            "no template is called {message}; there are {known}"
        ));
    }
    Ok(())
}

fn seconds(seconds: f64) -> Result<Duration, String> {
    match seconds.is_nan() || seconds < 0.0 {
        true => Err(format!("{seconds} seconds are no time")),
        false => Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
    }
}

impl Publish for Collector {
    type Error = End;
    type Batch = ();

    fn begin_batch(&mut self) {}

    fn publish(
        &mut self,
        _: &[FeedTopic],
        topic: TopicIndex,
        sample: &Serialized,
    ) -> Result<(), End> {
        let Some(table) = self.tables.get_mut(topic.0) else {
            self.skipped += 1;
            return Ok(());
        };
        let rows = match &mut table.rows {
            Ok(rows) => rows,
            Err(NoRows::NotMeant) => {
                self.skipped += 1;
                return Ok(());
            }
            Err(NoRows::Unmapped(why)) if self.raises => {
                let name = &table.name;
                return Err(End::Failed(format!(
                    "messages of {name} cannot be rows: {why}"
                )));
            }
            Err(NoRows::Unmapped(_)) => {
                self.undecodable += 1;
                return Ok(());
            }
        };
        let before = rows.weight();
        if let Err(error) = rows.append(sample.payload(), Form::Sample, None) {
            if self.raises {
                return Err(End::Failed(error.to_string()));
            }
            self.undecodable += 1;
            table.left_out.add(&error);
            return Ok(());
        }
        self.rows += 1;
        self.weight += rows.weight() - before;
        if self.every.is_some() && self.since.is_none() {
            self.since = Some(Instant::now());
        }
        let is_full = rows.len() >= self.max_rows || rows.weight() >= MAX_WEIGHT;
        if self.weight >= MAX_TOTAL {
            return self.give_all();
        }
        match is_full {
            true => self.give(topic.0),
            false => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), End> {
        Ok(())
    }
}

impl Collector {
    /// Hands over the rows of a template, if it has any.
    fn give(&mut self, at: usize) -> Result<(), End> {
        let Some(table) = self.tables.get_mut(at) else {
            return Ok(());
        };
        let Ok(rows) = &mut table.rows else {
            return Ok(());
        };
        if rows.is_empty() && table.left_out.is_empty() {
            return Ok(());
        }
        self.weight = self.weight.saturating_sub(rows.weight());
        let batch = rows.finish();
        let given = Given {
            batch: batch.map_err(|error| End::Failed(error.to_string()))?,
            name: Arc::clone(&table.name),
            left_out: std::mem::take(&mut table.left_out),
        };
        self.has_given = true;
        match &self.sender {
            Some(sender) => sender.send(Ok(given)).map_err(|_| End::Gone),
            None => Err(End::Gone),
        }
    }

    fn give_all(&mut self) -> Result<(), End> {
        self.since = None;
        (0..self.tables.len()).try_for_each(|at| self.give(at))
    }

    /// Hands all over that has waited for long enough.
    fn give_late(&mut self) -> Result<(), End> {
        match (self.since, self.every) {
            (Some(since), Some(every)) if since.elapsed() >= every => self.give_all(),
            _ => Ok(()),
        }
    }

    /// How long it may be until somebody looks again.
    fn patience(&self) -> Duration {
        match (self.since, self.every) {
            (Some(since), Some(every)) => every.saturating_sub(since.elapsed()).min(PART),
            _ => PART,
        }
    }
}

/// Bytes of rows of all templates that wait.
const MAX_TOTAL: usize = 4 * MAX_WEIGHT;
