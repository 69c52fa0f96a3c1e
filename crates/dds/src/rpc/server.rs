//! What runs a service.

use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::config::ServiceConfig;
use super::error::{CreateError, RemoteException};
use super::replier::{Replier, Request};
use crate::error::Timeout;
use crate::participant::DomainParticipant;
use crate::type_support::TopicSupport;
use crate::wait_set::{GuardCondition, WaitSet};

/// Answers requests one after the other. Generated code implements it over the trait that an interface becomes.
pub trait Service: Send + 'static {
    /// What it is asked.
    type Request: TopicSupport<Type = ()>;
    /// What it answers.
    type Reply: TopicSupport<Type = ()>;

    /// Answers a request.
    fn call(&mut self, request: &Self::Request) -> Answer<Self::Reply>;

    /// The reply that says this instead of a result.
    fn refusal(exception: RemoteException) -> Self::Reply;
}

/// What a service has to say to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<P> {
    /// The result.
    Returned(P),
    /// An exception of the operation.
    Raised(P),
    /// Neither.
    Refused(RemoteException),
    /// Nothing: the operation is `@oneway`.
    Nothing,
}

impl<P> Answer<P> {
    /// A reply, which an exception of the operation may be. For generated code.
    pub fn of(reply: P, is_raised: bool) -> Self {
        match is_raised {
            true => Self::Raised(reply),
            false => Self::Returned(reply),
        }
    }

    /// To a request that asks for none of the operations, or for several. For generated code.
    pub fn not_one(asked: u32) -> Self {
        Self::Refused(match asked {
            0 => RemoteException::UnknownOperation,
            _ => RemoteException::InvalidArgument,
        })
    }
}

/// A service with its topics. [`spawn`](Self::spawn) gives it a thread; else the application has it answer what has come.
pub struct Server<S: Service> {
    replier: Replier<S::Request, S::Reply>,
    service: S,
    counters: ServerCounters,
}

/// What came of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerCounters {
    /// Requests taken.
    pub requests: u64,
    /// Those with a result.
    pub returned: u64,
    /// Those that ended with an exception of their operation.
    pub raised: u64,
    /// Those that nobody is told the end of.
    pub told: u64,
    /// Those for operations that the interface does not have.
    pub unknown_operations: u64,
    /// Those that the service refused otherwise, such as two operations in one.
    pub refused: u64,
    /// Those in which the service panicked, which it answered with [`RemoteException::UnknownException`].
    pub panics: u64,
    /// Replies that could not be written.
    pub unsent: u64,
}

impl<S: Service> Server<S> {
    /// A service under this name, or with other topics and QoS. It answers nothing yet, but requests wait.
    ///
    /// # Errors
    /// When a topic, a writer or a reader cannot be.
    pub fn new(
        participant: &DomainParticipant,
        config: impl Into<ServiceConfig>,
        service: S,
    ) -> Result<Self, CreateError> {
        Ok(Self {
            replier: Replier::new(participant, config)?,
            service,
            counters: ServerCounters::default(),
        })
    }

    /// Answers what has come, and says how many requests that were; not more than 64 at once.
    pub fn poll(&mut self) -> usize {
        let requests = std::iter::from_fn(|| self.replier.take()).take(AT_ONCE);
        let requests: Vec<_> = requests.collect();
        requests.iter().for_each(|request| self.answer(request));
        requests.len()
    }

    /// Waits for a request, and answers it and what else has come.
    ///
    /// # Errors
    /// When none comes within `timeout`.
    pub fn wait(&mut self, timeout: Duration) -> Result<usize, Timeout> {
        let first = self.replier.wait(timeout)?;
        self.answer(&first);
        Ok(1 + self.poll())
    }

    /// Has a thread answer from here on, until what is returned is dropped.
    ///
    /// # Errors
    /// If the system has no thread to give.
    pub fn spawn(self) -> io::Result<Running<S>> {
        let stop = GuardCondition::new();
        let (mut server, stopped) = (self, stop.clone());
        let thread = thread::Builder::new().name("tickwire-service".to_owned());
        let thread = thread.spawn(move || {
            server.run(&stopped);
            server
        })?;
        Ok(Running {
            stop,
            thread: Some(thread),
        })
    }

    fn run(&mut self, stop: &GuardCondition) {
        let stop = stop.condition();
        let either = WaitSet::new();
        either.attach(&stop);
        either.attach(&self.replier.condition());
        while !stop.holds() {
            // Time-outs are nothing: it waits again.
            let _ = either.wait(Duration::MAX);
            self.poll();
        }
    }

    fn answer(&mut self, request: &Request<S::Request>) {
        self.counters.requests += 1;
        let called = catch_unwind(AssertUnwindSafe(|| self.service.call(request)));
        let counters = &mut self.counters;
        let reply = match called {
            Ok(Answer::Returned(reply)) => {
                counters.returned += 1;
                reply
            }
            Ok(Answer::Raised(reply)) => {
                counters.raised += 1;
                reply
            }
            Ok(Answer::Refused(RemoteException::UnknownOperation)) => {
                counters.unknown_operations += 1;
                S::refusal(RemoteException::UnknownOperation)
            }
            Ok(Answer::Refused(exception)) => {
                counters.refused += 1;
                S::refusal(exception)
            }
            Ok(Answer::Nothing) => {
                counters.told += 1;
                return;
            }
            Err(_) => {
                counters.panics += 1;
                S::refusal(RemoteException::UnknownException)
            }
        };
        // Why is counted, and who asked cannot be told.
        if self.replier.reply(request, &reply).is_err() {
            counters.unsent += 1;
        }
    }

    /// What came of requests.
    pub fn counters(&self) -> ServerCounters {
        self.counters
    }

    /// What it answers by.
    pub fn replier(&self) -> &Replier<S::Request, S::Reply> {
        &self.replier
    }

    /// The service.
    pub fn service(&self) -> &S {
        &self.service
    }

    /// The service, to be changed.
    pub fn service_mut(&mut self) -> &mut S {
        &mut self.service
    }
}

impl<S: Service> fmt::Debug for Server<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("replier", &self.replier)
            .field("counters", &self.counters)
            .finish_non_exhaustive()
    }
}

/// A server on a thread of its own. It ends when this is dropped, after the request that it is at.
#[must_use = "the server ends when this is dropped"]
pub struct Running<S: Service> {
    stop: GuardCondition,
    thread: Option<JoinHandle<Server<S>>>,
}

impl<S: Service> Running<S> {
    /// Ends the thread, and gives the server back. `None` cannot be, as what a service does in a panic ends that call only.
    pub fn stop(mut self) -> Option<Server<S>> {
        self.stop.set(true);
        self.thread.take()?.join().ok()
    }
}

impl<S: Service> Drop for Running<S> {
    fn drop(&mut self) {
        self.stop.set(true);
        if let Some(thread) = self.thread.take() {
            // What a panic left behind has no use.
            let _ = thread.join();
        }
    }
}

impl<S: Service> fmt::Debug for Running<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").finish_non_exhaustive()
    }
}

/// Requests that are answered before anything else is looked at.
const AT_ONCE: usize = 64;
