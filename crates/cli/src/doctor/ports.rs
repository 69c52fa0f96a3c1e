//! The ports of the domain (RTPS 2.5 §9.6.2.3): who has them, whether any are left, and whether the
//! kernel may give them to others.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::system::System;

/// What happens at the domain's ports.
pub(super) fn check(system: &System, domain: u32) -> Vec<Finding> {
    let ports = Ports::of(domain);
    let sockets = sockets(system, &ports);
    let owners = owners(system, &sockets);
    vec![
        usage(&sockets, &owners, &ports),
        twice(&sockets, &owners, &ports),
        drops(&sockets, &owners),
        ephemeral(system, &ports),
    ]
}

/// The last domain that has ports.
pub(super) const LAST_DOMAIN: u32 = 232;

/// 250 ports from the first one on.
struct Ports {
    first: u32,
}

impl Socket {
    /// Reads a line of a table; `None` for a connection.
    fn parse(table: &'static str, line: &str) -> Option<Self> {
        let columns: Vec<_> = line.split_whitespace().collect();
        let (address, port) = columns.get(1)?.split_once(':')?;
        let is_udp = table.starts_with("udp");
        if !is_udp && *columns.get(3)? != LISTENING {
            return None;
        }
        Some(Self {
            table,
            address: address.to_owned(),
            port: u32::from_str_radix(port, 16).ok()?,
            inode: columns.get(9)?.parse().ok()?,
            drops: match is_udp {
                true => columns.get(12)?.parse().ok()?,
                false => 0,
            },
        })
    }

    fn is_udp(&self) -> bool {
        self.table.starts_with("udp")
    }
}

impl Ports {
    fn of(domain: u32) -> Self {
        Self {
            first: 7_400 + 250 * domain,
        }
    }

    fn last(&self) -> u32 {
        self.first + 249
    }

    /// Whether a port belongs to one participant alone: the first ten are groups'.
    fn is_unicast(&self, port: u32) -> bool {
        (self.first + 10..=self.last()).contains(&port)
    }
}

/// A UDP socket at one of the ports, or a TCP socket that listens there.
struct Socket {
    /// The kernel's table that it is in: two of one table at one address share what comes.
    table: &'static str,
    address: String,
    port: u32,
    inode: u64,
    drops: u64,
}

/// The kernel's tables (proc(5), /proc/net/udp and /proc/net/tcp).
fn sockets(system: &System, ports: &Ports) -> Vec<Socket> {
    let mut sockets = Vec::new();
    for table in ["udp", "udp6", "tcp", "tcp6"] {
        let text = system.read(&format!("proc/net/{table}"));
        let all = text.iter().flat_map(|text| text.lines().skip(1));
        let all = all.filter_map(|line| Socket::parse(table, line));
        sockets.extend(all.filter(|s| (ports.first..=ports.last()).contains(&s.port)));
    }
    sockets
}

/// The processes of sockets, by inode, as far as they can be seen.
fn owners(system: &System, sockets: &[Socket]) -> BTreeMap<u64, String> {
    let mut owners = BTreeMap::new();
    if sockets.is_empty() {
        return owners;
    }
    let wanted: BTreeSet<_> = sockets.iter().map(|socket| socket.inode).collect();
    for pid in system.processes() {
        for target in system.open_files(pid) {
            let inode = target
                .strip_prefix("socket:[")
                .and_then(|rest| rest.strip_suffix(']'));
            let inode = inode.and_then(|inode| inode.parse().ok());
            if let Some(inode) = inode.filter(|inode| wanted.contains(inode)) {
                let name = system.read(&format!("proc/{pid}/comm")).unwrap_or_default();
                owners.insert(inode, format!("{name} ({pid})"));
            }
        }
    }
    owners
}

fn owner(owners: &BTreeMap<u64, String>, socket: &Socket) -> String {
    let hidden = || "a process that is not visible".to_owned();
    owners.get(&socket.inode).cloned().unwrap_or_else(hidden)
}

fn usage(sockets: &[Socket], owners: &BTreeMap<u64, String>, ports: &Ports) -> Finding {
    let check = "ports of the domain";
    let range = format!("{} to {}", ports.first, ports.last());
    let mut by_owner: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for socket in sockets {
        let port = match socket.is_udp() {
            true => socket.port.to_string(),
            false => format!("tcp/{}", socket.port),
        };
        let ports = by_owner.entry(owner(owners, socket)).or_default();
        ports.insert(port);
    }
    let taken = sockets.iter().filter(|socket| socket.is_udp());
    let taken = taken.map(|socket| socket.port);
    let taken: BTreeSet<_> = taken.filter(|port| ports.is_unicast(*port)).collect();
    let who = by_owner.iter().map(|(owner, ports)| {
        let ports: Vec<_> = ports.iter().map(String::as_str).collect();
        format!("{owner}: {}", ports.join(" "))
    });
    let who: Vec<_> = who.collect();
    match taken.len() {
        0 if sockets.is_empty() => Finding::ok(check, format!("{range}, none in use")),
        taken if taken >= MOST_PORTS => Finding::fail(
            check,
            format!("{range}, all in use: {}", who.join("; ")),
            "use another domain for some programs, or fewer participants in each",
        ),
        _ => Finding::ok(check, format!("{range}; {}", who.join("; "))),
    }
}

/// A port of one participant that two sockets share: the kernel gives each datagram to one of them.
fn twice(sockets: &[Socket], owners: &BTreeMap<u64, String>, ports: &Ports) -> Finding {
    let check = "ports shared";
    let mut by_place: BTreeMap<(&str, &str, u32), Vec<&Socket>> = BTreeMap::new();
    for socket in sockets
        .iter()
        .filter(|socket| ports.is_unicast(socket.port))
    {
        by_place
            .entry((socket.table, &socket.address, socket.port))
            .or_default()
            .push(socket);
    }
    match by_place.iter().find(|(_, sockets)| sockets.len() > 1) {
        None => Finding::ok(check, "no two programs have the same one"),
        Some(((.., port), sockets)) => {
            let names: Vec<_> = sockets.iter().map(|socket| owner(owners, socket)).collect();
            Finding::fail(
                check,
                format!(
                    "{} have port {port}: each gets a part of the datagrams",
                    names.join(" and ")
                ),
                "let each bind its port alone (no SO_REUSEPORT), or give one another participant index",
            )
        }
    }
}

fn drops(sockets: &[Socket], owners: &BTreeMap<u64, String>) -> Finding {
    let check = "dropped at the ports";
    match sockets.iter().max_by_key(|socket| socket.drops) {
        Some(worst) if worst.drops > 0 => Finding::warn(
            check,
            format!(
                "{} datagrams at port {} of {}",
                worst.drops,
                worst.port,
                owner(owners, worst)
            ),
            "a larger receive buffer in that program, or a faster reader",
        ),
        _ => Finding::ok(check, "none"),
    }
}

/// Ports that the kernel gives to anybody who asks for none in particular.
fn ephemeral(system: &System, ports: &Ports) -> Finding {
    let check = "ports for anybody";
    let range = system.read("proc/sys/net/ipv4/ip_local_port_range");
    let range = range.and_then(|text| {
        let mut bounds = text
            .split_whitespace()
            .map(|bound| bound.parse::<u32>().ok());
        Some((bounds.next()??, bounds.next()??))
    });
    let Some((first, last)) = range else {
        return Finding::ok(check, "the kernel does not tell them");
    };
    let (own_first, own_last) = (ports.first, ports.last());
    let reserved = system
        .read("proc/sys/net/ipv4/ip_local_reserved_ports")
        .unwrap_or_default();
    let is_reserved = reserved.split(',').any(|part| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let bounds = (from.trim().parse::<u32>(), to.trim().parse::<u32>());
        matches!(bounds, (Ok(from), Ok(to)) if from <= own_first && own_last <= to)
    });
    match own_first <= last && first <= own_last {
        true if is_reserved => Finding::ok(check, "those of the domain are reserved"),
        true => Finding::warn(
            check,
            format!(
                "the kernel may give {own_first} to {own_last} to any program ({first} to {last})"
            ),
            format!(
                "use a domain whose ports lie elsewhere, or sysctl -w \
                 net.ipv4.ip_local_reserved_ports={own_first}-{own_last}"
            ),
        ),
        false => Finding::ok(check, format!("{first} to {last}, none of the domain's")),
    }
}

/// The state of a TCP socket that others connect to.
const LISTENING: &str = "0A";
/// Of 120 participants with two ports each.
const MOST_PORTS: usize = 240;

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::super::system::Fake;
    use super::*;

    const HEADER: &str = "sl local_address rem_address st tx_queue rx_queue tr tm->when retrnsmt uid timeout inode ref pointer drops\n";

    fn socket(port: u32, inode: u32, drops: u32) -> String {
        format!(
            "1: 0100007F:{port:04X} 00000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 {inode} 2 0 {drops}\n"
        )
    }

    fn fake(name: &str, sockets: &str) -> Fake {
        Fake::new(name)
            .with("proc/net/udp", &format!("{HEADER}{sockets}"))
            .with("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n")
            .with("proc/77/comm", "feed\n")
            .with_link("proc/77/fd/3", "socket:[5]")
            .with_link("proc/77/fd/4", "/dev/null")
    }

    fn findings(fake: &Fake, domain: u32) -> Vec<(Status, String)> {
        let findings = check(&fake.system, domain).into_iter();
        findings
            .map(|finding| (finding.status, finding.found))
            .collect()
    }

    #[test]
    fn owners_are_named() {
        let sockets = [socket(7410, 5, 0), socket(7411, 6, 0), socket(7660, 5, 0)].concat();
        let fake = fake("ports-used", &sockets);
        let found = findings(&fake, 0);
        assert!(
            found.iter().all(|(status, _)| *status == Status::Ok),
            "{found:?}"
        );
        assert_eq!(
            found[0].1,
            "7400 to 7649; a process that is not visible: 7411; feed (77): 7410"
        );
        assert_eq!(findings(&fake, 2)[0].1, "7900 to 8149, none in use");
    }

    #[test]
    fn who_listens_by_tcp_is_named_too_and_shares_no_port_with_udp() {
        let connected = socket(7412, 7, 9).replace(" 07 ", " 01 ");
        let listening = socket(7410, 6, 9).replace(" 07 ", " 0A ");
        let fake = fake("ports-tcp", &socket(7410, 5, 0))
            .with("proc/net/tcp", &format!("{HEADER}{listening}{connected}"));
        let found = findings(&fake, 0);
        assert!(
            found.iter().all(|(status, _)| *status == Status::Ok),
            "{found:?}"
        );
        assert_eq!(
            found[0].1,
            "7400 to 7649; a process that is not visible: tcp/7410; feed (77): 7410"
        );
    }

    #[test]
    fn shared_ports_and_drops_are_told() {
        let sockets = [socket(7410, 5, 3), socket(7410, 6, 0)].concat();
        let found = findings(&fake("ports-shared", &sockets), 0);
        let shared = "feed (77) and a process that is not visible have port 7410: each gets a part \
                      of the datagrams";
        assert_eq!(found[1], (Status::Fail, shared.to_owned()));
        let dropped = "3 datagrams at port 7410 of feed (77)";
        assert_eq!(found[2], (Status::Warn, dropped.to_owned()));
        // The groups' ports are everybody's.
        let groups = [socket(7400, 5, 0), socket(7400, 6, 0)].concat();
        assert_eq!(findings(&fake("ports-groups", &groups), 0)[1].0, Status::Ok);
    }

    #[test]
    fn a_full_domain_fails() {
        let sockets: String = (7410..7650).map(|port| socket(port, 5, 0)).collect();
        assert_eq!(
            findings(&fake("ports-full", &sockets), 0)[0].0,
            Status::Fail
        );
    }

    #[test]
    fn ports_that_anybody_may_get_are_told() {
        let fake = fake("ports-anybody", "");
        assert_eq!(findings(&fake, 0)[3].0, Status::Ok);
        assert_eq!(findings(&fake, 150)[3].0, Status::Warn);
        let reserved = "proc/sys/net/ipv4/ip_local_reserved_ports";
        let fake = fake.with(reserved, "80,44900-45149\n");
        assert_eq!(findings(&fake, 150)[3].0, Status::Ok);
        assert_eq!(findings(&fake, 151)[3].0, Status::Warn);
    }

    #[test]
    fn tables_that_make_no_sense_are_passed_over() {
        let fake = fake(
            "ports-garbage",
            "1: nonsense\n1: 0:FFFFFFFFF 0 0 0 0 0 0 0 0 0 0 0\n\n",
        );
        assert_eq!(findings(&fake, 0)[0].0, Status::Ok);
    }
}
