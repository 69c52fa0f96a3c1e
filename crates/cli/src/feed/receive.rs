//! Where the feed handler's packets come from: a file, or the lines of a multicast feed.

use std::cell::RefCell;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tickwire_fast::{Decoder, Message};
use tickwire_gateway::{FeedHandler, Lines, Mapper, Publish};
use tickwire_transport::{Interface, ReceiveError, clock};

use crate::failure::{Failure, Result};
use crate::fast::packets::{PacketFile, PacketOptions};
use crate::fast::source::FeedOptions;
use crate::interrupt::Interrupt;
use crate::output::note;

/// Packets for a feed handler.
pub(super) enum Source {
    /// All of a file, with one line or two, as fast as they are handled.
    File(PacketFile),
    /// What one or two lines bring.
    Lines(Rc<RefCell<Lines>>),
}

impl Source {
    pub(super) fn file(path: &Path, packets: &PacketOptions, feed: &FeedOptions) -> Result<Self> {
        Ok(Self::File(packets.open(path, feed)?))
    }

    pub(super) fn lines(
        a: SocketAddr,
        b: Option<SocketAddr>,
        interface: &Interface,
    ) -> Result<Self> {
        let lines = Lines::open(a, b, interface).map_err(Failure::new)?;
        Ok(Self::Lines(Rc::new(RefCell::new(lines))))
    }

    /// Lets the mapper know ahead what it can: the securities of a file.
    pub(super) fn survey(&self, mut decoder: Decoder, mapper: &mut Mapper) {
        let Self::File(file) = self else { return };
        let mut message = Message::new();
        // What is malformed or refused is counted when the packet is handled.
        for packet in file.packets() {
            let Ok(packet) = packet else {
                decoder.lose();
                continue;
            };
            if !packet.follows {
                decoder.lose();
            }
            decoder.begin_packet();
            for block in packet.blocks().map_while(Result::ok) {
                let mut rest = block.packet;
                while !rest.is_empty()
                    && let Ok(len) = decoder.decode(rest, &mut message)
                {
                    let _mapped = mapper.map(&message, |_, _, _| Ok::<(), Infallible>(()));
                    rest = rest.get(len..).unwrap_or_default();
                }
            }
        }
    }

    /// What empties the sockets while a writer has no room.
    pub(super) fn idle(&self) -> impl FnMut() -> Result<(), ReceiveError> + use<> {
        let lines = match self {
            Self::File(_) => None,
            Self::Lines(lines) => Some(Rc::clone(lines)),
        };
        move || match &lines {
            Some(lines) => lines.borrow_mut().drain(),
            None => Ok(()),
        }
    }

    /// Packets that found no room in memory.
    pub(super) fn overflowed(&self) -> u64 {
        match self {
            Self::File(_) => 0,
            Self::Lines(lines) => lines.borrow().overflowed(),
        }
    }

    /// Brings packets to the handler until the feed ends, is silent for `silence`, or is interrupted;
    /// says how long that took from the first packet on. Calls `tick` now and then while lines are received from.
    pub(super) fn drive<P: Publish>(
        &self,
        handler: &mut FeedHandler<P>,
        silence: Duration,
        interrupt: &Interrupt,
        tick: impl FnMut() -> Result<()>,
    ) -> Result<Duration>
    where
        P::Error: Into<Failure>,
    {
        let (mut begin, mut heard_out) = (Instant::now(), Duration::ZERO);
        match self {
            Self::File(file) => {
                for (line, frame) in file.frames_of_lines() {
                    if interrupt.is_raised() {
                        break;
                    }
                    match frame {
                        Ok(frame) => handler
                            .handle_packet(line, frame.packet)
                            .map_err(Into::into)?,
                        Err(error) => {
                            // The report has the count of all.
                            if handler.counters().losses == 0 {
                                note(format_args!("{}: {error}", file.path().display()));
                            }
                            handler.handle_loss();
                        }
                    }
                }
            }
            Self::Lines(lines) => {
                begin = receive(handler, lines, silence, interrupt, tick)?;
                if handler.is_done() && lines.borrow().are_two() {
                    let end = Instant::now();
                    hear_out(handler, lines)?;
                    heard_out = end.elapsed();
                }
            }
        }
        handler.finish().map_err(Into::into)?;
        Ok(begin.elapsed().saturating_sub(heard_out))
    }
}

/// Receives until the feed ends; says when the first packet came.
fn receive<P: Publish>(
    handler: &mut FeedHandler<P>,
    lines: &RefCell<Lines>,
    silence: Duration,
    interrupt: &Interrupt,
    mut tick: impl FnMut() -> Result<()>,
) -> Result<Instant>
where
    P::Error: Into<Failure>,
{
    let mut first = None;
    let mut last = Instant::now();
    let mut ticked = last;
    while !handler.is_done() && !interrupt.is_raised() {
        lines.borrow_mut().drain().map_err(Failure::new)?;
        // The lines must be free while the packet is handled: publishing drains them too.
        let packet = lines.borrow_mut().next_packet();
        if let Some(packet) = packet {
            last = Instant::now();
            first.get_or_insert(last);
            if packet.after_loss {
                handler.handle_loss();
            }
            let handled = handler.handle_packet(packet.line, &packet.bytes);
            handled.map_err(Into::into)?;
            lines.borrow_mut().recycle(packet);
        } else if last.elapsed() > silence {
            break;
        } else {
            let next = clock::now() + TICK;
            let deadline = handler
                .poll_timeout()
                .map_or(next, |timeout| timeout.min(next));
            lines.borrow().wait(Some(deadline)).map_err(Failure::new)?;
        }
        handler.handle_timeout().map_err(Into::into)?;
        if ticked.elapsed() > TICK {
            ticked = Instant::now();
            tick()?;
        }
    }
    Ok(first.unwrap_or(last))
}

/// Takes what the slower line still has of the last packets, which it has not lost.
fn hear_out<P: Publish>(handler: &mut FeedHandler<P>, lines: &RefCell<Lines>) -> Result<()>
where
    P::Error: Into<Failure>,
{
    let deadline = clock::now() + BEHIND;
    while clock::now() < deadline {
        lines.borrow_mut().drain().map_err(Failure::new)?;
        let packet = lines.borrow_mut().next_packet();
        if let Some(packet) = packet {
            let handled = handler.handle_packet(packet.line, &packet.bytes);
            handled.map_err(Into::into)?;
            lines.borrow_mut().recycle(packet);
        } else {
            lines.borrow().wait(Some(deadline)).map_err(Failure::new)?;
        }
    }
    Ok(())
}

/// How far one line may be behind the other at the end of the feed.
const BEHIND: Duration = Duration::from_millis(50);

/// How often progress is told.
pub(super) const TICK: Duration = Duration::from_millis(100);
