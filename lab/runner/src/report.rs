//! The report, made from the results alone: a [`document`] of headings, paragraphs, tables and pictures,
//! which is written as Markdown and as HTML.

mod cost;
pub(crate) mod document;
mod html;
mod markdown;
mod plots;
pub(crate) mod seed;
mod setting;
mod standing;
mod tables;
pub(crate) mod text;

use std::fs;
use std::path::Path;

use crate::claims;
use crate::compared::Compared;
use crate::record::Results;
use crate::scenario::{Scenario, Task};
use crate::scenarios;
use document::{Block, Document};
use text::{Align, Table};

/// Writes `report.md` with its pictures, and `report.html`.
pub(crate) fn write(results: &Results, folder: &Path) -> Result<(), String> {
    let document = document(results);
    let put = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    };
    for (name, svg) in document.figures() {
        put(&format!("{name}.svg"), svg)?;
    }
    put("report.md", &markdown::write(&document))?;
    put("report.html", &html::write(&document))
}

/// What is printed in the end: the main tables, and where Tickwire stands.
pub(crate) fn summary(results: &Results) -> String {
    let mut document = Document::new(String::new());
    for compared in parts(results) {
        let (title, tables) = (compared.part.title, tables::main(&compared));
        if !tables.is_empty() {
            let title = format!("{}: {title}", compared.scenario.title);
            document.push(Block::heading(3, title));
            document.extend(tables.into_iter().map(Block::Table).collect());
        }
    }
    document.extend(standing::blocks(results));
    markdown::write(&document)
}

fn document(results: &Results) -> Document {
    let environment = &results.environment;
    let title = format!(
        "Tickwire's lab, {} at {}",
        environment.machine, environment.begun
    );
    let mut document = Document::new(title);
    document.extend(setting::summary(results));
    for scenario in ran(results) {
        document.extend(chapter(results, scenario));
    }
    document.extend(setting::blocks(results));
    document.extend(standing::blocks(results));
    document
}

/// The scenarios of the results, in the order of the articles whatever order they ran in.
fn ran(results: &Results) -> impl Iterator<Item = &'static Scenario> {
    let all = scenarios::SCENARIOS.iter().copied();
    all.filter(|scenario| results.scenarios.iter().any(|name| name == scenario.name))
}

/// All parts of the results, in order.
fn parts(results: &Results) -> impl Iterator<Item = Compared<'_>> {
    ran(results).flat_map(move |scenario| {
        scenario.parts.iter().map(move |part| Compared {
            results,
            scenario,
            part,
        })
    })
}

fn chapter(results: &Results, scenario: &'static Scenario) -> Vec<Block> {
    let about = match scenario.article {
        Some((number, article)) => format!("Article {number}, {article}. {}", scenario.about),
        None => scenario.about.to_owned(),
    };
    let mut blocks = vec![Block::heading(2, scenario.title), Block::Paragraph(about)];
    for part in scenario.parts {
        let compared = Compared {
            results,
            scenario,
            part,
        };
        let tables = tables::main(&compared);
        let name = format!("{}-{}", scenario.name, part.name);
        blocks.push(Block::heading(3, part.title));
        if tables.is_empty() {
            blocks.push(Block::Paragraph(tables::why_empty(&compared)));
            blocks.extend(tables::refusals(&compared));
            continue;
        }
        blocks.extend(tables.into_iter().map(Block::Table));
        blocks.extend(tables::left_out(&compared));
        blocks.extend(tables::refusals(&compared));
        blocks.extend(tables::published_alone(&compared));
        if part.is_line {
            blocks.extend(tables::lines(&compared));
            blocks.extend(plots::by_size(&compared, &name));
        }
        if part.is_rate() {
            blocks.extend(plots::by_size(&compared, &name));
        }
        if matches!(part.task, Task::Echo | Task::OpenLoop(_)) {
            blocks.extend(plots::percentiles(&compared, &name));
        }
        blocks.extend(tables::stages(&compared));
        blocks.extend(tables::searches(&compared));
        blocks.extend(cost::table(&compared));
    }
    if !scenario.claims.is_empty() {
        blocks.extend(claims_table(results, scenario));
    }
    blocks
}

fn claims_table(results: &Results, scenario: &'static Scenario) -> Vec<Block> {
    let mut table = Table::new(&[
        ("the article claims", Align::Left),
        ("tested with", Align::Left),
        ("holds here", Align::Left),
        ("numbers, median (min to max of the rounds)", Align::Left),
    ]);
    for claim in scenario.claims {
        for finding in claims::test(results, scenario, claim) {
            table.row(vec![
                claim.text.to_owned(),
                finding.of,
                finding.verdict.text().to_owned(),
                finding.numbers,
            ]);
        }
    }
    vec![
        Block::heading(3, "What the article claims"),
        Block::Paragraph(
            "Yes and no are by the rule in \"How to read it\": five rounds that agree, or three by more than 10 %. \
             The blocking wait is compared."
                .to_owned(),
        ),
        Block::Table(table),
    ]
}
