//! Room for datagrams in the kernel, and what did not find any.

use super::Finding;
use super::system::System;

/// The limits, and the datagrams that were dropped since the machine started.
pub(super) fn check(system: &System) -> Vec<Finding> {
    vec![
        limit(system, "receive buffer limit", "rmem_max", WANTED_RECEIVE),
        limit(system, "send buffer limit", "wmem_max", WANTED_SEND),
        drops(system),
    ]
}

fn limit(system: &System, check: &'static str, name: &str, wanted: u64) -> Finding {
    match system.number(&format!("proc/sys/net/core/{name}")) {
        None => Finding::ok(
            check,
            format!("net.core.{name} is not told in this network namespace"),
        ),
        Some(limit) if limit >= wanted => {
            Finding::ok(check, format!("net.core.{name} is {limit} bytes"))
        }
        Some(limit) => Finding::warn(
            check,
            format!("net.core.{name} is {limit} bytes, {wanted} are asked for: bursts get lost"),
            format!("sysctl -w net.core.{name}={wanted}, and the same in /etc/sysctl.d"),
        ),
    }
}

/// What the kernel granted a socket of ours.
pub(super) fn granted(bytes: usize) -> Finding {
    let check = "receive buffer granted";
    let granted = bytes as u64;
    // The kernel doubles what it grants, for its own bookkeeping.
    match granted {
        granted if granted >= 2 * WANTED_RECEIVE => {
            Finding::ok(check, format!("{granted} bytes, bookkeeping included"))
        }
        granted => Finding::warn(
            check,
            format!("{granted} bytes, bookkeeping included; {WANTED_RECEIVE} were asked for"),
            format!(
                "sysctl -w net.core.rmem_max={WANTED_RECEIVE}, or give the process CAP_NET_ADMIN"
            ),
        ),
    }
}

fn drops(system: &System) -> Finding {
    let check = "datagrams dropped";
    let counter = |name| system.counter("proc/net/snmp", "Udp", name);
    match (counter("RcvbufErrors"), counter("SndbufErrors")) {
        (None, _) => Finding::ok(check, "the kernel does not count them here"),
        (Some(0), Some(0) | None) => Finding::ok(check, "none for lack of room in a buffer"),
        (received, sent) => Finding::warn(
            check,
            format!(
                "{} received and {} to be sent, for lack of room in a buffer, since the start",
                received.unwrap_or_default(),
                sent.unwrap_or_default()
            ),
            "if it grows (nstat UdpRcvbufErrors): larger buffers, fewer bursts, faster readers",
        ),
    }
}

/// What our participants ask for, in bytes.
const WANTED_RECEIVE: u64 = 4 << 20;
const WANTED_SEND: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::super::system::Fake;
    use super::*;

    fn statuses(fake: &Fake) -> Vec<Status> {
        check(&fake.system)
            .iter()
            .map(|finding| finding.status)
            .collect()
    }

    fn snmp(errors: u32) -> String {
        format!(
            "Ip: Forwarding DefaultTTL\nIp: 1 64\n\
             Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors\n\
             Udp: 10 0 {errors} 10 {errors} 0\n"
        )
    }

    #[test]
    fn large_limits_and_no_drops_are_fine() {
        let fake = Fake::new("buffers-fine")
            .with("proc/sys/net/core/rmem_max", "4194304\n")
            .with("proc/sys/net/core/wmem_max", "1048576\n")
            .with("proc/net/snmp", &snmp(0));
        assert_eq!(statuses(&fake), [Status::Ok; 3]);
        assert_eq!(granted(8 << 20).status, Status::Ok);
    }

    #[test]
    fn small_limits_and_drops_are_told() {
        let fake = Fake::new("buffers-small")
            .with("proc/sys/net/core/rmem_max", "212992\n")
            .with("proc/sys/net/core/wmem_max", "212992\n")
            .with("proc/net/snmp", &snmp(7));
        assert_eq!(statuses(&fake), [Status::Warn; 3]);
        let found = check(&fake.system);
        assert!(found[0].found.contains("212992"), "{found:?}");
        let mend = found[0].mend.as_deref().unwrap_or_default();
        assert!(
            mend.starts_with("sysctl -w net.core.rmem_max=4194304"),
            "{mend}"
        );
        assert!(found[2].found.starts_with("7 received"), "{found:?}");
        assert_eq!(granted(425_984).status, Status::Warn);
        assert_eq!(granted(4 << 20).status, Status::Warn);
    }

    #[test]
    fn what_is_not_told_or_is_garbage_is_no_fault() {
        let fake = Fake::new("buffers-absent");
        assert_eq!(statuses(&fake), [Status::Ok; 3]);
        let fake = fake
            .with("proc/sys/net/core/rmem_max", "many\n")
            .with("proc/net/snmp", "Udp: RcvbufErrors\nUdp:\n");
        assert_eq!(statuses(&fake), [Status::Ok; 3]);
    }
}
