//! What the clients that are made of interfaces share.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::call::PendingReply;
use super::config::ServiceConfig;
use super::error::{CallError, CreateError, NoService, RemoteException};
use super::requester::Requester;
use crate::participant::DomainParticipant;
use crate::type_support::TopicSupport;

/// A requester and how long its calls may take. Generated clients have one, and methods with the operations' names over it.
pub struct Client<Q: TopicSupport, P: TopicSupport> {
    requester: Requester<Q, P>,
    timeout: Duration,
}

/// What an operation has of a reply: its result, or why there is none.
type Outcome<P, T, E> = fn(&P) -> Result<T, CallError<E>>;

impl<Q, P> Client<Q, P>
where
    Q: TopicSupport<Type = ()>,
    P: TopicSupport<Type = ()>,
{
    /// A client of a service whose calls take up to `timeout`, the time until a service is found among it.
    ///
    /// # Errors
    /// When a topic, a writer or a reader cannot be.
    pub fn new(
        participant: &DomainParticipant,
        config: impl Into<ServiceConfig>,
        timeout: Duration,
    ) -> Result<Self, CreateError> {
        let requester = Requester::new(participant, config)?;
        Ok(Self { requester, timeout })
    }
}

impl<Q: TopicSupport, P: TopicSupport> Client<Q, P> {
    /// The same with another time-out.
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        Self {
            timeout,
            ..self.clone()
        }
    }

    /// Waits until a service is there, as long as a call may take.
    ///
    /// # Errors
    /// When that takes longer; the error says which of the topics has no match.
    pub fn wait_for_service(&self) -> Result<(), NoService> {
        self.requester.wait_for_service(self.timeout)
    }

    /// Calls an operation and waits for what comes of it.
    ///
    /// # Errors
    /// What the operation raises, what the service says instead, and those of [`Requester::call`].
    pub fn call<T, E>(&self, request: &Q, outcome: Outcome<P, T, E>) -> Result<T, CallError<E>> {
        match self.requester.call(request, self.timeout) {
            Ok(reply) => outcome(&reply),
            Err(error) => Err(error.widen()),
        }
    }

    /// Calls an operation and does not wait.
    ///
    /// # Errors
    /// [`CallError::NoService`] if no service is there yet, and those of [`Requester::send`].
    pub fn start<T, E>(
        &self,
        request: &Q,
        outcome: Outcome<P, T, E>,
    ) -> Result<Pending<P, T, E>, CallError<E>> {
        self.requester.wait_for_service(Duration::ZERO)?;
        match self.requester.send(request) {
            Ok(reply) => Ok(Pending { reply, outcome }),
            Err(error) => Err(error.widen()),
        }
    }

    /// Calls an operation that nothing comes of (`@oneway`), once a service is there.
    ///
    /// # Errors
    /// [`CallError::NoService`] if there is none within the time-out, [`CallError::Write`] if the request cannot be
    /// written.
    pub fn tell(&self, request: &Q) -> Result<(), CallError> {
        self.wait_for_service()?;
        self.requester.tell(request).map(drop)
    }

    /// What it calls by.
    pub fn requester(&self) -> &Requester<Q, P> {
        &self.requester
    }
}

impl<Q: TopicSupport, P: TopicSupport> Clone for Client<Q, P> {
    fn clone(&self) -> Self {
        Self {
            requester: self.requester.clone(),
            timeout: self.timeout,
        }
    }
}

impl<Q: TopicSupport, P: TopicSupport> fmt::Debug for Client<Q, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.requester.fmt(f)
    }
}

/// The result of an operation, if a reply has one; else what it says instead. For generated code.
///
/// # Errors
/// [`CallError::Remote`], or [`CallError::InvalidReply`] if it says nothing.
pub fn outcome<R, E>(
    result: &Option<R>,
    exception: Option<RemoteException>,
) -> Result<&R, CallError<E>> {
    match (result, exception) {
        (Some(result), None | Some(RemoteException::Ok)) => Ok(result),
        (_, Some(exception)) => Err(CallError::Remote(exception)),
        (None, None) => Err(CallError::InvalidReply),
    }
}

/// A call of an operation that is under way: see [`PendingReply`].
#[must_use = "the call is given up when this is dropped"]
pub struct Pending<P, T, E> {
    reply: PendingReply<P>,
    outcome: Outcome<P, T, E>,
}

impl<P, T, E> Pending<P, T, E> {
    /// Waits for what comes of it.
    ///
    /// # Errors
    /// What the operation raises, what the service says instead, and [`CallError::Timeout`] when that takes longer than
    /// `timeout`; the call is given up then.
    pub fn wait(self, timeout: Duration) -> Result<T, CallError<E>> {
        match self.reply.wait(timeout) {
            Ok(reply) => (self.outcome)(&reply),
            Err(error) => Err(error.widen()),
        }
    }

    /// What has come of it, if anything has; once.
    pub fn take(&self) -> Option<Result<T, CallError<E>>> {
        let reply = self.reply.take()?;
        Some((self.outcome)(&reply))
    }
}

impl<P, T, E> Future for Pending<P, T, E> {
    type Output = Result<T, CallError<E>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let reply = Pin::new(&mut this.reply).poll(context);
        reply.map(|reply| (this.outcome)(&reply))
    }
}

impl<P, T, E> fmt::Debug for Pending<P, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reply.fmt(f)
    }
}
