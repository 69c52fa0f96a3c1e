//! A member of a struct: its attributes, and the code that reads, writes and describes it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{
    Error, Field, Fields, GenericArgument, Ident, LitInt, LitStr, Path, PathArguments, Result, Type,
};

use super::for_each_meta;

/// A member of a struct, with what `#[topic(...)]` says on it.
pub(super) struct Member<'a> {
    pub(super) ident: &'a Ident,
    name: String,
    /// `Struct.member`, for errors.
    path: String,
    pub(super) id: u32,
    pub(super) key: bool,
    must_understand: bool,
    optional: bool,
    octet: bool,
    /// Largest length; 0 for any.
    bound: u32,
    /// What an `Option` holds, else the field's type.
    ty: &'a Type,
}

impl<'a> Member<'a> {
    fn parse(field: &'a Field, id: u32, of: &str) -> Result<Self> {
        let Some(ident) = &field.ident else {
            return Err(Error::new_spanned(
                field,
                "members of a topic type have names",
            ));
        };
        let inner = option_argument(&field.ty);
        let mut member = Self {
            ident,
            name: ident.unraw().to_string(),
            path: String::new(),
            id,
            key: false,
            must_understand: false,
            octet: false,
            bound: 0,
            optional: inner.is_some(),
            ty: inner.unwrap_or(&field.ty),
        };
        for_each_meta(&field.attrs, |meta| {
            if meta.path.is_ident("key") {
                if member.optional {
                    return Err(meta.error("a key member cannot be optional"));
                }
                member.key = true;
            } else if meta.path.is_ident("must_understand") {
                member.must_understand = true;
            } else if meta.path.is_ident("octet") {
                member.octet = true;
            } else if meta.path.is_ident("bound") {
                let bound = meta.value()?.parse::<LitInt>()?;
                member.bound = bound.base10_parse()?;
                if member.bound == 0 {
                    return Err(Error::new_spanned(bound, "a bound is at least 1"));
                }
            } else if meta.path.is_ident("rename") {
                member.name = meta.value()?.parse::<LitStr>()?.value();
            } else if meta.path.is_ident("id") {
                let id = meta.value()?.parse::<LitInt>()?;
                member.id = id.base10_parse()?;
                if member.id > MAX_ID {
                    return Err(Error::new_spanned(id, "a member id is below 2^28 - 1"));
                }
            } else {
                return Err(meta.error(EXPECTED));
            }
            Ok(())
        })?;
        if member.bound > 0 && !names_one_of(member.ty, &["String", "CompactString", "Vec"]) {
            return Err(Error::new_spanned(
                member.ty,
                "only strings and Vec have a bound",
            ));
        }
        member.path = format!("{of}.{}", member.name);
        Ok(member)
    }

    /// All members of a struct. An id that is not given is one more than the one before.
    pub(super) fn parse_all(fields: &'a Fields, of: &Ident) -> Result<Vec<Self>> {
        let Fields::Named(fields) = fields else {
            return Err(Error::new_spanned(
                of,
                "a topic type has at least one named member",
            ));
        };
        let mut members: Vec<Self> = Vec::new();
        let mut next_id = 0;
        for field in &fields.named {
            let member = Self::parse(field, next_id, &of.unraw().to_string())?;
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
        if members.is_empty() {
            return Err(Error::new_spanned(
                of,
                "a topic type has at least one named member",
            ));
        }
        Ok(members)
    }

    fn header(&self, cdr: &Path) -> TokenStream {
        let Self { id, ty, .. } = self;
        let optional = self.optional.then(|| quote!(.optional()));
        let must_understand = self.must_understand.then(|| quote!(.must_understand()));
        let code = quote!(<#ty as #cdr::Encode>::LENGTH_CODE);
        quote!(#cdr::MemberHeader::new(#id, #code) #optional #must_understand)
    }

    /// A statement that writes the member through `Encode::method`.
    pub(super) fn encode(&self, cdr: &Path, method: &Ident) -> TokenStream {
        let Self {
            ident, path, bound, ..
        } = self;
        let header = self.header(cdr);
        let write = |value: TokenStream| {
            let check = (*bound > 0)
                .then(|| quote!(#cdr::EncodeError::check_bound((#value).len(), #bound)?;));
            quote! {
                writer.member(&mark, const { #header }, #path, |writer| {
                    #check
                    #cdr::Encode::#method(#value, writer)
                })?;
            }
        };
        if !self.optional {
            return write(quote!(&self.#ident));
        }
        let present = write(quote!(value));
        quote! {
            match &self.#ident {
                ::core::option::Option::Some(value) => { #present }
                ::core::option::Option::None => writer.absent_member(&mark, const { #header }),
            }
        }
    }

    /// A function that reads the value through `Decode::method`.
    fn decode_value(&self, cdr: &Path, method: &Ident) -> TokenStream {
        let Self { bound, ty, .. } = self;
        match bound {
            0 => quote!(<#ty as #cdr::Decode>::#method),
            bound => quote! {
                |value: &mut #ty, reader: &mut #cdr::Reader<'_>| {
                    #cdr::Decode::#method(value, reader)?;
                    reader.check_bound(value.len(), #bound)
                }
            },
        }
    }

    /// A statement that reads the member in its place.
    pub(super) fn decode(&self, cdr: &Path, method: &Ident) -> TokenStream {
        let Self {
            ident, path, id, ..
        } = self;
        let decode = self.decode_value(cdr, method);
        if self.optional {
            quote!(reader.optional_member(&scope, #id, #path, &mut self.#ident, #decode)?;)
        } else {
            quote!(reader.member(&scope, #path, &mut self.#ident, #decode)?;)
        }
    }

    /// A `match` arm that reads the member of a mutable struct and notes it in `seen`.
    pub(super) fn decode_arm(&self, index: usize, cdr: &Path, method: &Ident) -> TokenStream {
        let Self {
            ident, path, id, ..
        } = self;
        let decode = self.decode_value(cdr, method);
        let value = match self.optional {
            true => quote!(self.#ident.get_or_insert_with(#cdr::Decode::initial)),
            false => quote!(&mut self.#ident),
        };
        quote! {
            #id => {
                seen[#index] = true;
                let decode = #decode;
                decode(#value, reader).map_err(|error| error.within(#path))?;
            }
        }
    }

    pub(super) fn initial(&self, cdr: &Path) -> TokenStream {
        match self.optional {
            true => quote!(::core::option::Option::None),
            false => quote!(#cdr::Decode::initial()),
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
            octet,
            bound,
            ..
        } = self;
        let ty = match (octet, bound) {
            (false, 0) => quote!(<#ty as #cdr::Describe>::TYPE),
            _ => quote!(<#ty as #cdr::Describe>::TYPE_REF.constrained(#octet, #bound)),
        };
        quote! {
            #cdr::Member {
                name: #cdr::Shared::Static(#name),
                id: #id,
                key: #key,
                optional: #optional,
                must_understand: #must_understand,
                ty: #ty,
            }
        }
    }
}

/// `T` of a field written `Option<T>`, with any path before it.
fn option_argument(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path
        .path
        .segments
        .last()
        .filter(|segment| segment.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first() {
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

const EXPECTED: &str = "expected key, id, rename, must_understand, bound or octet";
/// The largest member id that XTypes leaves to users.
const MAX_ID: u32 = 0x0fff_fffe;
