//! UDP, TCP and shared memory for Tickwire: sockets, batches of datagrams, [connections](tcp),
//! [logs](shm) between processes of one machine, waiting, clocks and interfaces.
//!
//! Works on datagrams and addresses alone: it knows neither RTPS nor any feed's framing, and starts
//! no thread. Linux is the platform; where the kernel grants less than was asked for (buffer sizes),
//! what it granted can be read back.
//!
//! A receiving thread owns a [`ReceiveBatch`], waits in a [`Poller`] and reads what is there:
//!
//! ```
//! use tickwire_transport::{clock, Poller, ReceiveBatch, UdpOptions, UdpSocket};
//!
//! let socket = UdpSocket::unicast("127.0.0.1:0".parse()?, &UdpOptions::default())?;
//! socket.send_to(b"to myself", socket.local_address())?;
//!
//! let mut poller = Poller::new(&socket);
//! let mut batch = ReceiveBatch::new();
//! let deadline = clock::now() + std::time::Duration::from_secs(5);
//! assert!(poller.wait(Some(deadline))?.socket(0));
//! assert_eq!(batch.receive(&socket)?, 1);
//! assert_eq!(batch.iter().next().map(|datagram| datagram.bytes), Some(&b"to myself"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(unsafe_code)]

#[cfg(not(target_os = "linux"))]
compile_error!("tickwire-transport uses recvmmsg, ppoll, eventfd and memfd: it needs Linux");

mod batch;
pub mod clock;
mod connected;
mod cores;
mod error;
mod interface;
mod page_aligned;
mod poller;
mod selection;
mod sending;
pub mod shm;
mod socket;
mod switches;
pub mod tcp;
mod watch;

pub use batch::{Datagram, ReceiveBatch};
pub use cores::{CoreSet, CoresError, ParseCoresError};
pub use error::{InterfaceError, ReceiveError, SendError, SocketError, WaitError};
pub use interface::{Interface, interfaces};
pub use poller::{Poller, Ready, Waker};
pub use selection::InterfaceSelection;
pub use socket::{ReceiveTimestamps, UdpOptions, UdpSocket};
pub use switches::ContextSwitches;
pub use watch::{Changed, InterfaceWatch};

/// The largest payload that one UDP datagram carries over IPv4, in bytes.
pub const MAX_DATAGRAM_BYTES: usize = 65_507;
