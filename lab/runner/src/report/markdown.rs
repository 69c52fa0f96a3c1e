//! A document as Markdown.

use super::document::{Block, Document};

/// Pictures are files beside it.
pub(super) fn write(document: &Document) -> String {
    let mut text = String::new();
    if !document.title.is_empty() {
        text += &format!("# {}\n", document.title);
    }
    for block in &document.blocks {
        let block = match block {
            Block::Heading { level, text } => {
                format!("{} {text}\n", "#".repeat(usize::from(*level)))
            }
            Block::Paragraph(text) => format!("{text}\n"),
            Block::Warning(text) => format!("> **Careful:** {text}\n"),
            Block::Table(table) => table.markdown(),
            Block::Figure { name, caption, .. } => format!("![{caption}]({name}.svg)\n"),
            Block::List(items) => items.iter().map(|item| format!("- {item}\n")).collect(),
        };
        if !text.is_empty() {
            text.push('\n');
        }
        text += &block;
    }
    text
}
