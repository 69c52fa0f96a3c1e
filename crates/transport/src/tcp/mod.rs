//! Whole messages over TCP, for links that carry no UDP. Knows neither what is in a message nor a thread:
//! what waits for the network is called by whoever has a thread for it.
//!
//! Between two participants there are two connections, one for discovery and acknowledgements and one
//! for samples, as there are two unicast ports with UDP: who is busy with samples hears acknowledgements
//! all the same. Each side uses both in both directions, so that one side that can connect is enough.
//! Each message is a frame:
//!
//! ```text
//!  0               1               2               3
//!  0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7
//! +---------------+---------------+---------------+---------------+
//! |            length of the message in bytes, big endian         |
//! +---------------+---------------+---------------+---------------+
//! |                            message                            |
//! ~                                                               ~
//! +---------------------------------------------------------------+
//! ```
//!
//! The first frame in each direction is a [`Hello`]. Who connects speaks first; the other one
//! answers, and says nothing to who does not speak.
//!
//! Who is to hear itself has the same two connections over pairs of sockets
//! ([`TcpNet::reach_itself`]).
//!
//! [`TcpNet`] is all connections of a participant. Sending never waits: what neither the kernel nor the
//! connection's queue has room for is dropped and counted, as UDP would, and RTPS repairs it.

mod book;
mod connection;
mod dial;
mod directory;
mod frame;
mod greeting;
mod hello;
mod incoming;
mod net;
mod options;
mod receiver;
mod socket;

pub use frame::{Frames, Whole};
pub use hello::{Hello, HelloError};
pub use net::{TcpNet, Turned};
pub use options::{MAX_MESSAGE_LEN, TcpCounts, TcpOptions};
pub use receiver::{LongMessage, Received, TcpReceiver};

/// The name of a participant: its GUID prefix.
pub type Owner = [u8; 12];
