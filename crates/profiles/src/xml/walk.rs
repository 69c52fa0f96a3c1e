//! From elements to settings, by the table of settings. Knows neither dialect's frame.

use roxmltree::Node;

use super::{elements, text_of, values};
use crate::document::{Assignment, Section};
use crate::problem::Problems;
use crate::setting::{Kind, Setting};
use crate::{Entity, catalogue, value};
use tickwire::qos::nearest_name;

/// Whose elements they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    DdsXml,
    FastDds,
}

impl Dialect {
    fn path(self, setting: &'static Setting) -> &'static str {
        match self {
            Self::DdsXml => setting.dds_xml,
            Self::FastDds => setting.fast_dds,
        }
    }
}

/// What has been found on the way.
pub(super) struct Walk<'w, 'p> {
    pub(super) problems: &'w mut Problems<'p>,
    pub(super) ignored: &'w mut Problems<'p>,
}

/// The element that is walked through.
pub(super) struct Frame<'s> {
    pub(super) dialect: Dialect,
    /// Of whom it can speak.
    pub(super) entities: &'s [Entity],
    /// The names of topics for which it does.
    pub(super) topic: Option<String>,
    /// Elements of another form, which `extra` gets.
    pub(super) extras: &'s [&'static str],
}

impl<'w, 'p> Walk<'w, 'p> {
    pub(super) fn new(problems: &'w mut Problems<'p>, ignored: &'w mut Problems<'p>) -> Self {
        Self { problems, ignored }
    }

    /// Adds what the elements in `node` say to `sections`; `extra` gets those of another form.
    pub(super) fn settings<'a, 'input>(
        &mut self,
        node: Node<'a, 'input>,
        frame: &Frame<'_>,
        sections: &mut Vec<Section>,
        extra: &mut dyn FnMut(&mut Self, Node<'a, 'input>, &mut Vec<Section>),
    ) {
        self.descend(node, "", frame, sections, extra);
    }

    fn descend<'a, 'input>(
        &mut self,
        node: Node<'a, 'input>,
        path: &str,
        frame: &Frame<'_>,
        sections: &mut Vec<Section>,
        extra: &mut dyn FnMut(&mut Self, Node<'a, 'input>, &mut Vec<Section>),
    ) {
        self.refuse_text_around(node, &frame.names_in(path));
        for child in elements(node) {
            let name = child.tag_name().name();
            let child_path = match path {
                "" => name.to_owned(),
                path => format!("{path}/{name}"),
            };
            let below = format!("{child_path}/");
            let mut paths = frame.paths();
            if let Some((entity, setting)) = frame.find(&child_path) {
                self.assign(child, entity, setting, frame, sections);
            } else if frame.extras.contains(&child_path.as_str()) {
                extra(self, child, sections);
            } else if paths.any(|(_, known)| known.starts_with(&below)) {
                self.no_attributes(child, &frame.names_in(&child_path));
                self.descend(child, &child_path, frame, sections, extra);
            } else if let Some(others) = frame.others_with(&child_path) {
                let of = value::alternatives(others.iter().map(ToString::to_string));
                let message = format!("element `{name}` is ignored: it is a setting of {of}");
                self.ignored.add(child.range().start, message);
            } else {
                let known = frame.names_in(path);
                self.unknown(child.range().start, "element", name, known.into_iter());
            }
        }
    }

    fn assign(
        &mut self,
        node: Node<'_, '_>,
        entity: Entity,
        setting: &'static Setting,
        frame: &Frame<'_>,
        sections: &mut Vec<Section>,
    ) {
        self.no_attributes(node, &[]);
        let Some((value, at)) = values::read(node, setting, frame.dialect, self) else {
            return;
        };
        let assignment = Assignment { setting, value, at };
        section(sections, entity, frame.topic.as_deref()).assign(assignment, self.problems);
    }

    /// A name that Tickwire does not have: refused if it looks like a slip of the pen.
    pub(super) fn unknown<'n>(
        &mut self,
        at: usize,
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'n str> + Clone,
    ) {
        match nearest_name(name, known.clone()) {
            Some(_) => self.problems.unknown(at, what, name, known),
            None => self.ignored.add(
                at,
                format!("{what} `{name}` is ignored: Tickwire does not have it"),
            ),
        }
    }

    /// Elements hold elements or a value, not both.
    pub(super) fn refuse_text(&mut self, node: Node<'_, '_>) {
        self.refuse_text_around(node, &[]);
    }

    /// The same of one that holds elements of these names.
    pub(super) fn refuse_text_around(&mut self, node: Node<'_, '_>, names: &[&str]) {
        let name = node.tag_name().name();
        let texts = node.children().filter(Node::is_text);
        for text in texts {
            let stray = text
                .text()
                .unwrap_or_default()
                .find(|c: char| !c.is_ascii_whitespace());
            if let Some(stray) = stray {
                let message = match names {
                    [inner] => {
                        format!(
                            "text in `{name}`, which holds elements: write `<{inner}>` around it"
                        )
                    }
                    _ => format!("text in `{name}`, which holds elements"),
                };
                self.problems.add(text.range().start + stray, message);
            }
        }
    }

    /// Policies have no attributes in the standard. What is one but should be one of these elements is refused.
    fn no_attributes(&mut self, node: Node<'_, '_>, elements: &[&str]) {
        for attribute in node.attributes() {
            let (name, at) = (attribute.name(), attribute.range().start);
            if elements.contains(&name) {
                let value = attribute.value();
                let message = format!(
                    "`{name}` is an element of `{}`, not an attribute: write `<{name}>{value}</{name}>`",
                    node.tag_name().name()
                );
                self.problems.add(at, message);
            } else {
                let message = format!("attribute `{name}` is ignored: Tickwire does not have it");
                self.ignored.add(at, message);
            }
        }
    }

    /// Whether an attribute says yes; no if it is missing.
    pub(super) fn flag(&mut self, node: Node<'_, '_>, name: &str) -> bool {
        match node.attribute(name).map(str::trim) {
            None | Some("false" | "0") => false,
            Some("true" | "1") => true,
            Some(other) => {
                let message = format!("`{name}` is `true` or `false`, not `{other}`");
                self.problems.add(attribute_at(node, name), message);
                false
            }
        }
    }

    /// The text of an element that must have some.
    pub(super) fn text(&mut self, node: Node<'_, '_>) -> Option<String> {
        let text = text_of(node);
        if text.is_empty() {
            let message = format!("`{}` is empty", node.tag_name().name());
            self.problems.add(node.range().start, message);
            return None;
        }
        Some(text)
    }

    /// Refuses or reports attributes besides those that are known.
    pub(super) fn attributes(&mut self, node: Node<'_, '_>, known: &[&'static str]) {
        for attribute in node.attributes() {
            // Those of namespaces say where the schema is.
            if attribute.namespace().is_none() && !known.contains(&attribute.name()) {
                let at = attribute.range().start;
                self.unknown(at, "attribute", attribute.name(), known.iter().copied());
            }
        }
    }
}

impl Frame<'_> {
    /// All paths of elements, with their settings.
    fn paths(&self) -> impl Iterator<Item = (Option<(Entity, &'static Setting)>, &'static str)> {
        let settings = self
            .entities
            .iter()
            .flat_map(|&entity| catalogue::of(entity).map(move |setting| (entity, setting)));
        let dialect = self.dialect;
        let settings =
            settings.map(move |(entity, setting)| (Some((entity, setting)), dialect.path(setting)));
        let extras = self.extras.iter().map(|extra| (None, *extra));
        settings.filter(|(_, path)| !path.is_empty()).chain(extras)
    }

    fn find(&self, path: &str) -> Option<(Entity, &'static Setting)> {
        let found = self.paths().find(|(found, known)| match found {
            // DDS-XML 1.0 §7.2.4.2: octets may be in base 64 instead.
            Some((
                _,
                Setting {
                    kind: Kind::Octets, ..
                },
            )) => path == *known || path.strip_suffix("B64") == Some(known),
            _ => path == *known,
        });
        found.and_then(|(found, _)| found)
    }

    /// Whose setting an element at `path` is, or is around, if it is that of others.
    fn others_with(&self, path: &str) -> Option<Vec<Entity>> {
        let below = format!("{path}/");
        let settings = catalogue::settings().iter().filter(|setting| {
            let known = self.dialect.path(setting);
            known == path || known.starts_with(&below)
        });
        let mut others: Vec<_> = settings
            .flat_map(|setting| setting.entities)
            .copied()
            .collect();
        others.sort();
        others.dedup();
        (!others.is_empty()).then_some(others)
    }

    /// The names of elements that can be in the one at `path`.
    fn names_in(&self, path: &str) -> Vec<&'static str> {
        let below = self.paths().filter_map(|(_, known)| match path {
            "" => Some(known),
            path => known.strip_prefix(path)?.strip_prefix('/'),
        });
        below.filter_map(|known| known.split('/').next()).collect()
    }
}

/// The section of an entity, made if there is none.
pub(super) fn section<'s>(
    sections: &'s mut Vec<Section>,
    entity: Entity,
    topic: Option<&str>,
) -> &'s mut Section {
    let is_it = |section: &Section| section.entity == entity && section.topic.as_deref() == topic;
    let at = sections.iter().position(is_it).unwrap_or_else(|| {
        sections.push(Section::new(entity, topic.map(str::to_owned)));
        sections.len() - 1
    });
    &mut sections[at]
}

/// Where the value of an attribute is.
pub(super) fn attribute_at(node: Node<'_, '_>, name: &str) -> usize {
    let attribute = node.attribute_node(name);
    attribute.map_or(node.range().start, |attribute| {
        attribute.range_value().start
    })
}
