//! A connection on which somebody has yet to say who he is. Does not know the others.

use std::io::{self, Read, Write};
use std::net::SocketAddrV4;

use socket2::Socket;
use tickwire_base::{Channel, Instant};

use super::frame::{Frames, HEADER_LEN, header};
use super::hello::Hello;

#[derive(Debug)]
pub(super) struct Greeting {
    pub(super) socket: Socket,
    pub(super) from: SocketAddrV4,
    /// What this side made it for; the other side says it if that made it.
    pub(super) dialled: Option<Channel>,
    pub(super) until: Instant,
    is_connected: bool,
    received: Vec<u8>,
}

/// What a greeting has come to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Something is still to come.
    Waiting,
    /// This side has been connected: from now on it waits to read.
    Connected,
    /// The other side has said who it is, and knows who this one is.
    Done(Hello),
    /// Nobody is there, or it has gone.
    Lost,
    /// It speaks something else.
    Foreign,
}

impl Greeting {
    pub(super) fn new(
        socket: Socket,
        from: SocketAddrV4,
        dialled: Option<Channel>,
        until: Instant,
    ) -> Self {
        Self {
            socket,
            from,
            dialled,
            until,
            is_connected: dialled.is_none(),
            received: Vec::new(),
        }
    }

    /// Does what can be done now; `own` is what this side says, for the channel that is meant.
    pub(super) fn go_on(&mut self, own: impl Fn(Channel) -> Hello) -> Progress {
        if !self.is_connected {
            return self.connected(own);
        }
        match self.read() {
            Ok(true) => {}
            Ok(false) => return Progress::Waiting,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return Progress::Foreign,
            Err(_) => return Progress::Lost,
        }
        let hello = Frames::of(&self.received).next().map(Hello::parse);
        match (hello, self.dialled) {
            (Some(Ok(hello)), Some(channel)) if hello.channel == channel => Progress::Done(hello),
            (Some(Ok(hello)), None) => match self.say(&own(hello.channel)) {
                Ok(()) => Progress::Done(hello),
                Err(_) => Progress::Lost,
            },
            _ => Progress::Foreign,
        }
    }

    fn connected(&mut self, own: impl Fn(Channel) -> Hello) -> Progress {
        let failed = self.socket.take_error();
        let said = match (failed, self.dialled) {
            (Ok(None), Some(channel)) => self.say(&own(channel)),
            _ => return Progress::Lost,
        };
        self.is_connected = said.is_ok();
        match said {
            Ok(()) => Progress::Connected,
            Err(_) => Progress::Lost,
        }
    }

    /// What nobody has read yet always has room for a hello.
    fn say(&self, hello: &Hello) -> io::Result<()> {
        let message = hello.to_bytes();
        let header = header(message.len()).unwrap_or_default();
        let mut frame = Vec::with_capacity(HEADER_LEN + message.len());
        frame.extend(header);
        frame.extend(message);
        (&self.socket).write_all(&frame)
    }

    /// Reads as far as the first frame goes and no further; whether all of it is here.
    fn read(&mut self) -> io::Result<bool> {
        loop {
            let missing = match self.received.first_chunk::<HEADER_LEN>() {
                None => HEADER_LEN - self.received.len(),
                Some(header) => {
                    let len = usize::try_from(u32::from_be_bytes(*header)).unwrap_or(usize::MAX);
                    if !(Hello::LEN..=Hello::MAX_LEN).contains(&len) {
                        return Err(io::ErrorKind::InvalidData.into());
                    }
                    HEADER_LEN + len - self.received.len()
                }
            };
            if missing == 0 {
                return Ok(true);
            }
            let mut room = [0; HEADER_LEN + Hello::MAX_LEN];
            let room = room.get_mut(..missing).unwrap_or_default();
            match (&self.socket).read(room) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(len) => self
                    .received
                    .extend_from_slice(room.get(..len).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
