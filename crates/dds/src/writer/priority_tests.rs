use std::io::IoSliceMut;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;

use nix::cmsg_space;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrIn, recvmsg, setsockopt, sockopt};
use tickwire_base::Locator;
use tickwire_rtps::Outbox;
use tickwire_rtps::wire::{EntityId, GuidPrefix};
use tickwire_rtps::writer::ReaderProxy;

use super::*;
use crate::DomainParticipant;

#[derive(tickwire_derive::Topic, Debug)]
#[topic(crate = tickwire_cdr)]
struct Tick {
    price: i64,
}

/// A socket that tells how datagrams were marked.
fn receiver() -> UdpSocket {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    setsockopt(&socket, sockopt::IpRecvTos, &true).expect("Linux can tell");
    socket
}

/// The DSCP of the next datagram.
fn next_dscp(socket: &UdpSocket) -> u8 {
    let mut room = cmsg_space!(i32);
    let mut bytes = [0; 1000];
    let mut slices = [IoSliceMut::new(&mut bytes)];
    let (fd, flags) = (socket.as_raw_fd(), MsgFlags::empty());
    let message = recvmsg::<SockaddrIn>(fd, &mut slices, Some(&mut room), flags);
    let message = message.expect("a datagram");
    let mut cmsgs = message.cmsgs().expect("whole");
    let tos = cmsgs.find_map(|cmsg| match cmsg {
        ControlMessageOwned::Ipv4Tos(tos) => Some(tos),
        _ => None,
    });
    tos.expect("the kernel tells") >> 2
}

fn match_reader(writer: &DataWriter<Tick>, socket: &UdpSocket) {
    let to = socket.local_addr().expect("it is bound");
    let proxy = ReaderProxy {
        guid: Guid::new(GuidPrefix([7; 12]), EntityId::user_reader(1, false)),
        unicast: vec![Locator::udp(to)],
        ..ReaderProxy::default()
    };
    let endpoint = &writer.handle.endpoint;
    endpoint.match_reader(clock::now(), proxy, &mut Outbox::new());
}

#[test]
fn transport_priority_is_the_dscp_of_what_the_writer_sends() {
    let builder = DomainParticipant::builder(170).multicast(false);
    let participant = builder.build().expect("a participant");
    let topic = participant.topic::<Tick>("Ticks").expect("a topic");
    let priority = |priority| DataWriterQos::default().transport_priority(priority);
    let make = |value| {
        participant
            .writer_with(&topic, priority(value))
            .expect("a writer")
    };
    for (value, dscp) in [(0, 0), (46, 46), (i32::MAX, 63), (-1, 0)] {
        let (writer, socket) = (make(value), receiver());
        match_reader(&writer, &socket);
        writer.write(&Tick { price: 1 }).expect("room");
        assert_eq!(next_dscp(&socket), dscp);
        writer.set_qos(priority(8)).expect("it may change");
        writer.write(&Tick { price: 2 }).expect("room");
        assert_eq!(next_dscp(&socket), 8);
    }
}

#[test]
fn writers_that_send_together_keep_their_priorities() {
    let builder = DomainParticipant::builder(171).multicast(false);
    let participant = builder.build().expect("a participant");
    let topic = participant.topic::<Tick>("Ticks").expect("a topic");
    let socket = receiver();
    let writers = [46, 0, 8].map(|value| {
        let qos = DataWriterQos::default().transport_priority(value);
        let writer = participant.writer_with(&topic, qos).expect("a writer");
        match_reader(&writer, &socket);
        writer
    });
    let publisher = participant.publisher(Default::default());
    let suspended = publisher.suspend_publications();
    for writer in &writers {
        writer.write(&Tick { price: 1 }).expect("room");
    }
    suspended.resume_publications();
    assert_eq!([(); 3].map(|()| next_dscp(&socket)), [46, 0, 8]);
}
