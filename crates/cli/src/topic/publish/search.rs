//! Who has the topic of `tickwire topic pub`: readers that the writer is to match, and who tells the type.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tickwire::qos::nearest_name;
use tickwire::{DiscoveryView, EndpointData, Guid, Role};

use super::Arguments;
use crate::failure::{Failure, Result};
use crate::output::{counted, note};
use crate::topic::ahead::MOMENTS;
use crate::topic::learn::announces_type;

/// A search that ends when its time is over.
pub(super) struct Search<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) view: DiscoveryView<'a>,
    pub(super) begin: Instant,
    /// Where the type is known, nobody has to be there for it.
    pub(super) knows_type: bool,
    /// A writer that was made ahead, which is not looked for.
    pub(super) own: Option<Guid>,
}

impl Search<'_> {
    /// Gives readers that are there already moments to show themselves, also where none is wanted. Says whether as many
    /// as are wanted have, or any.
    pub(super) fn finds_readers_in_moments(&self) -> bool {
        let find = || (readers(&self.endpoints()) >= self.arguments.wanted().max(1)).then_some(());
        self.view.wait_for(self.rest().min(MOMENTS), find).is_ok()
    }

    /// Whoever has the topic, as soon as there are as many readers as are wanted, or in the end: the writer
    /// is to match them, and they tell the type.
    pub(super) fn endpoints_in_time(&self) -> Result<Vec<Arc<EndpointData>>> {
        let Self {
            arguments, view, ..
        } = self;
        let wanted = arguments.wanted();
        let is_enough =
            |found: &Vec<_>| readers(found) >= wanted && (self.knows_type || !found.is_empty());
        // Who takes samples of any type does not tell this one; somebody else may be about to.
        let is_told = |found: &Vec<_>| {
            arguments.ty.is_given() || found.iter().any(|data: &Arc<_>| announces_type(data))
        };
        let find = || Some(self.endpoints()).filter(|all| is_enough(all) && is_told(all));
        let until_soon = SOON.saturating_sub(self.begin.elapsed());
        let soon = view.wait_for(self.rest().min(until_soon), find);
        let found = soon.or_else(|late| {
            let rest = self.rest();
            if rest.is_zero() {
                return Err(late);
            }
            let awaited = match readers(&self.endpoints()) < wanted {
                true => counted(wanted as u64, "reader", "readers"),
                false => "somebody who tells the type".to_owned(),
            };
            note(format_args!(
                "waiting for {awaited} of the topic `{}`, for {:?} at most",
                arguments.name, arguments.timeout
            ));
            view.wait_for(rest, find)
        });
        let mut found = found.unwrap_or_else(|_| self.endpoints());
        if found.is_empty() && !(self.knows_type && wanted == 0) {
            return Err(self.nobody());
        }
        if !is_enough(&found) {
            return Ok(found);
        }
        // Readers that are there already announce themselves within moments of each other.
        while arguments.wait.is_none() && !self.rest().is_zero() {
            let more = || Some(self.endpoints()).filter(|all| all.len() != found.len());
            match view.wait_for(MOMENTS, more) {
                Ok(all) => found = all,
                Err(_) => break,
            }
        }
        Ok(found)
    }

    fn rest(&self) -> Duration {
        let timeout = self.arguments.timeout;
        timeout.saturating_sub(self.begin.elapsed())
    }

    /// Who else has the topic, readers first.
    fn endpoints(&self) -> Vec<Arc<EndpointData>> {
        let mut found = [self.view.subscriptions(), self.view.publications()].concat();
        let name = &self.arguments.name;
        found.retain(|data| data.topic_name == *name && Some(data.guid) != self.own);
        found
    }

    fn nobody(&self) -> Failure {
        let Arguments { name, network, .. } = self.arguments;
        let domain = network.domain;
        let failure = Failure::new(format_args!(
            "nobody in domain {domain} has the topic `{name}`, so {}",
            match (self.knows_type, self.arguments.ty.is_given()) {
                (true, _) => "nobody would get the samples",
                (false, true) => "which of the file's types is meant is not known",
                (false, false) => "its type is not known",
            }
        ));
        let all = [self.view.subscriptions(), self.view.publications()].concat();
        let names = all.iter().map(|data| data.topic_name.as_str());
        failure.hint(match (nearest_name(name, names), self.knows_type) {
            (Some(near), _) => format!("there is a topic `{near}`"),
            (None, true) => START_READERS.to_owned(),
            (None, false) if self.arguments.ty.is_given() => "`--type` names it".to_owned(),
            (None, false) => {
                let again = network.again();
                format!("`tickwire topic ls {again}` lists the topics")
            }
        })
    }
}

/// How many of the endpoints read.
pub(super) fn readers(endpoints: &[Arc<EndpointData>]) -> usize {
    let readers = endpoints.iter().filter(|data| data.role == Role::Reader);
    readers.count()
}

/// What who finds too few of them can do.
pub(super) const START_READERS: &str = "start readers first, or write to nobody with `--wait 0`";

/// How soon one who waits is told what for.
const SOON: Duration = Duration::from_secs(1);
