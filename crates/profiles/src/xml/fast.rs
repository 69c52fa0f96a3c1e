//! The XML profiles of eProsima Fast DDS, of its versions 2 and 3. Knows nothing of what a policy means.

use std::collections::BTreeMap;

use roxmltree::Node;
use tickwire::Transport;

use super::values::{number, value_at};
use super::walk::{Dialect, Frame, Walk, attribute_at, section};
use super::{elements, text_of};
use crate::document::{Assignment, Document, Name, Section};
use crate::value::{self, Value};
use crate::{Entity, MAX_PROFILES, catalogue};

/// `<profiles>`.
pub(super) fn profiles(node: Node<'_, '_>, walk: &mut Walk<'_, '_>, document: &mut Document) {
    walk.refuse_text(node);
    let mut transports = Transports::new();
    let descriptors = |node: &Node<'_, '_>| node.tag_name().name() == "transport_descriptors";
    for list in elements(node).filter(descriptors) {
        for descriptor in elements(list) {
            transport(descriptor, walk, &mut transports);
        }
    }
    for child in elements(node) {
        let tag = child.tag_name().name();
        match TAGS.iter().find(|(known, _)| *known == tag) {
            Some((_, entities)) => profile(child, entities, &transports, walk, document),
            None if tag == "transport_descriptors" => {}
            None => {
                let tags = TAGS
                    .iter()
                    .map(|(tag, _)| *tag)
                    .chain(["transport_descriptors"]);
                walk.unknown(child.range().start, "element", tag, tags);
            }
        }
    }
}

/// `<data_writer profile_name=... is_default_profile=...>` and the like. Profiles of one name for
/// different entities become one.
fn profile(
    node: Node<'_, '_>,
    entities: &[Entity],
    transports: &Transports,
    walk: &mut Walk<'_, '_>,
    document: &mut Document,
) {
    walk.attributes(node, &["profile_name", "is_default_profile"]);
    let Some(name) = name(node, walk) else {
        return;
    };
    let known = document.profiles.iter();
    let known = known.filter(|draft| draft.name.text == name.text);
    let mut sections = known.flat_map(|draft| &draft.sections);
    if sections.any(|section| entities.first() == Some(&section.entity)) {
        let tag = node.tag_name().name();
        let message = format!("a second `{tag}` with the profile name `{}`", name.text);
        walk.problems.add(name.at, message);
        return;
    }
    if document.profiles.len() >= MAX_PROFILES {
        walk.problems
            .add(name.at, format!("more than {MAX_PROFILES} profiles"));
        return;
    }
    if walk.flag(node, "is_default_profile") {
        for entity in entities {
            document.defaults.insert(*entity, name.clone());
        }
    }
    let frame = Frame {
        dialect: Dialect::FastDds,
        entities,
        topic: None,
        extras: match entities {
            [Entity::Participant] => &["rtps/userTransports", "rtps/useBuiltinTransports"],
            _ => &[],
        },
    };
    let draft = document.profile(&name);
    if let Some(own) = entities.first() {
        section(&mut draft.sections, *own, None);
    }
    let (mut chosen, mut has_builtin) = (Vec::new(), true);
    walk.settings(
        node,
        &frame,
        &mut draft.sections,
        &mut |walk, node, _| match node.tag_name().name() {
            "useBuiltinTransports" => has_builtin = text_of(node) != "false",
            _ => chosen.extend(user_transports(node, transports, walk)),
        },
    );
    merge_kinds(&mut chosen, has_builtin);
    if chosen.is_empty() {
        return;
    }
    // What the participant says itself stands before what its transport says.
    let own = section(&mut draft.sections, Entity::Participant, None);
    for assignment in chosen {
        let is_said = |said: &Assignment| said.setting.key == assignment.setting.key;
        if !own.assignments.iter().any(is_said) {
            own.assignments.push(assignment);
        }
    }
}

/// What the transports that a participant uses say.
fn user_transports(
    node: Node<'_, '_>,
    transports: &Transports,
    walk: &mut Walk<'_, '_>,
) -> Vec<Assignment> {
    walk.refuse_text(node);
    let mut said = Vec::new();
    for child in elements(node) {
        let tag = child.tag_name().name();
        if tag != "transport_id" {
            walk.unknown(
                child.range().start,
                "element",
                tag,
                ["transport_id"].into_iter(),
            );
            continue;
        }
        let id = text_of(child);
        match transports.get(&id) {
            Some(settings) => said.extend(settings.iter().cloned()),
            None => {
                let known = transports.keys().map(String::as_str);
                walk.problems
                    .unknown(value_at(child), "transport", &id, known);
            }
        }
    }
    said
}

/// What transports say, by their ids.
type Transports = BTreeMap<String, Vec<Assignment>>;

/// `<transport_descriptor>`.
fn transport(node: Node<'_, '_>, walk: &mut Walk<'_, '_>, transports: &mut Transports) {
    let at = node.range().start;
    let part = |name: &str| elements(node).find(|part| part.tag_name().name() == name);
    let Some(id) = part("transport_id").and_then(|id| walk.text(id)) else {
        walk.problems.add(at, "a transport needs a `transport_id`");
        return;
    };
    let kind = part("type").map_or_else(|| "UDPv4".to_owned(), text_of);
    if kind == "TCPv4" {
        let said = tcp_transport(node, walk);
        transports.insert(id, said);
        return;
    }
    if kind != "UDPv4" {
        let why = match kind.as_str() {
            "SHM" => "Tickwire's shared memory is its own, and on by default".to_owned(),
            kind => format!("Tickwire has no {kind}"),
        };
        let message = format!("the transport `{id}` is ignored: {why}");
        walk.ignored.add(at, message);
        transports.insert(id, Vec::new());
        return;
    }
    let mut said = Section::new(Entity::Participant, None);
    for child in elements(node) {
        let tag = child.tag_name().name();
        let text = text_of(child);
        let (key, value, at) = match tag {
            "transport_id" | "type" => continue,
            "receiveBufferSize" => {
                let bytes = number(&text).and_then(|bytes| u64::try_from(bytes).ok());
                let value = bytes.and_then(value::bounded_size).map(Value::Size);
                let value =
                    value.ok_or_else(|| format!("`{text}` is no number of bytes up to 1 GiB"));
                ("receive_buffer", value, value_at(child))
            }
            "TTL" => {
                let value = value::integer(number(&text), &text, 0, 255).map(Value::Integer);
                ("multicast_ttl", value, value_at(child))
            }
            "interfaceWhiteList" | "interfaces" => match interfaces(child, walk) {
                Some((name, at)) => ("interface", value::text(&name).map(Value::Text), at),
                None => continue,
            },
            _ => {
                let known = [
                    "receiveBufferSize",
                    "TTL",
                    "interfaceWhiteList",
                    "interfaces",
                ];
                walk.unknown(child.range().start, "element", tag, known.into_iter());
                continue;
            }
        };
        match (value, catalogue::find(Entity::Participant, key)) {
            (Ok(value), Some(setting)) => {
                said.assign(Assignment { setting, value, at }, walk.problems);
            }
            (Err(message), _) => walk.problems.add(at, message),
            (Ok(_), None) => {}
        }
    }
    said.assignments.extend(kind_of(&by_udp(), at));
    transports.insert(id, said.assignments);
}

/// A transport by TCP: the first of its ports to listen at, and no port where it has none. Its framing is
/// Tickwire's own.
fn tcp_transport(node: Node<'_, '_>, walk: &mut Walk<'_, '_>) -> Vec<Assignment> {
    let at = node.range().start;
    let mut port = None;
    for child in elements(node) {
        match child.tag_name().name() {
            "transport_id" | "type" => {}
            "listening_ports" => {
                let mut ports = elements(child);
                port = ports.next().map(|port| (text_of(port), value_at(port)));
            }
            tag => {
                let known = ["listening_ports"].into_iter();
                walk.unknown(child.range().start, "element", tag, known);
            }
        }
    }
    let tcp = catalogue::transport(Transport::Tcp);
    let mut said: Vec<_> = kind_of(&[tcp], at).into_iter().collect();
    let mut say = |key, value, at| {
        let setting = catalogue::find(Entity::Participant, key);
        said.extend(setting.map(|setting| Assignment { setting, value, at }));
    };
    match port {
        None => say("tcp_listen", Value::Bool(false), at),
        Some((text, at)) => match value::integer(number(&text), &text, 0, u16::MAX.into()) {
            Ok(port) => say("tcp_port", Value::Integer(port), at),
            Err(message) => walk.problems.add(at, message),
        },
    }
    said
}

/// Makes one setting of the kinds of all transports, with UDP where the built-in ones are used, too. What
/// comes to the default is not said, so that the environment may.
fn merge_kinds(chosen: &mut Vec<Assignment>, has_builtin: bool) {
    let is_kind = |said: &Assignment| said.setting.key == TRANSPORTS;
    let Some(mut merged) = chosen.iter().find(|said| is_kind(said)).cloned() else {
        return;
    };
    let mut all: Vec<u32> = has_builtin
        .then_some(by_udp())
        .into_iter()
        .flatten()
        .collect();
    for said in chosen.iter().filter(|said| is_kind(said)) {
        if let Value::Choices(kinds) = &said.value {
            all.extend(kinds);
        }
    }
    all.sort_unstable();
    all.dedup();
    chosen.retain(|said| !is_kind(said));
    if all != by_udp() {
        merged.value = Value::Choices(all);
        chosen.push(merged);
    }
}

fn by_udp() -> [u32; 2] {
    [Transport::Udp, Transport::Multicast].map(catalogue::transport)
}

/// What kind of transport it is.
fn kind_of(kinds: &[u32], at: usize) -> Option<Assignment> {
    let setting = catalogue::find(Entity::Participant, TRANSPORTS)?;
    let value = Value::Choices(kinds.to_vec());
    Some(Assignment { setting, value, at })
}

/// The key of the setting that names transports.
const TRANSPORTS: &str = "transports";

/// The interfaces of a list, by their names or addresses.
fn interfaces(node: Node<'_, '_>, walk: &mut Walk<'_, '_>) -> Option<(String, usize)> {
    let (mut names, mut first_at) = (Vec::new(), None);
    let lists = elements(node).filter(|list| list.tag_name().name() == "allowlist");
    let allowed = lists.flat_map(|list| elements(list));
    for child in elements(node).chain(allowed) {
        let (name, at) = match (child.tag_name().name(), child.attribute("name")) {
            ("allowlist", _) => continue,
            ("address" | "interface", Some(name)) => (name.to_owned(), attribute_at(child, "name")),
            ("address" | "interface", None) => (text_of(child), value_at(child)),
            (tag, _) => {
                let known = ["address", "interface", "allowlist"].into_iter();
                walk.unknown(child.range().start, "element", tag, known);
                continue;
            }
        };
        names.push(name);
        first_at.get_or_insert(at);
    }
    first_at.map(|at| (names.join(","), at))
}

/// The attribute `profile_name`.
fn name(node: Node<'_, '_>, walk: &mut Walk<'_, '_>) -> Option<Name> {
    let text = node
        .attribute("profile_name")
        .map(str::trim)
        .unwrap_or_default();
    if text.is_empty() {
        let message = format!("`{}` needs a `profile_name`", node.tag_name().name());
        walk.problems.add(node.range().start, message);
        return None;
    }
    Some(Name {
        text: text.to_owned(),
        at: attribute_at(node, "profile_name"),
    })
}

const WRITER: &[Entity] = &[Entity::Writer, Entity::Publisher, Entity::Topic];
const READER: &[Entity] = &[Entity::Reader, Entity::Subscriber, Entity::Topic];

/// The tags of profiles, and of whom they speak. Version 2 also calls writers and readers as the entities
/// that make them.
const TAGS: [(&str, &[Entity]); 6] = [
    ("participant", &[Entity::Participant]),
    ("data_writer", WRITER),
    ("publisher", WRITER),
    ("data_reader", READER),
    ("subscriber", READER),
    ("topic", &[Entity::Topic]),
];
