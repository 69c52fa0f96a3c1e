//! Publishers: coherent sets, publications that are suspended.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use dds::{CoherentChanges, SuspendedPublications};

use crate::border::{Out, export};
use crate::failure::{Code, Failure, Result};
use crate::handle::{self, Handle, get};
use crate::participant::Participant;
use crate::qos;

/// A publisher, and the coherent sets that have begun, one in the other.
pub(crate) struct Publisher {
    pub(crate) dds: dds::Publisher,
    sets: Mutex<Vec<CoherentChanges>>,
}

thread_local! {
    /// What the thread has suspended, by publisher.
    static SUSPENDED: RefCell<Vec<(Handle, SuspendedPublications)>> = const { RefCell::new(Vec::new()) };
}

export! {
    fn tw_publisher_create(participant: Handle, qos: Handle, publisher: Out<Handle>) {
        let publisher = publisher.place("publisher")?;
        let entry = get::<Participant>(participant)?;
        let made = Publisher {
            dds: entry.dds.publisher(qos::profile(qos)?.publisher()),
            sets: Mutex::default(),
        };
        publisher.put(handle::add(participant, made)?);
        Ok(())
    }

    fn tw_publisher_begin_coherent(publisher: Handle) {
        let publisher = get::<Publisher>(publisher)?;
        let mut sets = publisher.sets.lock().unwrap_or_else(PoisonError::into_inner);
        sets.push(publisher.dds.begin_coherent_changes());
        Ok(())
    }

    fn tw_publisher_end_coherent(publisher: Handle) {
        let publisher = get::<Publisher>(publisher)?;
        let set = publisher.sets.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match set {
            Some(set) => set.end_coherent_changes(),
            None => return Err(not_begun("no coherent set has begun", "tw_publisher_begin_coherent")),
        }
        Ok(())
    }

    fn tw_publisher_suspend(publisher: Handle) {
        let entry = get::<Publisher>(publisher)?;
        let guard = entry.dds.suspend_publications();
        on_thread(|suspended| suspended.push((publisher, guard)))
    }

    fn tw_publisher_resume(publisher: Handle) {
        let is_ours = |(known, _): &(Handle, _)| *known == publisher;
        let mut resumed = None;
        on_thread(|suspended| {
            let last = suspended.iter().rposition(is_ours);
            resumed = last.map(|last| suspended.remove(last));
        })?;
        match resumed {
            Some((_, resumed)) => resumed.resume_publications(),
            None => {
                get::<Publisher>(publisher)?;
                let what = "this thread has not suspended the publisher's publications";
                return Err(not_begun(what, "tw_publisher_suspend"));
            }
        }
        Ok(())
    }

    fn tw_publisher_flush(publisher: Handle) {
        get::<Publisher>(publisher)?.dds.flush();
        Ok(())
    }
}

fn on_thread(change: impl FnOnce(&mut Vec<(Handle, SuspendedPublications)>)) -> Result<()> {
    let changed = SUSPENDED.try_with(|suspended| change(&mut suspended.borrow_mut()));
    changed.map_err(|_| Failure::new(Code::PRECONDITION, "the thread is ending"))
}

/// Ends what the thread has suspended of a publisher that is deleted.
pub(crate) fn forget(publisher: Handle) {
    let mut resumed = Vec::new();
    // A thread that ends has none.
    let _ = on_thread(|suspended| {
        resumed.extend(suspended.extract_if(.., |(known, _)| *known == publisher));
    });
}

pub(crate) fn not_begun(what: &str, function: &str) -> Failure {
    Failure::new(Code::PRECONDITION, format!("{what}; call {function} first"))
}
