//! Hearing from the kernel that interfaces or addresses have changed (rtnetlink(7)). Says that they
//! have, not how: who wants to know looks at them anew.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, socket,
};

use crate::SocketError;

/// Becomes readable when an interface or an IPv4 address of this network namespace comes, goes or
/// changes. Costs a file descriptor, and nothing while nothing changes.
#[derive(Debug)]
pub struct InterfaceWatch(OwnedFd);

impl InterfaceWatch {
    /// Watches from now on.
    pub fn new() -> Result<Self, SocketError> {
        let failed = |errno: Errno| SocketError::Open {
            source: io::Error::from(errno),
        };
        let fd = socket(
            AddressFamily::Netlink,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK,
            SockProtocol::NetlinkRoute,
        );
        let fd = fd.map_err(failed)?;
        let address = NetlinkAddr::new(0, RTMGRP_LINK | RTMGRP_IPV4_IFADDR);
        bind(fd.as_raw_fd(), &address).map_err(failed)?;
        Ok(Self(fd))
    }

    /// Forgets what was told so far; whether anything was.
    pub fn drain(&self) -> bool {
        let mut told = false;
        loop {
            // Messages are cut short, as nobody reads them.
            match recv(self.0.as_raw_fd(), &mut [0; 64], MsgFlags::MSG_DONTWAIT) {
                Ok(0) => return told,
                // Some were too many for the kernel to keep.
                Ok(_) | Err(Errno::ENOBUFS) => told = true,
                Err(Errno::EINTR) => {}
                Err(_) => return told,
            }
        }
    }
}

impl AsFd for InterfaceWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Interfaces come, go, and change state (linux/rtnetlink.h).
const RTMGRP_LINK: u32 = 1;
/// IPv4 addresses come and go.
const RTMGRP_IPV4_IFADDR: u32 = 0x10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_told_while_nothing_changes() {
        let watch = InterfaceWatch::new().expect("every Linux has netlink");
        watch.drain();
        assert!(!watch.drain());
    }
}
