//! `tickwire feed run`: the feed handler, from packets to samples on topics.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde_json::json;
use tickwire::{GuidPrefix, ParticipantData, Serialized};
use tickwire_fast::Templates;
use tickwire_feed::{ArbiterConfig, Venue};
use tickwire_gateway::files::Destination;
use tickwire_gateway::{
    FeedHandler, FeedTopic, HandlerOptions, Mapper, Mapping, PublicationOptions, Publications,
    Publish, TopicIndex,
};
use tickwire_profiles::parse_duration;

use super::mismatches::Mismatches;
use super::options::{DEFAULT_GROUP, check_lines, interface, parse_address, parse_ids};
use super::receive::{Source, TICK};
use super::report::{Form, Report};
use super::subscribers::wait_for_subscribers;
use crate::failure::{Failure, Result};
use crate::fast::diagnosis::{advice, advice_about_ids, cut_off};
use crate::fast::packets::PacketOptions;
use crate::fast::source::{DefaultTemplate, TemplateOptions};
use crate::interrupt::Interrupt;
use crate::network::NetworkOptions;
use crate::output::{counted, note};
use crate::profile::ProfileOptions;
use crate::stage::{is_stage, tell};

/// Decode a feed and publish it as topics
#[derive(Args)]
#[command(
    long_about = "\
The feed handler: receives an exchange's packets from a multicast group, or reads them from a file, \
decodes them by the exchange's templates, and publishes every message as a sample of a topic. \
Types and topics follow from the templates; there is no code to write.

By default a template whose messages carry securities in a sequence (SecurityID) gets a topic for \
each security, such as MarketData.1012, and each message is split over them; any other template gets \
one topic of its own name. With `--map keyed` there is one topic a template and the security is its \
key.

`--venue` says how an exchange frames its packets and when it resets dictionaries; `tickwire feed venues` \
lists those that are known. `--file` may be a capture; `--group` and `--line-b` then name the groups in it \
that are the feed's lines.

Numbered packets (`--preamble`) are put in order. One that is missing is waited for: 1 ms, with `--line-b` 20 ms, \
in a file until 1,024 numbers or the end follow. Then it is lost; what comes later still is counted as late.

A packet that cannot be decoded is given up and counted, by error code with `-o json`. After one, or where numbered packets are \
missing on all lines, no value is taken from what was lost, nor an initial value in its place: until \
the dictionaries are reset or a message sends the value whole, packets that need it are refused and \
counted. With `--reset packet` or `message` that costs nothing; with `never` a delta is refused for \
good. A message whose securities are none (an empty sequence) has no sample and is counted.

A subscriber such as `tickwire feed subscribe` sends each sample back on TOPIC.echo, which gives the \
round-trip time; half of it is shown as the one-way latency. The feed does not start before as many \
subscribers as `--wait` says send samples back; beside subscribers that do not (`--no-echo`), give this \
`--no-echo`, too. Readers that do not match are named with the reason. The feed ends with a message of \
the template Done.

Where the store of TRANSIENT or PERSISTENT writers takes no more, as on a full disk, the feed goes on: \
readers that are there get all samples, those that were not stored are counted, and the exit status is 1. \
A reliable reader that makes no room for a KEEP_ALL writer is waited for, for `--patience`; then the feed ends \
with a report, and the reader is named. How long writes were blocked is in the report (`blocked`), as far as they \
waited for longer than 2 ms, or the profile's max_blocking_time.",
    after_help = "\
Examples:
  tickwire feed run --templates feed.xml
  tickwire feed run -t feed.xml --file feed.dat --no-echo --wait 0
  tickwire feed run --templates feed.xml --file feed.dat --decode-only
  tickwire feed run -t feed.xml --preamble seq --line-b 224.1.2.134:13014
  tickwire feed run -t moex.xml --venue moex-asts --interface eth1 \\
      --group 239.195.1.1:16001 --line-b 239.195.1.129:17001
  tickwire feed run -t opra.xml --venue opra --default-template OPRA \\
      --file opra.pcap
  tickwire feed run -t moex.xml --venue moex-asts --file day.pcap \\
      --group 239.195.1.1:16001 --line-b 239.195.1.129:17001",
    mut_arg("framing", |framing| framing.requires("file")),
    mut_arg("to", |to| to.requires("file"))
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    templates: TemplateOptions,

    #[command(flatten)]
    default: DefaultTemplate,

    /// Group to receive from, or of a capture the group whose datagrams are meant
    /// [default: 224.1.2.133:13014, or all of a capture]
    #[arg(short, long, value_name = "ADDR:PORT", value_parser = parse_address, conflicts_with = "to")]
    group: Option<SocketAddr>,

    /// Second line of the feed, also of a capture; needs packets with numbers
    #[arg(long, value_name = "ADDR:PORT", value_parser = parse_address, conflicts_with = "to")]
    line_b: Option<SocketAddr>,

    /// Read the packets from a file instead
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,

    #[command(flatten)]
    packets: PacketOptions,

    /// Name or address of the interface to receive the feed on
    #[arg(long, value_name = "NAME", default_value = "127.0.0.1")]
    interface: String,

    /// Interfaces to publish on: names, addresses or subnets, separated by commas, or `auto`
    /// [default: the profile's, or lo]
    #[arg(long, value_name = "NAME")]
    dds_interface: Option<String>,

    /// DDS domain to publish in, 0 to 232, or any with a rendezvous [default: the profile's, or 0]
    #[arg(short, long, value_name = "ID")]
    domain: Option<u32>,

    #[command(flatten)]
    qos: ProfileOptions,

    /// How messages are spread over topics
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Map::Automatic)]
    map: Map,

    /// Securities whose topics are made before the feed starts, such as 1000-1099,2000; those of a
    /// file are found by themselves
    #[arg(long, value_name = "IDS", value_parser = parse_ids)]
    securities: Option<Ids>,

    /// Topics that the feed may have; messages about securities beyond are refused
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    max_topics: usize,

    /// Subscribers that each topic waits for before its first sample
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    wait: u32,

    /// Do not ask for samples back, nor wait for subscribers that would send them
    #[arg(long)]
    no_echo: bool,

    /// Decode and count, publish nothing
    #[arg(long)]
    decode_only: bool,

    /// Template whose message ends the feed [default: Done]
    #[arg(long, value_name = "NAME")]
    done: Option<String>,

    /// How long to wait for subscribers, acknowledgements and echoes
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration)]
    patience: Duration,

    /// End when the feed is silent for so long, also before its first packet [default: wait for ever]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    silence: Option<Duration>,

    /// Form of the result
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: Form,
}

/// Ids of securities, as text.
pub(super) type Ids = Vec<String>;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Map {
    /// By security where messages carry securities in a sequence, by type otherwise
    Automatic,
    /// One topic a template
    TopicPerType,
    /// One topic a template, with the security as key
    Keyed,
    /// One topic for each template and security
    TopicPerSecurity,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        check_lines(self.group(), self.line_b)?;
        let templates = self.default.of(self.templates.load()?)?;
        self.check_done(&templates)?;
        let source = self.source()?;
        if let Source::File(file) = &source
            && !self.decode_only
            && let Some(advice) = advice(file, &self.templates, &templates)
        {
            // What would be published is not what the file says.
            let failure = Failure::new(format_args!(
                "most of the first packets of {} cannot be decoded, so nothing is published",
                self.file
                    .as_deref()
                    .unwrap_or("the file".as_ref())
                    .display()
            ));
            return Err(failure.hint(advice));
        }
        let interrupt = Interrupt::catch()?;
        let (report, failure) = match self.decode_only {
            true => self.decode(&templates, &source, &interrupt)?,
            false => self.publish(&templates, &source, &interrupt)?,
        };
        report.write(self.output)?;
        if let Some(failure) = failure {
            report.note_troubles();
            return Err(failure);
        }
        report.verdict(|unknown| match &source {
            Source::File(file) => advice(file, &self.templates, &templates)
                .or_else(|| report.is_one_loss().then(|| cut_off(file)).flatten()),
            Source::Lines(_) => advice_about_ids(unknown, &self.templates, &templates),
        })?;
        match report.is_of_nothing() && !interrupt.is_raised() {
            true => Err(self.nothing_came()),
            false => Ok(()),
        }
    }

    fn nothing_came(&self) -> Failure {
        if let Some(file) = &self.file {
            return Failure::new(format_args!("{} has no packets", file.display()));
        }
        let lines = match self.line_b {
            Some(line_b) => format!("{} or {line_b}", self.group()),
            None => self.group().to_string(),
        };
        Failure::new(format_args!("no packet came from {lines}")).hint(format_args!(
            "is that the feed's `--group`, and {} the `--interface` that it comes by? `tickwire feed send FILE \
             --group {}` sends one",
            self.interface,
            self.group()
        ))
    }

    /// Feeds without the usual end are sound, but a name that was given must be right.
    fn check_done(&self, templates: &Templates) -> Result<()> {
        let Some(done) = &self.done else {
            return Ok(());
        };
        let names: Vec<_> = templates.iter().map(|template| template.name()).collect();
        match names.contains(&done.as_str()) {
            true => Ok(()),
            false => Err(Failure::usage(format_args!("no template is named {done}"))
                .hint(format_args!("there are {}", names.join(", ")))),
        }
    }

    fn done(&self) -> &str {
        self.done.as_deref().unwrap_or("Done")
    }

    fn source(&self) -> Result<Source> {
        let feed = &self.templates.feed;
        if self.line_b.is_some() && !feed.preamble().has_number() {
            let problem = "two lines are arbitrated by the numbers of their packets";
            return Err(Failure::usage(problem).hint(
                "add `--preamble seq` here and to `tickwire feed send`, or name a `--venue` that numbers packets",
            ));
        }
        if let Some(file) = &self.file {
            let packets = PacketOptions {
                to: self.chosen()?,
                ..self.packets.clone()
            };
            return Source::file(file, &packets, feed);
        }
        if let Some(venue) = feed.venue.filter(Venue::is_stream) {
            let problem = format_args!(
                "packets of {} come in a TCP stream, not in datagrams",
                venue.name
            );
            return Err(Failure::usage(problem).hint("save the stream and read it with `--file`"));
        }
        Source::lines(self.group(), self.line_b, &interface(&self.interface)?)
    }

    fn group(&self) -> SocketAddr {
        self.group.unwrap_or(DEFAULT_GROUP)
    }

    /// Which datagrams of a capture are meant.
    fn chosen(&self) -> Result<Option<Destination>> {
        match (self.group, self.line_b) {
            (None, None) => Ok(self.packets.to),
            (Some(group), None) => Ok(Some(Destination::Address(group))),
            (Some(a), Some(b)) => Ok(Some(Destination::Lines(a, b))),
            (None, Some(_)) => Err(Failure::usage(
                "`--line-b` of a capture needs `--group`, too",
            )),
        }
    }

    fn decode(
        &self,
        templates: &Templates,
        source: &Source,
        interrupt: &Interrupt,
    ) -> Result<(Report, Option<Failure>)> {
        let mut handler = FeedHandler::new(templates, self.handler_options(), None, Nobody);
        self.ready(0)?;
        let (elapsed, failure) = self.feed(&mut handler, source, interrupt, || 0);
        let report = Report::new(&handler, self.done(), source.overflowed(), None, elapsed);
        Ok((report, failure))
    }

    fn publish(
        &self,
        templates: &Templates,
        source: &Source,
        interrupt: &Interrupt,
    ) -> Result<(Report, Option<Failure>)> {
        let mapper = self.mapper(templates, source)?;
        let profile = &self.qos.profile;
        let network = NetworkOptions::new(self.domain, self.dds_interface.clone(), &self.qos);
        let participant = network.join("tickwire feed run")?;
        let mut mismatches = Mismatches::of(&participant);
        let options = PublicationOptions {
            subscribers: self.wait,
            echo: !self.no_echo,
            done: self.done().to_owned(),
            patience: self.patience,
        };
        let idle = source.idle();
        let profile = profile.clone();
        let qos = move |topic: &str, qos| profile.adjust_writer(qos, topic);
        let publications = Publications::new(participant, options, &mapper, qos, idle);
        let publications = publications.map_err(Failure::new)?;
        let topics = publications.data_topic_count();
        let topics_wait = counted(topics as u64, "topic waits", "topics wait");
        self.say(match u64::from(self.wait) {
            0 => format!("{topics_wait} for no subscriber"),
            wait => {
                let subscribers = counted(wait, "subscriber", "subscribers");
                format!("{topics_wait} for {subscribers} each")
            }
        });
        let waited = wait_for_subscribers(&publications, self.patience, &mut mismatches, interrupt);
        if waited.is_err() && !is_stage() {
            mismatches.report();
        }
        waited?;
        let mut others = Vec::new();
        self.warn_of(publications.other_publishers(), &mut others);
        let round_trips = Arc::clone(publications.round_trips());
        let mut handler = FeedHandler::new(
            templates,
            self.handler_options(),
            Some(mapper),
            publications,
        );
        self.ready(topics)?;
        let (elapsed, mut failure) =
            self.feed(&mut handler, source, interrupt, || round_trips.count());
        let begin = Instant::now();
        let expected = match self.no_echo {
            true => 0,
            false => Report::published(handler.counters(), self.done()) * u64::from(self.wait),
        };
        // Who ends a feed does not wait for what is under way.
        if failure.is_none() && !interrupt.is_raised() {
            let acknowledged = handler.publish().wait_for_acknowledgments();
            failure = acknowledged.err().map(Failure::from);
        }
        if failure.is_none() && !interrupt.is_raised() {
            self.wait_for_echoes(&round_trips, expected, interrupt)?;
        }
        if !is_stage() {
            mismatches.report();
        }
        let elapsed = elapsed + begin.elapsed();
        self.warn_of(handler.publish().other_publishers(), &mut others);
        // With `--wait 0` nobody knows how many subscribers there were.
        let is_known = self.wait > 0 && failure.is_none() && !interrupt.is_raised();
        let expected = is_known.then_some(expected);
        let echoes = (!self.no_echo).then_some((&*round_trips, expected));
        let mut report = Report::new(&handler, self.done(), source.overflowed(), echoes, elapsed);
        let publications = handler.publish();
        report.published_on(publications.data_topic_count(), publications.counters());
        Ok((report, failure))
    }

    /// The mapper, with the topics of all securities that can be known by now.
    fn mapper(&self, templates: &Templates, source: &Source) -> Result<Mapper> {
        let mapping = match self.map {
            Map::Automatic => Mapping::Automatic,
            Map::TopicPerType => Mapping::TopicPerType,
            Map::Keyed => Mapping::Keyed,
            Map::TopicPerSecurity => Mapping::TopicPerSecurity,
        };
        let mut mapper = Mapper::new(templates, mapping);
        mapper.limit_topics(self.max_topics);
        for (template, reason) in mapper.unmapped() {
            self.say(format_args!("template {template} has no topic: {reason}"));
        }
        for security in self.securities.iter().flatten() {
            mapper.add_security(security);
        }
        let decoder = self.templates.decoder(templates);
        source.survey(decoder, &mut mapper);
        Ok(mapper)
    }

    /// Handles packets until the feed ends, or something fails; says how long it took from the first one on.
    fn feed<P: Publish>(
        &self,
        handler: &mut FeedHandler<P>,
        source: &Source,
        interrupt: &Interrupt,
        echoed: impl Fn() -> u64,
    ) -> (Duration, Option<Failure>)
    where
        P::Error: Into<Failure>,
    {
        let silence = self.silence.unwrap_or(Duration::MAX);
        let begin = Instant::now();
        let driven = source.drive(handler, silence, interrupt, || match is_stage() {
            true => tell(&json!({"event": "progress", "echoed": echoed()})),
            false => Ok(()),
        });
        let elapsed = match driven {
            Ok(elapsed) => elapsed,
            Err(failure) => return (begin.elapsed(), Some(failure)),
        };
        match handler.is_done() {
            true if !self.decode_only => self.say("Writing Done token"),
            true => {}
            false => self.say(format_args!("the feed ended without {}", self.done())),
        }
        (elapsed, None)
    }

    /// Names those who publish the same topics, each once.
    fn warn_of(&self, found: Vec<Arc<ParticipantData>>, named: &mut Vec<GuidPrefix>) {
        for other in found {
            let prefix = other.guid_prefix;
            if !named.contains(&prefix) {
                named.push(prefix);
                self.say(format_args!(
                    "warning: `{}` ({prefix:?}) publishes topics of the same names",
                    other.entity_name
                ));
            }
        }
    }

    /// Waits for the echoes as long as they keep coming.
    fn wait_for_echoes(
        &self,
        round_trips: &tickwire_gateway::RoundTrips,
        expected: u64,
        interrupt: &Interrupt,
    ) -> Result<()> {
        let mut before = round_trips.count();
        let mut progress = Instant::now();
        while before < expected && progress.elapsed() < self.patience && !interrupt.is_raised() {
            let now = round_trips.wait_for(expected, TICK);
            if now > before {
                progress = Instant::now();
            }
            before = now;
            if is_stage() {
                tell(&json!({"event": "progress", "echoed": now}))?;
            }
        }
        Ok(())
    }

    fn handler_options(&self) -> HandlerOptions {
        HandlerOptions {
            decoder: self.templates.decoder_options(),
            preamble: self.templates.feed.preamble(),
            arbiter: ArbiterConfig {
                hold: match (&self.file, self.line_b) {
                    (Some(_), _) => ArbiterConfig::FILE_HOLD,
                    (None, Some(_)) => ArbiterConfig::default().hold,
                    (None, None) => ArbiterConfig::ONE_LINE_HOLD,
                },
                ..ArbiterConfig::default()
            },
            done: self.done().to_owned(),
        }
    }

    fn ready(&self, topics: usize) -> Result<()> {
        if is_stage() {
            return tell(&json!({"event": "ready", "topics": topics}));
        }
        match &self.file {
            Some(file) => self.say(format_args!("reading {}", file.display())),
            None => self.say(format_args!("receiving from {}", self.group())),
        }
        Ok(())
    }

    /// A note for the person who looks on.
    fn say(&self, what: impl std::fmt::Display) {
        if !is_stage() {
            note(what);
        }
    }
}

/// Takes samples and drops them; there are none without a mapper.
struct Nobody;

impl Publish for Nobody {
    type Error = Infallible;
    type Batch = ();

    fn begin_batch(&mut self) {}

    fn publish(
        &mut self,
        _: &[FeedTopic],
        _: TopicIndex,
        _: &Serialized,
    ) -> Result<(), Infallible> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
