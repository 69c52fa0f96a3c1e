//! What the XML parser must not be given: it compares each attribute of an element with every other, and hands all
//! namespaces down to each element that declares one, so that a file of a megabyte could take hours. Knows nothing of what
//! elements mean.

use std::collections::HashSet;

use super::text::Text;
use crate::Code;
use crate::error::TemplateError;

/// Refuses more attributes in a tag, or more namespace prefixes, than templates have. Text that is not XML is left to
/// the parser, which reads no further than to where it is not.
pub(super) fn check(text: &Text<'_>) -> Result<(), TemplateError> {
    let mut prefixes = HashSet::new();
    let mut rest = text.xml();
    while let Some((_, from)) = rest.split_once('<') {
        let at = text.xml().len() - from.len() - 1;
        let data = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>")];
        let data = data.into_iter().find_map(|(start, end)| {
            let inside = from.strip_prefix(start)?;
            Some(inside.split_once(end).map_or("", |(_, after)| after))
        });
        rest = match data {
            Some(after) => after,
            None => {
                after_tag(from, &mut prefixes).map_err(|detail| text.error(at, Code::S1, detail))?
            }
        };
    }
    Ok(())
}

/// What follows the tag that `text` begins in.
fn after_tag<'t>(text: &'t str, prefixes: &mut HashSet<&'t str>) -> Result<&'t str, String> {
    let mut rest = text;
    let mut attributes = 0;
    while let Some(at) = rest.find(['=', '"', '\'', '>']) {
        let (before, from) = rest.split_at(at);
        let mut chars = from.chars();
        let found = chars.next();
        rest = chars.as_str();
        match found {
            Some('>') => return Ok(rest),
            Some('=') => {
                attributes += 1;
                let name = before.trim_end().rsplit(char::is_whitespace).next();
                prefixes.extend(name.and_then(|name| name.strip_prefix("xmlns:")));
            }
            Some(quote) => rest = rest.split_once(quote).map_or("", |(_, after)| after),
            None => {}
        }
        if attributes > MAX_ATTRIBUTES {
            return Err(format!("more than {MAX_ATTRIBUTES} attributes"));
        }
        if prefixes.len() > MAX_PREFIXES {
            return Err(format!("more than {MAX_PREFIXES} namespace prefixes"));
        }
    }
    Ok("")
}

/// Of one element: none of FAST's has ten.
const MAX_ATTRIBUTES: usize = 256;
/// Of one file.
const MAX_PREFIXES: usize = 64;
