//! The order of instances in which `take_next_instance` goes through them (DDS 1.4 §2.2.2.5.3.16):
//! by their handles. Knows no samples.

use super::info::InstanceHandle;

/// The instances by handle, sorted when somebody asks and not before.
#[derive(Debug, Default)]
pub(super) struct SortedInstances {
    handles: Vec<InstanceHandle>,
    is_current: bool,
}

impl SortedInstances {
    /// An instance came or went.
    pub(super) fn changed(&mut self) {
        self.is_current = false;
    }

    /// The instances behind `previous`, which need not exist; all of them behind `None`. `known`
    /// tells which ones there are.
    pub(super) fn after(
        &mut self,
        previous: Option<InstanceHandle>,
        known: impl Iterator<Item = InstanceHandle>,
    ) -> &[InstanceHandle] {
        if !self.is_current {
            self.is_current = true;
            self.handles.clear();
            self.handles.extend(known);
            self.handles.sort_unstable();
        }
        let start = match previous {
            Some(previous) => self.handles.partition_point(|handle| *handle <= previous),
            None => 0,
        };
        self.handles.get(start..).unwrap_or_default()
    }
}
