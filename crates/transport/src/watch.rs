//! Hearing from the kernel that interfaces, addresses or routes have changed (rtnetlink(7)). Says that they
//! have, not how: who wants to know looks at them anew.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, socket,
};

use crate::SocketError;

/// Becomes readable when an interface, an IPv4 address or route of this network namespace comes, goes or
/// changes. Costs a file descriptor, and nothing while nothing changes.
#[derive(Debug)]
pub struct InterfaceWatch(OwnedFd);

/// What has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Interfaces or addresses.
    pub interfaces: bool,
    /// Routes.
    pub routes: bool,
}

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
        let groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE;
        let address = NetlinkAddr::new(0, groups);
        bind(fd.as_raw_fd(), &address).map_err(failed)?;
        Ok(Self(fd))
    }

    /// Forgets what was told so far; what that was.
    pub fn drain(&self) -> Changed {
        let mut changed = Changed::default();
        loop {
            // Messages are cut short, as nobody reads them; each comes alone.
            let mut message = [0; 64];
            match recv(self.0.as_raw_fd(), &mut message, MsgFlags::MSG_DONTWAIT) {
                Ok(0) => return changed,
                Ok(_) => {
                    // A header begins with the length, in four bytes, and the type.
                    let [_, _, _, _, low, high, ..] = message;
                    match u16::from_ne_bytes([low, high]) {
                        RTM_NEWROUTE | RTM_DELROUTE => changed.routes = true,
                        _ => changed.interfaces = true,
                    }
                }
                // Some were too many for the kernel to keep.
                Err(Errno::ENOBUFS) => {
                    changed = Changed {
                        interfaces: true,
                        routes: true,
                    };
                }
                Err(Errno::EINTR) => {}
                Err(_) => return changed,
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
/// And routes.
const RTMGRP_IPV4_ROUTE: u32 = 0x40;
/// Types of messages that tell of routes.
const RTM_NEWROUTE: u16 = 24;
const RTM_DELROUTE: u16 = 25;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_told_while_nothing_changes() {
        let watch = InterfaceWatch::new().expect("every Linux has netlink");
        watch.drain();
        assert_eq!(watch.drain(), Changed::default());
    }
}
