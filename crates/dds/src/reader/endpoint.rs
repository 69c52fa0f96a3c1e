//! A reader as the participant's threads see it, whatever the type of its samples.

use std::sync::Arc;

use tickwire_base::{Instant, Timestamp};
use tickwire_rtps::Outbox;
use tickwire_rtps::discovery::EndpointData;
use tickwire_rtps::qos::Verdict;
use tickwire_rtps::reader::{Decision, Samples, WriterProxy};
use tickwire_rtps::wire::{
    Context, Data, EntityId, Guid, GuidPrefix, Malformed, SequenceNumber, Submessage,
};

use super::info::StateMask;
use super::room::Room;
use super::status::ReaderStatuses;
use crate::lane::{Messages, PlainSamples};
use crate::listeners::ToTell;
use crate::loan::Holdable;
use crate::status::StatusMask;

/// Submessages that have come together and follow each other from one writer to the same readers, and when they came.
pub(crate) struct Run<'r, 'a> {
    pub(crate) now: Instant,
    pub(crate) timestamp: Timestamp,
    /// Where they lie, if it can be held.
    pub(crate) memory: Option<&'r Holdable>,
    /// Whether the reader is to say what it [has](Self::has) then.
    pub(crate) asks: bool,
    /// Up to which number it has everything of the writer, as it would acknowledge.
    pub(crate) has: Option<SequenceNumber>,
    current: Submessage<'a>,
    /// From whom, and for whom.
    ends: Ends,
    rest: &'r mut Messages<'a>,
    is_over: bool,
    /// What comes after the run, if that is known.
    behind: Option<Option<Result<Submessage<'a>, Malformed>>>,
}

/// Writer and reader of a submessage, with their participants.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Ends {
    writer: Guid,
    reader: Option<EntityId>,
    destination: GuidPrefix,
}

impl Ends {
    fn of(context: &Context<'_>, submessage: &Submessage<'_>) -> Self {
        Self {
            writer: context.source(submessage.writer()),
            reader: submessage.to_reader(),
            destination: context.destination_prefix,
        }
    }
}

impl<'r, 'a> Run<'r, 'a> {
    /// Begins with the submessage that `rest` has given last.
    pub(crate) fn new(
        now: Instant,
        timestamp: Timestamp,
        first: Submessage<'a>,
        rest: &'r mut Messages<'a>,
    ) -> Self {
        Self {
            now,
            timestamp,
            memory: None,
            asks: false,
            has: None,
            ends: Ends::of(rest.context(), &first),
            current: first,
            rest,
            is_over: false,
            behind: None,
        }
    }

    /// Ends it: what follows comes behind it.
    pub(crate) fn end(&mut self) {
        self.is_over = true;
    }

    pub(crate) fn context(&self) -> &Context<'a> {
        self.rest.context()
    }

    pub(crate) fn writer(&self) -> Guid {
        self.ends.writer
    }

    pub(crate) fn submessage(&self) -> &Submessage<'a> {
        &self.current
    }

    /// Goes on; false at the end.
    pub(crate) fn advance(&mut self) -> bool {
        if self.is_over {
            return false;
        }
        match self.rest.next_submessage() {
            Some(Ok(next)) if Ends::of(self.rest.context(), &next) == self.ends => {
                self.current = next;
                true
            }
            other => {
                self.end();
                self.behind = Some(other);
                false
            }
        }
    }

    /// What comes after as much of the run as was taken.
    pub(crate) fn behind(self) -> Option<Result<Submessage<'a>, Malformed>> {
        match self.behind {
            Some(known) => known,
            None => self.rest.next_submessage(),
        }
    }
}

impl<'a> Samples<'a> for Run<'_, 'a> {
    fn context(&self) -> &Context<'a> {
        self.rest.context()
    }

    #[inline(always)]
    fn next_sample(&mut self) -> Option<Data<'a>> {
        if self.is_over {
            return None;
        }
        // Their participants are known to be the same.
        let data = self.rest.next_sample()?;
        if data.writer == self.ends.writer.entity && Some(data.reader) == self.ends.reader {
            return Some(data);
        }
        self.end();
        self.behind = Some(Some(Ok(Submessage::Data(data))));
        None
    }
}

/// A reader as the participant's threads see it, whatever the type of its samples.
pub(crate) trait ReaderEndpoint: Send + Sync {
    fn guid(&self) -> Guid;

    /// Takes the submessages of a run, or the first of them; says what listeners are to be told, now or later.
    fn receive(&self, run: &mut Run<'_, '_>, outbox: &mut Outbox) -> ToTell;

    /// The same with samples that say nothing besides, or the first of them, if it [takes](Self::takes_plain) such.
    fn receive_plain(&self, samples: &mut PlainSamples<'_>, outbox: &mut Outbox) -> ToTell;

    /// Whether nobody else is to be told of each sample.
    fn takes_plain(&self) -> bool;

    /// A writer matches; says whether the listener has something to hear.
    fn match_writer(
        &self,
        now: Instant,
        proxy: WriterProxy,
        writer: &EndpointData,
        outbox: &mut Outbox,
    ) -> bool;

    /// A writer is gone, which has written up to `last_change` if that is known; says whether the listener has something to
    /// hear.
    fn unmatch_writer(&self, writer: Guid, last_change: Option<SequenceNumber>) -> bool;

    /// A publisher has these writers now; says whether the listener has something to hear.
    fn group_changed(&self, publisher: Guid, writers: &[EntityId]) -> bool;

    /// A writer does not match; says whether the listener has something to hear.
    fn incompatible(&self, writer: Guid, verdict: Arc<Verdict>) -> bool;

    /// A matched writer has fallen silent or is back; says whether the listener has something to
    /// hear.
    fn liveliness_changed(&self, writer: Guid, is_alive: bool) -> bool;

    /// When [`handle_timeout`](Self::handle_timeout) is to be called.
    fn due(&self) -> Instant;

    /// Does what is due; says whether the listener has something to hear.
    fn handle_timeout(&self, now: Instant, outbox: &mut Outbox) -> bool;

    /// Whether samples never make room for each other, so that the listener may be told of several
    /// together.
    fn keeps_all(&self) -> bool;

    /// Tells the listener what it has not been told, and these news.
    fn call_listener(&self, news: StatusMask);

    /// Has it told by the thread that delivers data.
    fn call_listener_later(&self, news: StatusMask);

    fn topic_name(&self) -> &str;

    /// Whether data has come since it was last read.
    fn has_news(&self) -> bool;

    /// Tells its own listener of data, if there is any that was not read.
    fn notify(&self);

    /// Reads a status, which clears its change.
    fn read_status(&self, mask: StatusMask, read: &mut dyn FnMut(&mut ReaderStatuses));

    /// Lists its samples in these states for [`Access::datareaders`](crate::Access::datareaders).
    fn list(&self, mask: StateMask, samples: &mut Vec<Listed>);

    /// Whether there is room for its parts in a set of a publisher.
    fn room_for_set(&self, publisher: Guid, set: SequenceNumber) -> Room;

    /// Shows or discards its parts in a set of a publisher. To be called under the subscriber's lock.
    fn decide(&self, decision: &Decision);
}

/// A sample among those of all readers of a subscriber.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    pub(crate) reader: Guid,
    pub(crate) publisher: Guid,
    pub(crate) group_number: SequenceNumber,
    pub(crate) made: Timestamp,
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use tickwire_rtps::wire::{Arrival, Gap, GuidPrefix, MessageWriter, SequenceNumberSet};

    use super::*;

    const HERE: Arrival = Arrival {
        from: IpAddr::V4(Ipv4Addr::LOCALHOST),
        by_multicast: false,
        kernel_timestamp: None,
    };
    const ONE: EntityId = EntityId::user_writer(1, true);
    const OTHER: EntityId = EntityId::user_writer(2, true);
    const READER: EntityId = EntityId::user_reader(3, true);

    fn gap(message: &mut MessageWriter<'_>, number: i64, reader: EntityId, writer: EntityId) {
        message.gap(&Gap {
            reader,
            writer,
            start: SequenceNumber(number),
            list: SequenceNumberSet::empty(SequenceNumber(number + 1)),
        });
    }

    fn number(submessage: &Submessage<'_>) -> i64 {
        match submessage {
            Submessage::Gap(gap) => gap.start.0,
            other => panic!("{other:?} was not written"),
        }
    }

    /// The numbers of the submessages, run by run.
    fn runs(datagram: &[u8]) -> Vec<Vec<i64>> {
        let mut rest = Messages::one(datagram, HERE).expect("a header");
        let mut next = rest.next_submessage();
        let mut runs = Vec::new();
        while let Some(Ok(first)) = next {
            let time = Timestamp::default();
            let mut run = Run::new(Instant::ZERO, time, first, &mut rest);
            let mut numbers = vec![number(run.submessage())];
            while run.advance() {
                numbers.push(number(run.submessage()));
            }
            assert!(!run.advance(), "the end stays the end");
            next = run.behind();
            runs.push(numbers);
        }
        assert!(next.is_none(), "all is well-formed");
        runs
    }

    #[test]
    fn a_run_ends_where_writer_reader_or_destination_change() {
        let mut bytes = Vec::new();
        let mut message = MessageWriter::new(&mut bytes, GuidPrefix([1; 12]));
        let everybody = EntityId::UNKNOWN;
        gap(&mut message, 1, everybody, ONE);
        message.info_ts(Some(Timestamp::from_nanos(1)));
        gap(&mut message, 2, everybody, ONE);
        gap(&mut message, 3, everybody, OTHER);
        gap(&mut message, 4, READER, OTHER);
        gap(&mut message, 5, READER, OTHER);
        message.info_dst(GuidPrefix([2; 12]));
        gap(&mut message, 6, READER, OTHER);
        assert_eq!(runs(&bytes), [vec![1, 2], vec![3], vec![4, 5], vec![6]]);
    }

    #[test]
    fn what_is_not_taken_of_a_run_comes_behind_it() {
        let mut bytes = Vec::new();
        let mut message = MessageWriter::new(&mut bytes, GuidPrefix([1; 12]));
        gap(&mut message, 1, READER, ONE);
        gap(&mut message, 2, READER, ONE);
        let mut rest = Messages::one(&bytes, HERE).expect("a header");
        let first = rest.next_submessage().expect("two").expect("well-formed");
        let run = Run::new(Instant::ZERO, Timestamp::default(), first, &mut rest);
        let behind = run.behind().expect("another").expect("well-formed");
        assert_eq!(number(&behind), 2);
    }
}
