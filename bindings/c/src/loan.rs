//! Loans: samples that are written in place. A loan keeps its writer, and so its memory, until it is written or
//! discarded: who writes to it cannot know what other threads delete.

use dds::{BytesInPlace, Loan, Serialized};

use crate::border::{In, Out, Pointer, export};
use crate::either::{Either, either, map};
use crate::failure::Failure;
use crate::handle::{Handle, Kind, get};
use crate::slab::Slab;
use crate::time::timestamp;
use crate::writer::Writer;

/// A loan that is neither written nor discarded.
struct Lent {
    dds: Either<Loan<'static, Serialized>, Loan<'static, BytesInPlace>>,
    writer: Handle,
    len: usize,
}

static LOANS: Slab<Lent> = Slab::new(Kind::Loan);

export! {
    fn tw_writer_loan(writer: Handle, len: usize, data: Out<Pointer>, loan: Out<Handle>) {
        let (data, loan) = (data.place("data")?, loan.place("loan")?);
        let entry = get::<Writer>(writer)?;
        let mut lent = map!(&entry.dds, writer => writer.loan(len)?.into_owned());
        let bytes = either!(&mut lent, lent => Pointer::to_mut(lent.bytes_mut()));
        let lent = LOANS.put(Lent { dds: lent, writer, len })?;
        data.put(bytes);
        loan.put(lent);
        Ok(())
    }

    fn tw_loan_write(loan: Handle, len: usize, timestamp_ns: In<i64>) {
        let timestamp = timestamp(&timestamp_ns)?;
        let lent_len = LOANS.look(loan, |lent| lent.len)?;
        if len > lent_len {
            let message = format!("`len` is {len}, the loan has {lent_len} bytes");
            return Err(Failure::argument(message));
        }
        let lent = LOANS.take(loan)?;
        // What was deleted writes no more.
        get::<Writer>(lent.writer)?;
        either!(lent.dds, mut lent => {
            lent.truncate(len);
            match timestamp {
                None => lent.write()?,
                Some(timestamp) => lent.write_with_timestamp(timestamp)?,
            }
        });
        Ok(())
    }

    fn tw_loan_discard(loan: Handle) {
        drop(LOANS.take(loan)?);
        Ok(())
    }
}
