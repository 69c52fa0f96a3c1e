//! Bit groups in a message: a group to visitors. Knows nothing of how its fields are packed.

use super::run::Run;
use super::trace::Part;
use crate::bit_group;
use crate::plan::{Kind, Op};
use crate::visitor::Visitor;
use crate::{Code, FieldIndex};

impl<V: Visitor> Run<'_, V> {
    /// A bit group with its fields, which have no bytes of their own (FAST 1.2).
    pub(super) fn bit_group(&mut self, op: &Op, body: &[Op], present: bool) -> Result<(), Code> {
        let mark = self.mark(op, present);
        let packed = bit_group::decode(&op.spec, &mut self.input, present, self.dictionary);
        self.step(mark, Part::Value, op, packed.map(|_| None));
        let packed = packed?;
        self.visitor.begin_group(FieldIndex(op.field));
        for (op, bits) in bit_group::fields(&op.spec, packed, body) {
            let field = FieldIndex(op.field);
            if op.kind == Kind::Signed {
                let value = bit_group::signed_field(&op.spec, bits);
                self.visitor.signed(field, value);
                continue;
            }
            match bit_group::field(&op.spec, bits) {
                Ok(Some(value)) => self.visitor.unsigned(field, value),
                Ok(None) => self.visitor.absent(field),
                Err(code) => {
                    self.field.get_or_insert(op.field);
                    return Err(code);
                }
            }
        }
        self.visitor.end_group(FieldIndex(op.field));
        Ok(())
    }
}
