//! Payloads of types that are known only at run time, from values that have none.
//!
//! Members that are left out are refused, or get what the standard gives to members that a writer
//! does not know: zero, empty, absent, the first literal. Key members must be given.

mod bitset;
mod decimal;
mod default;
mod problem;
mod scalar;
mod union;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub use problem::{DataError, FromJsonError, Problem};

use super::walk::Elements;
use super::{Data, MAX_DEPTH};
use crate::{
    EncodeError, Member, MemberHeader, Representation, Type, TypeDescription, Writer, encapsulated,
};

/// What to do about members that are not given. Optional ones are absent then, whatever is said
/// here, and a member of the key must be given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Omissions {
    /// They are an error.
    Refused,
    /// They are zero, empty or the first literal.
    Defaulted,
}

/// Appends the payload of a sample that a JSON object says.
///
/// Unions are objects with the selected member, and `$discriminator` where that does not follow
/// from it; bitmasks are lists of names or positions, or a number; bitsets and maps are objects; a
/// decimal may be a number or text, such as `"101.50"`. Otherwise the form is that of [`to_json`](super::to_json).
///
/// # Errors
/// Where the text is no JSON, or which member is wrong and why; then the buffer is as it was.
pub fn from_json(
    description: &TypeDescription,
    json: &str,
    omissions: Omissions,
    representation: Representation,
    buffer: &mut Vec<u8>,
) -> Result<(), FromJsonError> {
    let data = Data::from_json(json).map_err(FromJsonError::Json)?;
    write(description, &data, omissions, representation, buffer).map_err(FromJsonError::Data)
}

/// Appends the payload of a sample with these members.
///
/// # Errors
/// Which member is wrong and why; then the buffer is as it was.
pub fn write(
    description: &TypeDescription,
    data: &Data,
    omissions: Omissions,
    representation: Representation,
    buffer: &mut Vec<u8>,
) -> Result<(), DataError> {
    encapsulated(
        representation,
        description.extensibility,
        buffer,
        |writer| {
            let mut context = Context {
                writer,
                omissions,
                path: String::new(),
                depth: 0,
                budget: MAX_VALUES,
            };
            context.structure(description, Some(data))
        },
    )
}

/// What is being written, and where it goes.
struct Context<'w, 'b> {
    writer: &'w mut Writer<'b>,
    omissions: Omissions,
    /// From the sample down to the value: `levels[2].price`.
    path: String,
    depth: usize,
    /// How many more values there may be: a type can have arrays of any length.
    budget: usize,
}

impl Context<'_, '_> {
    fn error(&self, problem: Problem) -> DataError {
        let path = self.path.clone();
        DataError { path, problem }
    }

    fn encode_error(&self, error: EncodeError) -> DataError {
        self.error(Problem::Encode(error.kind))
    }

    /// Writes what is one step further down.
    fn at(
        &mut self,
        step: &str,
        write: impl FnOnce(&mut Self) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let left = self.budget.checked_sub(1);
        if self.depth >= MAX_DEPTH || left.is_none() {
            return Err(self.error(Problem::TooLarge));
        }
        self.budget = left.unwrap_or_default();
        let len = self.path.len();
        self.path.push_str(step);
        self.depth += 1;
        write(self)?;
        self.depth -= 1;
        self.path.truncate(len);
        Ok(())
    }

    fn at_member(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut Self) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        match self.path.is_empty() {
            true => self.at(name, write),
            false => self.at(&format!(".{name}"), write),
        }
    }

    /// Any value, or the default.
    fn value(&mut self, ty: &Type, data: Option<&Data>) -> Result<(), DataError> {
        match (ty, data) {
            (Type::Struct(_), Some(data @ (Data::Integer(_) | Data::Float(_) | Data::Text(_))))
                if decimal::is_decimal(ty) =>
            {
                self.decimal(ty, data)
            }
            (Type::Struct(description), data) => self.structure(description, data),
            (Type::Union(description), data) => self.union(description, data),
            (Type::Recursive(link), data) => match link.target() {
                Some(target) => self.value(&target, data),
                None => Err(self.error(Problem::TooLarge)),
            },
            (Type::Bitset(description), data) => self.bitset(ty, description, data),
            (Type::Array { .. }, data) => self.array(ty, data),
            (Type::Sequence { .. } | Type::Map { .. }, data) => self.collection(ty, data),
            (_, Some(data)) => self.scalar(ty, data),
            (_, None) => self.default_scalar(ty),
        }
    }

    fn structure(
        &mut self,
        description: &TypeDescription,
        data: Option<&Data>,
    ) -> Result<(), DataError> {
        let fields = match data {
            None => &[][..],
            Some(Data::Fields(fields)) => fields,
            Some(other) => return Err(self.wrong_kind(&description.name, other)),
        };
        let names = description.members.iter().map(|member| &*member.name);
        self.check_names(&description.name, fields, names)?;
        let mark = self.writer.begin_struct(description.extensibility);
        for member in description.members.iter() {
            let given = fields.iter().find(|(name, _)| *name == *member.name);
            let given = given.map(|(_, value)| value);
            let header = MemberHeader::from(member);
            match given {
                None if member.key && data.is_some() => {
                    return Err(self.error(Problem::MissingKey((*member.name).into())));
                }
                None | Some(Data::Null) if member.optional => {
                    self.writer.absent_member(&mark, header);
                }
                None if self.omissions == Omissions::Refused && data.is_some() => {
                    return Err(self.error(Problem::Missing((*member.name).into())));
                }
                given => {
                    let begun = self.writer.begin_member(&mark, header);
                    self.member(member, given)?;
                    let ended = self.writer.end_member(begun);
                    ended.map_err(|error| self.encode_error(error))?;
                }
            }
        }
        let ended = self.writer.end_struct(mark);
        ended.map_err(|error| self.encode_error(error))
    }

    fn member(&mut self, member: &Member, given: Option<&Data>) -> Result<(), DataError> {
        self.at_member(&member.name, |at| at.value(&member.ty, given))
    }

    /// That no name is unknown or given twice.
    fn check_names<'n>(
        &self,
        of: &str,
        fields: &[(String, Data)],
        known: impl Iterator<Item = &'n str> + Clone,
    ) -> Result<(), DataError> {
        for (index, (name, _)) in fields.iter().enumerate() {
            if !known.clone().any(|known| known == name) {
                let known = known.map(Into::into).collect();
                let (of, name) = (of.into(), name.clone());
                return Err(self.error(Problem::Unknown { of, name, known }));
            }
            if fields.iter().take(index).any(|(other, _)| other == name) {
                return Err(self.error(Problem::Twice(name.clone())));
            }
        }
        Ok(())
    }

    /// An array of any dimensions, which has one frame.
    fn array(&mut self, ty: &Type, data: Option<&Data>) -> Result<(), DataError> {
        let Some(elements) = Elements::of(ty) else {
            return Ok(());
        };
        let mark = self.writer.begin_elements(false, elements.are_primitive());
        self.dimension(ty, data)?;
        let ended = self.writer.end_sequence(mark, 0);
        ended.map_err(|error| self.encode_error(error))
    }

    fn dimension(&mut self, ty: &Type, data: Option<&Data>) -> Result<(), DataError> {
        let Type::Array { element, length } = ty else {
            return self.value(ty, data);
        };
        let expected = usize::try_from(*length).unwrap_or(usize::MAX);
        let values = match data {
            None => None,
            Some(Data::List(values)) if values.len() == expected => Some(values),
            Some(Data::List(values)) => {
                let found = values.len();
                return Err(self.error(Problem::Count { expected, found }));
            }
            Some(other) => return Err(self.wrong_kind(ty, other)),
        };
        for index in 0..expected {
            let value = values.and_then(|values| values.get(index));
            self.at(&format!("[{index}]"), |at| at.dimension(element, value))?;
        }
        Ok(())
    }

    /// A sequence or a map.
    fn collection(&mut self, ty: &Type, data: Option<&Data>) -> Result<(), DataError> {
        let Some(elements) = Elements::of(ty) else {
            return Ok(());
        };
        let mark = self.writer.begin_elements(true, elements.are_primitive());
        let count = match (data, elements.value) {
            (None, _) => 0,
            (Some(Data::List(values)), None) => {
                for (index, value) in values.iter().enumerate() {
                    let element = elements.element;
                    self.at(&format!("[{index}]"), |at| at.value(element, Some(value)))?;
                }
                values.len()
            }
            (Some(Data::Fields(entries)), Some(value_type)) => {
                let names = entries.iter().map(|(name, _)| name.as_str());
                self.check_names("", entries, names)?;
                for (key, value) in entries {
                    self.at(&format!("{{{key}}}"), |at| {
                        at.map_key(elements.element, key)?;
                        at.value(value_type, Some(value))
                    })?;
                }
                entries.len()
            }
            (Some(other), _) => return Err(self.wrong_kind(ty, other)),
        };
        let bound = elements.bound();
        let checked = EncodeError::check_bound(count, bound);
        let ended = checked.and_then(|()| self.writer.end_sequence(mark, count));
        ended.map_err(|error| self.encode_error(error))
    }

    fn wrong_kind(&self, expected: &impl ToText, found: &Data) -> DataError {
        let expected = expected.to_text();
        let found = found.kind();
        self.error(Problem::Kind { expected, found })
    }
}

/// What an error calls the type that was expected.
trait ToText {
    fn to_text(&self) -> String;
}

impl ToText for Type {
    fn to_text(&self) -> String {
        format!("{self}")
    }
}

impl ToText for crate::Shared<str> {
    fn to_text(&self) -> String {
        format!("struct {}", &**self)
    }
}

/// Values in one sample. More do not fit a sample that a network carries.
const MAX_VALUES: usize = 1 << 24;
