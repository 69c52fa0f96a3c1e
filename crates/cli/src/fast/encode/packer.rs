//! Messages are put into packets, and packets into a file. Knows nothing of where messages come from.

use std::io::{self, Write};

use tickwire_fast::{EncodeError, Encoder, Message, ResetPolicy, Templates};
use tickwire_feed::{Framing, PacketNumber, Preamble};

use super::super::packets::FileForm;
use crate::failure::{Failure, Result};

/// How packets are made.
#[derive(Clone, Copy)]
pub(super) struct PacketForm {
    pub(super) file: FileForm,
    pub(super) preamble: Preamble,
    pub(super) reset: ResetPolicy,
    /// Most messages in a packet.
    pub(super) messages: usize,
    /// Most bytes of messages in a packet, but for one message that is larger.
    pub(super) bytes: usize,
}

/// The packet that is being filled, and the file behind it.
pub(super) struct Packer<W> {
    form: PacketForm,
    encoder: Encoder,
    bytes: Vec<u8>,
    /// Where each message ends.
    ends: Vec<usize>,
    next: PacketNumber,
    out: W,
    /// What `out` is called in errors; standard output without it.
    name: Option<String>,
    framed: Vec<u8>,
    pub(super) packets: u64,
    pub(super) messages: u64,
}

impl<W: Write> Packer<W> {
    pub(super) fn new(
        templates: &Templates,
        form: PacketForm,
        out: W,
        name: Option<String>,
    ) -> Self {
        Self {
            form,
            encoder: Encoder::with_reset(templates, form.reset),
            bytes: Vec::new(),
            ends: Vec::new(),
            next: PacketNumber(1),
            out,
            name,
            framed: Vec::new(),
            packets: 0,
            messages: 0,
        }
    }

    /// Adds a message to the packet, or to the next one if there is no room; an empty message is the session's reset.
    pub(super) fn push(&mut self, message: &Message) -> Result<Result<(), EncodeError>> {
        let start = self.bytes.len();
        if let Err(error) = self.encode(message) {
            return Ok(Err(error));
        }
        if self.bytes.len() > self.form.bytes && start > 0 {
            let moved = self.bytes.split_off(start);
            self.flush()?;
            if self.form.reset == ResetPolicy::Packet && self.form.file != FileForm::None {
                // It must not build on what the packet before has.
                if let Err(error) = self.encode(message) {
                    return Ok(Err(error));
                }
            } else {
                self.bytes = moved;
            }
        }
        self.ends.push(self.bytes.len());
        self.messages += 1;
        if self.ends.len() >= self.form.messages {
            self.flush()?;
        }
        Ok(Ok(()))
    }

    fn encode(&mut self, message: &Message) -> Result<(), EncodeError> {
        if message.template().is_none() {
            self.encoder.encode_reset(&mut self.bytes);
            return Ok(());
        }
        self.encoder.encode(message, &mut self.bytes)
    }

    /// Ends the packet, if there is anything in it.
    pub(super) fn flush(&mut self) -> Result<()> {
        if self.ends.is_empty() {
            return Ok(());
        }
        let mut messages = Vec::with_capacity(self.ends.len());
        let mut start = 0;
        for &end in &self.ends {
            messages.push(self.bytes.get(start..end).unwrap_or_default());
            start = end;
        }
        let mut packet = Vec::new();
        let number = self.next;
        let failed = |error: &dyn std::fmt::Display| {
            Failure::new(format_args!("packet {}: {error}", self.packets))
                .hint("smaller packets: `--packet-bytes`, `--messages-per-packet`")
        };
        self.form
            .preamble
            .append_packet(number, &messages, &mut packet)
            .map_err(|error| failed(&error))?;
        self.framed.clear();
        let framing = match self.form.file {
            FileForm::U32le => Framing::U32Le,
            FileForm::Block => Framing::BlockSize,
            FileForm::Step => Framing::Step,
            FileForm::None | FileForm::Hex => Framing::None,
        };
        framing
            .append(number, &packet, &mut self.framed)
            .map_err(|error| failed(&error))?;
        if self.form.file == FileForm::Hex {
            let digits = self.framed.iter().map(|byte| format!("{byte:02x}"));
            let line = digits.collect::<String>() + "\n";
            self.framed = line.into_bytes();
        }
        let written = self.out.write_all(&self.framed);
        written.map_err(|error| self.unwritable(error))?;
        self.packets += 1;
        self.next = number.next();
        self.bytes.clear();
        self.ends.clear();
        // Without packets the file is one, in which dictionaries live on.
        if self.form.reset == ResetPolicy::Packet && self.form.file != FileForm::None {
            self.encoder.reset();
        }
        Ok(())
    }

    /// Ends the last packet and the file.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.flush()?;
        let flushed = self.out.flush();
        flushed.map_err(|error| self.unwritable(error))
    }

    fn unwritable(&self, error: io::Error) -> Failure {
        match &self.name {
            Some(name) => Failure::new(format_args!("cannot write {name}: {error}")),
            None => error.into(),
        }
    }
}
