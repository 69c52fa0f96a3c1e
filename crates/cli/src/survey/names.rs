//! Who a participant is: its name, whose DDS it runs on, and in which process, as far as it tells.

use std::fmt;
use std::fs;
use std::time::Duration;

use tickwire::ParticipantData;

/// What a participant is called, else its process, else its id; and whose DDS it runs on.
pub(crate) fn participant_name(participant: &ParticipantData) -> String {
    let name = match participant.entity_name.as_str() {
        "" => Process::of(participant).to_string(),
        name => name.to_owned(),
    };
    let name = match name.as_str() {
        "" => format!("{:?}", participant.guid_prefix),
        _ => name,
    };
    format!("{name} ({})", vendor(participant))
}

/// What it is there for: endpoints, or only that others find each other.
pub(crate) fn kind(participant: &ParticipantData) -> &'static str {
    match participant.is_rendezvous() {
        true => "rendezvous",
        false => "participant",
    }
}

/// Whose DDS it runs on.
pub(crate) fn vendor(participant: &ParticipantData) -> String {
    let [a, b] = participant.vendor.0;
    match vendor_name([a, b]) {
        Some(vendor) => vendor.to_owned(),
        None => format!("vendor {a:02x}{b:02x}"),
    }
}

/// By the OMG's list of vendor ids, and our own.
fn vendor_name(id: [u8; 2]) -> Option<&'static str> {
    Some(match id {
        [1, 0x01] => "RTI Connext",
        [1, 0x02] => "OpenSplice",
        [1, 0x03] => "OpenDDS",
        [1, 0x06] => "CoreDX",
        [1, 0x0a] => "RTI Connext Micro",
        [1, 0x0f] => "Fast DDS",
        [1, 0x10] => "Cyclone DDS",
        [1, 0x11] => "GurumDDS",
        [1, 0x12] => "RustDDS",
        [1, 0x14] => "Dust DDS",
        [1, 0x54] => "Tickwire",
        _ => return None,
    })
}

/// The process of a participant. There is no standard for it: each implementation has its own
/// properties, and most announce none unless told to.
#[derive(Default)]
pub(crate) struct Process {
    pub(crate) host: Option<String>,
    pub(crate) pid: Option<u32>,
    pub(crate) program: Option<String>,
}

impl Process {
    pub(crate) fn of(participant: &ParticipantData) -> Self {
        let property = |names: &[&str]| {
            let mut properties = participant.properties.iter();
            let found = properties.find(|(name, _)| names.contains(&name.as_str()));
            found.map(|(_, value)| value.clone())
        };
        Self {
            host: property(&HOST),
            pid: property(&PID).and_then(|pid| pid.parse().ok()),
            program: property(&PROGRAM),
        }
    }

    /// How long it runs, if it runs on this machine.
    pub(crate) fn age(&self) -> Option<Duration> {
        let own = fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
        if self.host.as_deref() != Some(own.trim()) {
            return None;
        }
        // The times of a process folder are those of its beginning.
        let folder = fs::metadata(format!("/proc/{}", self.pid?)).ok()?;
        let age = folder.modified().ok()?.elapsed().ok()?;
        Some(Duration::from_secs(age.as_secs()))
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pid = self.pid.map(|pid| format!("process {pid}"));
        let host = self.host.as_ref().map(|host| format!("on {host}"));
        let parts = [self.program.clone(), pid, host];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        f.write_str(&parts.join(" "))
    }
}

/// Of RTI Connext, Cyclone DDS and Fast DDS.
const HOST: [&str; 3] = [
    "dds.sys_info.hostname",
    "__Hostname",
    "fastdds.physical_data.host",
];
const PID: [&str; 3] = [
    "dds.sys_info.process_id",
    "__Pid",
    "fastdds.physical_data.process",
];
const PROGRAM: [&str; 2] = ["dds.sys_info.executable_filepath", "__ProcessName"];

#[cfg(test)]
mod tests {
    use super::*;
    use tickwire::GuidPrefix;

    #[test]
    fn processes_are_known_by_each_vendors_properties() {
        let mut participant = ParticipantData::new(GuidPrefix::UNKNOWN);
        assert!(Process::of(&participant).pid.is_none());
        for (name, value) in [("__Hostname", "desk1"), ("__Pid", "77"), ("other", "x")] {
            let property = (name.to_owned(), value.to_owned());
            participant.properties.push(property);
        }
        let process = Process::of(&participant);
        assert_eq!(
            (process.host.as_deref(), process.pid),
            (Some("desk1"), Some(77))
        );
        assert_eq!(process.program, None);
        participant.properties.retain(|(name, _)| name != "__Pid");
        let garbage = ("fastdds.physical_data.process", "77; rm -rf /");
        let property = (garbage.0.to_owned(), garbage.1.to_owned());
        participant.properties.push(property);
        assert_eq!(Process::of(&participant).pid, None);
    }

    #[test]
    fn who_has_no_name_is_called_by_its_process_else_by_its_id() {
        let mut participant = ParticipantData::new(GuidPrefix([7; 12]));
        participant.vendor.0 = [1, 0x54];
        let id = format!("{:?} (Tickwire)", participant.guid_prefix);
        assert_eq!(participant_name(&participant), id);
        let property = ("__Pid".to_owned(), "77".to_owned());
        participant.properties.push(property);
        assert_eq!(participant_name(&participant), "process 77 (Tickwire)");
        participant.entity_name = "desk".to_owned();
        assert_eq!(participant_name(&participant), "desk (Tickwire)");
    }

    #[test]
    fn unknown_vendors_are_named_by_their_id() {
        let mut participant = ParticipantData::new(GuidPrefix::UNKNOWN);
        assert_eq!(vendor(&participant), "Tickwire");
        participant.vendor.0 = [0xab, 0x0c];
        assert_eq!(vendor(&participant), "vendor ab0c");
    }
}
