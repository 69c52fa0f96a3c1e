//! What can come of a call besides its result.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use tickwire_cdr::Topic;

use super::client::Pending;
use crate::error::{EndpointError, TopicError, WriteError};

/// What a service says instead of a result (DDS-RPC 1.0 §7.5.2).
#[derive(Topic, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[topic(name = "dds::rpc::RemoteExceptionCode_t", crate = tickwire_cdr)]
pub enum RemoteException {
    /// Nothing is wrong, which is no answer where there is no result.
    #[topic(rename = "REMOTE_EX_OK")]
    Ok,
    /// It knows the operation but does not implement it.
    #[topic(rename = "REMOTE_EX_UNSUPPORTED")]
    Unsupported,
    /// A parameter has a value that it may not have.
    #[topic(rename = "REMOTE_EX_INVALID_ARGUMENT")]
    InvalidArgument,
    /// It has run out of something.
    #[topic(rename = "REMOTE_EX_OUT_OF_RESOURCES")]
    OutOfResources,
    /// It does not know the operation.
    #[topic(rename = "REMOTE_EX_UNKNOWN_OPERATION")]
    UnknownOperation,
    /// It has failed in a way that it has no words for.
    #[topic(rename = "REMOTE_EX_UNKNOWN_EXCEPTION")]
    UnknownException,
}

impl fmt::Display for RemoteException {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ok => "the service says that nothing is wrong, but gives no result",
            Self::Unsupported => "the service does not implement the operation",
            Self::InvalidArgument => "the service takes no such argument",
            Self::OutOfResources => "the service has run out of resources",
            Self::UnknownOperation => {
                "the service does not know the operation: its interface is another one"
            }
            Self::UnknownException => "the service has failed, and does not say why",
        })
    }
}

impl Error for RemoteException {}

/// Why a call has no result. `E` is what the operation raises.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError<E = Infallible> {
    /// An exception that the operation raises.
    Raised(E),
    /// What the service says instead.
    Remote(RemoteException),
    /// No service was found in time; nothing was sent.
    NoService(NoService),
    /// The request was sent, and no reply came in time. The service may have done what was asked.
    Timeout {
        /// The time waited for it.
        waited: Duration,
    },
    /// As many calls as [may be](super::ServiceConfig::max_pending) are under way; nothing was sent.
    TooMany {
        /// So many.
        limit: usize,
    },
    /// The request was not written.
    Write(WriteError),
    /// The reply has no result of the operation: the service has another interface.
    InvalidReply,
}

impl<E> CallError<E> {
    /// The same of an operation that raises something else, given what becomes of what this one raises.
    pub fn map<R>(self, raised: impl FnOnce(E) -> R) -> CallError<R> {
        match self {
            Self::Raised(exception) => CallError::Raised(raised(exception)),
            Self::Remote(exception) => CallError::Remote(exception),
            Self::NoService(why) => CallError::NoService(why),
            Self::Timeout { waited } => CallError::Timeout { waited },
            Self::TooMany { limit } => CallError::TooMany { limit },
            Self::Write(error) => CallError::Write(error),
            Self::InvalidReply => CallError::InvalidReply,
        }
    }
}

impl CallError {
    /// The same of an operation that raises anything.
    pub(super) fn widen<E>(self) -> CallError<E> {
        self.map(|never| match never {})
    }
}

impl<E: fmt::Display> fmt::Display for CallError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Raised(exception) => exception.fmt(f),
            Self::Remote(exception) => exception.fmt(f),
            Self::NoService(why) => why.fmt(f),
            Self::Timeout { waited } => write!(f, "no reply after {waited:?}"),
            Self::TooMany { limit } => write!(
                f,
                "{limit} calls are under way, and more may not be: wait for one of them, or raise \
                 max_pending"
            ),
            Self::Write(error) => write!(f, "the request was not written: {error}"),
            Self::InvalidReply => {
                f.write_str("the reply has no result of this operation: the interfaces differ")
            }
        }
    }
}

impl<E: Error + 'static> Error for CallError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Raised(exception) => Some(exception),
            Self::Remote(exception) => Some(exception),
            Self::NoService(why) => Some(why),
            Self::Write(error) => Some(error),
            _ => None,
        }
    }
}

impl<E> From<NoService> for CallError<E> {
    fn from(why: NoService) -> Self {
        Self::NoService(why)
    }
}

impl<E> From<WriteError> for CallError<E> {
    fn from(error: WriteError) -> Self {
        Self::Write(error)
    }
}

/// No service was found in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoService {
    /// The topic of the requests.
    pub request_topic: String,
    /// Whether anybody reads it.
    pub has_reader: bool,
    /// The topic of the replies.
    pub reply_topic: String,
    /// Whether anybody writes it.
    pub has_writer: bool,
    /// The time waited.
    pub waited: Duration,
}

impl fmt::Display for NoService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            request_topic: request,
            reply_topic: reply,
            waited,
            ..
        } = self;
        match waited.is_zero() {
            true => f.write_str("no service: ")?,
            false => write!(f, "no service after {waited:?}: ")?,
        }
        match (self.has_reader, self.has_writer) {
            (false, false) => write!(f, "nobody reads `{request}`, and nobody writes `{reply}`"),
            (false, true) => write!(
                f,
                "`{reply}` has a writer, but nobody reads `{request}`: see the verdicts of discovery"
            ),
            (true, false) => write!(
                f,
                "`{request}` has a reader, but nobody writes `{reply}`: see the verdicts of discovery"
            ),
            (true, true) => write!(
                f,
                "no participant both reads `{request}` and writes `{reply}`, and has shown that it \
                 knows us"
            ),
        }
    }
}

impl Error for NoService {}

/// Why a service does not give a result. `E` is what the operation raises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure<E = Infallible> {
    /// An exception that the operation raises.
    Raised(E),
    /// One that any operation may end with.
    Remote(RemoteException),
}

impl<E> From<RemoteException> for Failure<E> {
    fn from(exception: RemoteException) -> Self {
        Self::Remote(exception)
    }
}

/// What a method of a generated client gives.
pub type Called<T, E = Infallible> = Result<T, CallError<E>>;

/// What a method of a generated client gives that does not wait.
pub type Started<P, T, E = Infallible> = Result<Pending<P, T, E>, CallError<E>>;

/// What a method of a service gives.
pub type Served<T, E = Infallible> = Result<T, Failure<E>>;

/// Why there is no requester or replier.
#[derive(Debug)]
#[non_exhaustive]
pub enum CreateError {
    /// A topic has an impossible name, or the participant has it with another type.
    Topic(TopicError),
    /// The writer or the reader cannot be.
    Endpoint(EndpointError),
}

impl fmt::Display for CreateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Topic(error) => error.fmt(f),
            Self::Endpoint(error) => error.fmt(f),
        }
    }
}

impl Error for CreateError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Topic(error) => Some(error),
            Self::Endpoint(error) => Some(error),
        }
    }
}

impl From<TopicError> for CreateError {
    fn from(error: TopicError) -> Self {
        Self::Topic(error)
    }
}

impl From<EndpointError> for CreateError {
    fn from(error: EndpointError) -> Self {
        Self::Endpoint(error)
    }
}
