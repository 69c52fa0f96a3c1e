//! What a set of connections is told at birth, and what it counts.

use std::net::Ipv4Addr;
use std::time::Duration;

use tickwire_base::Counter;

use super::Owner;

/// Settings of a [`TcpNet`](super::TcpNet).
#[derive(Clone, Debug)]
pub struct TcpOptions {
    /// The name of this side: a participant's GUID prefix.
    pub owner: Owner,
    /// Random bytes, which nobody can guess who is not connected.
    pub key: [u8; 16],
    /// Spreads attempts to connect; any number.
    pub seed: u64,
    /// Where connections come from and are accepted. Default 127.0.0.1, so that none leaves this
    /// machine; 0.0.0.0 for all interfaces.
    pub bound: Ipv4Addr,
    /// The ports to listen at: the first that is free; 0 for any. Default none, so that nobody can
    /// connect.
    pub ports: Vec<u16>,
    /// The longest message in bytes. Who announces a longer one is disconnected. Default
    /// [`MAX_MESSAGE_LEN`].
    pub max_message_len: usize,
    /// Connections at most, two for each participant, those that are being made included. Default 512.
    pub max_connections: usize,
    /// Of those that others make, how many may not have said who they are; the oldest makes way.
    /// Default 32.
    pub max_strangers: usize,
    /// Addresses to connect to at most. Default 1024.
    pub max_targets: usize,
    /// Bytes that may wait in one connection's queue behind what the kernel keeps. Default 4 MiB.
    pub max_queued_bytes: usize,
    /// The same for all connections together. Default 64 MiB.
    pub max_queued_bytes_in_all: usize,
    /// Bytes that messages of more than 128 KiB may take together of which the rest has not come; where
    /// one finds no room, its connection ends. Default 64 MiB.
    pub max_incomplete_bytes_in_all: usize,
    /// How long the other side may take to accept and to say who it is. Default 3 s.
    pub hello_timeout: Duration,
    /// The first pause between attempts to connect; it doubles each time. Default 100 ms.
    pub min_pause: Duration,
    /// The longest pause, for whoever has been there once or is known to be there. Default 5 s.
    pub max_pause: Duration,
    /// The longest pause where nobody may ever be. Default 30 s.
    pub max_guess_pause: Duration,
    /// How long nothing that was sent may stay unacknowledged before a connection counts as lost.
    /// Default 15 s.
    pub loss_timeout: Duration,
}

impl TcpOptions {
    /// The defaults for one side.
    pub fn new(owner: Owner, key: [u8; 16], seed: u64) -> Self {
        Self {
            owner,
            key,
            seed,
            bound: Ipv4Addr::LOCALHOST,
            ports: Vec::new(),
            max_message_len: MAX_MESSAGE_LEN,
            max_connections: 512,
            max_strangers: 32,
            max_targets: 1024,
            max_queued_bytes: 4 << 20,
            max_queued_bytes_in_all: 64 << 20,
            max_incomplete_bytes_in_all: 64 << 20,
            hello_timeout: Duration::from_secs(3),
            min_pause: Duration::from_millis(100),
            max_pause: Duration::from_secs(5),
            max_guess_pause: Duration::from_secs(30),
            loss_timeout: Duration::from_secs(15),
        }
    }
}

/// What has happened to connections, as it grows.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) opened: Counter,
    pub(super) closed: Counter,
    pub(super) refused: Counter,
    pub(super) bad_hellos: Counter,
    pub(super) timeouts: Counter,
    pub(super) oversized: Counter,
    pub(super) dropped: Counter,
    pub(super) unconnected: Counter,
}

/// What has happened to connections, at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpCounts {
    /// Connections on which both sides have said who they are.
    pub opened: u64,
    /// Of those, how many have ended.
    pub closed: u64,
    /// Connections that others made for which there was no room, or whose name is taken.
    pub refused: u64,
    /// Connections whose first words were not a hello.
    pub bad_hellos: u64,
    /// Attempts to connect and connections on which nobody said who he is in time.
    pub timeouts: u64,
    /// Connections that ended because a message was too long, or there was no room for its rest.
    pub oversized: u64,
    /// Messages for which there was no room in a connection, or that were too long.
    pub dropped: u64,
    /// Messages for somebody who was not connected.
    pub unconnected: u64,
    /// Connections to others that there are.
    pub connections: usize,
    /// Bytes that wait in the queues of all of them.
    pub queued_bytes: usize,
}

/// The longest message in bytes, unless [`TcpOptions::max_message_len`] says otherwise.
pub const MAX_MESSAGE_LEN: usize = 1 << 20;
