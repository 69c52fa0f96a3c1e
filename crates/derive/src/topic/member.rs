//! A member of a struct: its attributes, and the code that reads, writes and describes it.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::{
    Error, Expr, ExprLit, Field, Fields, Ident, Lit, LitInt, LitStr, Path, Result, Token, Type,
};

use super::constraint::{Constraint, entry_types};
use super::{Container, argument_of, for_each_meta, hashed_id};

/// What becomes of a member where its type cannot hold what a sample has (XTypes 1.3 §7.2.2.7).
#[derive(Clone, Copy, PartialEq)]
pub(super) enum TryConstruct {
    Discard,
    UseDefault,
    Trim,
}

/// A member of a struct or a union, with what `#[topic(...)]` says on it.
pub(super) struct Member<'a> {
    /// The field or the variant.
    pub(super) ident: &'a Ident,
    pub(super) name: String,
    /// `Struct.member`, for errors.
    pub(super) path: String,
    pub(super) id: u32,
    pub(super) key: bool,
    must_understand: bool,
    /// Whether it is in values alone, and in no sample.
    pub(super) non_serialized: bool,
    /// What the id is the hash of, empty for the name.
    hash_id: Option<String>,
    /// Whether the id is given, or the hash of a text that is given.
    has_id: bool,
    optional: bool,
    /// The value of a member that the writer left out.
    pub(super) default: Option<Expr>,
    /// What becomes of it where its type cannot hold what a sample has.
    pub(super) try_construct: TryConstruct,
    constraint: Constraint,
    /// Whether it may lie where its type is not aligned, so that there are no references to it.
    packed: bool,
    /// What an `Option` holds, else the field's type.
    pub(super) ty: &'a Type,
}

impl<'a> Member<'a> {
    /// A member of this type, about which nothing is said yet.
    pub(super) fn new(ident: &'a Ident, name: String, ty: &'a Type, id: u32) -> Self {
        Self {
            ident,
            name,
            path: String::new(),
            id,
            key: false,
            must_understand: false,
            non_serialized: false,
            hash_id: None,
            has_id: false,
            try_construct: TryConstruct::Discard,
            constraint: Constraint::default(),
            optional: false,
            default: None,
            packed: false,
            ty,
        }
    }

    fn parse(field: &'a Field, id: u32, container: &Container, of: &str) -> Result<Self> {
        let Some(ident) = &field.ident else {
            return Err(Error::new_spanned(
                field,
                "members of a topic type have names",
            ));
        };
        let inner = option_argument(&field.ty);
        let ty = inner.unwrap_or(&field.ty);
        let mut member = Self {
            optional: inner.is_some(),
            packed: container.packed,
            ..Self::new(ident, ident.unraw().to_string(), ty, id)
        };
        for_each_meta(&field.attrs, |meta| {
            if meta.path.is_ident("key") {
                if member.optional {
                    return Err(meta.error("a key member cannot be optional"));
                }
                member.key = true;
            } else if meta.path.is_ident("must_understand") {
                member.must_understand = true;
            } else if meta.path.is_ident("non_serialized") {
                member.non_serialized = true;
            } else if meta.path.is_ident("default") {
                if member.optional {
                    return Err(meta.error("an optional member is absent by default"));
                }
                member.default = Some(meta.value()?.parse()?);
            } else if !member.read(&meta)? {
                return Err(meta.error(EXPECTED));
            }
            Ok(())
        })?;
        if member.key && member.try_construct != TryConstruct::Discard {
            return Err(Error::new_spanned(
                field,
                "a key member is what its sample says: it cannot be a default, or a part",
            ));
        }
        if member.key && member.non_serialized {
            return Err(Error::new_spanned(
                field,
                "a key member cannot be left out of samples",
            ));
        }
        if container.hash_ids && !member.has_id {
            member.id = hashed_id(&member.name);
        }
        member.finish(of)?;
        Ok(member)
    }

    /// What can be said of any member; false if this is something else.
    pub(super) fn read(&mut self, meta: &ParseNestedMeta<'_>) -> Result<bool> {
        if self.constraint.read(meta)? {
            return Ok(true);
        }
        if meta.path.is_ident("rename") {
            self.name = meta.value()?.parse::<LitStr>()?.value();
        } else if meta.path.is_ident("id") {
            let id = meta.value()?.parse::<LitInt>()?;
            self.id = id.base10_parse()?;
            self.has_id = true;
            if self.id > MAX_ID {
                return Err(Error::new_spanned(id, "a member id is below 2^28 - 1"));
            }
        } else if meta.path.is_ident("try_construct") {
            let word = meta.value()?.parse::<Ident>()?;
            self.try_construct = match word.to_string().as_str() {
                "discard" => TryConstruct::Discard,
                "use_default" => TryConstruct::UseDefault,
                "trim" => TryConstruct::Trim,
                _ => {
                    let text = "expected discard, use_default or trim";
                    return Err(Error::new_spanned(word, text));
                }
            };
        } else if meta.path.is_ident("hash_id") {
            let text = match meta.input.peek(Token![=]) {
                true => meta.value()?.parse::<LitStr>()?.value(),
                false => String::new(),
            };
            self.hash_id = Some(text);
            self.has_id = true;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Checks what was said, once the name is known.
    pub(super) fn finish(&mut self, of: &str) -> Result<()> {
        match self.hash_id.as_deref() {
            Some("") => self.id = hashed_id(&self.name),
            Some(text) => self.id = hashed_id(text),
            None => {}
        }
        self.constraint.check(self.ty)?;
        self.path = format!("{of}.{}", self.name);
        Ok(())
    }

    /// All members of a struct. An id that is not given is one more than the one before.
    pub(super) fn parse_all(
        fields: &'a Fields,
        container: &Container,
        of: &Ident,
    ) -> Result<Vec<Self>> {
        let Fields::Named(fields) = fields else {
            return Err(Error::new_spanned(
                of,
                "a topic type has at least one named member",
            ));
        };
        let mut members: Vec<Self> = Vec::new();
        let mut next_id = 0;
        for field in &fields.named {
            let member = Self::parse(field, next_id, container, &of.unraw().to_string())?;
            if let Some(other) = members.iter().find(|other| other.id == member.id) {
                let text = format!("{} has the id {} already", other.name, member.id);
                return Err(Error::new_spanned(field, text));
            }
            if members.iter().any(|other| other.name == member.name) {
                return Err(Error::new_spanned(field, "two members have this name"));
            }
            next_id = member.id + 1;
            members.push(member);
        }
        let mut serialized = members.iter().filter(|member| !member.non_serialized);
        if serialized.next().is_none() && !container.may_be_empty() {
            return Err(Error::new_spanned(
                of,
                "a topic type has at least one named member that is serialized",
            ));
        }
        Ok(members)
    }

    /// Bytes of a member that is always there and whose type is called as a number is.
    pub(super) fn number_size(&self) -> Option<usize> {
        let Type::Path(path) = self.ty else {
            return None;
        };
        let name = path.path.get_ident().filter(|_| !self.optional)?;
        let number = NUMBERS.iter().find(|(number, _)| name == number);
        number.map(|(_, size)| *size)
    }

    /// The type of a member that is always there and is a number, a boolean or a short array of them,
    /// by the names that these have where nothing else may be called so.
    pub(super) fn plain_type(&self) -> Option<TokenStream> {
        let (name, length) = match self.ty {
            _ if self.optional => return None,
            Type::Array(array) => match &array.len {
                Expr::Lit(ExprLit {
                    lit: Lit::Int(length),
                    ..
                }) => (&*array.elem, Some(length)),
                _ => return None,
            },
            ty => (ty, None),
        };
        let Type::Path(path) = name else { return None };
        let name = path.path.get_ident()?;
        let is_number = NUMBERS.iter().any(|(number, _)| name == number);
        if !is_number && name != "bool" {
            return None;
        }
        let ty = quote!(::core::primitive::#name);
        let Some(length) = length else {
            return Some(ty);
        };
        let is_short = (1..=MAX_PLAIN_LENGTH).contains(&length.base10_parse().ok()?);
        is_short.then(|| quote!([#ty; #length]))
    }

    pub(super) fn header(&self, cdr: &Path) -> TokenStream {
        let Self { id, ty, .. } = self;
        let optional = self.optional.then(|| quote!(.optional()));
        let must_understand = self.must_understand.then(|| quote!(.must_understand()));
        let code = quote!(<#ty as #cdr::Encode>::LENGTH_CODE);
        quote!(#cdr::MemberHeader::new(#id, #code) #optional #must_understand)
    }

    /// A statement that writes the member as `value` through `Encode::method`.
    pub(super) fn encode_value(
        &self,
        value: &TokenStream,
        cdr: &Path,
        method: &Ident,
    ) -> TokenStream {
        let Self { path, ty, .. } = self;
        let header = self.header(cdr);
        let check = quote!(#cdr::EncodeError::check_bound);
        let checks = self.constraint.checks(ty, value, &check);
        quote! {
            writer.member(&mark, const { #header }, #path, |writer| {
                #checks
                #cdr::Encode::#method(#value, writer)
            })?;
        }
    }

    /// A statement that writes the member through `Encode::method`.
    pub(super) fn encode(&self, cdr: &Path, method: &Ident) -> TokenStream {
        let Self { ident, .. } = self;
        let header = self.header(cdr);
        let place = match self.packed {
            true => quote!({ self.#ident }),
            false => quote!(self.#ident),
        };
        if !self.optional {
            return self.encode_value(&quote!(&#place), cdr, method);
        }
        let present = self.encode_value(&quote!(value), cdr, method);
        quote! {
            match &#place {
                ::core::option::Option::Some(value) => { #present }
                ::core::option::Option::None => writer.absent_member(&mark, const { #header }),
            }
        }
    }

    /// A function that reads the value through `Decode::method`.
    pub(super) fn decode_value(&self, cdr: &Path, method: &Ident) -> TokenStream {
        let ty = self.ty;
        let check = quote!(reader.check_bound);
        let value = quote!(value);
        let bound = self.constraint.bound();
        if self.try_construct == TryConstruct::Trim && bound > 0 {
            // What is cut off is a value, too.
            let checks = self.constraint.checks_inside(ty, &value, &check);
            let decode = match entry_types(ty) {
                Some(_) => quote!(#cdr::decode_first_entries(value, #bound, reader)?; #checks),
                None => quote! {
                    #cdr::Decode::#method(value, reader)?;
                    #checks
                    #cdr::Trim::trim(value, #bound);
                },
            };
            return quote! {
                |value: &mut #ty, reader: &mut #cdr::Reader<'_>|
                    -> ::core::result::Result<(), #cdr::DecodeError> {
                    #decode
                    ::core::result::Result::Ok(())
                }
            };
        }
        let checks = self.constraint.checks(ty, &value, &check);
        if checks.is_empty() {
            // A function of each member's own is inlined; one that many share would not be.
            return quote! {
                |value: &mut #ty, reader: &mut #cdr::Reader<'_>| {
                    <#ty as #cdr::Decode>::#method(value, reader)
                }
            };
        }
        quote! {
            |value: &mut #ty, reader: &mut #cdr::Reader<'_>|
                -> ::core::result::Result<(), #cdr::DecodeError> {
                #cdr::Decode::#method(value, reader)?;
                #checks
                ::core::result::Result::Ok(())
            }
        }
    }

    /// A statement that reads the member in its place.
    pub(super) fn decode(&self, cdr: &Path, method: &Ident) -> TokenStream {
        let read = self.replace(|place| {
            let Self { path, id, .. } = self;
            let decode = self.decode_value(cdr, method);
            if self.optional {
                return quote!(reader.optional_member(&scope, #id, #path, &mut #place, #decode)?;);
            }
            let read = quote!(reader.member(&scope, #path, &mut #place, #decode)?;);
            match &self.default {
                None => read,
                Some(default) => quote! {
                    if reader.has_member(&scope) { #read } else { #place = #default; }
                },
            }
        });
        self.tried(read, cdr)
    }

    /// A statement that reads the member, and makes it its default if its type cannot hold what there is.
    fn tried(&self, read: TokenStream, cdr: &Path) -> TokenStream {
        if self.try_construct != TryConstruct::UseDefault {
            return read;
        }
        let (ident, initial) = (self.ident, self.initial(cdr));
        let tried = Ident::new("tried", Span::mixed_site());
        quote!({
            let #tried = reader.begin_try();
            #read
            if reader.end_try(#tried) {
                self.#ident = #initial;
            }
        })
    }

    /// A statement that replaces the member by what `statement` makes of it where it is told that it lies.
    fn replace(&self, statement: impl FnOnce(TokenStream) -> TokenStream) -> TokenStream {
        let ident = self.ident;
        if !self.packed {
            return statement(quote!(self.#ident));
        }
        // Not what a default may call so.
        let value = Ident::new("value", Span::mixed_site());
        let statement = statement(quote!(#value));
        quote!({
            let mut #value = self.#ident;
            #statement
            self.#ident = #value;
        })
    }

    /// A `match` arm that reads the member of a mutable struct and notes it in `seen`.
    pub(super) fn decode_arm(&self, index: usize, cdr: &Path, method: &Ident) -> TokenStream {
        let Self { path, id, .. } = self;
        let decode = self.decode_value(cdr, method);
        let read = self.replace(|place| {
            let value = match self.optional {
                true => quote!(#place.get_or_insert_with(#cdr::Decode::initial)),
                false => quote!(&mut #place),
            };
            quote!(decode(#value, reader).map_err(|error| error.within(#path))?;)
        });
        let read = self.tried(read, cdr);
        quote! {
            #id => {
                seen[#index] = true;
                let decode = #decode;
                #read
            }
        }
    }

    /// Says by its id whether a value without bytes is a value of an optional member.
    pub(super) fn empty_arm(&self, cdr: &Path) -> Option<TokenStream> {
        let Self { id, ty, .. } = self;
        self.optional
            .then(|| quote!(#id => <#ty as #cdr::Decode>::IS_EMPTY,))
    }

    pub(super) fn initial(&self, cdr: &Path) -> TokenStream {
        match (&self.default, self.optional) {
            (Some(default), _) => quote!(#default),
            (None, true) => quote!(::core::option::Option::None),
            (None, false) => quote!(#cdr::Decode::initial()),
        }
    }

    pub(super) fn min_size(&self, cdr: &Path) -> TokenStream {
        let ty = self.ty;
        match self.optional {
            true => quote!(1),
            false => quote!(<#ty as #cdr::Decode>::MIN_SIZE),
        }
    }

    pub(super) fn description(&self, cdr: &Path) -> TokenStream {
        let Self {
            name,
            id,
            key,
            optional,
            must_understand,
            ty,
            hash_id,
            try_construct,
            ..
        } = self;
        let hash_id = match hash_id {
            Some(text) => quote!(Some(#cdr::Shared::Static(#text))),
            None => quote!(None),
        };
        let try_construct = match try_construct {
            TryConstruct::Discard => quote!(Discard),
            TryConstruct::UseDefault => quote!(UseDefault),
            TryConstruct::Trim => quote!(Trim),
        };
        let external = quote!(<#ty as #cdr::Describe>::EXTERNAL);
        let ty = self.constraint.description(ty, cdr);
        quote! {
            #cdr::Member {
                name: #cdr::Shared::Static(#name),
                id: #id,
                key: #key,
                optional: #optional,
                must_understand: #must_understand,
                external: #external,
                hash_id: ::core::option::Option::#hash_id,
                try_construct: #cdr::TryConstruct::#try_construct,
                ty: #ty,
            }
        }
    }
}

/// `T` of a field written `Option<T>`, with any path before it.
fn option_argument(ty: &Type) -> Option<&Type> {
    argument_of(ty, "Option", 0)
}

/// Types that have their encoding by their names, and the bytes of each.
const NUMBERS: &[(&str, usize)] = &[
    ("u8", 1),
    ("i8", 1),
    ("u16", 2),
    ("i16", 2),
    ("u32", 4),
    ("i32", 4),
    ("f32", 4),
    ("u64", 8),
    ("i64", 8),
    ("f64", 8),
];
/// Elements of an array that is copied by value.
const MAX_PLAIN_LENGTH: usize = 32;
const EXPECTED: &str = "expected key, id, hash_id, rename, must_understand, non_serialized, try_construct, default, bound, octet, map_key or \
                        map_value";
/// The largest member id that XTypes leaves to users.
const MAX_ID: u32 = 0x0fff_fffe;
