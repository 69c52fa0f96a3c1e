//! `tickwire feed subscribe`: receives the feed's topics and sends each sample back.

use std::io::Write;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use tickwire_gateway::echo::EchoError;
use tickwire_gateway::{ECHO_SUFFIX, Echo, EchoOptions};
use tickwire_profiles::parse_duration;

use super::mismatches::Mismatches;
use crate::failure::{Failure, Result};
use crate::interrupt::Interrupt;
use crate::network::NetworkOptions;
use crate::output::{ListFormat, counted, note, stdout, write_list};
use crate::stage::{is_stage, tell};

/// Subscribe to a feed's topics and echo them
#[derive(Args)]
#[command(
    long_about = "\
Subscribes to the topics that a feed handler publishes, as discovery finds them, and sends each \
sample back on TOPIC.echo, so that the feed handler can take the time of the round trip. It needs \
neither templates nor types. It ends by itself with the feed's Done. Writers that do not match are \
named with the reason. Readers are reliable and keep all samples, but for what the profile of `--qos-file` \
says of them.

With `--no-echo` it only receives. `tickwire feed run` waits for echoes unless it is told `--no-echo`, \
too. Beside a subscriber to some of the topics alone it needs `--wait 0`, as it waits for one of each.",
    after_help = "\
Examples:
  tickwire feed subscribe
  tickwire feed subscribe 'MarketData.*' --no-echo --pause 10us
  tickwire feed subscribe --no-echo"
)]
pub(crate) struct Arguments {
    /// Topics to subscribe to: names, or beginnings of names followed by `*` [default: all]
    #[arg(value_name = "TOPIC")]
    topics: Vec<String>,

    #[command(flatten)]
    network: NetworkOptions,

    /// Send nothing back; for a feed handler that was started with `--no-echo`, too
    #[arg(long)]
    no_echo: bool,

    /// Pause after each sample, such as 20us or 1ms
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = parse_duration)]
    pause: Duration,

    /// Topic whose first sample ends the feed
    #[arg(long, value_name = "NAME", default_value = "Done")]
    done: String,

    /// End after so long if the feed has not ended [default: wait for ever]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,

    /// Form of the result
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: ListFormat,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let interrupt = Interrupt::catch()?;
        let participant = self.network.join("tickwire feed subscribe")?;
        let options = EchoOptions {
            topics: self.topics.clone(),
            echo: !self.no_echo,
            pause: self.pause,
            done: self.done.clone(),
            ..EchoOptions::default()
        };
        let mut mismatches = Mismatches::of(&participant);
        let profile = self.network.profile.clone();
        let mut echo = Echo::new(participant, options)
            .reader_qos(move |topic, qos| profile.adjust_reader(qos, topic));
        if is_stage() {
            tell(&json!({"event": "ready"}))?;
        } else {
            note(format_args!(
                "waiting for topics in domain {}",
                self.network.domain
            ));
        }
        let is_done = self.listen(&mut echo, &mut mismatches, &interrupt);
        if !matches!(is_done, Ok(true)) && !is_stage() {
            mismatches.report();
        }
        let is_done = is_done?;
        if !interrupt.is_raised() {
            echo.finish().map_err(Failure::new)?;
        }
        self.report(&echo)?;
        let counters = echo.counters();
        if counters.failed > 0 {
            let (failed, first) = (counters.failed, counters.first_failure);
            let first = first.map_or_else(String::new, |error| format!(", the first: {error}"));
            return Err(Failure::new(format_args!(
                "{failed} samples could not be sent back{first}"
            )));
        }
        match is_done || interrupt.is_raised() {
            true => Ok(()),
            false if echo.topic_count() == 0 => {
                let domain = self.network.domain;
                Err(match self.topics.as_slice() {
                    [] => Failure::new(format_args!("there is no topic in domain {domain}")),
                    names => Failure::new(format_args!(
                        "no topic in domain {domain} is called {}",
                        names.join(" or ")
                    )),
                }
                .hint("`tickwire topic ls` lists the topics that there are"))
            }
            false => Err(Failure::new(format_args!(
                "the feed did not end: no sample of topic {}",
                self.done
            ))),
        }
    }

    /// Subscribes to what is found until the feed ends; false if the time is up or the user ends it
    /// before.
    fn listen(
        &self,
        echo: &mut Echo,
        mismatches: &mut Mismatches,
        interrupt: &Interrupt,
    ) -> Result<bool> {
        let begin = Instant::now();
        let (mut told, mut looked, mut is_warned) = (begin, begin, false);
        let mut found = None;
        loop {
            if echo.find_topics().map_err(failure)? > 0 {
                found = Some(Instant::now());
            }
            // Topics come one by one: it is said when no more do.
            if found.is_some_and(|at| at.elapsed() > QUIET) && !is_stage() {
                found = None;
                let topics = counted(echo.topic_count() as u64, "topic", "topics");
                note(format_args!("subscribed to {topics}"));
            }
            if looked.elapsed() > EXPLAIN_EVERY && !is_stage() {
                looked = Instant::now();
                mismatches.report();
                if let Some(topic) = echo.unanswered().filter(|_| !is_warned) {
                    is_warned = true;
                    // A name from the network: it is shown with escapes.
                    let echo = format!("{topic}{ECHO_SUFFIX}");
                    note(format_args!(
                        "warning: a feed handler reads {echo:?} and expects samples that come back, \
                         which `--no-echo` does not send\nhint: start `tickwire feed run` with `--no-echo`, \
                         too, or this without"
                    ));
                }
            }
            if echo.wait_for_done(LOOK_EVERY) {
                return Ok(true);
            }
            if is_stage() && told.elapsed() > TELL_EVERY {
                told = Instant::now();
                tell(&counts(echo, "progress"))?;
            }
            let is_late = |timeout| begin.elapsed() > timeout;
            if interrupt.is_raised() || self.timeout.is_some_and(is_late) {
                return Ok(false);
            }
        }
    }

    fn report(&self, echo: &Echo) -> Result<()> {
        let counters = echo.counters();
        if is_stage() {
            return tell(&counts(echo, "report"));
        }
        let row = vec![
            json!(echo.topic_count()),
            json!(counters.received),
            json!(counters.echoed),
        ];
        let mut out = stdout();
        write_list(
            &mut out,
            self.output,
            &["topics", "received", "echoed"],
            &[row],
        )?;
        Ok(out.flush()?)
    }
}

/// What has been counted, as an event.
fn counts(echo: &Echo, event: &str) -> Value {
    let counters = echo.counters();
    json!({
        "event": event,
        "topics": echo.topic_count(),
        "received": counters.received,
        "echoed": counters.echoed,
        "failed": counters.failed,
    })
}

/// What an error of the echo's means to the user.
fn failure(error: EchoError) -> Failure {
    let is_unread = matches!(error, EchoError::NoReader { .. });
    let failure = Failure::new(error);
    match is_unread {
        true => failure.hint(
            "if the feed handler was started with `--no-echo`, or is none of `tickwire feed run`, start this \
             with `--no-echo`, too",
        ),
        false => failure,
    }
}

const TELL_EVERY: Duration = Duration::from_millis(100);

/// How often it is looked for what keeps samples away.
const EXPLAIN_EVERY: Duration = Duration::from_secs(1);

/// How often discovery is asked for new topics.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How long no topic is found before it is said how many there are.
const QUIET: Duration = Duration::from_millis(300);
