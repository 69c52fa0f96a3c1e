//! Nodes, who hears which address, and the datagrams on their way.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use tickwire_base::{Duration, Instant, Locator};

use crate::{Link, Rng};

/// One node of a [`Network`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(usize);

/// A datagram that has arrived.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    /// When.
    pub at: Instant,
    /// Its place among all that were sent, so that ties are always broken alike.
    order: u64,
    /// Who sent it.
    pub from: NodeId,
    /// Who hears it.
    pub to: NodeId,
    /// What it was sent to.
    pub locator: Locator,
    /// What it says.
    pub bytes: Vec<u8>,
}

/// What became of the datagrams. One sent to a group counts once for each listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Totals {
    /// Sent to somebody.
    pub sent: u64,
    /// Sent to an address that nobody hears.
    pub unheard: u64,
    /// Lost by the link.
    pub lost: u64,
    /// Dropped because too many were waiting to leave.
    pub overflowed: u64,
    /// Sent across a partition.
    pub cut: u64,
    /// Repeated by the link.
    pub duplicated: u64,
    /// Arrived.
    pub arrived: u64,
}

/// The network and its clock, which moves when datagrams arrive or on demand.
#[derive(Debug)]
pub struct Network {
    now: Instant,
    rng: Rng,
    names: Vec<String>,
    listeners: BTreeMap<Locator, BTreeSet<NodeId>>,
    default_link: Link,
    links: BTreeMap<(NodeId, NodeId), Link>,
    /// When what was sent has left, where that takes time.
    busy_until: BTreeMap<(NodeId, NodeId), Instant>,
    cut: BTreeSet<(NodeId, NodeId)>,
    on_the_way: BinaryHeap<Reverse<Arrival>>,
    order: u64,
    totals: Totals,
}

impl Network {
    /// A network without nodes, at [`Instant::ZERO`], in which all links are alike.
    pub fn new(seed: u64, link: Link) -> Self {
        Self {
            now: Instant::ZERO,
            rng: Rng::new(seed),
            names: Vec::new(),
            listeners: BTreeMap::new(),
            default_link: link,
            links: BTreeMap::new(),
            busy_until: BTreeMap::new(),
            cut: BTreeSet::new(),
            on_the_way: BinaryHeap::new(),
            order: 0,
            totals: Totals::default(),
        }
    }

    /// Adds a node; the name is for messages of failing tests.
    pub fn add_node(&mut self, name: &str) -> NodeId {
        self.names.push(name.to_owned());
        NodeId(self.names.len() - 1)
    }

    /// What the node was called.
    pub fn name(&self, node: NodeId) -> &str {
        &self.names[node.0]
    }

    /// The node hears what is sent to `locator`, as may others.
    pub fn listen(&mut self, node: NodeId, locator: Locator) {
        self.listeners.entry(locator).or_default().insert(node);
    }

    /// The node no longer hears anything, nor what is on its way to it: it has crashed.
    pub fn silence(&mut self, node: NodeId) {
        for nodes in self.listeners.values_mut() {
            nodes.remove(&node);
        }
        self.on_the_way
            .retain(|Reverse(arrival)| arrival.to != node);
    }

    /// Changes all links that have not been set on their own.
    pub fn set_default_link(&mut self, link: Link) {
        self.default_link = link;
    }

    /// Changes the way from one node to another; the way back is another link.
    pub fn set_link(&mut self, from: NodeId, to: NodeId, link: Link) {
        self.links.insert((from, to), link);
    }

    /// Nothing passes between the two any more, in either direction. What is on its way arrives.
    pub fn partition(&mut self, a: NodeId, b: NodeId) {
        self.cut.insert((a, b));
        self.cut.insert((b, a));
    }

    /// Undoes [`partition`](Self::partition).
    pub fn heal(&mut self, a: NodeId, b: NodeId) {
        self.cut.remove(&(a, b));
        self.cut.remove(&(b, a));
    }

    /// Sends a datagram to all that hear `to`, the sender included.
    pub fn send(&mut self, from: NodeId, to: Locator, bytes: &[u8]) {
        let listeners: Vec<NodeId> = match self.listeners.get(&to) {
            Some(nodes) if !nodes.is_empty() => nodes.iter().copied().collect(),
            _ => {
                self.totals.unheard += 1;
                return;
            }
        };
        for node in listeners {
            self.totals.sent += 1;
            if self.cut.contains(&(from, node)) {
                self.totals.cut += 1;
                continue;
            }
            let link = self.links.get(&(from, node)).copied();
            let link = link.unwrap_or(self.default_link);
            let Some(left_at) = self.leave(from, node, link, bytes.len()) else {
                self.totals.overflowed += 1;
                continue;
            };
            if self.rng.chance(link.loss) {
                self.totals.lost += 1;
                continue;
            }
            self.put_on_the_way(from, node, to, (link, left_at), bytes);
            if self.rng.chance(link.duplication) {
                self.totals.duplicated += 1;
                self.put_on_the_way(from, node, to, (link, left_at), bytes);
            }
        }
    }

    /// The present instant.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// When the next datagram arrives.
    pub fn next_arrival_at(&self) -> Option<Instant> {
        self.on_the_way.peek().map(|Reverse(arrival)| arrival.at)
    }

    /// Lets the next datagram arrive, if one does until `end`, and moves the clock there; else moves
    /// the clock to `end`. The clock does not go back.
    pub fn receive_until(&mut self, end: Instant) -> Option<Arrival> {
        if self.next_arrival_at().is_none_or(|at| at > end) {
            self.now = self.now.max(end);
            return None;
        }
        let Reverse(arrival) = self.on_the_way.pop()?;
        self.now = self.now.max(arrival.at);
        self.totals.arrived += 1;
        Some(arrival)
    }

    /// What became of all datagrams so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// When a datagram will have left, behind those that wait; `None` if these are too many.
    fn leave(&mut self, from: NodeId, to: NodeId, link: Link, len: usize) -> Option<Instant> {
        if link.bytes_per_second == 0 {
            return Some(self.now);
        }
        let busy_until = self.busy_until.entry((from, to)).or_insert(self.now);
        let begins_at = self.now.max(*busy_until);
        if !link.has_room(begins_at.since(self.now)) {
            return None;
        }
        *busy_until = begins_at + link.leaves_in(len);
        Some(*busy_until)
    }

    fn put_on_the_way(
        &mut self,
        from: NodeId,
        to: NodeId,
        locator: Locator,
        (link, left_at): (Link, Instant),
        bytes: &[u8],
    ) {
        let jitter_ns = u64::try_from(link.jitter.as_nanos()).unwrap_or(u64::MAX);
        let jitter = Duration::from_nanos(self.rng.below(jitter_ns.saturating_add(1)));
        self.order += 1;
        self.on_the_way.push(Reverse(Arrival {
            at: left_at + link.delay + jitter,
            order: self.order,
            from,
            to,
            locator,
            bytes: bytes.to_vec(),
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const HERE: Locator = Locator::udp_v4(Ipv4Addr::LOCALHOST, 1);
    const GROUP: Locator = Locator::udp_v4(Ipv4Addr::new(239, 0, 0, 1), 2);

    fn run(seed: u64, link: Link, count: u8) -> (Vec<(u64, Vec<u8>)>, Totals) {
        let mut network = Network::new(seed, link);
        let (a, b) = (network.add_node("a"), network.add_node("b"));
        network.listen(b, HERE);
        for i in 0..count {
            network.send(a, HERE, &[i]);
        }
        let mut seen = Vec::new();
        while let Some(arrival) = network.receive_until(Instant::MAX) {
            seen.push((arrival.at.as_nanos(), arrival.bytes));
        }
        (seen, network.totals())
    }

    #[test]
    fn the_seed_determines_the_run() {
        let link = Link::lossy(300);
        assert_eq!(run(5, link, 200), run(5, link, 200));
        assert_ne!(run(5, link, 200), run(6, link, 200));
    }

    #[test]
    fn a_perfect_link_keeps_number_order_and_time() {
        let (seen, totals) = run(1, Link::PERFECT, 100);
        let expected: Vec<_> = (0..100).map(|i| (50_000, vec![i])).collect();
        assert_eq!(seen, expected);
        assert_eq!(totals.arrived, 100);
    }

    #[test]
    fn a_lossy_link_loses_repeats_and_reorders() {
        let (seen, totals) = run(1, Link::lossy(300), 250);
        assert_eq!(seen.len() as u64, 250 - totals.lost + totals.duplicated);
        assert!(totals.lost > 40 && totals.duplicated > 2, "{totals:?}");
        assert!(!seen.is_sorted_by_key(|(_, bytes)| bytes));
        assert!(seen.is_sorted_by_key(|&(at, _)| at));
    }

    #[test]
    fn what_a_slow_link_cannot_hold_is_dropped() {
        // A byte takes 1 ms; three may wait behind the one that leaves.
        let slow = Link {
            bytes_per_second: 1_000,
            queue_bytes: 3,
            ..Link::PERFECT
        };
        let (seen, totals) = run(1, slow, 9);
        let expected: Vec<_> = (0..4)
            .map(|i| (50_000 + 1_000_000 * (u64::from(i) + 1), vec![i]))
            .collect();
        assert_eq!(seen, expected);
        assert_eq!(totals.overflowed, 5);
    }

    #[test]
    fn a_group_reaches_all_listeners_but_those_cut_off_or_crashed() {
        let mut network = Network::new(1, Link::PERFECT);
        let nodes = ["a", "b", "c", "d"].map(|name| network.add_node(name));
        for node in nodes {
            network.listen(node, GROUP);
        }
        network.partition(nodes[0], nodes[1]);
        network.silence(nodes[2]);
        network.send(nodes[0], GROUP, &[1]);
        let first = network
            .receive_until(Instant::MAX)
            .map(|arrival| arrival.to);
        let second = network
            .receive_until(Instant::MAX)
            .map(|arrival| arrival.to);
        assert_eq!((first, second), (Some(nodes[0]), Some(nodes[3])));
        assert_eq!(network.receive_until(Instant::MAX), None);
        network.heal(nodes[0], nodes[1]);
        network.send(nodes[0], GROUP, &[2]);
        assert_eq!(network.totals().sent, 6);
        assert_eq!(network.totals().cut, 1);
    }

    #[test]
    fn the_clock_moves_to_arrivals_and_to_where_it_is_told() {
        let mut network = Network::new(1, Link::PERFECT);
        let node = network.add_node("a");
        network.listen(node, HERE);
        network.send(node, HERE, &[]);
        assert_eq!(network.receive_until(Instant::from_nanos(49_999)), None);
        assert_eq!(network.now(), Instant::from_nanos(49_999));
        assert!(network.receive_until(Instant::from_nanos(60_000)).is_some());
        assert_eq!(network.now(), Instant::from_nanos(50_000));
        assert_eq!(network.name(node), "a");
    }
}
