//! What goes in one direction: a service of bytes, and one of events that say that there are some.

use std::fmt::Debug;

use iceoryx2::node::Node;
use iceoryx2::prelude::{PortFactory as _, ServiceName, ipc_threadsafe};
use iceoryx2::service::port_factory::{event, publish_subscribe};
use lab_program::Options;

pub(crate) type Service = ipc_threadsafe::Service;

pub(crate) struct Channel {
    pub(crate) data: publish_subscribe::PortFactory<Service, [u8], ()>,
    pub(crate) events: event::PortFactory<Service>,
}

impl Channel {
    /// Whoever comes first makes the services. `senders` and `receivers` are how many there may be.
    pub(crate) fn open(
        node: &Node<Service>,
        options: &Options,
        direction: &str,
        senders: usize,
        receivers: usize,
    ) -> Result<Self, String> {
        let dir = options.dir.canonicalize().map_err(told)?;
        let name = |kind: &str| {
            let name = format!("{}/{direction}/{kind}", dir.display());
            ServiceName::new(&name).map_err(told)
        };
        let data = node
            .service_builder(&name("data")?)
            .publish_subscribe::<[u8]>()
            .enable_safe_overflow(false)
            .history_size(0)
            .subscriber_max_buffer_size(buffered(options))
            .max_publishers(senders)
            .max_subscribers(receivers)
            .max_nodes(senders + receivers)
            .open_or_create()
            .map_err(told)?;
        let events = node
            .service_builder(&name("events")?)
            .event()
            .max_notifiers(senders)
            .max_listeners(receivers)
            .max_nodes(senders + receivers)
            .open_or_create()
            .map_err(told)?;
        Ok(Self { data, events })
    }

    pub(crate) fn receivers(&self) -> usize {
        let (data, events) = (self.data.dynamic_config(), self.events.dynamic_config());
        data.number_of_subscribers()
            .min(events.number_of_listeners())
    }

    pub(crate) fn senders(&self) -> usize {
        self.data.dynamic_config().number_of_publishers()
    }
}

/// Samples in a subscriber's buffer: 64, fewer if that were more than 64 MB.
pub(crate) fn buffered(options: &Options) -> usize {
    (MEMORY / options.payload_len()).clamp(4, 64)
}

pub(crate) fn told(error: impl Debug) -> String {
    format!("{error:?}")
}

const MEMORY: usize = 64 << 20;
