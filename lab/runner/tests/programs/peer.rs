//! A program by the contract that sends over TCP, and errs as it is told to.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;

use lab_program::{Handler, Idle, Job, Options, Peer, fill};

fn main() -> ExitCode {
    lab_program::main("0.1", open)
}

#[derive(clap::Args)]
struct Own {
    /// Drops, or spoils, every fiftieth message; or never says that it is ready
    #[arg(long)]
    fault: Option<String>,
}

struct Tcp {
    listener: Option<TcpListener>,
    stream: Mutex<Option<TcpStream>>,
    options: Options,
    fault: String,
}

fn open(options: &Options, own: &Own) -> Result<Tcp, String> {
    let fault = own.fault.clone().unwrap_or_default();
    if fault == "refuse" {
        eprintln!("can do nothing");
        std::process::exit(2);
    }
    let is_passive = matches!(options.job, Job::Pong | Job::Receive);
    if is_passive && fault == "silent" {
        std::thread::park();
    }
    let listener = is_passive
        .then(|| TcpListener::bind((options.here, options.port)))
        .transpose()
        .map_err(|error| error.to_string())?;
    Ok(Tcp {
        listener,
        stream: Mutex::new(None),
        options: options.clone(),
        fault,
    })
}

impl Tcp {
    fn stream(&self) -> Result<TcpStream, String> {
        let stream = self.stream.lock().map_err(|error| error.to_string())?;
        let stream = stream.as_ref().ok_or("nobody is there")?;
        stream.try_clone().map_err(|error| error.to_string())
    }
}

impl Peer for Tcp {
    type Message = [u8];

    fn meet(&self) -> Result<(), String> {
        let stream = match &self.listener {
            Some(listener) => listener.accept().map(|(stream, _)| stream),
            None => TcpStream::connect((self.options.there, self.options.port)),
        };
        let stream = stream.map_err(|error| error.to_string())?;
        stream
            .set_nodelay(true)
            .map_err(|error| error.to_string())?;
        *self.stream.lock().map_err(|error| error.to_string())? = Some(stream);
        Ok(())
    }

    fn send(&self, number: u64, time: u64) -> Result<(), String> {
        let is_fiftieth = number % 50 == 49;
        if is_fiftieth && self.fault == "drop" {
            return Ok(());
        }
        let mut payload = vec![0; self.options.payload_len()];
        fill(&mut payload, number, time);
        if is_fiftieth && self.fault == "spoil" {
            payload[20] ^= 1;
        }
        self.echo(&payload)
    }

    fn echo(&self, message: &[u8]) -> Result<(), String> {
        let mut stream = self.stream()?;
        stream.write_all(message).map_err(|error| error.to_string())
    }

    fn run<H: Handler<[u8]>>(&self, idle: Idle, mut handler: H) -> H {
        let Ok(mut stream) = self.stream() else {
            return handler;
        };
        let mut payload = vec![0; self.options.payload_len()];
        let mut patience: Duration = idle.first;
        loop {
            let is_read = stream.set_read_timeout(Some(patience)).is_ok()
                && stream.read_exact(&mut payload).is_ok();
            if !is_read || handler.take(&payload) == ControlFlow::Break(()) {
                return handler;
            }
            patience = idle.between;
        }
    }
}
