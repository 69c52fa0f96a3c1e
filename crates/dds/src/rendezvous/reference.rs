//! How a rendezvous is named: by its address, or by a file that holds it.

use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

/// The port of a rendezvous whose reference names none. It lies below those of RTPS.
pub const DEFAULT_PORT: u16 = 7_399;

/// The variable of the environment that names a rendezvous, for programs that heed it: the `tickwire`
/// command does.
pub const VARIABLE: &str = "TICKWIRE_RENDEZVOUS";

/// Where a rendezvous is.
///
/// In text it is `HOST:PORT`, an address alone for the [default port](DEFAULT_PORT), or the path of a file,
/// with or without `file://` before it. Such a file has one `HOST:PORT` a line; `#` begins a comment. All
/// lines count, so that one file may name several rendezvous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    addresses: Vec<SocketAddr>,
}

impl Reference {
    /// What the text says. Reads the file, and asks the system for the addresses of names: of each, the
    /// first IPv4 address counts.
    ///
    /// # Errors
    /// When there is no such file or host, or the file is none that names a rendezvous.
    pub fn resolve(text: &str) -> Result<Self, ReferenceError> {
        let addresses = match text.strip_prefix("file://") {
            Some(path) => read(path.as_ref())?,
            None if is_address(text) => vec![address(text)?],
            None => read(text.as_ref())?,
        };
        Ok(Self { addresses })
    }

    /// The addresses.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Writes the file, whose readers see either what was there before or the whole.
    ///
    /// # Errors
    /// When the folder or the file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let mut temporary = name.to_owned();
        temporary.push(format!(".{}", std::process::id()));
        let temporary = path.with_file_name(temporary);
        let written = self.write_to(&temporary);
        let written = written.and_then(|()| fs::rename(&temporary, path));
        if written.is_err() {
            // What is left of it helps nobody.
            let _ignored = fs::remove_file(&temporary);
        }
        written
    }

    fn write_to(&self, path: &Path) -> io::Result<()> {
        let mut file = File::create(path)?;
        writeln!(
            file,
            "# Where a Tickwire rendezvous is; participants take this file's name."
        )?;
        let mut addresses = self.addresses.iter();
        addresses.try_for_each(|address| writeln!(file, "{address}"))
    }
}

impl From<Vec<SocketAddr>> for Reference {
    fn from(addresses: Vec<SocketAddr>) -> Self {
        Self { addresses }
    }
}

/// Why a reference leads nowhere.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReferenceError {
    /// The file cannot be read.
    Read {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is longer than a reference.
    TooLong {
        /// Its path.
        path: PathBuf,
    },
    /// A line of the file is no address.
    Line {
        /// The file's path.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
    },
    /// The file names nothing.
    Empty {
        /// Its path.
        path: PathBuf,
    },
    /// The system knows no IPv4 address of the host.
    Host {
        /// Host and port.
        host: String,
        /// What it said, if it said anything.
        source: Option<io::Error>,
    },
}

impl fmt::Display for ReferenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, source } => write!(
                f,
                "the rendezvous `{}` is no HOST:PORT, and as a file it cannot be read: {source}; \
                 `tickwire rendezvous -o FILE` writes one",
                path.display()
            ),
            Self::TooLong { path } => write!(
                f,
                "{}: longer than {MAX_BYTES} bytes, so no file that `tickwire rendezvous -o` wrote",
                path.display()
            ),
            Self::Line { path, line } => write!(
                f,
                "{}:{line}: no HOST:PORT; is it a file that `tickwire rendezvous -o` wrote?",
                path.display()
            ),
            Self::Empty { path } => write!(f, "{}: no line with HOST:PORT", path.display()),
            Self::Host { host, source } => {
                write!(f, "the rendezvous `{host}` has no IPv4 address")?;
                match source {
                    Some(source) => write!(f, ": {source}"),
                    None => Ok(()),
                }
            }
        }
    }
}

impl Error for ReferenceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Read { source, .. } => Some(source),
            Self::Host { source, .. } => source.as_ref().map(|source| source as _),
            _ => None,
        }
    }
}

/// `HOST:PORT`, or an address. Another name is that of a file.
fn is_address(text: &str) -> bool {
    let has_port = text
        .rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    has_port || text.parse::<IpAddr>().is_ok()
}

fn address(text: &str) -> Result<SocketAddr, ReferenceError> {
    let failed = |source| ReferenceError::Host {
        host: text.to_owned(),
        source,
    };
    let resolved = match text.parse::<IpAddr>() {
        Ok(ip) => Ok(vec![SocketAddr::from((ip, DEFAULT_PORT))]),
        Err(_) => text.to_socket_addrs().map(Iterator::collect),
    };
    let addresses = resolved.map_err(|error| failed(Some(error)))?;
    let is_usable = |address: &SocketAddr| address.is_ipv4() && address.port() != 0;
    let found = addresses.into_iter().find(is_usable);
    found.ok_or_else(|| failed(None))
}

fn read(path: &Path) -> Result<Vec<SocketAddr>, ReferenceError> {
    let failed = |source| ReferenceError::Read {
        path: path.to_owned(),
        source,
    };
    let mut text = String::new();
    let file = File::open(path).map_err(failed)?;
    let file = file.take(MAX_BYTES + 1).read_to_string(&mut text);
    file.map_err(failed)?;
    let path = || path.to_owned();
    if text.len() as u64 > MAX_BYTES {
        return Err(ReferenceError::TooLong { path: path() });
    }
    let mut addresses = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        match line {
            "" => {}
            line if is_address(line) => addresses.push(address(line)?),
            _ => {
                let line = index + 1;
                return Err(ReferenceError::Line { path: path(), line });
            }
        }
    }
    match addresses.is_empty() {
        true => Err(ReferenceError::Empty { path: path() }),
        false => Ok(addresses),
    }
}

/// Of a file.
const MAX_BYTES: u64 = 4 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        Reference::resolve(text)
            .expect_err("it leads nowhere")
            .to_string()
    }

    #[test]
    fn addresses_are_taken_as_they_are() {
        for (text, address) in [
            ("127.0.0.1:7000", "127.0.0.1:7000"),
            ("10.1.2.3", "10.1.2.3:7399"),
            ("localhost:7001", "127.0.0.1:7001"),
        ] {
            let address = address.parse().expect("a literal address");
            let found = Reference::resolve(text).expect("it is there");
            assert_eq!(found.addresses(), [address]);
        }
    }

    #[test]
    fn a_file_that_was_written_is_read_back_with_and_without_its_scheme() {
        let path = std::env::temp_dir().join(format!("tickwire-reference-{}", std::process::id()));
        let here: Vec<SocketAddr> = vec![([10, 0, 0, 1], 7399).into(), ([10, 0, 0, 2], 1).into()];
        let reference = Reference::from(here);
        reference.write(&path).expect("the folder can be written");
        let text = path.to_str().expect("a plain name");
        let by_name = Reference::resolve(text);
        let by_url = Reference::resolve(&format!("file://{text}"));
        fs::write(&path, "# nothing\n\n").expect("it is ours");
        let empty = refusal(text);
        fs::write(&path, "IOR:010000002400\n").expect("it is ours");
        let other = refusal(text);
        fs::write(&path, vec![b'#'; 5_000]).expect("it is ours");
        let long = refusal(text);
        fs::remove_file(&path).expect("it is ours");
        assert_eq!(by_name.expect("just written"), reference);
        assert_eq!(by_url.expect("just written"), reference);
        assert!(empty.ends_with("no line with HOST:PORT"), "{empty}");
        assert!(other.contains(":1: no HOST:PORT"), "{other}");
        assert!(long.contains("longer than 4096 bytes"), "{long}");
    }

    #[test]
    fn what_is_no_reference_is_refused_with_what_to_do() {
        assert!(refusal("no-such.ior").contains("`tickwire rendezvous -o FILE` writes one"));
        assert!(refusal("::1").contains("no IPv4 address"));
        assert!(refusal("127.0.0.1:0").contains("no IPv4 address"));
        assert!(refusal("").contains("no HOST:PORT"));
    }
}
