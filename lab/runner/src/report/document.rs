//! What a report consists of.

use super::text::Table;

/// A title and what follows it.
pub(crate) struct Document {
    pub(crate) title: String,
    pub(crate) blocks: Vec<Block>,
}

/// A piece of a report.
pub(crate) enum Block {
    /// Of level 2 or 3.
    Heading {
        level: u8,
        text: String,
    },
    Paragraph(String),
    /// What a reader has to know before all else.
    Warning(String),
    Table(Table),
    /// A picture, and what it shows.
    Figure {
        name: String,
        svg: String,
        caption: String,
    },
    List(Vec<String>),
}

impl Document {
    pub(crate) fn new(title: String) -> Self {
        Self {
            title,
            blocks: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, block: Block) {
        self.blocks.push(block);
    }

    pub(crate) fn extend(&mut self, blocks: Vec<Block>) {
        self.blocks.extend(blocks);
    }

    /// Names and texts of all pictures.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (&str, &str)> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Figure { name, svg, .. } => Some((name.as_str(), svg.as_str())),
            _ => None,
        })
    }
}

impl Block {
    pub(crate) fn heading(level: u8, text: impl Into<String>) -> Self {
        Self::Heading {
            level,
            text: text.into(),
        }
    }
}
