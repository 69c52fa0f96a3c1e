//! A document as one HTML file that needs nothing else: no script, no other file, light or dark as the
//! reader's system is.

use super::document::{Block, Document};
use super::text::{Align, Table};

/// The whole file.
pub(super) fn write(document: &Document) -> String {
    let title = escape(&document.title);
    let mut body = format!("<h1>{title}</h1>\n");
    body += &contents(document);
    let mut chapter = 0;
    for block in &document.blocks {
        match block {
            Block::Heading { level: 2, text } => {
                chapter += 1;
                body += &format!("<h2 id=\"c{chapter}\">{}</h2>\n", escape(text));
            }
            Block::Heading { level, text } => {
                body += &format!("<h{level}>{}</h{level}>\n", escape(text));
            }
            Block::Paragraph(text) => body += &format!("<p>{}</p>\n", prose(text)),
            Block::Warning(text) => {
                body += &format!(
                    "<p class=\"warning\"><strong>Careful:</strong> {}</p>\n",
                    prose(text)
                );
            }
            Block::Table(table) => body += &self::table(table),
            Block::Figure { svg, caption, .. } => {
                let caption = escape(caption);
                body += &format!("<figure>{svg}<figcaption>{caption}</figcaption></figure>\n");
            }
            Block::List(items) => {
                let items: String = items
                    .iter()
                    .map(|item| format!("<li>{}</li>\n", prose(item)))
                    .collect();
                body += &format!("<ul>\n{items}</ul>\n");
            }
        }
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

fn contents(document: &Document) -> String {
    let chapters = document.blocks.iter().filter_map(|block| match block {
        Block::Heading { level: 2, text } => Some(escape(text)),
        _ => None,
    });
    let items: String = (1..)
        .zip(chapters)
        .map(|(number, text)| format!("<li><a href=\"#c{number}\">{text}</a></li>\n"))
        .collect();
    format!("<nav><ol>\n{items}</ol></nav>\n")
}

fn table(table: &Table) -> String {
    let class = |at: usize| match table.columns[at].1 {
        Align::Left => "",
        Align::Right => " class=\"r\"",
    };
    let cells = |tag: &str, texts: &mut dyn Iterator<Item = &str>| -> String {
        texts
            .enumerate()
            .map(|(at, text)| format!("<{tag}{}>{}</{tag}>", class(at), escape(text)))
            .collect()
    };
    let head = cells("th", &mut table.columns.iter().map(|column| column.0));
    let rows: String = table
        .rows
        .iter()
        .map(|row| {
            let row_class = match row.class {
                "" => String::new(),
                class => format!(" class=\"{class}\""),
            };
            let cells = cells("td", &mut row.cells.iter().map(String::as_str));
            format!("<tr{row_class}>{cells}</tr>\n")
        })
        .collect();
    format!(
        "<div class=\"t\"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

/// Text in which words stand between backquotes, as in Markdown.
fn prose(text: &str) -> String {
    let pieces = text.split('`').map(escape).enumerate();
    pieces
        .map(|(at, piece)| match at % 2 {
            0 => piece,
            _ => format!("<code>{piece}</code>"),
        })
        .collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

const STYLE: &str = "
:root { color-scheme: light dark; --fg: #1d2026; --bg: #ffffff; --soft: #666d78; --line: #d5d9e0; --own: #e8f1ff; }
@media (prefers-color-scheme: dark) {
  :root { --fg: #e3e6eb; --bg: #15181d; --soft: #98a0ad; --line: #343a44; --own: #1c2d47; }
}
body { color: var(--fg); background: var(--bg); font: 15px/1.5 system-ui, sans-serif; max-width: 78rem;
  margin: 0 auto; padding: 1rem 1.5rem 4rem; }
h1, h2, h3 { line-height: 1.2; }
.warning { border-left: .3rem solid #d08700; background: var(--own); padding: .5rem .8rem; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
p, li { max-width: 50rem; }
a { color: inherit; }
.t { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; }
.r { text-align: right; white-space: nowrap; }
tr.floor { color: var(--soft); font-style: italic; }
tr.tickwire { background: var(--own); font-weight: 600; }
figure { margin: 1rem 0; overflow-x: auto; color: var(--fg); }
figcaption { color: var(--soft); font-size: 13px; }
svg { max-width: 100%; height: auto; }
@media print { body { max-width: none; } tr, figure { break-inside: avoid; } }
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_cannot_become_markup() {
        let mut document = Document::new("a < b".into());
        document.push(Block::Paragraph("`<p>` is code".into()));
        let mut table = Table::new(&[("x", Align::Right)]);
        table.row_of("floor", vec!["<script>".into()]);
        document.push(Block::Table(table));
        let html = write(&document);
        assert!(html.contains("<title>a &lt; b</title>"));
        assert!(html.contains("<tr class=\"floor\"><td class=\"r\">&lt;script&gt;</td></tr>"));
        assert!(html.contains("<p><code>&lt;p&gt;</code> is code</p>"));
        assert!(!html.contains("<script"));
    }
}
