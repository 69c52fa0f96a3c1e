//! Addresses and names of the machines of others, as each dialect writes them. Knows nothing of what is sent there.

use std::net::SocketAddrV4;

use roxmltree::Node;

use super::values::{number, value_at};
use super::walk::{Dialect, Walk};
use super::{elements, text_of};
use crate::value::{self, Peer};

/// The addresses in a list; what cannot be reached over IPv4 by UDP or TCP is ignored.
pub(super) fn read(node: Node<'_, '_>, dialect: Dialect, walk: &mut Walk<'_, '_>) -> Vec<Peer> {
    walk.refuse_text(node);
    let mut peers = Vec::new();
    for child in elements(node) {
        match (dialect, child.tag_name().name()) {
            (Dialect::DdsXml, "element") => peers.extend(descriptor(child, walk)),
            (Dialect::FastDds, "locator") => {
                let locators = elements(child);
                peers.extend(locators.filter_map(|locator| self::locator(locator, walk)));
            }
            (_, name) => {
                let known = match dialect {
                    Dialect::DdsXml => "element",
                    Dialect::FastDds => "locator",
                };
                let at = child.range().start;
                walk.unknown(at, "element", name, [known].into_iter());
            }
        }
    }
    peers
}

/// `[N@][TRANSPORT://]ADDRESS`, as Connext has it.
fn descriptor(node: Node<'_, '_>, walk: &mut Walk<'_, '_>) -> Option<Peer> {
    let text = walk.text(node)?;
    let at = value_at(node);
    let address = match text.split_once('@') {
        Some((limit, address)) => {
            let message = format!("the limit `{limit}@` is ignored: ten participants are greeted");
            walk.ignored.add(at, message);
            address
        }
        None => text.as_str(),
    };
    let address = match address.split_once("://") {
        Some(("udpv4" | "builtin.udpv4", address)) => address,
        Some(("tcpv4_lan" | "tcpv4_wan", address)) => return by_tcp(address, at, walk),
        Some((transport, _)) => {
            let message =
                format!("the peer `{text}` is ignored: Tickwire has no transport `{transport}`");
            walk.ignored.add(at, message);
            return None;
        }
        None => address,
    };
    let address = if address == "localhost" {
        LOCALHOST
    } else {
        address
    };
    match value::peer(address) {
        Ok(peer) => Some(peer),
        Err(message) => {
            walk.problems.add(at, message);
            None
        }
    }
}

/// A machine or a port by TCP.
fn by_tcp(address: &str, at: usize, walk: &mut Walk<'_, '_>) -> Option<Peer> {
    let peer = value::peer(&format!("tcp/{address}"));
    peer.map_err(|message| walk.problems.add(at, message)).ok()
}

/// `<udpv4>` with an address and maybe a port, or `<tcpv4>` with an address and maybe a physical port.
fn locator(node: Node<'_, '_>, walk: &mut Walk<'_, '_>) -> Option<Peer> {
    let at = node.range().start;
    let kind = node.tag_name().name();
    let is_tcp = kind == "tcpv4";
    if kind != "udpv4" && !is_tcp {
        walk.unknown(at, "locator", kind, ["udpv4", "tcpv4"].into_iter());
        return None;
    }
    let (mut address, mut port) = (None, None);
    for child in elements(node) {
        let text = text_of(child);
        match child.tag_name().name() {
            "address" => address = Some((text, value_at(child))),
            // Fast DDS's own, within a connection.
            "port" if is_tcp => {}
            "port" | "physical_port" => {
                match number(&text).and_then(|port| u16::try_from(port).ok()) {
                    Some(number) => port = Some(number).filter(|port| *port != 0),
                    None => walk
                        .problems
                        .add(value_at(child), format!("`{text}` is no port")),
                }
            }
            name => {
                let known = ["address", "port", "physical_port"].into_iter();
                walk.unknown(child.range().start, "element", name, known);
            }
        }
    }
    let Some((text, at)) = address else {
        walk.problems.add(at, "a locator without `address`");
        return None;
    };
    let address = if text.eq_ignore_ascii_case("localhost") {
        LOCALHOST
    } else {
        &text
    };
    if is_tcp {
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        return by_tcp(&format!("{address}{port}"), at, walk);
    }
    match (value::peer(address), port) {
        (Ok(Peer::Machine(address)), Some(port)) => {
            Some(Peer::Port(SocketAddrV4::new(address, port)))
        }
        (Ok(Peer::Named(name)), Some(port)) if !name.contains(':') => {
            Some(Peer::Named(format!("{name}:{port}")))
        }
        (Ok(peer), _) => Some(peer),
        (Err(message), _) => {
            walk.problems.add(at, message);
            None
        }
    }
}

const LOCALHOST: &str = "127.0.0.1";
