//! What the kernel tells: of interfaces, and of processes that do not tell themselves.

use std::fs;

use nix::unistd::Pid;

/// Bytes that went over an interface of this network namespace since it exists, either way.
pub(crate) fn interface_bytes(interface: &str) -> Option<u64> {
    bytes_of(interface, &fs::read_to_string("/proc/net/dev").ok()?)
}

fn bytes_of(interface: &str, table: &str) -> Option<u64> {
    let fields = table.lines().find_map(|line| {
        let (name, fields) = line.split_once(':')?;
        (name.trim() == interface).then_some(fields)
    })?;
    let field = |at| fields.split_whitespace().nth(at)?.parse().ok();
    let received: u64 = field(0)?;
    match interface {
        // What it sends is what it receives.
        "lo" => Some(received),
        _ => Some(received + field(8)?),
    }
}

/// What the processes of a group have used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) cpu_ns: u64,
    pub(crate) switches: u64,
    pub(crate) resident_kb: u64,
    pub(crate) threads: u64,
}

impl Usage {
    /// Of all processes of the group that this one leads.
    pub(crate) fn of_group(leader: u32) -> Self {
        let mut sum = Self::default();
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        for process in processes {
            let name = process.file_name();
            let pid = name.to_str().and_then(|name| name.parse().ok());
            let group = pid.and_then(|pid| nix::unistd::getpgid(Some(Pid::from_raw(pid))).ok());
            if group.is_some_and(|group| u32::try_from(group.as_raw()) == Ok(leader)) {
                sum.add_process(&process.path());
            }
        }
        sum
    }

    fn add_process(&mut self, folder: &std::path::Path) {
        let status = fs::read_to_string(folder.join("status")).unwrap_or_default();
        self.resident_kb += number_after("VmRSS:", &status);
        let threads = fs::read_dir(folder.join("task")).into_iter().flatten();
        for thread in threads.flatten() {
            self.threads += 1;
            let read = |name| fs::read_to_string(thread.path().join(name)).unwrap_or_default();
            let ran = read("schedstat");
            let ran = ran.split_whitespace().next();
            self.cpu_ns += ran.and_then(|ns| ns.parse().ok()).unwrap_or(0);
            let status = read("status");
            self.switches += number_after("voluntary_ctxt_switches:", &status)
                + number_after("nonvoluntary_ctxt_switches:", &status);
        }
    }

    /// What was used since then; memory and threads as they are now.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(before.cpu_ns),
            switches: self.switches.saturating_sub(before.switches),
            ..self
        }
    }
}

/// The first number after a name at the beginning of a line.
pub(crate) fn number_after(name: &str, text: &str) -> u64 {
    let rest = text.lines().find_map(|line| line.strip_prefix(name));
    let number = rest.and_then(|rest| rest.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_both_ways_are_the_first_column_and_the_ninth() {
        let table = "Inter-|   Receive\n face |bytes    packets\n    lo: 1234 5 0 0 0 0 0 0 1234 5\n  \
                     eth0:99 1 0 0 0 0 0 0 1 7\n";
        assert_eq!(bytes_of("lo", table), Some(1234));
        assert_eq!(bytes_of("eth0", table), Some(100));
        assert_eq!(bytes_of("eth1", table), None);
    }

    #[test]
    fn this_process_has_used_something() {
        let group = nix::unistd::getpgrp().as_raw();
        let usage = Usage::of_group(u32::try_from(group).unwrap());
        assert!(usage.resident_kb > 0 && usage.threads > 0);
        assert_eq!(number_after("Threads:", "Threads:\t12\n"), 12);
    }
}
