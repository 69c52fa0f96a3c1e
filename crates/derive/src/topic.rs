//! `#[derive(Topic)]`: reads the attributes, checks what can be checked without types, and writes
//! the calls of the encoding's reader and writer, member by member.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DataEnum, DeriveInput, Error, Field, Fields, GenericArgument, Ident, LitInt,
    LitStr, Path, PathArguments, Result, Type, parse_quote,
};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    if let Some(parameter) = input.generics.params.first() {
        return Err(Error::new_spanned(
            parameter,
            "a topic type has no generic parameters",
        ));
    }
    let container = Container::parse(input)?;
    match &input.data {
        Data::Struct(data) => derive_struct(&container, &input.ident, &data.fields),
        Data::Enum(data) => derive_enum(&container, &input.ident, data),
        Data::Union(data) => Err(Error::new_spanned(
            data.union_token,
            "a topic type is a struct or a C-like enum",
        )),
    }
}

/// What `#[topic(...)]` says on the struct or enum.
struct Container {
    name: String,
    extensibility: Ident,
    cdr: Path,
    bit_bound: u16,
}

impl Container {
    fn parse(input: &DeriveInput) -> Result<Self> {
        let mut container = Self {
            name: input.ident.unraw().to_string(),
            extensibility: format_ident!("Appendable"),
            cdr: parse_quote!(::tickwire::cdr),
            bit_bound: 32,
        };
        let is_enum = matches!(input.data, Data::Enum(_));
        for_each_meta(&input.attrs, |meta| {
            if meta.path.is_ident("name") {
                container.name = meta.value()?.parse::<LitStr>()?.value();
            } else if meta.path.is_ident("final") {
                container.extensibility = format_ident!("Final");
            } else if meta.path.is_ident("appendable") {
                container.extensibility = format_ident!("Appendable");
            } else if meta.path.is_ident("mutable") && !is_enum {
                container.extensibility = format_ident!("Mutable");
            } else if meta.path.is_ident("crate") {
                container.cdr = meta.value()?.call(Path::parse_mod_style)?;
            } else if meta.path.is_ident("bit_bound") && is_enum {
                let bound = meta.value()?.parse::<LitInt>()?;
                container.bit_bound = bound.base10_parse()?;
                if !matches!(container.bit_bound, 8 | 16 | 32) {
                    return Err(Error::new_spanned(bound, "a bit bound is 8, 16 or 32"));
                }
            } else if is_enum {
                return Err(meta.error("expected name, final, appendable, bit_bound or crate"));
            } else {
                return Err(meta.error("expected name, final, appendable, mutable or crate"));
            }
            Ok(())
        })?;
        Ok(container)
    }
}

/// A member of a struct, with what `#[topic(...)]` says on it.
struct Member<'a> {
    ident: &'a Ident,
    name: String,
    /// `Struct.member`, for errors.
    path: String,
    id: u32,
    key: bool,
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
        member.path = format!("{of}.{}", member.name);
        Ok(member)
    }

    /// All members of a struct. An id that is not given is one more than the one before.
    fn parse_all(fields: &'a Fields, of: &Ident) -> Result<Vec<Self>> {
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
    fn encode(&self, cdr: &Path, method: &Ident) -> TokenStream {
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
    fn decode(&self, cdr: &Path, method: &Ident) -> TokenStream {
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
    fn decode_arm(&self, index: usize, cdr: &Path, method: &Ident) -> TokenStream {
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

    fn initial(&self, cdr: &Path) -> TokenStream {
        match self.optional {
            true => quote!(::core::option::Option::None),
            false => quote!(#cdr::Decode::initial()),
        }
    }

    fn min_size(&self, cdr: &Path) -> TokenStream {
        let ty = self.ty;
        match self.optional {
            true => quote!(1),
            false => quote!(<#ty as #cdr::Decode>::MIN_SIZE),
        }
    }

    fn description(&self, cdr: &Path) -> TokenStream {
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

fn derive_struct(container: &Container, ident: &Ident, fields: &Fields) -> Result<TokenStream> {
    let members = Member::parse_all(fields, ident)?;
    let Container {
        name,
        extensibility,
        cdr,
        ..
    } = container;
    let has_key = members.iter().any(|member| member.key);
    let keys: Vec<&Member<'_>> = members.iter().filter(|m| m.key || !has_key).collect();
    let all: Vec<&Member<'_>> = members.iter().collect();

    let descriptions = all.iter().map(|member| member.description(cdr));
    let encode = encode_body(&all, container, &format_ident!("encode"));
    let encode_key = encode_key_body(&keys, container);
    let decode = decode_body(&all, container, &format_ident!("decode_into"));
    let decode_key = decode_body(&keys, container, &format_ident!("decode_key_into"));
    let idents = all.iter().map(|member| member.ident);
    let initials = all.iter().map(|member| member.initial(cdr));
    let min_sizes = all.iter().map(|member| member.min_size(cdr));
    Ok(quote! {
        #[automatically_derived]
        impl #cdr::Describe for #ident {
            const TYPE: #cdr::Type =
                #cdr::Type::Struct(#cdr::Shared::Static(<Self as #cdr::Topic>::DESCRIPTION));
        }

        #[automatically_derived]
        impl #cdr::Encode for #ident {
            const LENGTH_CODE: #cdr::LengthCode = #cdr::LengthCode::NextInt;

            fn encode(
                &self,
                writer: &mut #cdr::Writer<'_>,
            ) -> ::core::result::Result<(), #cdr::EncodeError> {
                #encode
            }

            fn encode_key(
                &self,
                writer: &mut #cdr::Writer<'_>,
            ) -> ::core::result::Result<(), #cdr::EncodeError> {
                #encode_key
            }
        }

        #[automatically_derived]
        impl #cdr::Decode for #ident {
            const MIN_SIZE: usize = #cdr::min_struct_size(
                #cdr::Extensibility::#extensibility,
                0 #(+ #min_sizes)*,
            );

            fn initial() -> Self {
                Self { #(#idents: #initials,)* }
            }

            fn decode_into(
                &mut self,
                reader: &mut #cdr::Reader<'_>,
            ) -> ::core::result::Result<(), #cdr::DecodeError> {
                #decode
            }

            fn decode_key_into(
                &mut self,
                reader: &mut #cdr::Reader<'_>,
            ) -> ::core::result::Result<(), #cdr::DecodeError> {
                #decode_key
            }
        }

        #[automatically_derived]
        impl #cdr::Topic for #ident {
            const TYPE_NAME: &'static str = #name;
            const EXTENSIBILITY: #cdr::Extensibility = #cdr::Extensibility::#extensibility;
            const HAS_KEY: bool = #has_key;
            const DESCRIPTION: &'static #cdr::TypeDescription = &#cdr::TypeDescription {
                name: #cdr::Shared::Static(#name),
                extensibility: #cdr::Extensibility::#extensibility,
                members: #cdr::Shared::Static(&[#(#descriptions,)*]),
            };
        }
    })
}

fn encode_body(members: &[&Member<'_>], container: &Container, method: &Ident) -> TokenStream {
    let Container {
        extensibility, cdr, ..
    } = container;
    let statements = members.iter().map(|member| member.encode(cdr, method));
    quote! {
        let mark = writer.begin_struct(#cdr::Extensibility::#extensibility);
        #(#statements)*
        writer.end_struct(mark)
    }
}

/// Key members go in order of definition into a payload and in order of ids into a hash.
fn encode_key_body(keys: &[&Member<'_>], container: &Container) -> TokenStream {
    let method = format_ident!("encode_key");
    let defined = encode_body(keys, container, &method);
    if keys.is_sorted_by_key(|member| member.id) {
        return defined;
    }
    let mut by_id = keys.to_vec();
    by_id.sort_by_key(|member| member.id);
    let sorted = encode_body(&by_id, container, &method);
    quote!(if writer.is_key_hash() { #sorted } else { #defined })
}

fn decode_body(members: &[&Member<'_>], container: &Container, method: &Ident) -> TokenStream {
    let Container {
        extensibility, cdr, ..
    } = container;
    let begin = quote! {
        let scope = reader.begin_struct(#cdr::Extensibility::#extensibility)?;
    };
    let end = quote! {
        reader.end_struct(scope);
        ::core::result::Result::Ok(())
    };
    if extensibility != "Mutable" {
        let statements = members.iter().map(|member| member.decode(cdr, method));
        return quote!(#begin #(#statements)* #end);
    }
    let count = members.len();
    let arms = members
        .iter()
        .enumerate()
        .map(|(i, member)| member.decode_arm(i, cdr, method));
    let missing = members.iter().enumerate().map(|(i, member)| {
        let (ident, initial) = (member.ident, member.initial(cdr));
        quote!(if !seen[#i] { self.#ident = #initial; })
    });
    quote! {
        #begin
        let mut seen = [false; #count];
        while let ::core::option::Option::Some(member) = reader.next_member(&scope)? {
            match member.id {
                #(#arms)*
                _ => reader.skip_unknown(&member)?,
            }
            reader.end_member(member);
        }
        #(#missing)*
        #end
    }
}

fn derive_enum(container: &Container, ident: &Ident, data: &DataEnum) -> Result<TokenStream> {
    let Container {
        name,
        extensibility,
        cdr,
        bit_bound,
    } = container;
    let mut literals = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(Error::new(
                variant.fields.span(),
                "an enum in a topic type is C-like",
            ));
        }
        let mut literal = variant.ident.unraw().to_string();
        for_each_meta(&variant.attrs, |meta| {
            if !meta.path.is_ident("rename") {
                return Err(meta.error("expected rename"));
            }
            literal = meta.value()?.parse::<LitStr>()?.value();
            Ok(())
        })?;
        literals.push(literal);
    }
    let variants: Vec<&Ident> = data.variants.iter().map(|variant| &variant.ident).collect();
    let Some(first) = variants.first() else {
        return Err(Error::new_spanned(
            ident,
            "an enum in a topic type has at least one literal",
        ));
    };
    let size = quote!(#cdr::enum_size(#bit_bound));
    Ok(quote! {
        #[automatically_derived]
        impl #cdr::Describe for #ident {
            const TYPE: #cdr::Type =
                #cdr::Type::Enum(#cdr::Shared::Static(&#cdr::EnumDescription {
                    name: #cdr::Shared::Static(#name),
                    extensibility: #cdr::Extensibility::#extensibility,
                    bit_bound: #bit_bound,
                    literals: #cdr::Shared::Static(&[#(
                        #cdr::Literal {
                            name: #cdr::Shared::Static(#literals),
                            value: {
                                let value = #ident::#variants as i128;
                                let half = 1_i128 << (#bit_bound - 1);
                                assert!(-half <= value && value < half, "beyond the bit bound");
                                #ident::#variants as i32
                            },
                        },
                    )*]),
                }));
        }

        #[automatically_derived]
        impl #cdr::Encode for #ident {
            const LENGTH_CODE: #cdr::LengthCode = #cdr::LengthCode::of_size(#size);

            fn encode(
                &self,
                writer: &mut #cdr::Writer<'_>,
            ) -> ::core::result::Result<(), #cdr::EncodeError> {
                let value = match self {
                    #(Self::#variants => #ident::#variants as i32,)*
                };
                writer.write_enum(value, #size);
                ::core::result::Result::Ok(())
            }
        }

        #[automatically_derived]
        impl #cdr::Decode for #ident {
            const MIN_SIZE: usize = #size;

            fn initial() -> Self {
                Self::#first
            }

            fn decode_into(
                &mut self,
                reader: &mut #cdr::Reader<'_>,
            ) -> ::core::result::Result<(), #cdr::DecodeError> {
                let value = reader.read_enum(#size)?;
                *self = match value {
                    #(literal if literal == #ident::#variants as i32 => Self::#variants,)*
                    _ => {
                        let kind = #cdr::DecodeErrorKind::UnknownLiteral(value);
                        return ::core::result::Result::Err(reader.error(kind));
                    }
                };
                ::core::result::Result::Ok(())
            }
        }
    })
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

const EXPECTED: &str = "expected key, id, rename, must_understand, bound or octet";
/// The largest member id that XTypes leaves to users.
const MAX_ID: u32 = 0x0fff_fffe;
