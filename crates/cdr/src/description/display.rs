//! Types in the words of IDL.

use core::fmt;

use super::Type;
use crate::Extensibility;

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Self::Bool => "boolean",
            Self::U8 => "uint8",
            Self::Byte => "octet",
            Self::I8 => "int8",
            Self::U16 => "uint16",
            Self::I16 => "int16",
            Self::U32 => "uint32",
            Self::I32 => "int32",
            Self::U64 => "uint64",
            Self::I64 => "int64",
            Self::F32 => "float",
            Self::F64 => "double",
            Self::Char => "char",
            Self::WChar => "wchar",
            Self::String { bound } => return bounded(f, "string", &[], *bound),
            Self::WString { bound } => return bounded(f, "wstring", &[], *bound),
            Self::Sequence { element, bound } => {
                return bounded(f, "sequence", &[element], *bound);
            }
            Self::Map { key, value, bound } => return bounded(f, "map", &[key, value], *bound),
            Self::Array { .. } => return self.fmt_array(f),
            Self::Enum(of) => return write!(f, "enum {}", &*of.name),
            Self::Bitmask(of) => return write!(f, "bitmask {}", &*of.name),
            Self::Bitset(of) => return write!(f, "bitset {}", &*of.name),
            Self::Struct(of) => return write!(f, "struct {}", &*of.name),
            Self::Union(of) => return write!(f, "union {}", &*of.name),
            Self::Recursive(link) => return link.fmt(f),
        };
        f.write_str(word)
    }
}

/// As in IDL: types may contain themselves.
impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Type {
    fn fmt_array(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.innermost())?;
        let mut ty = self;
        while let Self::Array { element, length } = ty {
            write!(f, "[{length}]")?;
            ty = element;
        }
        Ok(())
    }
}

fn bounded(f: &mut fmt::Formatter<'_>, name: &str, of: &[&Type], bound: u32) -> fmt::Result {
    f.write_str(name)?;
    if of.is_empty() && bound == 0 {
        return Ok(());
    }
    let mut separator = "<";
    for ty in of {
        write!(f, "{separator}{ty}")?;
        separator = ", ";
    }
    match bound {
        0 => f.write_str(">"),
        bound => write!(f, "{separator}{bound}>"),
    }
}

impl fmt::Display for Extensibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Final => "final",
            Self::Appendable => "appendable",
            Self::Mutable => "mutable",
        })
    }
}
