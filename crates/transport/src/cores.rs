//! On which cores a thread runs.

use std::error::Error;
use std::fmt;
use std::io;
use std::str::FromStr;

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// Cores of this machine, by the kernel's numbers. As text as for `taskset`: `0-3,7`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CoreSet(CpuSet);

impl CoreSet {
    /// Those that the calling thread may run on.
    pub fn of_this_thread() -> io::Result<Self> {
        Ok(Self(sched_getaffinity(THIS_THREAD)?))
    }

    /// Has the calling thread run on these alone, and with it the threads that it starts from then on.
    ///
    /// # Errors
    /// When one of them is not there, or not the process's to use. The thread may then run on other cores
    /// than before.
    pub fn pin_this_thread(&self) -> Result<(), CoresError> {
        let failed = |missing, source| CoresError {
            wanted: Box::new(*self),
            missing: Box::new(missing),
            source,
        };
        // The kernel leaves out what it does not have, and refuses if nothing is left.
        let granted = match sched_setaffinity(THIS_THREAD, &self.0) {
            Ok(()) => Self::of_this_thread().map_err(|error| failed(*self, Some(error)))?,
            Err(Errno::EINVAL) => return Err(failed(*self, None)),
            Err(errno) => return Err(failed(*self, Some(errno.into()))),
        };
        let missing: Self = self.iter().filter(|core| !granted.has(*core)).collect();
        match missing.is_empty() {
            true => Ok(()),
            false => Err(failed(missing, None)),
        }
    }

    /// Their numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        (0..CpuSet::count()).filter(|core| self.has(*core))
    }

    fn has(&self, core: usize) -> bool {
        self.0.is_set(core).unwrap_or(false)
    }

    fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

impl FromIterator<usize> for CoreSet {
    /// Without numbers that are too large for the kernel.
    fn from_iter<I: IntoIterator<Item = usize>>(cores: I) -> Self {
        let mut set = CpuSet::new();
        for core in cores {
            let _ = set.set(core);
        }
        Self(set)
    }
}

impl FromStr for CoreSet {
    type Err = ParseCoresError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut set = Self(CpuSet::new());
        let number = |text: &str| {
            let number: Option<usize> = text.parse().ok();
            number.filter(|core| *core < CpuSet::count())
        };
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (Some(first), Some(last)) = (number(first), number(last)) else {
                return Err(ParseCoresError);
            };
            if first > last {
                return Err(ParseCoresError);
            }
            for core in first..=last {
                set.0.set(core).map_err(|_| ParseCoresError)?;
            }
        }
        Ok(set)
    }
}

impl fmt::Display for CoreSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let mut rest = self.iter().peekable();
        while let Some(first) = rest.next() {
            let mut last = first;
            while let Some(next) = rest.next_if_eq(&(last + 1)) {
                last = next;
            }
            match first == last {
                true => write!(f, "{separator}{first}")?,
                false => write!(f, "{separator}{first}-{last}")?,
            }
            separator = ",";
        }
        Ok(())
    }
}

impl fmt::Debug for CoreSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CoreSet({self})")
    }
}

/// The text names no cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseCoresError;

impl fmt::Display for ParseCoresError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = CpuSet::count() - 1;
        write!(f, "cores are numbers from 0 to {last}, as `2` or `0-3,7`")
    }
}

impl Error for ParseCoresError {}

/// A thread cannot be confined to some cores.
#[derive(Debug)]
pub struct CoresError {
    /// Those.
    pub wanted: Box<CoreSet>,
    /// Which of them are not there or not the process's to use.
    pub missing: Box<CoreSet>,
    /// What else the kernel says.
    pub source: Option<io::Error>,
}

impl fmt::Display for CoresError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Some(source) => write!(f, "no thread can run on cores {}: {source}", self.wanted),
            None => write!(
                f,
                "of cores {} this machine does not have {}, or its cpuset leaves them out; \
                 `nproc --all` and /proc/self/status (Cpus_allowed_list) say which there are",
                self.wanted, self.missing
            ),
        }
    }
}

impl Error for CoresError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}

const THIS_THREAD: Pid = Pid::from_raw(0);

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn cores_have_a_text() {
        for (text, shown) in [("2", "2"), ("0-3,7", "0-3,7"), ("5,4,3,1023", "3-5,1023")] {
            let parsed = text.parse::<CoreSet>().map(|cores| cores.to_string());
            assert_eq!(parsed.as_deref(), Ok(shown));
        }
        for wrong in [
            "",
            "-1",
            "1-",
            "3-2",
            "1024",
            "0,,1",
            "a",
            "0-99999999999999999999",
        ] {
            assert_eq!(wrong.parse::<CoreSet>(), Err(ParseCoresError), "{wrong}");
        }
    }

    #[test]
    fn a_thread_runs_where_it_is_told_to_and_says_which_cores_there_are_not() {
        let allowed = CoreSet::of_this_thread().expect("it runs somewhere");
        let one: CoreSet = allowed.iter().take(1).collect();
        let absent: CoreSet = "1000-1023".parse().expect("cores");
        thread::spawn(move || {
            one.pin_this_thread().expect("it runs there already");
            assert_eq!(CoreSet::of_this_thread().expect("it runs somewhere"), one);
            let error = absent.pin_this_thread().expect_err("few have so many");
            assert_eq!(*error.missing, absent);
            let mixed: CoreSet = one.iter().chain([1023]).collect();
            let error = mixed.pin_this_thread().expect_err("half of it is there");
            assert_eq!(error.missing.to_string(), "1023");
            assert!(error.to_string().contains("does not have 1023"), "{error}");
        })
        .join()
        .expect("the thread ends");
    }
}
