//! Writes or reads the topics of `matrix.idl`, as `matrix.py` says.

use std::error::Error;
use std::fmt::Debug;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tickwire::{DomainParticipant, InstanceState, TopicSupport};
use tickwire_profiles::{Profile, Profiles};

use matrix::{
    Absent, Aliases, Bits, Bitsets, Broad, ByBool, ByLetter, ByOctet, BySide, ByWide, Choice,
    Choices, Codes, Collections, Derived, DerivedFinal, DerivedMutable, Except, Flags, Flowing,
    Grid, Hashed, Keyed, Lambda, Letters, Level, Loose, Maps, Masks, Mutables, Named, Narrow,
    Numbers, Pass, Place, Point, Row, Side, Sided, Sides, State, Texts, Tree, Usual, Wides, Words,
};

#[allow(missing_docs, unreachable_pub, reason = "it is generated")]
#[allow(
    clippy::use_self,
    reason = "types that contain themselves are named as in IDL"
)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/matrix.rs"));
}
use generated::matrix;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let profile = Profiles::from_env()?.default_profile();
    let program = Program {
        participant: profile.participant().build()?,
        profile,
        job: match arguments[..] {
            ["write", _, own, readers, _] => Job::Write(own.into(), readers.parse()?),
            ["read", _, writers] => Job::Read(writers.split(',').map(String::from).collect()),
            _ => {
                return Err(
                    "usage: write TOPICS NAME READERS REPRESENTATION | read TOPICS NAMES".into(),
                );
            }
        },
        topics: arguments[1].split(',').map(String::from).collect(),
    };
    program.run()
}

struct Program {
    participant: DomainParticipant,
    profile: Profile,
    job: Job,
    topics: Vec<String>,
}

enum Job {
    Write(String, u32),
    Read(Vec<String>),
}

/// What is left to do of a topic once all of them are there.
type Rest = Box<dyn Fn() -> Result<(), Box<dyn Error>>>;

impl Program {
    fn run(&self) -> Result<(), Box<dyn Error>> {
        let mut rest = Vec::new();
        self.topic("Numbers", numbers, &mut rest)?;
        self.topic("Texts", texts, &mut rest)?;
        self.topic("Wides", wides, &mut rest)?;
        self.topic("Named", named, &mut rest)?;
        self.topic("Masks", masks, &mut rest)?;
        self.topic("Aliases", aliases, &mut rest)?;
        self.topic("Choices", choices, &mut rest)?;
        self.topic("Letters", letters, &mut rest)?;
        self.topic("Mutables", mutables, &mut rest)?;
        self.topic("Collections", collections, &mut rest)?;
        self.topic("Maps", maps, &mut rest)?;
        self.topic("Codes", codes, &mut rest)?;
        self.topic("Absent", absent, &mut rest)?;
        self.topic("Derived", derived, &mut rest)?;
        self.topic("DerivedMutable", derived_mutable, &mut rest)?;
        self.topic("DerivedFinal", derived_final, &mut rest)?;
        self.topic("Keyed", keyed, &mut rest)?;
        self.topic("Flowing", flowing, &mut rest)?;
        self.topic("Hashed", hashed, &mut rest)?;
        self.topic("Tree", tree, &mut rest)?;
        self.topic("Bitsets", bitsets, &mut rest)?;
        self.topic("Sides", sides, &mut rest)?;
        self.topic("Words", words, &mut rest)?;
        rest.iter().try_for_each(|rest| rest())?;
        if let Job::Write(..) = self.job {
            io::copy(&mut io::stdin(), &mut io::sink())?;
        }
        Ok(())
    }

    fn topic<T>(
        &self,
        name: &'static str,
        of: fn(u8) -> T,
        rest: &mut Vec<Rest>,
    ) -> Result<(), Box<dyn Error>>
    where
        T: TopicSupport<Type = ()> + PartialEq + Debug + Send + Sync + 'static,
    {
        if self.topics.iter().all(|other| other != name) {
            return Ok(());
        }
        match &self.job {
            Job::Write(own, readers) => {
                let topic = self.participant.topic::<T>(&format!("{name}_{own}"))?;
                let writer = self
                    .participant
                    .writer_with(&topic, self.profile.writer(name))?;
                let readers = *readers;
                rest.push(Box::new(move || {
                    writer.wait_for_matched(readers, PATIENCE)?;
                    for n in 0..COUNT {
                        writer.write(&of(n))?;
                    }
                    if ENDING.contains(&name) {
                        writer.dispose(&of(DISPOSED))?;
                    }
                    Ok(writer.wait_for_acknowledgments(PATIENCE)?)
                }));
            }
            Job::Read(writers) => {
                for other in writers {
                    let topic = self.participant.topic::<T>(&format!("{name}_{other}"))?;
                    let reader = self
                        .participant
                        .reader_with(&topic, self.profile.reader(name))?;
                    let other = other.clone();
                    rest.push(Box::new(move || {
                        let (mut n, mut ended, mut wrong) =
                            (0, !ENDING.contains(&name), String::new());
                        while n < COUNT || !ended {
                            let patience = match HAS_WAITED_IN_VAIN.load(Ordering::Relaxed) {
                                true => Duration::ZERO,
                                false => PATIENCE,
                            };
                            if reader.wait_for_data(patience).is_err() {
                                HAS_WAITED_IN_VAIN.store(true, Ordering::Relaxed);
                                wrong = format!(
                                    "{n} of {COUNT} samples came, the end of an instance: {ended}"
                                );
                                break;
                            }
                            for sample in reader.take().iter() {
                                if let Some(value) = sample.data() {
                                    if *value != of(n) {
                                        wrong = format!("sample {n} is {value:?}");
                                    }
                                    n += 1;
                                } else if sample.info().instance_state == InstanceState::Disposed {
                                    ended = true;
                                    let known = reader.lookup_instance(&of(DISPOSED));
                                    if known != Some(sample.info().instance) {
                                        wrong = "another instance ended".into();
                                    }
                                }
                            }
                        }
                        let verdict = if wrong.is_empty() { "ok" } else { &wrong };
                        println!("{name} {other} {verdict}");
                        Ok(())
                    }));
                }
            }
        }
        Ok(())
    }
}

fn numbers(n: u8) -> Numbers {
    Numbers {
        truth: n % 2 == 1,
        eight_bits: n + 1,
        letter: char::from(b'a' + n),
        i8: -n.cast_signed(),
        u8: 200 + n,
        i16: -1000 * i16::from(n),
        u16: 60_000 + u16::from(n),
        i32: -100_000 * i32::from(n),
        u32: 4_000_000_000 + u32::from(n),
        i64: -(1 << 40) * i64::from(n),
        u64: (1 << 63) + u64::from(n),
        f32: f32::from(n) + 0.5,
        f64: f64::from(n) * 1e100,
    }
}

fn texts(n: u8) -> Texts {
    Texts {
        free: if n == 0 {
            String::new()
        } else {
            format!("text {n} é€📈")
        },
        most8: format!("m{n}"),
    }
}

fn wides(n: u8) -> Wides {
    Wides {
        wide: format!("wide {n} é€📈").as_str().into(),
        wide8: format!("w{n}").as_str().into(),
        letter: tickwire::cdr::WChar(0x20ac + u16::from(n)),
        more: vec!["é".into(); n.into()],
    }
}

fn side(n: u8) -> Side {
    if n % 2 == 1 { Side::Sell } else { Side::Buy }
}

fn named(n: u8) -> Named {
    Named {
        side: side(n),
        state: if n % 2 == 1 {
            State::Opened
        } else {
            State::Closed
        },
        flags: Flags(n & 1 | (n & 2) << 3),
        sizes: (0..n.into()).collect(),
        venue: matrix::VENUE.into(),
        tick: matrix::TICK * f64::from(n),
        depth: matrix::DEPTH,
        mark: matrix::MARK,
        live: matrix::LIVE,
    }
}

fn masks(n: u8) -> Masks {
    let narrow = Narrow(u16::from(n & 1) | u16::from(n & 2) << 14);
    let middle = if n == 3 { 1 << 40 } else { 0 };
    Masks {
        narrow,
        usual: Usual(u32::from(n & 1) | u32::from(n & 2) << 30),
        broad: Broad(u64::from(n & 1) | middle | u64::from(n & 2) << 62),
        more: vec![narrow; n.into()],
    }
}

fn row(n: u8, i: i32) -> Row {
    [0, 1, 2].map(|j| i32::from(n) * 100 + i * 10 + j)
}

fn grid(n: u8) -> Grid {
    [0, 1].map(|i| row(n, i))
}

fn aliases(n: u8) -> Aliases {
    Aliases {
        row: row(n, 0),
        grid: grid(n),
        rows: [row(n, 2), row(n, 3)],
        more: (0..n).map(|i| row(n, i.into())).collect(),
        grids: (0..n).map(grid).collect(),
    }
}

fn point(n: u8, at: i32) -> Point {
    Point {
        x: f64::from(n) + 0.5,
        n: at,
    }
}

fn level(n: u8) -> Level {
    Level {
        price: f64::from(n) + 0.25,
        size: n.into(),
    }
}

fn choice(n: u8) -> Choice {
    match n % 3 {
        0 => Choice::Level(level(n)),
        1 => Choice::Price(f64::from(n) + 0.5),
        _ => Choice::Text(format!("t{n}")),
    }
}

fn choices(n: u8) -> Choices {
    Choices {
        choice: choice(n),
        by_side: match n % 2 {
            0 => BySide::Number(i32::from(n) * 10),
            _ => BySide::Texts(vec!["s".into(); n.into()]),
        },
        choices: (0..n).map(choice).collect(),
    }
}

fn letters(n: u8) -> Letters {
    let by_letter = match n {
        1 => ByLetter::Large(1 << 40),
        2 => ByLetter::None,
        _ => ByLetter::Small(n.into()),
    };
    Letters { by_letter }
}

fn mutables(n: u8) -> Mutables {
    let by_bool = match n % 2 {
        0 => ByBool::Plain(n),
        _ => ByBool::Point(point(n, n.into())),
    };
    Mutables { by_bool }
}

fn eighths(n: u8) -> Vec<f64> {
    (0..n).map(|i| f64::from(i) / 8.0).collect()
}

fn collections(n: u8) -> Collections {
    Collections {
        numbers: eighths(n),
        levels: (0..n).map(level).collect(),
        texts: (0..n).map(|i| vec!["s".into(); i.into()]).collect(),
        truths: (0..n).map(|i| i % 2 == 1).collect(),
        sides: (0..n).map(side).collect(),
        blob: (0..n).collect(),
        digest: [n, n + 1, n + 2, n + 3],
        grid: grid(n),
        points: [0, 1].map(|i| point(n, i)),
        names: [format!("n{n}"), String::new()],
        spread: [(0..n).map(|i| point(i, i.into())).collect(), Vec::new()],
    }
}

fn maps(n: u8) -> Maps {
    Maps {
        by_name: (0..n).map(|i| (format!("k{i}"), i.into())).collect(),
        by_number: (0..n).map(|i| (i32::from(i) - 1, level(i))).collect(),
        bounded: (0..n).map(|i| (i.into(), eighths(i))).collect(),
        by_side: (0..n.min(2)).map(|i| (side(i), i == 0)).collect(),
        octets: (0..n).map(|i| (i, 200 + i)).collect(),
        blobs: (0..n)
            .map(|i| (format!("k{i}"), (0..i).collect()))
            .collect(),
    }
}

fn codes(n: u8) -> Codes {
    Codes {
        by_octet: match n % 2 {
            0 => ByOctet::Plain(n),
            _ => ByOctet::Number(-i32::from(n)),
        },
        by_wide: match n {
            2 => ByWide::None,
            _ => ByWide::Price(f64::from(n) + 0.5),
        },
    }
}

fn absent(n: u8) -> Absent {
    let initial = Absent {
        apart: level(n).into(),
        ..Absent::default()
    };
    if n.is_multiple_of(2) {
        return initial;
    }
    Absent {
        number: Some(n.into()),
        text: Some(String::new()),
        level: Some(level(n)),
        numbers: Some(eighths(n)),
        far: Some(level(n).into()),
        seven: n.into(),
        note: "x".into(),
        ..initial
    }
}

fn derived(n: u8) -> Derived {
    Derived {
        symbol: format!("S{n}"),
        venue: n.into(),
        price: f64::from(n) + 0.25,
    }
}

fn derived_mutable(n: u8) -> DerivedMutable {
    DerivedMutable {
        symbol: format!("S{n}"),
        venue: n.into(),
        price: f64::from(n) + 0.25,
        note: (n % 2 == 1).then(|| "note".into()),
    }
}

fn derived_final(n: u8) -> DerivedFinal {
    DerivedFinal {
        symbol: format!("S{n}"),
        venue: n.into(),
        price: f64::from(n) + 0.25,
    }
}

fn keyed(n: u8) -> Keyed {
    Keyed {
        symbol: format!("S{n}"),
        place: Place {
            venue: n.into(),
            note: "note".into(),
        },
        side: side(n),
        price: f64::from(n) + 0.25,
    }
}

fn flowing(n: u8) -> Flowing {
    let loose = |i| Loose {
        a: i,
        s: (i % 2 == 1).then(|| "s".into()),
    };
    Flowing {
        number: n.into(),
        price: f64::from(n) + 0.25,
        text: format!("t{n}"),
        level: level(n),
        loose: (0..n).map(loose).collect(),
        point: (n % 2 == 1).then(|| point(n, n.into())),
        choice: choice(n),
        shorts: (0..n).map(|i| -i16::from(i)).collect(),
    }
}

fn hashed(n: u8) -> Hashed {
    Hashed {
        price: n.into(),
        text: format!("t{n}"),
    }
}

fn bitsets(n: u8) -> Bitsets {
    let bits = Bits {
        low: n,
        flag: n % 2 == 1,
        below_zero: -i16::from(n),
    };
    Bitsets {
        bits,
        more: vec![bits; n.into()],
    }
}

fn sides(n: u8) -> Sides {
    Sides {
        sided: match n % 2 {
            0 => Sided::Number(n.into()),
            _ => Sided::Text(format!("t{n}")),
        },
        price: f64::from(n) + 0.25,
    }
}

fn words(n: u8) -> Words {
    let is_odd = n % 2 == 1;
    Words {
        class: n.into(),
        r#type: format!("t{n}"),
        self_: f64::from(n) + 0.5,
        from: if is_odd { Pass::Raise } else { Pass::Is },
        register: Lambda { def: -i32::from(n) },
        namespace: if is_odd {
            Except::Yield(format!("y{n}"))
        } else {
            Except::Finally(n.into())
        },
    }
}

fn tree(n: u8) -> Tree {
    Tree {
        value: n.into(),
        children: (0..n).map(tree).collect(),
        next: (n % 2 == 1).then(|| tree(n - 1).into()),
    }
}

/// Samples of each topic, which `n` counts.
const COUNT: u8 = 4;
/// Whose instance is disposed of that a sample of this number has.
const ENDING: [&str; 2] = ["Keyed", "Sides"];
const DISPOSED: u8 = 1;
const PATIENCE: Duration = Duration::from_secs(10);

/// Who has waited in vain once looks at what is there, and says how much that is.
static HAS_WAITED_IN_VAIN: AtomicBool = AtomicBool::new(false);
