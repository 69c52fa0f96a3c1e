//! QoS libraries of OMG DDS-XML 1.0 §7.3.2, with what RTI Connext adds for participants. Knows nothing of
//! what a policy means.

use roxmltree::Node;
use tickwire::Transport;

use super::values::{number, value_at};
use super::walk::{Dialect, Frame, Walk, attribute_at, section};
use super::{elements, text_of};
use crate::document::{Assignment, Document, Draft, Name, Section};
use crate::value::{self, Value};
use crate::{Entity, MAX_PROFILES, catalogue};

/// `<qos_library name=...>`.
pub(super) fn library(node: Node<'_, '_>, walk: &mut Walk<'_, '_>, document: &mut Document) {
    walk.refuse_text(node);
    walk.attributes(node, &["name"]);
    let Some(library) = name(node, walk) else {
        return;
    };
    for child in elements(node) {
        let tag = child.tag_name().name();
        match (tag, entity(tag)) {
            ("qos_profile", _) => profile(child, &library.text, walk, document),
            (_, Some(_)) => single(child, &library.text, walk, document),
            _ => {
                let tags = TAGS.iter().map(|(tag, _)| *tag).chain(["qos_profile"]);
                walk.unknown(child.range().start, "element", tag, tags);
            }
        }
    }
}

/// `<qos_profile name=... base_name=... is_default_qos=...>`.
pub(super) fn profile(
    node: Node<'_, '_>,
    library: &str,
    walk: &mut Walk<'_, '_>,
    document: &mut Document,
) {
    walk.refuse_text(node);
    walk.attributes(node, &["name", "base_name", "is_default_qos"]);
    let Some(mut draft) = draft(node, library, walk, document) else {
        return;
    };
    draft.bases = bases(node);
    if walk.flag(node, "is_default_qos") {
        for entity in Entity::ALL {
            let earlier = document.defaults.insert(entity, draft.name.clone());
            if earlier.is_some() && entity == Entity::ALL[0] {
                let at = attribute_at(node, "is_default_qos");
                walk.problems.add(at, "a second default profile");
            }
        }
    }
    for child in elements(node) {
        let tag = child.tag_name().name();
        match (tag, entity(tag)) {
            ("base_name", _) => draft.bases.extend(composed(child, walk)),
            (_, Some(entity)) => {
                if let Some(name) = child.attribute("name") {
                    let at = attribute_at(child, "name");
                    let message = format!("the name `{name}` within a profile is ignored");
                    walk.ignored.add(at, message);
                }
                settings(child, entity, walk, &mut draft);
            }
            _ => {
                let tags = TAGS.iter().map(|(tag, _)| *tag).chain(["base_name"]);
                walk.unknown(child.range().start, "element", tag, tags);
            }
        }
    }
    document.profiles.push(draft);
}

/// `<datawriter_qos name=...>` outside a profile is a profile of its own (§7.3.2.4.4).
fn single(node: Node<'_, '_>, library: &str, walk: &mut Walk<'_, '_>, document: &mut Document) {
    let Some(entity) = entity(node.tag_name().name()) else {
        return;
    };
    if let Some(mut draft) = draft(node, library, walk, document) {
        settings(node, entity, walk, &mut draft);
        document.profiles.push(draft);
    }
}

/// A profile that says nothing yet.
fn draft(
    node: Node<'_, '_>,
    library: &str,
    walk: &mut Walk<'_, '_>,
    document: &Document,
) -> Option<Draft> {
    let own = name(node, walk)?;
    let text = match library {
        "" => own.text,
        library => format!("{library}::{}", own.text),
    };
    if document.profiles.len() >= MAX_PROFILES {
        walk.problems
            .add(own.at, format!("more than {MAX_PROFILES} profiles"));
        return None;
    }
    if document
        .profiles
        .iter()
        .any(|known| known.name.text == text)
    {
        walk.problems
            .add(own.at, format!("a second profile `{text}`"));
        return None;
    }
    Some(Draft::new(Name { text, at: own.at }))
}

/// The policies of one entity.
fn settings(node: Node<'_, '_>, entity: Entity, walk: &mut Walk<'_, '_>, draft: &mut Draft) {
    walk.attributes(node, &["name", "base_name", "topic_filter"]);
    let topic = node.attribute("topic_filter").map(str::to_owned);
    if topic.is_some() && !entity.is_of_topic() {
        let message = format!("a `{entity}` has no topic to filter");
        walk.problems
            .add(attribute_at(node, "topic_filter"), message);
    }
    let is_same = |known: &Section| known.entity == entity && known.topic == topic;
    if draft.sections.iter().any(is_same) {
        let message = format!("a second `{}` for the same topics", node.tag_name().name());
        walk.problems.add(node.range().start, message);
        return;
    }
    let entities = [entity];
    let frame = Frame {
        dialect: Dialect::DdsXml,
        entities: &entities,
        topic,
        extras: match entity {
            Entity::Participant => &["property/value", "base_name", "transport_builtin/mask"],
            _ => &["base_name"],
        },
    };
    let mut sections = Vec::new();
    let own = section(&mut sections, entity, frame.topic.as_deref());
    own.bases = bases(node);
    let topic = frame.topic.clone();
    walk.settings(
        node,
        &frame,
        &mut sections,
        &mut |walk, node, sections| match node.tag_name().name() {
            "base_name" => {
                let bases = composed(node, walk);
                section(sections, entity, topic.as_deref())
                    .bases
                    .extend(bases);
            }
            "mask" => mask(node, walk, sections),
            _ => properties(node, walk, sections),
        },
    );
    draft.sections.append(&mut sections);
}

/// `<transport_builtin><mask>UDPv4|SHMEM</mask>`: Connext's built-in transports.
fn mask(node: Node<'_, '_>, walk: &mut Walk<'_, '_>, sections: &mut Vec<Section>) {
    let Some(text) = walk.text(node) else {
        return;
    };
    let (at, mut kinds) = (value_at(node), Vec::new());
    for name in text.split('|').map(str::trim) {
        let short = name.trim_start_matches("TRANSPORTBUILTIN_");
        match short
            .trim_start_matches("MASK_")
            .to_ascii_uppercase()
            .as_str()
        {
            "UDPV4" | "DEFAULT" => kinds.extend([Transport::Udp, Transport::Multicast]),
            _ => {
                let message =
                    format!("the transport `{name}` is ignored: Tickwire does not have it");
                walk.ignored.add(at, message);
            }
        }
    }
    let kinds: Vec<_> = kinds.into_iter().map(catalogue::transport).collect();
    let setting = catalogue::find(Entity::Participant, "transports");
    if let Some(setting) = setting.filter(|_| !kinds.is_empty()) {
        let value = Value::Choices(kinds);
        let own = section(sections, Entity::Participant, None);
        own.assign(Assignment { setting, value, at }, walk.problems);
    }
}

/// `<element><name>...</name><value>...</value></element>`: Connext's transport has its settings there.
fn properties(node: Node<'_, '_>, walk: &mut Walk<'_, '_>, sections: &mut Vec<Section>) {
    for element in elements(node) {
        let part = |name: &str| elements(element).find(|part| part.tag_name().name() == name);
        let (Some(name), Some(value)) = (part("name"), part("value")) else {
            let message = "a property has a `name` and a `value`";
            walk.problems.add(element.range().start, message);
            continue;
        };
        let text = text_of(name);
        let known = PROPERTIES.iter().find(|(known, _)| *known == text);
        let setting = known.and_then(|(_, key)| catalogue::find(Entity::Participant, key));
        let Some(setting) = setting else {
            let message = format!("the property `{text}` is ignored: Tickwire does not have it");
            walk.ignored.add(value_at(name), message);
            continue;
        };
        let (text, at) = (text_of(value), value_at(value));
        match property(setting.key, &text) {
            Ok(value) => {
                let own = section(sections, Entity::Participant, None);
                own.assign(Assignment { setting, value, at }, walk.problems);
            }
            Err(message) => walk.problems.add(at, message),
        }
    }
}

fn property(key: &str, text: &str) -> Result<Value, String> {
    Ok(match key {
        "receive_buffer" => {
            let bytes = number(text).and_then(|bytes| u64::try_from(bytes).ok());
            let bytes = bytes.and_then(value::bounded_size);
            Value::Size(bytes.ok_or_else(|| format!("`{text}` is no number of bytes up to 1 GiB"))?)
        }
        "multicast_ttl" => Value::Integer(value::integer(number(text), text, 0, 255)?),
        "interface" if text.contains('*') => {
            return Err(format!(
                "`{text}` has a `*`; say names, addresses or subnets, as in 10.1.0.0/16"
            ));
        }
        _ => Value::Text(value::text(text)?),
    })
}

/// The attribute `name`.
fn name(node: Node<'_, '_>, walk: &mut Walk<'_, '_>) -> Option<Name> {
    let text = node.attribute("name").map(str::trim).unwrap_or_default();
    if text.is_empty() {
        let message = format!("`{}` needs a name", node.tag_name().name());
        walk.problems.add(node.range().start, message);
        return None;
    }
    Some(Name {
        text: text.to_owned(),
        at: attribute_at(node, "name"),
    })
}

/// The attribute `base_name`.
fn bases(node: Node<'_, '_>) -> Vec<Name> {
    let base = node.attribute("base_name").map(|text| Name {
        text: text.trim().to_owned(),
        at: attribute_at(node, "base_name"),
    });
    base.into_iter().collect()
}

/// `<base_name><element>...</element></base_name>`: Connext's composition.
fn composed(node: Node<'_, '_>, walk: &mut Walk<'_, '_>) -> Vec<Name> {
    walk.refuse_text(node);
    let mut bases = Vec::new();
    for child in elements(node) {
        let text = walk.text(child);
        bases.extend(text.map(|text| Name {
            text,
            at: value_at(child),
        }));
    }
    bases
}

fn entity(tag: &str) -> Option<Entity> {
    let found = TAGS.iter().find(|(known, _)| *known == tag);
    found.map(|(_, entity)| *entity)
}

/// The standard's tags, and for participants those of others.
const TAGS: [(&str, Entity); 8] = [
    ("datawriter_qos", Entity::Writer),
    ("datareader_qos", Entity::Reader),
    ("topic_qos", Entity::Topic),
    ("publisher_qos", Entity::Publisher),
    ("subscriber_qos", Entity::Subscriber),
    ("domainparticipant_qos", Entity::Participant),
    ("domain_participant_qos", Entity::Participant),
    ("participant_qos", Entity::Participant),
];

/// Properties of Connext that have a setting here.
const PROPERTIES: [(&str, &str); 4] = [
    ("dds.domain_participant.domain_tag", "domain_tag"),
    (
        "dds.transport.UDPv4.builtin.parent.allow_interfaces_list",
        "interface",
    ),
    (
        "dds.transport.UDPv4.builtin.recv_socket_buffer_size",
        "receive_buffer",
    ),
    ("dds.transport.UDPv4.builtin.multicast_ttl", "multicast_ttl"),
];
