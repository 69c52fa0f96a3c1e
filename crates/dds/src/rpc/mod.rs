//! Requests and replies (DDS-RPC 1.0): a question on one topic, its answer on another.
//!
//! [`Requester`] and [`Replier`] do that with any two types:
//!
//! ```
//! use std::time::Duration;
//! use tickwire::rpc::{Replier, Requester};
//! use tickwire::{DomainParticipant, Topic};
//!
//! #[derive(Topic, Debug)]
//! struct Question { security: String }
//!
//! #[derive(Topic, Debug)]
//! struct Answer { price: f64 }
//!
//! let participant = DomainParticipant::new(0)?;
//! let replier = Replier::<Question, Answer>::new(&participant, "Prices")?;
//! let requester = Requester::<Question, Answer>::new(&participant, "Prices")?;
//!
//! requester.wait_for_service(Duration::from_secs(5))?;
//! let pending = requester.send(&Question { security: "TICK".into() })?;
//! let request = replier.wait(Duration::from_secs(5))?;
//! assert_eq!(request.security, "TICK");
//! replier.reply(&request, &Answer { price: 101.25 })?;
//! assert_eq!(pending.wait(Duration::from_secs(5))?.price, 101.25);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An interface of IDL becomes a trait that a service implements, a client with a method for each operation, and what
//! lies between: a [`Service`], which a [`Server`] runs, and a [`Client`]. `docs/request-reply.md` has the mapping.
//!
//! A reply says in its inline QoS which request it answers (the Enhanced Service Mapping): no type needs a header.

mod call;
mod client;
mod config;
mod error;
mod replier;
mod requester;
mod server;

pub use call::{PendingReply, Reply};
pub use client::{Client, Pending, outcome};
pub use config::ServiceConfig;
pub use error::{
    CallError, Called, CreateError, Failure, NoService, RemoteException, Served, Started,
};
pub use replier::{Replier, ReplierCounters, Request};
pub use requester::{Requester, RequesterCounters};
pub use server::{Answer, Running, Server, ServerCounters, Service};
