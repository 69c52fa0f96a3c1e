//! Conditions and wait sets.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dds::error::Timeout;
use dds::{BytesInPlace, GuardCondition, QueryCondition, Serialized, StateMask};

use crate::border::{Out, Text, Texts, export};
use crate::either::{Either, either, map};
use crate::failure::{Code, Failure, Result};
use crate::handle::{self, Handle, get};
use crate::reader::Reader;
use crate::samples::states;

/// A condition of any kind.
pub(crate) struct Condition {
    dds: dds::Condition,
    pub(crate) of: Of,
}

/// What a condition is of.
pub(crate) enum Of {
    Guard(GuardCondition),
    Statuses,
    States(StateMask),
    Query(Either<QueryCondition<Serialized>, QueryCondition<BytesInPlace>>),
}

impl Condition {
    /// One of an entity's statuses.
    pub(crate) fn of_statuses(entity: Handle, dds: dds::Condition) -> Result<Handle> {
        let of = Of::Statuses;
        handle::add(entity, Self { dds, of })
    }
}

/// A wait set, and the handles of the conditions that it has.
#[derive(Default)]
pub(crate) struct WaitSet {
    dds: dds::WaitSet,
    attached: Mutex<Vec<(Handle, dds::Condition)>>,
}

impl WaitSet {
    fn attached(&self) -> MutexGuard<'_, Vec<(Handle, dds::Condition)>> {
        self.attached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until one of the conditions holds that it has, and returns all that do.
    fn wait_for_any(&self, timeout: Duration) -> std::result::Result<Vec<Handle>, Timeout> {
        let begun = Instant::now();
        let mut remaining = timeout;
        loop {
            let holds = self.dds.wait(remaining).map_err(|mut late| {
                late.waited = timeout;
                late
            })?;
            let attached = self.attached();
            let found = attached
                .iter()
                .filter(|(_, condition)| holds.contains(condition));
            let found: Vec<_> = found.map(|(handle, _)| *handle).collect();
            drop(attached);
            if !found.is_empty() {
                return Ok(found);
            }
            // Those that held were detached meanwhile: for the others there is the rest of the time.
            remaining = timeout.saturating_sub(begun.elapsed());
        }
    }

    /// Whoever waits does so no more.
    pub(crate) fn end_waits(&self) {
        self.dds.end_waits();
    }

    /// Whether it had the condition.
    fn detach(&self, condition: Handle) -> bool {
        let mut attached = self.attached();
        let at = attached.iter().position(|(known, _)| *known == condition);
        let detached = at.map(|at| attached.swap_remove(at));
        if let Some((_, condition)) = &detached {
            self.dds.detach(condition);
        }
        detached.is_some()
    }
}

/// A condition is deleted: no wait set has it any more.
pub(crate) fn forget(condition: Handle) {
    for wait_set in handle::wait_sets() {
        wait_set.detach(condition);
    }
}

export! {
    fn tw_reader_read_condition(reader: Handle, mask: u32, condition: Out<Handle>) {
        let condition = condition.place("condition")?;
        let entry = get::<Reader>(reader)?;
        let mask = states(mask)?;
        let dds = either!(&entry.dds, reader => reader.read_condition(mask));
        let of = Of::States(mask);
        condition.put(handle::add(reader, Condition { dds, of })?);
        Ok(())
    }

    fn tw_reader_query_condition(
        reader: Handle,
        mask: u32,
        expression: Text,
        parameters: Texts,
        parameter_count: usize,
        condition: Out<Handle>,
    ) {
        let condition = condition.place("condition")?;
        let entry = get::<Reader>(reader)?;
        let (mask, expression) = (states(mask)?, expression.get("expression")?);
        let parameters = parameters.get(parameter_count, "parameters")?;
        let query = map!(&entry.dds, reader => reader.query_condition(mask, expression, &parameters)?);
        let dds = either!(&query, query => query.condition().clone());
        let of = Of::Query(query);
        condition.put(handle::add(reader, Condition { dds, of })?);
        Ok(())
    }

    fn tw_query_set_parameters(condition: Handle, parameters: Texts, parameter_count: usize) {
        let condition = get::<Condition>(condition)?;
        let parameters = parameters.get(parameter_count, "parameters")?;
        let Of::Query(query) = &condition.of else {
            return Err(not_a("query condition"));
        };
        either!(query, query => query.set_query_parameters(&parameters))?;
        Ok(())
    }

    fn tw_guard_create(condition: Out<Handle>) {
        let condition = condition.place("condition")?;
        let guard = GuardCondition::new();
        let made = Condition {
            dds: guard.condition(),
            of: Of::Guard(guard),
        };
        condition.put(handle::add(Handle::NULL, made)?);
        Ok(())
    }

    fn tw_guard_set(condition: Handle, holds: i32) {
        match &get::<Condition>(condition)?.of {
            Of::Guard(guard) => guard.set(holds != 0),
            _ => return Err(not_a("guard condition")),
        }
        Ok(())
    }

    fn tw_condition_holds(condition: Handle, holds: Out<i32>) {
        let holds = holds.place("holds")?;
        holds.put(get::<Condition>(condition)?.dds.holds().into());
        Ok(())
    }

    fn tw_waitset_create(wait_set: Out<Handle>) {
        let wait_set = wait_set.place("wait_set")?;
        wait_set.put(handle::add(Handle::NULL, WaitSet::default())?);
        Ok(())
    }

    fn tw_waitset_attach(wait_set: Handle, condition: Handle) {
        let wait_set = get::<WaitSet>(wait_set)?;
        let entry = get::<Condition>(condition)?;
        let mut attached = wait_set.attached();
        if !attached.iter().any(|(known, _)| *known == condition) {
            attached.push((condition, entry.dds.clone()));
            wait_set.dds.attach(&entry.dds);
        }
        drop(attached);
        // Who deletes it meanwhile has looked before it was there.
        if get::<Condition>(condition).is_err() {
            wait_set.detach(condition);
        }
        Ok(())
    }

    fn tw_waitset_detach(wait_set: Handle, condition: Handle) {
        let wait_set = get::<WaitSet>(wait_set)?;
        match wait_set.detach(condition) {
            true => Ok(()),
            false => {
                get::<Condition>(condition)?;
                let message = "the wait set does not have the condition";
                Err(Failure::new(Code::PRECONDITION, message))
            }
        }
    }

    fn tw_waitset_wait(
        wait_set: Handle,
        timeout_ns: i64,
        holding: Out<Handle>,
        capacity: usize,
        count: Out<usize>,
    ) {
        let wait_set = get::<WaitSet>(wait_set)?;
        let found = wait_set.wait(timeout_ns, |timeout| wait_set.wait_for_any(timeout))?;
        holding.put_all(&found, capacity, "holding")?;
        count.put(found.len(), "count")
    }
}

fn not_a(kind: &str) -> Failure {
    Failure::new(Code::PRECONDITION, format!("the condition is no {kind}"))
}
