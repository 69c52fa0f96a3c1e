//! The interface: whether it is up, carries multicast and large datagrams, and filters by source.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use tickwire::{RefusedInterface, Transport, Transports};
use tickwire_transport::{Interface, Poller, ReceiveBatch, UdpOptions, UdpSocket, clock};

use super::Finding;
use super::system::System;

/// What the kernel tells of the interface, and of IP in general, that matters to these transports.
pub(super) fn check(
    system: &System,
    interface: &Interface,
    transports: Transports,
) -> Vec<Finding> {
    let name = interface.name.as_str();
    let mut findings = vec![state(interface)];
    if transports.contains(Transport::Multicast) {
        findings.extend([
            multicast_flag(interface),
            multicast_route(system, name),
            memberships(system),
            source_filter(system, name),
        ]);
    }
    if transports.contains(Transport::Udp) {
        findings.extend([mtu(system, name), fragments(system)]);
    }
    findings
}

fn state(interface: &Interface) -> Finding {
    let (check, name) = ("interface", &interface.name);
    match (interface.is_up, interface.is_running) {
        (false, _) => Finding::fail(
            check,
            format!("{name} is down"),
            format!("ip link set {name} up"),
        ),
        (true, false) => Finding::fail(
            check,
            format!("{name} is up but has no carrier"),
            "check the cable, the switch port or the other end of the virtual link",
        ),
        (true, true) => Finding::ok(check, format!("{name} is up")),
    }
}

fn multicast_flag(interface: &Interface) -> Finding {
    let (check, name) = ("multicast flag", &interface.name);
    match interface.is_multicast {
        true => Finding::ok(check, format!("{name} says that it carries multicast")),
        _ if name == "lo" => Finding::ok(
            check,
            "lo does not say that it carries multicast; Tickwire does not need it, other \
             implementations may: ip link set lo multicast on",
        ),
        _ => Finding::fail(
            check,
            format!("{name} does not carry multicast: participants are not found"),
            format!("ip link set {name} multicast on, or name the peers' addresses"),
        ),
    }
}

/// Programs that do not name an interface send multicast where the routes say.
fn multicast_route(system: &System, interface: &str) -> Finding {
    let check = "multicast route";
    let mend = format!("ip route add 224.0.0.0/4 dev {interface}");
    match route(system, GROUP) {
        Some(by) if by == interface => Finding::ok(check, format!("{GROUP} goes by {by}")),
        _ if interface == "lo" => Finding::ok(
            check,
            "none by lo; Tickwire does not need it, programs that name no interface do",
        ),
        Some(by) => Finding::warn(
            check,
            format!("{GROUP} goes by {by}, not by {interface}, from programs that name none"),
            format!("{mend}, or name the interface to each program"),
        ),
        None => Finding::warn(
            check,
            format!("no route to {GROUP} for programs that name no interface"),
            mend,
        ),
    }
}

/// The interface of the most specific route (proc(5), /proc/net/route: addresses as the machine has
/// them in memory).
fn route(system: &System, to: Ipv4Addr) -> Option<String> {
    let text = system.read("proc/net/route")?;
    let to = u32::from_ne_bytes(to.octets());
    let routes = text.lines().skip(1).filter_map(|line| {
        let mut columns = line.split_whitespace();
        let interface = columns.next()?;
        let mut hex = |n| u32::from_str_radix(columns.nth(n)?, 16).ok();
        let (destination, flags, mask) = (hex(0)?, hex(1)?, hex(3)?);
        let applies = flags & RTF_UP != 0 && to & mask == destination;
        applies.then_some((u32::from_be_bytes(mask.to_ne_bytes()), interface))
    });
    let (_, interface) = routes.max_by_key(|(mask, _)| *mask)?;
    Some(interface.to_owned())
}

fn memberships(system: &System) -> Finding {
    let check = "multicast groups";
    let path = "proc/sys/net/ipv4/igmp_max_memberships";
    match system.number(path) {
        None => Finding::ok(check, "the kernel does not tell its limit"),
        Some(limit) if limit < FEWEST_GROUPS => Finding::warn(
            check,
            format!("a socket can join {limit} groups: feed handlers with more lines get ENOBUFS"),
            format!("sysctl -w net.ipv4.igmp_max_memberships={MANY_GROUPS}"),
        ),
        Some(limit) => Finding::ok(
            check,
            format!(
                "a socket can join {limit} groups (net.ipv4.igmp_max_memberships); Tickwire has a \
                 socket for each"
            ),
        ),
    }
}

/// Strict filtering drops what comes by another interface than answers would take, silently.
fn source_filter(system: &System, interface: &str) -> Finding {
    let check = "reverse path filter";
    let of = |name: &str| system.number(&format!("proc/sys/net/ipv4/conf/{name}/rp_filter"));
    let effective = of("all").max(of(interface));
    match effective {
        _ if interface == "lo" => Finding::ok(check, "does not concern lo"),
        Some(STRICT) => Finding::warn(
            check,
            format!("rp_filter of {interface} is strict: multicast from other networks is dropped"),
            format!(
                "sysctl -w net.ipv4.conf.all.rp_filter=2 net.ipv4.conf.{interface}.rp_filter=2"
            ),
        ),
        _ => Finding::ok(
            check,
            format!("rp_filter of {interface} lets multicast pass"),
        ),
    }
}

fn mtu(system: &System, interface: &str) -> Finding {
    let check = "MTU";
    let mend = format!("ip link set {interface} mtu 1500, if all on the link can take it");
    match system.number(&format!("sys/class/net/{interface}/mtu")) {
        None => Finding::ok(
            check,
            format!("the kernel does not tell that of {interface}"),
        ),
        Some(mtu @ ..576) => Finding::fail(
            check,
            format!("{mtu} bytes, less than IPv4 hosts must take"),
            mend,
        ),
        Some(mtu @ ..1500) => Finding::warn(
            check,
            format!("{mtu} bytes: datagrams that others lay out for Ethernet are fragmented"),
            mend,
        ),
        Some(mtu) => Finding::ok(
            check,
            format!(
                "{mtu} bytes: datagrams of up to {} pass in one piece",
                (mtu - IP_AND_UDP).min(MOST_UDP)
            ),
        ),
    }
}

fn fragments(system: &System) -> Finding {
    let check = "IP fragments";
    let memory = system.number("proc/sys/net/ipv4/ipfrag_high_thresh");
    let seconds = system.number("proc/sys/net/ipv4/ipfrag_time");
    let failed = system.counter("proc/net/snmp", "Ip", "ReasmFails");
    match (memory, failed) {
        (Some(memory), _) if memory < FRAGMENT_MEMORY => Finding::warn(
            check,
            format!("{memory} bytes for those that wait for the rest: large samples get lost"),
            format!("sysctl -w net.ipv4.ipfrag_high_thresh={FRAGMENT_MEMORY}"),
        ),
        (_, Some(failed @ 1..)) => Finding::warn(
            check,
            format!("{failed} datagrams could not be put together again since the start"),
            format!(
                "if it grows: keep datagrams below the MTU, sysctl -w net.ipv4.ipfrag_time=3 (now \
                 {} s), look for loss on the link",
                seconds.unwrap_or(30)
            ),
        ),
        _ => Finding::ok(check, "none were lost"),
    }
}

/// What a participant could not use.
pub(super) fn refused(interfaces: &[RefusedInterface]) -> impl Iterator<Item = Finding> {
    interfaces.iter().map(|refused| {
        let mend = "name the interfaces to use by --interface, or see the checks of this one above";
        Finding::warn("participant", refused.to_string(), mend)
    })
}

/// Whether a datagram to a group comes back: sent with TTL 0, it does not leave the machine.
pub(super) fn hears_itself(interface: &Interface) -> Finding {
    let check = "multicast test";
    match echo(interface) {
        Ok(true) => Finding::ok(check, format!("{} hears its own", interface.name)),
        Ok(false) => Finding::fail(
            check,
            format!(
                "a datagram to {GROUP} by {} did not come back",
                interface.name
            ),
            "look for a firewall (nft list ruleset, iptables -L) that drops multicast or UDP",
        ),
        Err(error) => Finding::fail(
            check,
            error,
            format!("give {} an IPv4 address and multicast", interface.name),
        ),
    }
}

fn echo(interface: &Interface) -> Result<bool, String> {
    let options = UdpOptions {
        multicast_interface: Some(interface.clone()),
        ..UdpOptions::default()
    };
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let group = SocketAddr::from((GROUP, 0));
    let receiver = UdpSocket::group(group, std::slice::from_ref(interface), &options);
    let receiver = receiver.map_err(|error| text(&error))?;
    let own = interface.ipv4.first().copied();
    let own = own.ok_or_else(|| format!("{} has no IPv4 address", interface.name))?;
    let sender = UdpSocket::unicast((IpAddr::V4(own), 0).into(), &options);
    let sender = sender.map_err(|error| text(&error))?;
    let said = format!("tickwire doctor {}", sender.local_address());
    let sent = sender.send_to(said.as_bytes(), receiver.local_address());
    sent.map_err(|error| text(&error))?;
    let deadline = clock::now() + PATIENCE;
    let mut batch = ReceiveBatch::new();
    let mut poller = Poller::new(&receiver);
    while clock::now() < deadline {
        let ready = poller.wait(Some(deadline)).map_err(|error| text(&error))?;
        if ready.socket(0) {
            batch.receive(&receiver).map_err(|error| text(&error))?;
            if batch
                .iter()
                .any(|datagram| datagram.bytes == said.as_bytes())
            {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Where participants announce themselves.
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);
const RTF_UP: u32 = 1;
const STRICT: u64 = 1;
/// The kernel's default; less is somebody's choice.
const FEWEST_GROUPS: u64 = 20;
const MANY_GROUPS: u64 = 256;
const IP_AND_UDP: u64 = 28;
const MOST_UDP: u64 = 65_507;
/// The kernel's default.
const FRAGMENT_MEMORY: u64 = 4 << 20;
const PATIENCE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::super::system::Fake;
    use super::*;

    fn eth0() -> Interface {
        Interface {
            name: "eth0".to_owned(),
            index: 2,
            ipv4: Vec::new(),
            ipv4_networks: Vec::new(),
            ipv6: Vec::new(),
            is_loopback: false,
            is_up: true,
            is_running: true,
            is_multicast: true,
            mtu: 1500,
        }
    }

    /// A machine whose `eth0` is in order.
    fn healthy(name: &str) -> Fake {
        Fake::new(name)
            .with("sys/class/net/eth0/mtu", "1500\n")
            .with("proc/net/route", ROUTES)
            .with("proc/sys/net/ipv4/igmp_max_memberships", "20\n")
            .with("proc/sys/net/ipv4/conf/all/rp_filter", "0\n")
            .with("proc/sys/net/ipv4/conf/eth0/rp_filter", "2\n")
            .with("proc/sys/net/ipv4/ipfrag_high_thresh", "4194304\n")
            .with("proc/net/snmp", "Ip: InReceives ReasmFails\nIp: 5 0\n")
    }

    /// The default by eth1, multicast by eth0.
    const ROUTES: &str = "\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth1\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth0\t000000E0\t00000000\t0001\t0\t0\t0\t000000F0\t0\t0\t0
";

    /// The one finding that is not OK.
    fn trouble(fake: &Fake, interface: &Interface) -> (Status, &'static str, String) {
        let mut findings = check(&fake.system, interface, Transports::default());
        findings.retain(|finding| finding.status != Status::Ok);
        assert_eq!(findings.len(), 1, "{findings:?}");
        let finding = findings.remove(0);
        (
            finding.status,
            finding.check,
            finding.mend.unwrap_or_default(),
        )
    }

    #[test]
    fn an_interface_in_order_has_no_findings() {
        let fake = healthy("network-fine");
        let findings = check(&fake.system, &eth0(), Transports::default());
        assert!(
            findings.iter().all(|f| f.status == Status::Ok),
            "{findings:?}"
        );
    }

    #[test]
    fn of_transports_that_are_not_used_nothing_is_said() {
        let fake = Fake::new("network-tcp").with("sys/class/net/eth0/mtu", "68\n");
        let mut eth0 = eth0();
        eth0.is_multicast = false;
        let by_tcp = Transports::of([Transport::Tcp]);
        let findings = check(&fake.system, &eth0, by_tcp);
        assert_eq!(findings, [Finding::ok("interface", "eth0 is up")]);
    }

    #[test]
    fn each_fault_has_its_finding() {
        for (path, text, status, name, mend) in [
            (
                "proc/net/route",
                "Iface\n",
                Status::Warn,
                "multicast route",
                "ip route add 224.0.0.0/4 dev eth0",
            ),
            (
                "proc/net/route",
                &ROUTES.replace("000000F0", "FFFFFFFF"),
                Status::Warn,
                "multicast route",
                "ip route add",
            ),
            (
                "proc/sys/net/ipv4/igmp_max_memberships",
                "10",
                Status::Warn,
                "multicast groups",
                "sysctl -w net.ipv4.igmp_max_memberships",
            ),
            (
                "proc/sys/net/ipv4/conf/eth0/rp_filter",
                "1",
                Status::Warn,
                "reverse path filter",
                "sysctl -w net.ipv4.conf.all.rp_filter=2",
            ),
            (
                "sys/class/net/eth0/mtu",
                "1280",
                Status::Warn,
                "MTU",
                "ip link set eth0 mtu 1500",
            ),
            (
                "sys/class/net/eth0/mtu",
                "500",
                Status::Fail,
                "MTU",
                "ip link set eth0 mtu 1500",
            ),
            (
                "proc/sys/net/ipv4/ipfrag_high_thresh",
                "262144",
                Status::Warn,
                "IP fragments",
                "sysctl -w net.ipv4.ipfrag_high_thresh",
            ),
            (
                "proc/net/snmp",
                "Ip: InReceives ReasmFails\nIp: 5 9\n",
                Status::Warn,
                "IP fragments",
                "if it grows",
            ),
        ] {
            let fake = healthy("network-fault").with(path, text);
            let (found, check, found_mend) = trouble(&fake, &eth0());
            assert_eq!((found, check), (status, name), "{path} {text}");
            assert!(found_mend.starts_with(mend), "{found_mend}");
        }
    }

    #[test]
    fn an_interface_that_carries_nothing_fails() {
        for (change, name, mend) in [
            (
                (|interface| interface.is_up = false) as fn(&mut Interface),
                "interface",
                "ip link set eth0 up",
            ),
            (
                |interface| interface.is_running = false,
                "interface",
                "check the cable",
            ),
            (
                |interface| interface.is_multicast = false,
                "multicast flag",
                "ip link set eth0 multicast on",
            ),
        ] {
            let mut interface = eth0();
            change(&mut interface);
            let (found, check, found_mend) = trouble(&healthy("network-flags"), &interface);
            assert_eq!((found, check), (Status::Fail, name));
            assert!(found_mend.starts_with(mend), "{found_mend}");
        }
    }

    #[test]
    fn loopback_needs_neither_flag_nor_route_nor_source_filter() {
        let fake = Fake::new("network-lo")
            .with("sys/class/net/lo/mtu", "65536")
            .with("proc/sys/net/ipv4/conf/all/rp_filter", "1");
        let lo = Interface {
            name: "lo".to_owned(),
            is_loopback: true,
            is_multicast: false,
            ..eth0()
        };
        let findings = check(&fake.system, &lo, Transports::default());
        assert!(
            findings.iter().all(|f| f.status == Status::Ok),
            "{findings:?}"
        );
    }

    #[test]
    fn loopback_hears_itself() {
        let loopback = Interface::loopback().expect("every Linux has one");
        assert_eq!(hears_itself(&loopback).status, Status::Ok);
    }
}
