//! Whether the process at the other end of a connection has ended.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, getpid, pidfd_open};

use super::NO_TIME;

/// The process that was at the other end of a connection, as far as this one can see it.
#[derive(Debug)]
pub struct Process(Seen);

#[derive(Debug)]
enum Seen {
    Ended,
    /// It had not, when this was made.
    There(OwnedFd),
    /// It is this one, or of another namespace, or the kernel cannot tell (Linux before 5.3).
    Unknown,
}

impl Process {
    /// That which the kernel has named when the connection was made: it may have ended since, and then so recently that no
    /// other one has its number.
    pub(super) fn of(pid: i32) -> Self {
        let pid = Pid::from_raw(pid).filter(|&pid| pid != getpid());
        let seen = pid.map(|pid| pidfd_open(pid, PidfdFlags::empty()));
        Self(match seen {
            Some(Ok(process)) => Seen::There(process),
            Some(Err(Errno::SRCH)) => Seen::Ended,
            Some(Err(_)) | None => Seen::Unknown,
        })
    }

    /// Whether it has ended, be it that nobody has waited for it yet; `None` if that cannot be told. One system call.
    pub fn has_ended(&self) -> Option<bool> {
        match &self.0 {
            Seen::Ended => Some(true),
            Seen::Unknown => None,
            Seen::There(process) => {
                let mut ends = [PollFd::new(process, PollFlags::IN)];
                match poll(&mut ends, Some(&NO_TIME)) {
                    Ok(count) => Some(count > 0),
                    // A signal has come before anything was found.
                    Err(Errno::INTR) => Some(false),
                    Err(_) => None,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_has_ended_once_it_was_killed_waited_for_or_not() {
        let mut child = Command::new("cat")
            .stdin(Stdio::piped())
            .spawn()
            .expect("every system has it");
        let pid = i32::try_from(child.id()).expect("a pid");
        let before = Process::of(pid);
        assert_eq!(before.has_ended(), Some(false));
        child.kill().expect("it is ours");
        let Seen::There(descriptor) = &before.0 else {
            panic!("it was there");
        };
        let mut ends = [PollFd::new(descriptor, PollFlags::IN)];
        poll(&mut ends, None).expect("it is being killed");
        assert_eq!(before.has_ended(), Some(true));
        assert_eq!(Process::of(pid).has_ended(), Some(true));
        child.wait().expect("it was killed");
        assert_eq!(before.has_ended(), Some(true));
        assert_eq!(Process::of(pid).has_ended(), Some(true));
    }

    #[test]
    fn of_this_process_and_of_none_nothing_is_said() {
        let own = i32::try_from(std::process::id()).expect("a pid");
        assert_eq!(Process::of(own).has_ended(), None);
        assert_eq!(Process::of(0).has_ended(), None);
    }
}
