//! Bit groups of a message. Knows nothing of how their fields are packed.

use super::{Cursor, Run};
use crate::Code;
use crate::bit_group;
use crate::message::Cell;
use crate::output::MapWriter;
use crate::plan::{Kind, Op};

impl<'a> Run<'a> {
    /// A bit group: a group to messages, which must have it (FAST 1.2).
    pub(super) fn bit_group(
        &mut self,
        op: &'a Op,
        body: &'a [Op],
        cell: Option<&Cell>,
        mut cursor: Cursor,
        map: &mut MapWriter,
    ) -> Result<(), Code> {
        cursor.end = match cell {
            Some(&Cell::Group { end }) => end,
            Some(_) => return Err(Code::D1),
            None => return Err(Code::Missing),
        };
        let mut packed = 0;
        for op in body {
            let node = self.message.nodes.get(cursor.next as usize);
            let cell = node
                .filter(|node| node.field == op.field && cursor.next < cursor.end)
                .map(|node| &node.cell);
            cursor.next += u32::from(cell.is_some());
            let done = match (op.kind, cell) {
                (Kind::Signed, Some(&Cell::Signed(value))) => {
                    bit_group::append_signed(packed, &op.spec, value)
                }
                (Kind::Unsigned, Some(&Cell::Unsigned(value))) => {
                    bit_group::append(packed, &op.spec, Some(value))
                }
                (_, None) => bit_group::append(packed, &op.spec, None),
                _ => Err(Code::D1),
            };
            packed = match done {
                Ok(packed) => packed,
                Err(code) => return Err(self.failed_at(op, code)),
            };
        }
        if cursor.next != cursor.end {
            return Err(Code::Foreign);
        }
        let sent = bit_group::encode(&op.spec, packed, self.out, self.dictionary)?;
        if op.spec.uses_map {
            map.push(self.out, sent);
        }
        Ok(())
    }
}
