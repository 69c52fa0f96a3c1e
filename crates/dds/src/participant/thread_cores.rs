//! On which cores a participant's threads run.

use std::error::Error;
use std::fmt;
use std::io;
use std::str::FromStr;
use std::thread;

use tickwire_base::nearest_name;
use tickwire_transport::{CoreSet, CoresError, ParseCoresError};

/// A thread of a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThreadKind {
    Control,
    Data,
    Aside,
    Tcp,
    Shm,
    Sync,
}

impl ThreadKind {
    const ALL: [(Self, &str); 6] = [
        (Self::Control, "control"),
        (Self::Data, "data"),
        (Self::Aside, "aside"),
        (Self::Tcp, "tcp"),
        (Self::Shm, "shm"),
        (Self::Sync, "sync"),
    ];
}

/// The cores that a participant's threads are confined to. Default none: the kernel chooses.
///
/// As text, numbers as for `taskset` (`0-3,7`), which hold for all threads; or with a thread's name before
/// them, `data=2`, for that one; or both, with spaces between them: `0-1 data=2 shm=3`. The threads are
///
/// | | |
/// |---|---|
/// | `data` | samples by UDP, from one to one, and their listeners |
/// | `shm` | samples by shared memory, and their listeners |
/// | `tcp` | samples by TCP, and their listeners |
/// | `aside` | samples by multicast, timers of readers, and listeners that are told of something else |
/// | `control` | discovery, acknowledgements and timers of writers, unless a thread of the application waits for these |
/// | `sync` | logs that go to the disk [after an interval](crate::store::SyncPolicy::Interval) |
///
/// Those that are not named run where the thread did that built the participant.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ThreadCores {
    all: Option<CoreSet>,
    each: [Option<CoreSet>; ThreadKind::ALL.len()],
}

impl ThreadCores {
    /// Where a thread is to run, if that is said.
    pub(crate) fn of(&self, kind: ThreadKind) -> Option<CoreSet> {
        let own = self.each.get(kind as usize).copied().flatten();
        own.or(self.all)
    }

    /// With something said for all threads, if it is for one; an error if any of them cannot run there.
    pub(crate) fn resolve(&self) -> Result<Self, ThreadCoresError> {
        if *self == Self::default() {
            return Ok(Self::default());
        }
        let here = CoreSet::of_this_thread().map_err(ThreadCoresError::Thread)?;
        let named = self.all.iter().chain(self.each.iter().flatten());
        let pinned = thread::scope(|scope| {
            // On another thread, as this one is to stay where it is.
            let pin = || named.copied().try_for_each(|cores| cores.pin_this_thread());
            let thread = thread::Builder::new().spawn_scoped(scope, pin);
            thread.map(thread::ScopedJoinHandle::join)
        });
        let pinned = pinned.map_err(ThreadCoresError::Thread)?;
        // That thread does not panic.
        pinned.unwrap_or(Ok(())).map_err(ThreadCoresError::Cores)?;
        Ok(Self {
            all: self.all.or(Some(here)),
            each: self.each,
        })
    }
}

impl FromStr for ThreadCores {
    type Err = ParseThreadCoresError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut cores = Self::default();
        for part in text.split_whitespace() {
            let (place, numbers) = match part.split_once('=') {
                None => (&mut cores.all, part),
                Some((name, numbers)) => {
                    let known = ThreadKind::ALL.iter().find(|(_, known)| *known == name);
                    let place = known.and_then(|(kind, _)| cores.each.get_mut(*kind as usize));
                    let place = place.ok_or_else(|| ParseThreadCoresError::Thread(name.to_owned()));
                    (place?, numbers)
                }
            };
            let parsed = numbers.parse();
            let parsed = parsed.map_err(|error| ParseThreadCoresError::Cores {
                text: numbers.to_owned(),
                source: error,
            })?;
            if place.replace(parsed).is_some() {
                return Err(ParseThreadCoresError::Twice(part.to_owned()));
            }
        }
        Ok(cores)
    }
}

impl fmt::Display for ThreadCores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if let Some(all) = &self.all {
            write!(f, "{all}")?;
            separator = " ";
        }
        for (cores, (_, name)) in self.each.iter().zip(ThreadKind::ALL) {
            if let Some(cores) = cores {
                write!(f, "{separator}{name}={cores}")?;
                separator = " ";
            }
        }
        Ok(())
    }
}

impl fmt::Debug for ThreadCores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ThreadCores({self})")
    }
}

/// The text does not say on which cores threads run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseThreadCoresError {
    /// A participant has no thread of that name.
    Thread(String),
    /// These are no cores.
    Cores {
        /// What they were said to be.
        text: String,
        /// What they may be.
        source: ParseCoresError,
    },
    /// It was said before.
    Twice(String),
}

impl fmt::Display for ParseThreadCoresError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ThreadKind::ALL.map(|(_, name)| name);
        match self {
            Self::Thread(name) => match nearest_name(name, names) {
                Some(near) => write!(f, "there is no thread `{name}`; did you mean `{near}`?"),
                None => write!(
                    f,
                    "there is no thread `{name}`; there are {}",
                    names.join(", ")
                ),
            },
            Self::Cores { text, source } => write!(f, "`{text}` are no cores: {source}"),
            Self::Twice(text) => write!(f, "`{text}`: that thread has its cores already"),
        }
    }
}

impl Error for ParseThreadCoresError {}

/// Why a participant's threads cannot run where they were told to.
#[derive(Debug)]
pub enum ThreadCoresError {
    /// There are no such cores for them.
    Cores(CoresError),
    /// It could not be found out.
    Thread(io::Error),
}

impl fmt::Display for ThreadCoresError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cores(error) => error.fmt(f),
            Self::Thread(error) => write!(f, "cannot find out on which cores threads run: {error}"),
        }
    }
}

impl Error for ThreadCoresError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Cores(error) => Some(error),
            Self::Thread(error) => Some(error),
        }
    }
}

/// Starts a thread that runs on these cores alone, or wherever it likes.
pub(crate) fn spawn(
    name: &str,
    cores: Option<CoreSet>,
    run: impl FnOnce() + Send + 'static,
) -> io::Result<thread::JoinHandle<()>> {
    let builder = thread::Builder::new().name(name.to_owned());
    builder.spawn(move || {
        if let Some(cores) = cores {
            // It could when the participant was built. Where cores were taken away since, the kernel has
            // it run on others.
            let _ = cores.pin_this_thread();
        }
        run();
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_said_for_all_threads_or_for_one() {
        let parsed = |text: &str| text.parse::<ThreadCores>();
        let cores = parsed(" data=2  0-1 shm=3,5 ").expect("well-formed");
        assert_eq!(cores.to_string(), "0-1 data=2 shm=3,5");
        let of = |kind| cores.of(kind).map(|cores| cores.to_string());
        assert_eq!(of(ThreadKind::Data).as_deref(), Some("2"));
        assert_eq!(of(ThreadKind::Control).as_deref(), Some("0-1"));
        assert_eq!(parsed(""), Ok(ThreadCores::default()));
        for (wrong, why) in [
            ("dat=1", "there is no thread `dat`; did you mean `data`?"),
            (
                "data=1 data=2",
                "`data=2`: that thread has its cores already",
            ),
            (
                "data=",
                "`` are no cores: cores are numbers from 0 to 1023, as `2` or `0-3,7`",
            ),
        ] {
            let error = parsed(wrong).expect_err(wrong);
            assert_eq!(error.to_string(), why);
        }
    }

    #[test]
    fn a_thread_that_is_not_named_runs_where_the_participant_was_built() {
        let here = CoreSet::of_this_thread().expect("it runs somewhere");
        let one: CoreSet = here.iter().take(1).collect();
        let said: ThreadCores = format!("data={one}").parse().expect("well-formed");
        let cores = said.resolve().expect("it is there");
        assert_eq!(cores.of(ThreadKind::Data), Some(one));
        assert_eq!(cores.of(ThreadKind::Shm), Some(here));
        let unsaid = ThreadCores::default().resolve().expect("nothing is said");
        assert_eq!(unsaid.of(ThreadKind::Data), None);
    }

    #[test]
    fn a_thread_runs_where_it_was_started_to() {
        let here = CoreSet::of_this_thread().expect("it runs somewhere");
        let one: CoreSet = here.iter().take(1).collect();
        let run = move || assert_eq!(CoreSet::of_this_thread().ok(), Some(one));
        let thread = spawn("tickwire-test", Some(one), run).expect("a thread");
        thread.join().expect("it runs there");
    }
}
