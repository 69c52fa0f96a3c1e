//! A type made ready for the way between Python objects and payloads: what to do with each member, which
//! class it becomes, and the names that Python knows it by.

use std::collections::HashMap;
use std::ptr;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use tickwire::Decimal;
use tickwire::cdr::{
    BitmaskDescription, BitsetDescription, Describe, EnumDescription, Extensibility, Member,
    MemberHeader, TryConstruct, Type, TypeDescription, UnionDescription,
};

use crate::errors::{Kind, fitting};
use crate::numbers::Number;

/// What to do with a value.
pub(crate) enum Node {
    Bool,
    Number(Number),
    Char,
    WChar,
    String {
        bound: u32,
    },
    WString {
        bound: u32,
    },
    /// A sequence of octets, which is `bytes`.
    Octets {
        bound: u32,
    },
    /// Numbers in one piece: a sequence, or an array of these dimensions.
    Numbers {
        number: Number,
        bound: u32,
        shape: Option<Vec<usize>>,
    },
    Sequence {
        element: Box<Self>,
        bound: u32,
        primitive: bool,
    },
    /// An array of any dimensions, which has one frame.
    Array {
        element: Box<Self>,
        shape: Vec<usize>,
        primitive: bool,
    },
    Map {
        key: Box<Self>,
        value: Box<Self>,
        bound: u32,
        primitive: bool,
    },
    Enum(Box<Literals>),
    Bitmask(Box<Flags>),
    Bitset(Box<Fields>),
    Decimal,
    Struct(usize),
    Union(usize),
}

/// An enumeration.
pub(crate) struct Literals {
    pub(crate) description: EnumDescription,
    pub(crate) size: usize,
    /// The literals as Python has them.
    pub(crate) members: HashMap<i32, Py<PyAny>>,
}

/// A bitmask.
pub(crate) struct Flags {
    pub(crate) description: BitmaskDescription,
    pub(crate) size: usize,
    pub(crate) class: Option<Py<PyAny>>,
    /// The values that the class has made and keeps.
    pub(crate) known: Option<Py<PyDict>>,
}

/// A bitset.
pub(crate) struct Fields {
    pub(crate) description: BitsetDescription,
    pub(crate) size: usize,
    pub(crate) names: Vec<Py<PyString>>,
    pub(crate) make: Make,
}

/// How values become an object.
pub(crate) enum Make {
    /// A dict.
    Dict,
    /// The class is called with all values, in order.
    Positional(Py<PyAny>),
    /// The class is called with all values, by name.
    Keywords(Py<PyAny>),
    /// The value of the only member stands for the struct.
    Bare,
}

/// A struct.
pub(crate) struct StructPlan {
    pub(crate) name: Box<str>,
    pub(crate) extensibility: Extensibility,
    pub(crate) has_key: bool,
    pub(crate) members: Vec<MemberPlan>,
    pub(crate) make: Make,
}

/// A member of a struct or a union.
pub(crate) struct MemberPlan {
    pub(crate) name: Box<str>,
    /// As dicts have it.
    pub(crate) key: Py<PyString>,
    /// As objects have it.
    pub(crate) attribute: Py<PyString>,
    pub(crate) id: u32,
    pub(crate) is_key: bool,
    pub(crate) optional: bool,
    pub(crate) header: MemberHeader,
    pub(crate) try_construct: TryConstruct,
    /// What it has where the writer left it out, zero or empty without. A key is what the core takes it for, which knows none.
    pub(crate) default: Option<Py<PyAny>>,
    pub(crate) node: Node,
}

/// A union.
pub(crate) struct UnionPlan {
    pub(crate) name: Box<str>,
    pub(crate) extensibility: Extensibility,
    pub(crate) description: UnionDescription,
    pub(crate) discriminator: Node,
    pub(crate) header: MemberHeader,
    pub(crate) cases: Vec<MemberPlan>,
    /// What `_make(discriminator, member, value)` is a method of; a dict without.
    pub(crate) class: Option<Py<PyAny>>,
}

/// A type.
pub(crate) struct Plan {
    pub(crate) structs: Vec<StructPlan>,
    pub(crate) unions: Vec<UnionPlan>,
    pub(crate) root: usize,
}

impl Plan {
    /// Of a type whose classes a dict has by name: for structs and unions `(class, attributes, as lists, by keyword,
    /// defaults)`, for all others the class. What it does not have become dicts and numbers.
    pub(crate) fn new(
        description: &TypeDescription,
        classes: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let mut maker = Maker {
            classes,
            structs: Vec::new(),
            unions: Vec::new(),
            struct_at: HashMap::new(),
            union_at: HashMap::new(),
        };
        let root = maker.structure(description, 0)?;
        let missing = || Kind::Type.error("a part of the type has gone");
        let structs: Option<Vec<_>> = maker.structs.into_iter().collect();
        let unions: Option<Vec<_>> = maker.unions.into_iter().collect();
        Ok(Self {
            structs: structs.ok_or_else(missing)?,
            unions: unions.ok_or_else(missing)?,
            root,
        })
    }

    /// Tells the collector of garbage which objects this keeps: a class keeps its type, and that the class.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        for of in &self.structs {
            of.make.traverse(visit)?;
            of.members
                .iter()
                .try_for_each(|member| member.traverse(visit))?;
        }
        for of in &self.unions {
            visit.call(&of.class)?;
            of.discriminator.traverse(visit)?;
            of.cases.iter().try_for_each(|case| case.traverse(visit))?;
        }
        Ok(())
    }
}

impl MemberPlan {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.default)?;
        self.node.traverse(visit)
    }
}

impl Make {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Self::Positional(class) | Self::Keywords(class) => visit.call(class),
            Self::Dict | Self::Bare => Ok(()),
        }
    }
}

impl Node {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Self::Sequence { element, .. } | Self::Array { element, .. } => element.traverse(visit),
            Self::Map { key, value, .. } => {
                key.traverse(visit)?;
                value.traverse(visit)
            }
            Self::Enum(of) => of
                .members
                .values()
                .try_for_each(|member| visit.call(member)),
            Self::Bitmask(of) => {
                visit.call(&of.class)?;
                visit.call(&of.known)
            }
            Self::Bitset(of) => of.make.traverse(visit),
            _ => Ok(()),
        }
    }
}

struct Maker<'m, 'py> {
    classes: &'m Bound<'py, PyDict>,
    /// `None` while it is being made.
    structs: Vec<Option<StructPlan>>,
    unions: Vec<Option<UnionPlan>>,
    /// By the address of the description, which the type keeps.
    struct_at: HashMap<usize, usize>,
    union_at: HashMap<usize, usize>,
}

/// What the classes say of a struct, a union or a bitset.
#[derive(Default)]
struct Class<'py> {
    class: Option<Bound<'py, PyAny>>,
    attributes: Vec<String>,
    as_lists: Vec<bool>,
    by_keyword: bool,
    defaults: Vec<Option<Py<PyAny>>>,
}

impl<'py> Class<'py> {
    fn make(&self) -> Make {
        match &self.class {
            None => Make::Dict,
            Some(class) if class.is_none() => Make::Bare,
            Some(class) if self.by_keyword => Make::Keywords(class.clone().unbind()),
            Some(class) => Make::Positional(class.clone().unbind()),
        }
    }
}

impl<'py> Maker<'_, 'py> {
    fn class(&self, name: &str) -> PyResult<Class<'py>> {
        let Some(found) = self.classes.get_item(name)? else {
            return Ok(Class::default());
        };
        let Ok(parts) = found.cast::<PyTuple>() else {
            return Ok(Class {
                class: Some(found),
                ..Class::default()
            });
        };
        let (class, attributes, as_lists, by_keyword, defaults) = parts.extract()?;
        Ok(Class {
            class: Some(class),
            attributes,
            as_lists,
            by_keyword,
            defaults,
        })
    }

    fn structure(&mut self, of: &TypeDescription, depth: usize) -> PyResult<usize> {
        let address = ptr::from_ref(of).addr();
        if let Some(at) = self.struct_at.get(&address) {
            return Ok(*at);
        }
        let at = self.structs.len();
        self.structs.push(None);
        self.struct_at.insert(address, at);
        let class = self.class(&of.name)?;
        let members = self.members(of.members.iter(), &class, depth)?;
        let make = match class.make() {
            Make::Bare if members.len() != 1 => Make::Dict,
            make => make,
        };
        let plan = StructPlan {
            name: of.name.to_string().into(),
            extensibility: of.extensibility,
            has_key: of.has_key(),
            members,
            make,
        };
        if let Some(place) = self.structs.get_mut(at) {
            *place = Some(plan);
        }
        Ok(at)
    }

    fn union(&mut self, of: &UnionDescription, depth: usize) -> PyResult<usize> {
        let address = ptr::from_ref(of).addr();
        if let Some(at) = self.union_at.get(&address) {
            return Ok(*at);
        }
        let at = self.unions.len();
        self.unions.push(None);
        self.union_at.insert(address, at);
        let class = self.class(&of.name)?;
        let cases = of.cases.iter().map(|case| &case.member);
        let cases = self.members(cases, &class, depth)?;
        let plan = UnionPlan {
            name: of.name.to_string().into(),
            extensibility: of.extensibility,
            description: of.clone(),
            discriminator: self.node(&of.discriminator, false, depth + 1)?,
            header: MemberHeader::of_discriminator(of.discriminator.length_code()),
            cases,
            class: class.class.map(Bound::unbind),
        };
        if let Some(place) = self.unions.get_mut(at) {
            *place = Some(plan);
        }
        Ok(at)
    }

    fn members<'d>(
        &mut self,
        members: impl Iterator<Item = &'d Member>,
        class: &Class<'py>,
        depth: usize,
    ) -> PyResult<Vec<MemberPlan>> {
        let py = self.classes.py();
        let members = members.enumerate().map(|(index, member)| {
            let attribute = class.attributes.get(index);
            let attribute = attribute.map_or(&*member.name, String::as_str);
            let as_list = class.as_lists.get(index).copied().unwrap_or(false);
            let default = class.defaults.get(index).and_then(Option::as_ref);
            let default = default.filter(|_| !member.key);
            Ok(MemberPlan {
                name: member.name.to_string().into(),
                key: PyString::intern(py, &member.name).unbind(),
                attribute: PyString::intern(py, attribute).unbind(),
                id: member.id,
                is_key: member.key,
                optional: member.optional,
                header: MemberHeader::from(member),
                try_construct: member.try_construct,
                default: default.map(|default| default.clone_ref(py)),
                node: self.node(&member.ty, as_list, depth + 1)?,
            })
        });
        members.collect()
    }

    fn node(&mut self, ty: &Type, as_list: bool, depth: usize) -> PyResult<Node> {
        if depth > MAX_DEPTH {
            return Err(Kind::Type.error("types nest too deeply"));
        }
        if let Some(number) = Number::of(ty) {
            return Ok(Node::Number(number));
        }
        Ok(match ty {
            Type::Bool => Node::Bool,
            Type::Char => Node::Char,
            Type::WChar => Node::WChar,
            Type::String { bound } => Node::String { bound: *bound },
            Type::WString { bound } => Node::WString { bound: *bound },
            Type::Sequence { element, bound } => match (&**element, Number::of(element)) {
                (Type::Byte, _) if !as_list => Node::Octets { bound: *bound },
                (_, Some(number)) if !as_list => Node::Numbers {
                    number,
                    bound: *bound,
                    shape: None,
                },
                (element, _) => Node::Sequence {
                    primitive: element.is_primitive(),
                    element: Box::new(self.node(element, as_list, depth + 1)?),
                    bound: *bound,
                },
            },
            Type::Array { .. } => {
                let (element, shape) = dimensions(ty);
                if depth + shape.len() > MAX_DEPTH {
                    return Err(Kind::Type.error("types nest too deeply"));
                }
                match Number::of(element) {
                    Some(number) if !as_list => Node::Numbers {
                        number,
                        bound: 0,
                        shape: Some(shape),
                    },
                    _ => Node::Array {
                        primitive: element.is_primitive(),
                        element: Box::new(self.node(element, as_list, depth + 1)?),
                        shape,
                    },
                }
            }
            Type::Map { key, value, bound } => Node::Map {
                primitive: key.is_primitive() && value.is_primitive(),
                key: Box::new(self.node(key, as_list, depth + 1)?),
                value: Box::new(self.node(value, as_list, depth + 1)?),
                bound: *bound,
            },
            Type::Enum(of) => Node::Enum(Box::new(self.literals(of)?)),
            Type::Bitmask(of) => {
                let class = self.class(&of.name)?.class;
                let known = class
                    .as_ref()
                    .map(|class| class.getattr("_value2member_map_"));
                let known = known.and_then(|known| known.ok()?.cast_into::<PyDict>().ok());
                Node::Bitmask(Box::new(Flags {
                    description: (**of).clone(),
                    size: of.size(),
                    class: class.map(Bound::unbind),
                    known: known.map(Bound::unbind),
                }))
            }
            Type::Bitset(of) => {
                let py = self.classes.py();
                let names = of.fields.iter();
                let names = names.map(|field| PyString::intern(py, &field.name).unbind());
                Node::Bitset(Box::new(Fields {
                    description: (**of).clone(),
                    size: of.size(),
                    names: names.collect(),
                    make: self.class(&of.name)?.make(),
                }))
            }
            Type::Struct(_) if *ty == Decimal::TYPE => Node::Decimal,
            Type::Struct(of) => Node::Struct(self.structure(of, depth)?),
            Type::Union(of) => Node::Union(self.union(of, depth)?),
            Type::Recursive(link) => match link.target() {
                Some(target) => self.node(&target, as_list, depth)?,
                None => return Err(Kind::Type.error("a part of the type has gone")),
            },
            other => return Err(Kind::Type.error(format!("{other} is not known here"))),
        })
    }

    fn literals(&self, of: &EnumDescription) -> PyResult<Literals> {
        let py = self.classes.py();
        let class = self.class(&of.name)?.class;
        let mut members = HashMap::new();
        for literal in of.literals.iter() {
            let number = literal.value.into_pyobject(py)?.into_any();
            let member = match &class {
                Some(class) => fitting(py, class.call1((&number,)))?,
                None => None,
            };
            members.insert(literal.value, member.unwrap_or(number).unbind());
        }
        Ok(Literals {
            description: of.clone(),
            size: of.size(),
            members,
        })
    }
}

/// What an array consists of, and how long it is in each dimension.
fn dimensions(ty: &Type) -> (&Type, Vec<usize>) {
    let (mut element, mut shape) = (ty, Vec::new());
    while let Type::Array {
        element: inner,
        length,
    } = element
    {
        shape.push(usize::try_from(*length).unwrap_or(usize::MAX));
        element = inner;
    }
    (element, shape)
}

/// How deep types nest.
pub(crate) const MAX_DEPTH: usize = 64;
