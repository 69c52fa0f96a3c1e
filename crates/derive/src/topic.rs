//! `#[derive(Topic)]`: reads the attributes, checks what can be checked without types, and writes
//! the calls of the encoding's reader and writer, member by member. Knows names of that crate's
//! items, and no byte of the encoding.

mod bitmask;
mod bitset;
mod constraint;
mod enumeration;
mod member;
mod structure;
mod variant;

use md5::{Digest, Md5};
use proc_macro2::{Group, TokenStream, TokenTree};
use quote::format_ident;
use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, Fields, GenericArgument, Ident, LitInt, LitStr,
    Meta, Path, PathArguments, Result, Token, Type, parenthesized, parse_quote,
};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    if let Some(parameter) = input.generics.params.first() {
        return Err(Error::new_spanned(
            parameter,
            "a topic type has no generic parameters",
        ));
    }
    let container = Container::parse(input)?;
    match (&container.kind, &input.data) {
        (Kind::Bitmask, Data::Struct(data)) => {
            bitmask::derive(&container, &input.ident, &data.fields)
        }
        (Kind::Bitset, Data::Struct(data)) => {
            bitset::derive(&container, &input.ident, &data.fields)
        }
        (_, Data::Struct(data)) => structure::derive(&container, &input.ident, &data.fields),
        (Kind::Union, Data::Enum(data)) => variant::derive(&container, &input.ident, data),
        (_, Data::Enum(data)) => enumeration::derive(&container, &input.ident, data),
        (_, Data::Union(data)) => Err(Error::new_spanned(
            data.union_token,
            "a topic type is a struct or an enum",
        )),
    }
}

/// What a Rust type is in IDL.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// A struct with named fields.
    Struct,
    /// An enum without fields.
    Enum,
    /// An enum with fields.
    Union,
    /// A struct around a number.
    Bitmask,
    /// A struct that says so, whose fields share a number.
    Bitset,
}

impl Kind {
    fn of(data: &Data) -> Self {
        match data {
            Data::Enum(data) if data.variants.iter().all(|v| v.fields.is_empty()) => Self::Enum,
            Data::Enum(_) => Self::Union,
            Data::Struct(data) if matches!(data.fields, Fields::Unnamed(_)) => Self::Bitmask,
            _ => Self::Struct,
        }
    }

    /// What `#[topic(...)]` can say on it.
    fn expected(self) -> &'static str {
        match self {
            Self::Struct => {
                "expected name, final, appendable, mutable, nested, hash_ids, bitset or crate"
            }
            Self::Enum => "expected name, final, appendable, bit_bound or crate",
            Self::Union => {
                "expected name, final, appendable, mutable, nested, discriminator, octet, key or crate"
            }
            Self::Bitmask => "expected name, final, appendable, bit_bound, flags or crate",
            Self::Bitset => "expected name or crate",
        }
    }
}

/// What `#[topic(...)]` says on the struct or enum.
struct Container {
    kind: Kind,
    name: String,
    extensibility: Ident,
    cdr: Path,
    nested: bool,
    hash_ids: bool,
    /// Whether there are no references to its fields, as of a struct with `repr(packed)`.
    packed: bool,
    /// Of an enumeration or bitmask that says so.
    bit_bound: Option<u16>,
    /// Of a bitmask.
    flags: Vec<(Ident, Option<u16>)>,
    /// Of a union: the type of its discriminator.
    discriminator: Type,
    /// Of a union: whether its discriminator, `u8`, is an octet.
    octet: bool,
    /// Of a union: whether its discriminator is the key.
    key: bool,
}

impl Container {
    fn parse(input: &DeriveInput) -> Result<Self> {
        let kind = Kind::of(&input.data);
        let mut container = Self {
            kind,
            name: input.ident.unraw().to_string(),
            extensibility: format_ident!("Appendable"),
            cdr: parse_quote!(::tickwire::cdr),
            nested: false,
            hash_ids: false,
            packed: input.attrs.iter().any(is_packed),
            bit_bound: None,
            flags: Vec::new(),
            discriminator: parse_quote!(i32),
            octet: false,
            key: false,
        };
        for_each_meta(&input.attrs, |meta| container.read(&meta))?;
        Ok(container)
    }

    /// Whether a struct may have no members: the arguments of a call that has none are such a struct.
    fn may_be_empty(&self) -> bool {
        self.nested && self.extensibility == "Final"
    }

    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let is_bitset = self.kind == Kind::Bitset;
        let has_members = matches!(self.kind, Kind::Struct | Kind::Union);
        let has_bits = matches!(self.kind, Kind::Enum | Kind::Bitmask);
        let is = |name: &str| meta.path.is_ident(name);
        if is("name") {
            self.name = meta.value()?.parse::<LitStr>()?.value();
        } else if is("bitset") && self.kind == Kind::Struct {
            self.kind = Kind::Bitset;
        } else if is("final") && !is_bitset {
            self.extensibility = format_ident!("Final");
        } else if is("appendable") && !is_bitset {
            self.extensibility = format_ident!("Appendable");
        } else if is("mutable") && has_members {
            self.extensibility = format_ident!("Mutable");
        } else if is("crate") {
            self.cdr = meta.value()?.call(Path::parse_mod_style)?;
        } else if is("nested") && has_members {
            self.nested = true;
        } else if is("hash_ids") && self.kind == Kind::Struct {
            self.hash_ids = true;
        } else if is("bit_bound") && has_bits {
            let bound = meta.value()?.parse::<LitInt>()?;
            let most = if self.kind == Kind::Enum { 32 } else { 64 };
            self.bit_bound = Some(bound.base10_parse()?);
            if !self
                .bit_bound
                .is_some_and(|bits| (1..=most).contains(&bits))
            {
                let text = format!("a bit bound is 1 to {most}");
                return Err(Error::new_spanned(bound, text));
            }
        } else if is("flags") && self.kind == Kind::Bitmask {
            let list;
            parenthesized!(list in meta.input);
            let flags = Punctuated::<_, Token![,]>::parse_terminated_with(&list, parse_flag)?;
            self.flags.extend(flags);
        } else if is("discriminator") && self.kind == Kind::Union {
            self.discriminator = meta.value()?.parse()?;
        } else if is("octet") && self.kind == Kind::Union {
            self.octet = true;
        } else if is("key") && self.kind == Kind::Union {
            self.key = true;
        } else {
            return Err(meta.error(self.kind.expected()));
        }
        Ok(())
    }
}

/// Whether an attribute is `repr(packed)` or `repr(packed(N))`, with whatever else it says.
fn is_packed(attribute: &Attribute) -> bool {
    let Meta::List(list) = &attribute.meta else {
        return false;
    };
    let mut tokens = list.tokens.clone().into_iter();
    list.path.is_ident("repr")
        && tokens.any(|token| matches!(token, TokenTree::Ident(ident) if ident == "packed"))
}

/// `NAME` or `NAME = position`.
fn parse_flag(input: syn::parse::ParseStream<'_>) -> Result<(Ident, Option<u16>)> {
    let name = input.parse()?;
    let position = match input.parse::<Option<Token![=]>>()? {
        Some(_) => Some(input.parse::<LitInt>()?.base10_parse()?),
        None => None,
    };
    Ok((name, position))
}

/// `= value` or `(value, ...)`.
fn parse_values(meta: &ParseNestedMeta<'_>) -> Result<Vec<Expr>> {
    if meta.input.peek(Token![=]) {
        return Ok(vec![meta.value()?.parse()?]);
    }
    let list;
    parenthesized!(list in meta.input);
    let values = Punctuated::<Expr, Token![,]>::parse_terminated(&list)?;
    Ok(values.into_iter().collect())
}

/// The id that is the hash of a name (XTypes 1.3 §7.3.1.2.1.1).
fn hashed_id(name: &str) -> u32 {
    let [a, b, c, d, ..]: [u8; 16] = Md5::digest(name.as_bytes()).into();
    u32::from_le_bytes([a, b, c, d]) & 0x0fff_ffff
}

/// Argument `index` of a path that ends in `name<...>`: `T` of `Vec<T>`, with any path before it.
fn argument_of<'t>(ty: &'t Type, name: &str, index: usize) -> Option<&'t Type> {
    let Type::Path(path) = ty else { return None };
    let segments = &path.path.segments;
    let last = segments.last().filter(|segment| segment.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.get(index) {
        Some(GenericArgument::Type(inner)) => Some(inner),
        _ => None,
    }
}

/// Whether the last part of a path is one of these names.
fn names_one_of(ty: &Type, names: &[&str]) -> bool {
    let Type::Path(path) = ty else { return false };
    let last = path.path.segments.last();
    last.is_some_and(|last| names.iter().any(|name| last.ident == name))
}

fn for_each_meta(
    attributes: &[Attribute],
    mut logic: impl FnMut(ParseNestedMeta<'_>) -> Result<()>,
) -> Result<()> {
    let topic = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("topic"));
    topic
        .into_iter()
        .try_for_each(|attribute| attribute.parse_nested_meta(&mut logic))
}

/// The tokens with the type's name for `Self`, which items inside an implementation cannot say.
fn name_self(tokens: TokenStream, ident: &Ident) -> TokenStream {
    let tokens = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(name) if name == "Self" => TokenTree::Ident(ident.clone()),
        TokenTree::Group(group) => {
            let inner = name_self(group.stream(), ident);
            let mut renamed = Group::new(group.delimiter(), inner);
            renamed.set_span(group.span());
            TokenTree::Group(renamed)
        }
        other => other,
    });
    tokens.collect()
}
