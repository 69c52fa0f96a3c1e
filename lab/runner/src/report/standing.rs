//! The last page: where Tickwire is ahead, where it is not, by how much, and what the largest gaps are.

use std::collections::BTreeSet;

use super::document::Block;
use super::parts;
use super::text::{Align, Table, figure_text, times_text};
use crate::compared::{Compared, Kind, is_tickwire};
use crate::measure;
use crate::record::{Cell, Results};
use crate::said::{Said, said};
use crate::statistics::Spread;

/// The page.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    let mut blocks = vec![Block::heading(2, "Where Tickwire stands")];
    let duels: Vec<Duel> = parts(results).flat_map(duels).collect();
    let (missing, not_entered) = not_entered(results);
    if duels.is_empty() {
        let text = "Nothing of Tickwire was measured beside a peer in this run.";
        blocks.push(Block::Paragraph(text.to_owned()));
    } else {
        let count = |wanted| duels.iter().filter(|it| it.place() == wanted).count();
        blocks.push(Block::Paragraph(format!(
            "The best of Tickwire against the best peer of the same reach (network, or one machine), of the same wait \
             and size, round by round: ahead in {}, leaning ahead in {}, undecided in {}, leaning behind in {}, behind in {}; \
             {missing} are not entered, since Tickwire does not have yet what they take. By the figure that each table is \
             about, and the rule in \"How to read it\".",
            count(Place::Ahead),
            count(Place::LeaningAhead),
            count(Place::Undecided),
            count(Place::LeaningBehind),
            count(Place::Behind),
        )));
    }
    for (place, title) in PLACES {
        let mut of_place: Vec<_> = duels.iter().filter(|it| it.place() == *place).collect();
        of_place.sort_by(|a, b| a.times.median.total_cmp(&b.times.median));
        if matches!(place, Place::Behind | Place::LeaningBehind) {
            of_place.reverse();
        }
        if !of_place.is_empty() {
            blocks.push(Block::heading(3, *title));
            blocks.push(Block::Table(table(&of_place)));
        }
    }
    blocks.extend(not_entered);
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
    /// In so many rounds that went through for both.
    rounds: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Ahead,
    LeaningAhead,
    Undecided,
    LeaningBehind,
    Behind,
}

impl Duel<'_> {
    fn place(&self) -> Place {
        // Who fails is not ahead, however fast the other runs were.
        let fails = self.ours.failures().1 > 0;
        match said(self.times, self.rounds, 1.0) {
            Said::Below | Said::LeansBelow if fails => Place::Undecided,
            Said::Below => Place::Ahead,
            Said::LeansBelow => Place::LeaningAhead,
            Said::Nothing | Said::Both => Place::Undecided,
            Said::LeansAbove => Place::LeaningBehind,
            Said::Above => Place::Behind,
        }
    }
}

const PLACES: &[(Place, &str)] = &[
    (Place::Ahead, "Ahead of the best peer"),
    (Place::Behind, "Behind the best peer"),
    (Place::LeaningAhead, "Leaning ahead"),
    (Place::LeaningBehind, "Leaning behind"),
    (
        Place::Undecided,
        "Undecided: rounds disagree, or are fewer than three, or some of Tickwire's failed",
    ),
];

fn duels(compared: Compared<'_>) -> Vec<Duel<'_>> {
    let ours: Vec<&Cell> = compared
        .cells()
        .filter(|cell| compared.kind(cell) == Kind::Tickwire)
        .filter(|cell| compared.part.is_unlike(&cell.key.system).is_none())
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
            let rounds = compared.rounds_to_peer(ours);
            Some(Duel {
                compared,
                ours,
                theirs: compared.best_rival(ours)?,
                rounds: rounds.len(),
                times: Spread::of(rounds)?,
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

/// What Tickwire does not have yet, with what it would have to meet, and how many those are.
fn not_entered(results: &Results) -> (usize, Vec<Block>) {
    let mut table = Table::new(&[
        ("scenario", Align::Left),
        ("size", Align::Right),
        ("wait", Align::Left),
        ("not there yet", Align::Left),
        ("best peer", Align::Left),
        ("us, or messages/s", Align::Right),
    ]);
    for compared in parts(results) {
        let places: BTreeSet<_> = compared
            .cells()
            .map(|cell| (cell.key.size, cell.key.wait))
            .collect();
        for absent in compared.absent().filter(|it| is_tickwire(&it.id)) {
            for &(size, wait) in &places {
                // Only shared memory ends with the machine.
                let is_networked = !absent.id.ends_with("-shm");
                let best = compared.best_of(compared.cells().filter(|cell| {
                    (cell.key.size, cell.key.wait) == (size, wait)
                        && compared.kind(cell) == Kind::Peer
                        && compared.is_networked(cell) == is_networked
                }));
                let figure = best.and_then(|cell| measure::figures(compared.part, cell));
                table.row(vec![
                    format!("{} {}", compared.scenario.name, compared.part.name),
                    size.to_string(),
                    wait.name().to_owned(),
                    absent.id.clone(),
                    best.map_or("nobody", |cell| &cell.key.system).to_owned(),
                    figure
                        .map(|it| figure_text(compared.part, it))
                        .unwrap_or_default(),
                ]);
            }
        }
    }
    if table.is_empty() {
        return (0, Vec::new());
    }
    let heading = Block::heading(3, "Not entered");
    (table.len(), vec![heading, Block::Table(table)])
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
    use crate::record::Absent;
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
            ("floor-tcp", "tcp", &[10_000, 11_000, 10_000]),
            ("zeromq-tcp", "tcp", &[40_000, 44_000, 40_000]),
            ("tickwire-udp", "udp", &[20_000, 22_000, 20_000]),
            ("tickwire-tcp", "tcp", &[30_000, 33_000, 30_000]),
            ("iceoryx2", "shm", &[1_000, 1_100, 1_000]),
            ("tickwire-shm", "shm", &[3_000, 3_300, 3_000]),
        ]);
        let counts =
            "ahead in 1, leaning ahead in 0, undecided in 0, leaning behind in 0, behind in 1";
        assert!(page.contains(counts), "{page}");
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
    fn what_tickwire_does_not_have_is_counted_with_whom_it_would_meet() {
        let mut results = sample::raw(&[
            ("zeromq-tcp", "tcp", &[40_000, 44_000]),
            ("tickwire-udp", "udp", &[20_000, 22_000]),
            ("iceoryx2", "shm", &[1_000, 1_000]),
        ]);
        for id in ["tickwire-shm", "tickwire-tcp", "opendds"] {
            results.absent.push(Absent {
                id: id.to_owned(),
                name: id.to_owned(),
                reason: "not yet".to_owned(),
                missed: vec!["raw".to_owned()],
            });
        }
        let mut document = Document::new(String::new());
        document.extend(blocks(&results));
        let page = markdown::write(&document);
        assert!(page.contains("; 2 are not entered"), "{page}");
        let table = page.split_once("### Not entered").unwrap().1;
        let line = |id: &str| table.lines().find(|line| line.contains(id));
        let shm = line("tickwire-shm").unwrap();
        assert!(shm.contains("iceoryx2") && shm.contains("0.500"), "{shm}");
        assert!(line("tickwire-tcp").unwrap().contains("zeromq-tcp"));
        assert_eq!(line("opendds"), None);
    }

    #[test]
    fn who_is_not_what_the_article_compared_is_not_ahead() {
        let mut results = sample::empty();
        results.scenarios = vec!["c-extension".to_owned()];
        for (id, transport, ns) in [
            ("zeromq-tcp", "tcp", 40_000),
            ("tickwire-udp", "udp", 20_000),
        ] {
            sample::add_system(&mut results, id, transport);
            sample::add(&mut results, "lat", id, 16, &[ns, ns]);
        }
        assert_eq!(parts(&results).flat_map(duels).count(), 0);
        let text = crate::report::summary(&results);
        assert!(text.contains("not from C"), "{text}");
    }

    #[test]
    fn who_fails_is_not_ahead() {
        let mut results = sample::raw(&[
            ("zeromq-tcp", "tcp", &[40_000, 44_000, 40_000, 40_000]),
            ("tickwire-udp", "udp", &[20_000, 22_000, 20_000, 20_000]),
        ]);
        assert_eq!(place(&results), Place::Ahead);
        results.cells[1].rounds[1].failure = Some("1 lost".to_owned());
        assert_eq!(place(&results), Place::Undecided);
    }

    #[test]
    fn fewer_than_three_common_rounds_are_undecided() {
        let mut results = sample::raw(&[
            ("zeromq-tcp", "tcp", &[40_000, 40_000, 40_000]),
            ("tickwire-udp", "udp", &[20_000, 20_000, 20_000]),
        ]);
        assert_eq!(place(&results), Place::Ahead);
        results.cells[0].rounds[2].failure = Some("1 lost".to_owned());
        assert_eq!(place(&results), Place::Undecided);
    }

    #[test]
    fn three_rounds_with_little_between_lean() {
        let of = |ours: &[u64]| {
            let theirs = vec![40_000; ours.len()];
            let systems: &[(&str, &str, &[u64])] = &[
                ("zeromq-tcp", "tcp", &theirs),
                ("tickwire-udp", "udp", ours),
            ];
            place(&sample::raw(systems))
        };
        assert_eq!(of(&[38_000; 3]), Place::LeaningAhead);
        assert_eq!(of(&[38_000; 5]), Place::Ahead);
        assert_eq!(of(&[42_000; 4]), Place::LeaningBehind);
        assert_eq!(of(&[42_000; 5]), Place::Behind);
        assert_eq!(
            of(&[42_000, 38_000, 38_000, 38_000, 38_000]),
            Place::Undecided
        );
    }

    /// Of the one duel.
    fn place(results: &Results) -> Place {
        let duels: Vec<Duel<'_>> = parts(results).flat_map(duels).collect();
        assert_eq!(duels.len(), 1);
        duels[0].place()
    }

    #[test]
    fn without_tickwire_the_page_says_so() {
        let page = page(&[("zeromq-tcp", "tcp", &[40_000])]);
        assert!(page.contains("Nothing of Tickwire"), "{page}");
    }
}
