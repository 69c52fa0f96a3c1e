//! What the two topics of a service are called, and their QoS.

use std::time::Duration;

use crate::qos::{DataReaderQos, DataWriterQos, ResourceLimits};

/// The topics of a service and how it uses them. A name alone makes one, by the standard's names.
#[derive(Clone, Debug)]
pub struct ServiceConfig {
    pub(super) request_topic: String,
    pub(super) reply_topic: String,
    pub(super) request_writer: DataWriterQos,
    pub(super) request_reader: DataReaderQos,
    pub(super) reply_writer: DataWriterQos,
    pub(super) reply_reader: DataReaderQos,
    pub(super) max_pending: usize,
}

impl ServiceConfig {
    /// The topics `NAME_Request` and `NAME_Reply`, as Fast DDS has them, too.
    pub fn new(name: &str) -> Self {
        Self::topics(&format!("{name}_Request"), &format!("{name}_Reply"))
    }

    /// The topics of a service of ROS 2, `rq/NAMERequest` and `rr/NAMEReply`; `name` is without the slash that it begins
    /// with in ROS.
    pub fn ros2(name: &str) -> Self {
        Self::topics(&format!("rq/{name}Request"), &format!("rr/{name}Reply"))
    }

    /// Topics of any names. RTI Connext has `NAMERequest` and `NAMEReply`.
    pub fn topics(request: &str, reply: &str) -> Self {
        let limits = ResourceLimits {
            max_samples: Some(MAX_SAMPLES),
            ..ResourceLimits::default()
        };
        Self {
            request_topic: request.to_owned(),
            reply_topic: reply.to_owned(),
            request_writer: DataWriterQos::default()
                .reliable(Duration::from_secs(1))
                .keep_all(),
            request_reader: DataReaderQos::default()
                .reliable()
                .keep_all()
                .resource_limits(limits),
            // What one client does not acknowledge must not keep others waiting.
            reply_writer: DataWriterQos::default()
                .reliable(Duration::from_secs(1))
                .keep_last(KEPT_REPLIES),
            reply_reader: DataReaderQos::default().reliable().keep_all(),
            max_pending: 1024,
        }
    }

    /// QoS of the requests: of a client's writer and of a service's reader. By default both are reliable and KEEP_ALL; up to
    /// 4096 requests wait in a service that is busy, and then its clients do.
    pub fn requests(mut self, writer: DataWriterQos, reader: DataReaderQos) -> Self {
        (self.request_writer, self.request_reader) = (writer, reader);
        self
    }

    /// QoS of the replies: of a service's writer and of a client's reader. By default both are reliable; the service keeps
    /// its last 1024 replies for clients that lack them, so that it waits for none.
    /// [`related_samples`](DataWriterQos::related_samples) is set in any case.
    pub fn replies(mut self, writer: DataWriterQos, reader: DataReaderQos) -> Self {
        (self.reply_writer, self.reply_reader) = (writer, reader);
        self
    }

    /// How many calls of a client may be under way at once. Default 1024.
    pub fn max_pending(mut self, calls: usize) -> Self {
        self.max_pending = calls;
        self
    }

    /// The topic of the requests.
    pub fn request_topic(&self) -> &str {
        &self.request_topic
    }

    /// The topic of the replies.
    pub fn reply_topic(&self) -> &str {
        &self.reply_topic
    }
}

impl From<&str> for ServiceConfig {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

/// Requests that wait in a service at most.
const MAX_SAMPLES: u32 = 4096;
/// Replies that a service keeps for clients that have not acknowledged them.
const KEPT_REPLIES: u32 = 1024;
