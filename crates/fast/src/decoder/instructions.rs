//! The interpreter's loop over the instructions of one segment. Integers, and strings that the template has, are done
//! here, with the input and the presence map in registers; all else is handed to [`Run`].

use super::run::{Run, body_of};
use crate::operator;
use crate::plan::{Action, Initial, Op, Spec};
use crate::visitor::Visitor;
use crate::wire::PresenceMap;
use crate::{Code, FieldIndex, Operator};

/// The most bits of a presence map that are in a register.
const SHORT_MAP: u32 = 63;

impl<'a, V: Visitor> Run<'a, V> {
    /// Runs the instructions of a segment that takes up to `map_bits` of its presence map.
    #[inline]
    pub(super) fn instructions(
        &mut self,
        ops: &'a [Op],
        map: PresenceMap<'a>,
        map_bits: u32,
        depth: u32,
    ) -> Result<(), Code> {
        if map_bits <= SHORT_MAP {
            self.interpret::<false>(ops, map.begun(), depth)
        } else {
            self.interpret::<true>(ops, map, depth)
        }
    }

    fn interpret<const LONG: bool>(
        &mut self,
        ops: &'a [Op],
        mut map: PresenceMap<'a>,
        depth: u32,
    ) -> Result<(), Code> {
        let mut input = self.input;
        let mut next = ops.iter();
        while let Some(op) = next.next() {
            let field = FieldIndex(op.field);
            let mut bit = || if LONG { map.bit() } else { map.early_bit() };
            // An integer field whose operator is known here, so that only their code is left of
            // `operator::integer`.
            macro_rules! integer {
                ($type:ty, $operator:ident, $give:ident) => {{
                    let operator = Operator::$operator;
                    let spec = Spec {
                        operator,
                        ..op.spec
                    };
                    let present = !operator.uses_map(false) || bit();
                    match operator::integer::<$type>(&spec, &mut input, present, self.dictionary) {
                        Ok(Some(value)) => self.visitor.$give(field, value),
                        Ok(None) => self.visitor.absent(field),
                        Err(code) => {
                            self.input = input;
                            return Err(self.failed(op, code));
                        }
                    }
                }};
            }
            let action = if V::TRACED || LONG {
                Action::Other
            } else {
                op.action
            };
            match action {
                Action::Unsigned => integer!(u64, None, unsigned),
                Action::UnsignedDefault => integer!(u64, Default, unsigned),
                Action::UnsignedCopy => integer!(u64, Copy, unsigned),
                Action::UnsignedIncrement => integer!(u64, Increment, unsigned),
                Action::UnsignedDelta => integer!(u64, Delta, unsigned),
                Action::Signed => integer!(i64, None, signed),
                Action::SignedCopy => integer!(i64, Copy, signed),
                Action::SignedDelta => integer!(i64, Delta, signed),
                Action::UnsignedConstant => self.visitor.unsigned(field, op.spec.value),
                Action::Constant => self.give_initial(op),
                Action::Default if !bit() => self.give_initial(op),
                Action::Default | Action::Other => {
                    let present = action == Action::Default || !op.spec.uses_map || bit();
                    self.input = input;
                    let mut own = map;
                    let body = body_of(op, &mut next);
                    if let Err(code) = self.other(op, body, present, &mut own, depth) {
                        return Err(self.failed(op, code));
                    }
                    map = own;
                    input = self.input;
                }
            }
        }
        self.input = input;
        self.input.check_used(&map)
    }

    /// Gives a string or byte vector as the template has it, if it has one.
    #[inline]
    fn give_initial(&mut self, op: &Op) {
        let field = FieldIndex(op.field);
        match self.plan.initials.get(op.spec.initial as usize) {
            Some(Initial::Text(text)) if op.spec.has_initial => self.visitor.text(field, text),
            Some(Initial::Bytes(bytes)) if op.spec.has_initial => self.visitor.bytes(field, bytes),
            _ => self.visitor.absent(field),
        }
    }

    #[cold]
    fn failed(&mut self, op: &Op, code: Code) -> Code {
        self.field.get_or_insert(op.field);
        code
    }
}
