//! A second network namespace, which a pair of virtual interfaces joins to this one. Both go when it is dropped, or when
//! this process has ended, however it did.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::process::{Child, Command, Stdio};

/// What holds the other namespace.
#[derive(Debug)]
pub(crate) struct Cable {
    /// It sleeps there until its stdin closes.
    far: Child,
    /// How many of a hundred frames get lost.
    loss: u8,
    /// Whether no frame is longer than [`Self::MTU`]. The kernel would pass up to 64 KB of TCP as one, but cuts what UDP
    /// sends, so that the one had fewer headers and calls than on a network, and the other had not.
    pub(crate) is_cut: bool,
}

impl Cable {
    /// The address of this end.
    pub(crate) const NEAR: Ipv4Addr = Ipv4Addr::new(10, 73, 0, 1);
    /// That of the other end.
    pub(crate) const FAR: Ipv4Addr = Ipv4Addr::new(10, 73, 0, 2);
    /// What both ends are called.
    pub(crate) const INTERFACE: &str = "cable";
    /// In bytes, as on Ethernet.
    pub(crate) const MTU: u32 = 1500;

    /// Joins this network namespace with a new one.
    pub(crate) fn lay() -> Result<Self, String> {
        let told = |error: std::io::Error| format!("no second network namespace: {error}");
        let far = Command::new("unshare")
            .args(["--net", "sh", "-c", "echo; read end"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(told)?;
        let mut cable = Self {
            far,
            loss: 0,
            is_cut: false,
        };
        let mut line = String::new();
        let stdout = cable.far.stdout.take();
        let is_there = stdout.map(|it| BufReader::new(it).read_line(&mut line));
        if is_there.transpose().map_err(told)?.unwrap_or(0) == 0 {
            return Err("no second network namespace: `unshare --net` is refused".to_owned());
        }
        let output = Command::new("sh")
            .args(["-e", "-c", LAY, "cable", &cable.far.id().to_string()])
            .args([Self::NEAR.to_string(), Self::FAR.to_string()])
            .args([Self::INTERFACE, &Self::MTU.to_string()])
            .output()
            .map_err(told)?;
        match output.status.success() {
            true => {
                cable.is_cut = output.stdout.starts_with(b"cut");
                Ok(cable)
            }
            false => {
                let said = String::from_utf8_lossy(&output.stderr);
                Err(format!("the cable cannot be laid: {}", said.trim()))
            }
        }
    }

    /// Drops so many of a hundred frames, each for itself, as they come in at either end.
    pub(crate) fn lose(&mut self, percent: u8) -> Result<(), String> {
        if percent == self.loss {
            return Ok(());
        }
        let output = Command::new("sh")
            .args(["-e", "-c", LOSE, "cable", &self.far.id().to_string()])
            .args([Self::INTERFACE, &percent.to_string()])
            .output();
        let output = output.map_err(|error| format!("no frames get lost: {error}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("no frames get lost: {}", said.trim()));
        }
        self.loss = percent;
        Ok(())
    }

    /// What starts a command at the other end.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let id = self.far.id().to_string();
        let words = ["nsenter", "--net", "--target", &id, "--"];
        words.map(OsString::from).into()
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        drop(self.far.stdin.take());
        // Who cannot be waited for is nobody's child.
        let _ended = self.far.wait();
    }
}

/// Process of the other namespace, near and far address, name, MTU. Whoever multicasts names the interface.
const LAY: &str = r#"
far() { nsenter --net --target "$pid" -- "$@"; }
pid=$1
ip link add "$4" mtu "$5" type veth peer name "$4" mtu "$5" netns "$pid"
if ip link set dev "$4" gso_max_segs 1 && far ip link set dev "$4" gso_max_segs 1 &&
    ip -d link show dev "$4" | grep -q 'gso_max_segs 1 ' && far ip -d link show dev "$4" | grep -q 'gso_max_segs 1 '
then echo cut; fi 2>/dev/null
ip address add "$2/30" dev "$4"
ip link set "$4" up
far ip link set lo up
far ip address add "$3/30" dev "$4"
far ip link set "$4" up
"#;

/// Process of the other namespace, name, percent. The table of each end is made anew.
const LOSE: &str = r#"
PATH=$PATH:/usr/sbin:/sbin
rules() {
    printf 'table netdev lab {}\ndelete table netdev lab\n'
    printf 'table netdev lab { chain in { type filter hook ingress device "%s" priority 0; ' "$1"
    printf 'numgen random mod 100 < %s drop; }; }\n' "$2"
}
rules "$2" "$3" | nft -f -
rules "$2" "$3" | nsenter --net --target "$1" -- nft -f -
"#;
