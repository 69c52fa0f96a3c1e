//! The last page: where Tickwire is ahead, where it is not, by how much, and what the largest gaps are.

use super::document::Block;
use super::parts;
use super::text::{Align, Table, figure_text, times_text};
use crate::compared::{Compared, Kind};
use crate::measure;
use crate::record::{Cell, Results};
use crate::statistics::Spread;

/// The page.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    let mut blocks = vec![Block::heading(2, "Where Tickwire stands")];
    let duels: Vec<Duel> = parts(results).flat_map(duels).collect();
    if duels.is_empty() {
        let text = "Nothing of Tickwire was measured beside a peer in this run.";
        blocks.push(Block::Paragraph(text.to_owned()));
    } else {
        let count = |wanted| duels.iter().filter(|it| it.place() == wanted).count();
        let (ahead, level, behind) = (
            count(Place::Ahead),
            count(Place::Level),
            count(Place::Behind),
        );
        blocks.push(Block::Paragraph(format!(
            "The best of Tickwire against the best peer of the same reach (network, or one machine), of the same wait \
             and size, round by round: ahead in {ahead}, behind in {behind}, and in {level} rounds disagree. \
             Ahead and behind mean all rounds, by the figure that each table is about."
        )));
    }
    for (place, title) in [
        (Place::Ahead, "Ahead of the best peer"),
        (Place::Behind, "Behind the best peer"),
        (
            Place::Level,
            "Neither: rounds disagree, or some of Tickwire's failed",
        ),
    ] {
        let mut of_place: Vec<_> = duels.iter().filter(|it| it.place() == place).collect();
        of_place.sort_by(|a, b| a.times.median.total_cmp(&b.times.median));
        if place == Place::Behind {
            of_place.reverse();
        }
        if !of_place.is_empty() {
            blocks.push(Block::heading(3, title));
            blocks.push(Block::Table(table(&of_place)));
        }
    }
    blocks.push(Block::heading(3, "The three largest gaps"));
    blocks.push(gaps(results));
    blocks.extend(failures(results));
    blocks
}

/// The best of Tickwire and the best peer where both were measured.
struct Duel<'a> {
    compared: Compared<'a>,
    ours: &'a Cell,
    theirs: &'a Cell,
    /// How many times worse ours is.
    times: Spread,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Ahead,
    Level,
    Behind,
}

impl Duel<'_> {
    fn place(&self) -> Place {
        match (self.times.max < 1.0, self.times.min > 1.0) {
            // Who fails is not ahead, however fast the other runs were.
            (true, _) if self.ours.failures().1 == 0 => Place::Ahead,
            (_, true) => Place::Behind,
            _ => Place::Level,
        }
    }
}

fn duels(compared: Compared<'_>) -> Vec<Duel<'_>> {
    let ours: Vec<&Cell> = compared
        .cells()
        .filter(|cell| compared.kind(cell) == Kind::Tickwire)
        .collect();
    let is_same_place = |a: &Cell, b: &Cell| {
        (a.key.size, a.key.wait) == (b.key.size, b.key.wait)
            && compared.is_networked(a) == compared.is_networked(b)
    };
    let mut duels = Vec::new();
    for (at, cell) in ours.iter().enumerate() {
        if ours[..at].iter().any(|other| is_same_place(other, cell)) {
            continue;
        }
        let group = ours
            .iter()
            .copied()
            .filter(|other| is_same_place(other, cell));
        let duel = compared.best_of(group).and_then(|ours| {
            Some(Duel {
                compared,
                ours,
                theirs: compared.best_rival(ours)?,
                times: compared.times_peer(ours)?,
            })
        });
        duels.extend(duel);
    }
    duels
}

fn table(duels: &[&Duel<'_>]) -> Table {
    let mut table = Table::new(&[
        ("scenario", Align::Left),
        ("size", Align::Right),
        ("wait", Align::Left),
        ("Tickwire", Align::Left),
        ("us, or messages/s", Align::Right),
        ("best peer", Align::Left),
        ("us, or messages/s", Align::Right),
        ("times", Align::Left),
    ]);
    for duel in duels {
        let (part, key) = (duel.compared.part, &duel.ours.key);
        let figure = |cell| {
            let spread = measure::figures(part, cell);
            spread.map(|it| figure_text(part, it)).unwrap_or_default()
        };
        table.row(vec![
            format!("{} {}", key.scenario, key.part),
            key.size.to_string(),
            key.wait.name().to_owned(),
            key.system.clone(),
            figure(duel.ours),
            duel.theirs.key.system.clone(),
            figure(duel.theirs),
            by_how_much(duel.times),
        ]);
    }
    table
}

/// `2.10 (2.00..2.20) better`.
fn by_how_much(times: Spread) -> String {
    match times.median <= 1.0 {
        true => {
            let better = Spread {
                median: 1.0 / times.median,
                min: 1.0 / times.max,
                max: 1.0 / times.min,
            };
            format!("{} better", times_text(better))
        }
        false => format!("{} worse", times_text(times)),
    }
}

/// Where Tickwire is furthest from the best peer or from the floor, each of its systems once for each
/// part.
fn gaps(results: &Results) -> Block {
    let mut gaps: Vec<(f64, String, String)> = Vec::new();
    for compared in parts(results) {
        for cell in compared.cells() {
            if compared.kind(cell) != Kind::Tickwire {
                continue;
            }
            let to_peer = compared.times_peer(cell).zip(compared.best_rival(cell));
            let to_floor = compared.times_floor(cell).zip(compared.best_floor(cell));
            for (times, other) in to_peer.into_iter().chain(to_floor) {
                let figure = |cell| {
                    let spread = measure::figures(compared.part, cell);
                    let unit = if compared.part.is_rate() { "/s" } else { " us" };
                    spread
                        .map(|it| figure_text(compared.part, it) + unit)
                        .unwrap_or_default()
                };
                let key = &cell.key;
                let place = format!("{} {} {}", key.scenario, key.part, key.system);
                let text = format!(
                    "{place}, {} B, {}: {} times worse than {}: {} against {}",
                    key.size,
                    key.wait.name(),
                    times_text(times),
                    other.key.system,
                    figure(cell),
                    figure(other),
                );
                if times.median > 1.0 {
                    gaps.push((times.median, place, text));
                }
            }
        }
    }
    gaps.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut places = Vec::new();
    gaps.retain(|(_, place, _)| {
        let is_new = !places.contains(place);
        places.push(place.clone());
        is_new
    });
    match gaps.is_empty() {
        true => {
            Block::Paragraph("None: nothing was measured that Tickwire is behind of.".to_owned())
        }
        false => Block::List(gaps.into_iter().take(3).map(|gap| gap.2).collect()),
    }
}

/// Runs of Tickwire that failed belong on this page too.
fn failures(results: &Results) -> Vec<Block> {
    let failed: Vec<String> = parts(results)
        .flat_map(|compared| {
            compared
                .cells()
                .filter(move |cell| compared.kind(cell) == Kind::Tickwire)
        })
        .filter_map(|cell| {
            let (runs, failed) = cell.failures();
            let reason = cell
                .rounds
                .iter()
                .find_map(|round| round.failure.as_ref())?;
            let key = &cell.key;
            Some(format!(
                "{} {} {}, {} B, {}: {failed} of {runs}: {reason}",
                key.scenario,
                key.part,
                key.system,
                key.size,
                key.wait.name(),
            ))
        })
        .collect();
    match failed.is_empty() {
        true => Vec::new(),
        false => vec![
            Block::heading(3, "Runs of Tickwire that failed"),
            Block::List(failed),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{document::Document, markdown};
    use crate::sample;

    fn page(systems: &[(&str, &str, &[u64])]) -> String {
        let mut document = Document::new(String::new());
        document.extend(blocks(&sample::raw(systems)));
        markdown::write(&document)
    }

    #[test]
    fn each_reach_has_its_own_best_peer() {
        let page = page(&[
            ("floor-tcp", "tcp", &[10_000, 11_000]),
            ("zeromq-tcp", "tcp", &[40_000, 44_000]),
            ("tickwire-udp", "udp", &[20_000, 22_000]),
            ("tickwire-tcp", "tcp", &[30_000, 33_000]),
            ("iceoryx2", "shm", &[1_000, 1_100]),
            ("tickwire-shm", "shm", &[3_000, 3_300]),
        ]);
        assert!(page.contains("ahead in 1, behind in 1, and in 0"), "{page}");
        let (ahead, behind) = page.split_once("### Behind").unwrap();
        assert!(ahead.contains("tickwire-udp") && ahead.contains("2.00 (2.00..2.00) better"));
        assert!(
            !ahead.contains("tickwire-tcp"),
            "the better of the two is enough"
        );
        assert!(behind.contains("tickwire-shm"), "{behind}");
        let gaps = page.split_once("largest gaps").unwrap().1;
        let first = gaps.lines().find(|line| line.starts_with("- ")).unwrap();
        assert!(
            first.contains("tickwire-shm") && first.contains("3.00 times worse")
                || first.contains("3.00 (3.00..3.00)"),
            "{first}"
        );
        assert!(gaps.contains("than floor-tcp"), "{gaps}");
    }

    #[test]
    fn who_fails_is_not_ahead() {
        let mut results = sample::raw(&[
            ("zeromq-tcp", "tcp", &[40_000, 44_000]),
            ("tickwire-udp", "udp", &[20_000, 22_000]),
        ]);
        let is_ahead = |results: &Results| {
            parts(results)
                .flat_map(duels)
                .any(|duel| duel.place() == Place::Ahead)
        };
        assert!(is_ahead(&results));
        results.cells[1].rounds[1].failure = Some("1 lost".to_owned());
        assert!(!is_ahead(&results));
    }

    #[test]
    fn without_tickwire_the_page_says_so() {
        let page = page(&[("zeromq-tcp", "tcp", &[40_000])]);
        assert!(page.contains("Nothing of Tickwire"), "{page}");
    }
}
