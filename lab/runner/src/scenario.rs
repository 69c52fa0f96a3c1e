//! What a scenario is: the parts that are measured, the figures that its article published, and what
//! the article claims. The table itself is in [`crate::scenarios`].

use serde::{Deserialize, Serialize};

/// One comparison of an article.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// What it is called on the command line.
    pub(crate) name: &'static str,
    /// The number of the article that made the comparison, and its title. What none has made is not of the `seeds`.
    pub(crate) article: Option<(&'static str, &'static str)>,
    pub(crate) title: &'static str,
    /// What is compared and how, a paragraph of the report.
    pub(crate) about: &'static str,
    /// Its share of the time of a full run, in minutes.
    pub(crate) minutes: f64,
    pub(crate) parts: &'static [Part],
    pub(crate) claims: &'static [Claim],
}

impl Scenario {
    /// Whether some of its frames get lost, or could.
    pub(crate) fn is_lossy(&self) -> bool {
        self.parts.iter().any(|part| part.loss.is_some())
    }
}

/// One table of a scenario: everything that is run with the same options but size and wait.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) task: Task,
    pub(crate) payload: &'static str,
    /// Of typed payloads.
    pub(crate) mix: Option<&'static str>,
    pub(crate) sizes: &'static [u32],
    /// Those of a quick run; none leave the part out of it.
    pub(crate) quick: &'static [u32],
    pub(crate) publishers: u8,
    pub(crate) subscribers: u8,
    /// Of a hundred frames, how many are lost on the way, each for itself, in either direction; with `Some(0)` the way is
    /// the same and loses none. Only a [`Cable`](crate::cable::Cable) loses frames.
    pub(crate) loss: Option<u8>,
    /// How many times as long as others its runs are.
    pub(crate) stretch: u32,
    /// Whether subscriber 0 alone echoes.
    pub(crate) one_responder: bool,
    pub(crate) threads: Option<u32>,
    pub(crate) waits: &'static [Wait],
    /// What a system must be able to do besides the task and the payload.
    pub(crate) needs: &'static [&'static str],
    /// The systems that take part, if not all do. Floors always do.
    pub(crate) only: Option<Group>,
    /// Systems that take no part although they could.
    pub(crate) except: Option<Group>,
    /// Systems that are not what the article compared: they win nothing here.
    pub(crate) unlike: Option<Group>,
    /// Whether latency is drawn against size, with its linear fit.
    pub(crate) is_line: bool,
    /// At which size system calls and bytes on the wire are counted.
    pub(crate) count_calls_at: Option<u32>,
    pub(crate) published: &'static [Published],
}

/// Some of the systems.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    /// Beginnings of their ids.
    pub(crate) systems: &'static [&'static str],
    /// Why these.
    pub(crate) because: &'static str,
}

/// What the processes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// A message goes, its echoes come, the next goes.
    Echo,
    /// So many messages a second by the clock, each measured from when it was to be sent.
    OpenLoop(u32),
    /// As many as the system takes without losing any.
    Stream,
    /// Bursts, each answered once; the burst is searched for.
    Demand,
    /// Encoding and decoding alone; of bytes, copying in and out.
    Codec,
}

/// How a process waits for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Wait {
    /// It sleeps until the system wakes it.
    Block,
    /// It asks again and again. That is measured only where each process can have a core of its own.
    Poll,
}

/// A figure that the article printed.
#[derive(Debug)]
pub(crate) struct Published {
    /// As the article names it.
    pub(crate) what: &'static str,
    /// Beginnings of the ids of the systems that stand beside it.
    pub(crate) beside: &'static [&'static str],
    /// Of one size only.
    pub(crate) size: Option<u32>,
    /// With its unit.
    pub(crate) value: &'static str,
}

/// What an article claims, so that measurements can tell.
#[derive(Debug)]
pub(crate) struct Claim {
    /// In our words, with the article's figures.
    pub(crate) text: &'static str,
    pub(crate) left: Subject,
    pub(crate) relation: Relation,
    pub(crate) right: Right,
    /// At which sizes it has to hold, each on its own. None stand for all.
    pub(crate) sizes: &'static [u32],
}

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject {
    pub(crate) part: &'static str,
    /// Beginnings of ids; a claim is tested with each system that has one.
    pub(crate) systems: &'static [&'static str],
    /// If it is not the claim's.
    pub(crate) size: Option<u32>,
    pub(crate) quantity: Quantity,
}

/// What is compared with it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Right {
    /// Another figure of any of these systems.
    Systems(Subject),
    /// Another figure of the same system.
    Same(Subject),
    /// A figure, in the unit of the quantity.
    Constant(f64),
}

/// Which of the figures of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// The part's own: nanoseconds of one way, of encoding and decoding, or messages a second.
    Figure,
    /// The median of a named stage, in nanoseconds.
    Stage(&'static str),
    /// Bytes of payload that the subscriber received, in MB a second.
    Megabytes,
    /// Slope of the line through the medians of all sizes, in nanoseconds a byte.
    Slope,
}

/// How left has to stand to right.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Relation {
    /// Left is below so many times right.
    Below(f64),
    /// Left is above so many times right.
    Above(f64),
    /// Neither is more than so many times the other.
    Near(f64),
    /// Left is above right by so much.
    AboveBy(f64),
}

impl Part {
    /// Most parts are like this one; the table says what is different.
    pub(crate) const ECHO: Self = Self {
        name: "",
        title: "",
        task: Task::Echo,
        payload: "bytes",
        mix: None,
        sizes: &[],
        quick: &[],
        publishers: 1,
        subscribers: 1,
        loss: None,
        stretch: 1,
        one_responder: false,
        threads: None,
        waits: &[Wait::Block, Wait::Poll],
        needs: &[],
        only: None,
        except: None,
        unlike: None,
        is_line: false,
        count_calls_at: None,
        published: &[],
    };

    /// Whether messages come in the order in which they went: one thread keeps it, several take them side
    /// by side.
    pub(crate) fn keeps_order(&self) -> bool {
        self.threads.is_none_or(|threads| threads == 1)
    }

    /// All that a system must be able to do.
    pub(crate) fn capabilities(&self) -> impl Iterator<Item = &'static str> {
        let task = match self.task {
            Task::Echo => "echo",
            Task::OpenLoop(_) => "rate",
            Task::Stream => "stream",
            Task::Demand => "demand",
            Task::Codec if self.payload == "bytes" => "copy",
            Task::Codec => "codec",
        };
        let payload = (self.payload != "bytes").then_some(self.payload);
        std::iter::once(task)
            .chain(payload)
            .chain(self.needs.iter().copied())
    }

    /// Processes of a run, without a broker.
    pub(crate) fn processes(&self) -> usize {
        match self.task {
            Task::Codec => 1,
            _ => usize::from(self.publishers) + usize::from(self.subscribers),
        }
    }

    /// Whether a larger figure is a better one.
    pub(crate) fn is_rate(&self) -> bool {
        matches!(self.task, Task::Stream | Task::Demand)
    }

    /// How many times worse `figure` is than `reference`; 1 is equal.
    pub(crate) fn times(&self, figure: f64, reference: f64) -> f64 {
        match self.is_rate() {
            true => reference / figure,
            false => figure / reference,
        }
    }

    /// What is counted as one.
    pub(crate) fn unit(&self) -> &'static str {
        match self.task {
            Task::Echo => "round trip",
            _ => "message",
        }
    }

    /// Whether the size of the payload is a choice of the user.
    pub(crate) fn has_sizes(&self) -> bool {
        matches!(self.payload, "bytes" | "floats" | "structs")
    }

    /// Why a system of this id is not what the article compared.
    pub(crate) fn is_unlike(&self, id: &str) -> Option<&'static str> {
        let unlike = self.unlike.filter(|it| begins_with_any(id, it.systems))?;
        Some(unlike.because)
    }

    /// Why a system of this id is not wanted.
    pub(crate) fn refuses(&self, id: &str) -> Option<&'static str> {
        let only = self.only.filter(|it| !begins_with_any(id, it.systems));
        let except = self.except.filter(|it| begins_with_any(id, it.systems));
        only.or(except).map(|it| it.because)
    }
}

impl Subject {
    /// The figure of these systems in a part.
    pub(crate) const fn of(part: &'static str, systems: &'static [&'static str]) -> Self {
        Self {
            part,
            systems,
            size: None,
            quantity: Quantity::Figure,
        }
    }

    /// At this size.
    pub(crate) const fn at(self, size: u32) -> Self {
        Self {
            size: Some(size),
            ..self
        }
    }

    /// Another quantity.
    pub(crate) const fn measured_as(self, quantity: Quantity) -> Self {
        Self { quantity, ..self }
    }
}

impl Wait {
    /// As the programs have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Poll => "poll",
        }
    }
}

/// Whether an id is one of those, or begins with one and a hyphen.
pub(crate) fn begins_with_any(id: &str, beginnings: &[&str]) -> bool {
    let begins = |beginning: &&str| {
        let rest = id.strip_prefix(*beginning);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    beginnings.iter().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_end_at_hyphens() {
        assert!(begins_with_any("zeromq-tcp", &["zeromq"]));
        assert!(begins_with_any("zeromq-tcp", &["asio", "zeromq-tcp"]));
        assert!(!begins_with_any("zeromq-tcp", &["zero", "zeromq-t"]));
    }

    #[test]
    fn worse_is_above_one_whatever_is_measured() {
        let latency = Part::ECHO;
        let throughput = Part {
            task: Task::Stream,
            ..Part::ECHO
        };
        assert_eq!(latency.times(30.0, 10.0), 3.0);
        assert_eq!(throughput.times(10.0, 30.0), 3.0);
    }
}
