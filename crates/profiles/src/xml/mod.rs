//! Profiles in XML: a document, and which of the two dialects its elements are of. Knows nothing of what
//! a setting does.

mod connext;
mod dds;
mod fast;
mod peers;
mod values;
mod walk;

use roxmltree::{Document as Xml, Node, ParsingOptions};

use crate::document::Document;
use crate::problem::Problems;
use walk::Walk;

/// What the file says; `problems` gets what it should not, `ignored` what Tickwire does not have.
pub(crate) fn read<'p>(
    text: &str,
    problems: &mut Problems<'p>,
    ignored: &mut Problems<'p>,
) -> Document {
    let mut document = Document::default();
    if let Some(at) = crowded_tag(text) {
        problems.add(at, format!("more than {MAX_ATTRIBUTES} attributes"));
        return document;
    }
    let options = ParsingOptions {
        nodes_limit: MAX_NODES,
        ..ParsingOptions::default()
    };
    let xml = match Xml::parse_with_options(text, options) {
        Ok(xml) => xml,
        Err(error) => {
            let (at, message) = syntax_error(text, &error);
            problems.add(at, message);
            return document;
        }
    };
    let root = xml.root_element();
    if !ROOTS.contains(&root.tag_name().name()) {
        // Below these, what Tickwire does not have is passed over. This is another file.
        let (at, name) = (root.range().start, root.tag_name().name());
        problems.unknown(at, "root element", name, ROOTS.into_iter());
        return document;
    }
    let mut walk = Walk::new(problems, ignored);
    match root.tag_name().name() {
        "dds" => {
            for child in elements(root) {
                top(child, &mut walk, &mut document);
            }
        }
        _ => top(root, &mut walk, &mut document),
    }
    connext::add_builtins(&mut document, &mut walk);
    document
}

/// An element of either dialect.
fn top(node: Node<'_, '_>, walk: &mut Walk<'_, '_>, document: &mut Document) {
    match node.tag_name().name() {
        "qos_library" => dds::library(node, walk, document),
        "qos_profile" => dds::profile(node, "", walk, document),
        "profiles" => fast::profiles(node, walk, document),
        name => {
            walk.unknown(node.range().start, "element", name, ROOTS.into_iter());
        }
    }
}

/// Child elements.
fn elements<'a, 'input>(node: Node<'a, 'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children().filter(Node::is_element)
}

/// All text in an element, without space around it.
fn text_of(node: Node<'_, '_>) -> String {
    let texts = node
        .children()
        .filter_map(|child| child.text().filter(|_| child.is_text()));
    texts.collect::<String>().trim().to_owned()
}

/// The place of a tag with so many attributes that to compare them would take long.
fn crowded_tag(text: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(begin) = text[at..].find('<').map(|found| at + found) {
        let rest = &text[begin..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            let len = comment.find("-->").unwrap_or(comment.len());
            at = begin + "<!--".len() + len;
            continue;
        }
        let end = rest[1..]
            .find('<')
            .map_or(text.len(), |found| begin + 1 + found);
        if text[begin..end]
            .bytes()
            .filter(|byte| *byte == b'=')
            .count()
            > MAX_ATTRIBUTES
        {
            return Some(begin);
        }
        at = end;
    }
    None
}

/// The parser's error with its place in bytes.
fn syntax_error(text: &str, error: &roxmltree::Error) -> (usize, String) {
    let place = error.pos();
    let mut lines = text.split_inclusive('\n');
    let before = lines.by_ref().take(place.row.saturating_sub(1) as usize);
    let before: usize = before.map(str::len).sum();
    let line = lines.next().unwrap_or_default();
    let column = line
        .char_indices()
        .nth(place.col.saturating_sub(1) as usize);
    let at = before + column.map_or(line.len(), |(at, _)| at);
    let told = error.to_string();
    let told = told.strip_suffix(&format!(" at {place}")).unwrap_or(&told);
    (at, format!("no well-formed XML: {told}"))
}

/// The elements that may hold all others.
const ROOTS: [&str; 4] = ["qos_library", "qos_profile", "profiles", "dds"];
/// Attributes of one element.
const MAX_ATTRIBUTES: usize = 64;
/// Elements, texts and comments of a file.
const MAX_NODES: u32 = 200_000;
