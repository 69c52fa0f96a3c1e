//! Subscribers: access to several readers together.

use std::sync::{Mutex, PoisonError};

use dds::Access;

use crate::border::{Out, export};
use crate::guid;
use crate::handle::{self, Handle, get};
use crate::participant::Participant;
use crate::publisher::not_begun;
use crate::qos;
use crate::samples::states;

/// A subscriber, and the accesses that have begun.
pub(crate) struct Subscriber {
    pub(crate) dds: dds::Subscriber,
    accesses: Mutex<Vec<Access>>,
}

export! {
    fn tw_subscriber_create(participant: Handle, qos: Handle, subscriber: Out<Handle>) {
        let subscriber = subscriber.place("subscriber")?;
        let entry = get::<Participant>(participant)?;
        let made = Subscriber {
            dds: entry.dds.subscriber(qos::profile(qos)?.subscriber()),
            accesses: Mutex::default(),
        };
        subscriber.put(handle::add(participant, made)?);
        Ok(())
    }

    fn tw_subscriber_begin_access(subscriber: Handle) {
        let subscriber = get::<Subscriber>(subscriber)?;
        let access = subscriber.dds.begin_access();
        let mut accesses = subscriber.accesses.lock().unwrap_or_else(PoisonError::into_inner);
        accesses.push(access);
        Ok(())
    }

    fn tw_subscriber_end_access(subscriber: Handle) {
        let subscriber = get::<Subscriber>(subscriber)?;
        let access = subscriber.accesses.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match access {
            Some(access) => access.end_access(),
            None => return Err(not_begun("no access has begun", "tw_subscriber_begin_access")),
        }
        Ok(())
    }

    fn tw_subscriber_readers(
        subscriber: Handle,
        mask: u32,
        readers: Out<Handle>,
        capacity: usize,
        count: Out<usize>,
    ) {
        let subscriber = get::<Subscriber>(subscriber)?;
        let count = count.place("count")?;
        // An access of its own shows what all that have begun see.
        let access = subscriber.dds.begin_access();
        let guids = access.datareaders(states(mask)?);
        access.end_access();
        let found: Vec<_> = guids.into_iter().filter_map(guid::endpoint).collect();
        readers.put_all(&found, capacity, "readers")?;
        count.put(found.len());
        Ok(())
    }

    fn tw_subscriber_notify(subscriber: Handle) {
        get::<Subscriber>(subscriber)?.dds.notify_datareaders();
        Ok(())
    }
}
