//! The floor: the same ping-pong over bare UDP sockets, blocking, one system call a datagram.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use serde_json::json;
use tickwire_gateway::Timing;

use crate::failure::{Failure, Result};
use crate::stage::{Stage, tell};

/// Sends every datagram back, until the parent has gone.
pub(super) fn respond() -> Result<()> {
    let socket = bind()?;
    let address = socket.local_addr().map_err(failed)?;
    tell(&json!({"event": "ready", "address": address.to_string()}))?;
    let mut datagram = vec![0; MAX_DATAGRAM];
    loop {
        let (len, from) = socket.recv_from(&mut datagram).map_err(failed)?;
        let bytes = datagram.get(..len).unwrap_or_default();
        socket.send_to(bytes, from).map_err(failed)?;
    }
}

/// The pinging side, with its responders.
pub(super) struct Floor {
    socket: UdpSocket,
    responders: Vec<(Stage, SocketAddr)>,
    datagram: Vec<u8>,
}

impl Floor {
    pub(super) fn start(responders: u32) -> Result<Self> {
        let socket = bind()?;
        socket
            .set_read_timeout(Some(Duration::from_secs(5)))
            .map_err(failed)?;
        let responders = (0..responders).map(|_| {
            let mut stage = Stage::start(
                "UDP responder",
                &["perf", "respond", "udp"].map(str::to_owned),
            )?;
            let ready = stage.wait_for("ready", Duration::from_secs(20), |_| {})?;
            let address = ready["address"].as_str().and_then(|text| text.parse().ok());
            let address =
                address.ok_or_else(|| Failure::new("the UDP responder has no address"))?;
            Ok((stage, address))
        });
        Ok(Self {
            responders: responders.collect::<Result<_>>()?,
            socket,
            datagram: Vec::new(),
        })
    }

    /// One round trip after the other: half of the time of each goes into `one_way`.
    ///
    /// With several responders each ping goes to all, and the trip ends with the last answer.
    pub(super) fn ping(&mut self, size: usize, rounds: u32, one_way: &mut Timing) -> Result<()> {
        self.datagram.clear();
        self.datagram.resize(size.clamp(1, MAX_DATAGRAM), 0);
        let mut answer = vec![0; MAX_DATAGRAM];
        for _ in 0..rounds {
            let begin = Instant::now();
            for (_, address) in &self.responders {
                self.socket
                    .send_to(&self.datagram, address)
                    .map_err(failed)?;
            }
            for _ in &self.responders {
                self.socket.recv_from(&mut answer).map_err(failed)?;
            }
            one_way.record(begin.elapsed() / 2);
        }
        Ok(())
    }
}

fn bind() -> Result<UdpSocket> {
    UdpSocket::bind("127.0.0.1:0").map_err(failed)
}

fn failed(error: std::io::Error) -> Failure {
    Failure::new(format_args!("bare UDP on 127.0.0.1: {error}"))
}

const MAX_DATAGRAM: usize = 65_507;
