//! `#[derive(Topic)]` on an enum whose variants have fields: a union.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{DataEnum, Error, Expr, Fields, Ident, Path, Result, Type, Variant};

use super::member::{Member, TryConstruct};
use super::{Container, for_each_meta, name_self, names_one_of, parse_values};

/// A variant: a member of the union, or values of the discriminator without one.
struct Case<'a> {
    ident: &'a Ident,
    member: Option<Member<'a>>,
    /// Values of the discriminator, as `i64`.
    labels: Vec<TokenStream>,
    /// The one that is written, as the discriminator's type; what is told if it is the default.
    written: Option<Expr>,
    default: bool,
}

pub(super) fn derive(container: &Container, ident: &Ident, data: &DataEnum) -> Result<TokenStream> {
    let cases = parse_all(container, ident, data)?;
    let Container {
        name,
        extensibility,
        cdr,
        nested,
        discriminator,
        octet,
        key,
        ..
    } = container;
    let discriminator_type = match octet {
        true => quote!(<#discriminator as #cdr::Describe>::TYPE_REF.constrained(true, 0)),
        false => quote!(<#discriminator as #cdr::Describe>::TYPE),
    };
    let descriptions = cases.iter().filter_map(|case| case.description(cdr));
    let descriptions = descriptions.map(|description| name_self(description, ident));
    let checks = checks(&cases, container);
    let encode = encode_body(&cases, container, ident, &format_ident!("encode"));
    let encode_key = encode_body(&cases, container, ident, &format_ident!("encode_key"));
    let decode = decode_body(&cases, container, ident, &format_ident!("decode_into"));
    let decode_key = decode_body(&cases, container, ident, &format_ident!("decode_key_into"));
    let initial = cases.iter().find(|case| case.default).or(cases.first());
    let initial = initial.map(|case| case.initial(cdr));
    Ok(quote! {
        // What is wrong with the type is found where it is defined, not where it is used.
        const _: &#cdr::Type = <#ident as #cdr::Describe>::TYPE_REF;
        #checks

        #[automatically_derived]
        impl #cdr::Describe for #ident {
            const TYPE: #cdr::Type = {
                // A function, so that the type can contain itself.
                fn description() -> &'static #cdr::UnionDescription {
                    static DESCRIPTION: #cdr::UnionDescription = #cdr::UnionDescription {
                        name: #cdr::Shared::Static(#name),
                        extensibility: #cdr::Extensibility::#extensibility,
                        nested: #nested,
                        discriminator: #discriminator_type,
                        discriminator_key: #key,
                        cases: #cdr::Shared::Static(&[#(#descriptions,)*]),
                    };
                    &DESCRIPTION
                }
                #cdr::Type::Union(#cdr::Shared::Computed(description))
            };
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
                <#discriminator as #cdr::Decode>::MIN_SIZE,
            );

            fn initial() -> Self {
                #initial
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
    })
}

/// All variants. A label that is not given is one more than the last of the variant before.
fn parse_all<'a>(container: &Container, of: &Ident, data: &'a DataEnum) -> Result<Vec<Case<'a>>> {
    let mut cases: Vec<Case<'a>> = Vec::new();
    // Where members have headers, 0 is the discriminator's id.
    let mut next_id = u32::from(container.extensibility == "Mutable");
    let mut next_label = quote!(0_i64);
    for variant in &data.variants {
        let case = Case::parse(variant, next_id, &next_label, container, of)?;
        if case.default && cases.iter().any(|case| case.default) {
            return Err(Error::new_spanned(variant, "two variants are the default"));
        }
        if let Some(member) = &case.member {
            let mut members = cases.iter().filter_map(|case| case.member.as_ref());
            if members.any(|other| other.id == member.id || other.name == member.name) {
                return Err(Error::new_spanned(
                    variant,
                    "two members have this name or id",
                ));
            }
            next_id = member.id + 1;
        }
        if let Some(last) = case.labels.last() {
            next_label = quote!(#last + 1);
        }
        cases.push(case);
    }
    let mut empty = cases.iter().filter(|case| case.member.is_none());
    let default = cases.iter().find(|case| case.default);
    match (empty.next(), default.and_then(|case| case.member.as_ref())) {
        (Some(case), Some(_)) => Err(Error::new_spanned(
            case.ident,
            "every value of the discriminator has a member, if only the default: \
             no variant can be without a field",
        )),
        _ => Ok(cases),
    }
}

impl<'a> Case<'a> {
    fn parse(
        variant: &'a Variant,
        id: u32,
        next_label: &TokenStream,
        container: &Container,
        of: &Ident,
    ) -> Result<Self> {
        let ident = &variant.ident;
        let ty = match &variant.fields {
            Fields::Unit => None,
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                fields.unnamed.first().map(|field| &field.ty)
            }
            fields => {
                return Err(Error::new_spanned(
                    fields,
                    "a variant of a union has one field without a name, or none",
                ));
            }
        };
        let mut member = ty.map(|ty| Member::new(ident, snake_case(ident), ty, id));
        let (mut given, mut default, mut written) = (Vec::new(), false, None);
        for_each_meta(&variant.attrs, |meta| {
            if meta.path.is_ident("case") {
                given.extend(parse_values(&meta)?);
            } else if meta.path.is_ident("default") {
                default = true;
                if meta.input.peek(syn::Token![=]) {
                    written = Some(meta.value()?.parse()?);
                }
            } else if let Some(member) = &mut member {
                if meta.path.is_ident("initial") {
                    member.default = Some(meta.value()?.parse()?);
                } else if !member.read(&meta)? {
                    return Err(meta.error(EXPECTED));
                }
            } else {
                return Err(meta.error(EXPECTED));
            }
            Ok(())
        })?;
        if let Some(member) = &mut member {
            member.finish(&of.unraw().to_string())?;
        }
        let cast = |label: &Expr| as_number(&quote!((#label)), &container.discriminator);
        let mut labels: Vec<TokenStream> = given.iter().map(cast).collect();
        if labels.is_empty() && !default {
            if !is_number(&container.discriminator) {
                return Err(Error::new_spanned(
                    ident,
                    "a discriminator that is no integer needs `case = ...` or `default`",
                ));
            }
            labels.push(next_label.clone());
        }
        Ok(Self {
            ident,
            member,
            labels,
            written: written.or(given.into_iter().next()),
            default,
        })
    }

    fn description(&self, cdr: &Path) -> Option<TokenStream> {
        let Self {
            labels, default, ..
        } = self;
        let member = self.member.as_ref()?.description(cdr);
        Some(quote! {
            #cdr::Case {
                member: #member,
                labels: #cdr::Shared::Static(&[#((#labels) as i32,)*]),
                default: #default,
            }
        })
    }

    /// The discriminator that is written.
    fn discriminator(&self, cases: &[Self], container: &Container) -> Result<TokenStream> {
        let Container {
            cdr,
            discriminator: ty,
            ..
        } = container;
        if let Some(written) = &self.written {
            return Ok(quote!(#written));
        }
        let number = match self.labels.first() {
            Some(label) => quote!(#label),
            None => {
                let labels: Vec<_> = cases.iter().flat_map(|case| &case.labels).collect();
                quote!({
                    let mut free = 0_i64;
                    while false #(|| free == #labels)* {
                        free += 1;
                    }
                    free
                })
            }
        };
        match ty {
            _ if is_number(ty) => Ok(quote!((#number) as #ty)),
            _ if is(ty, "bool") => Ok(quote!((#number) == 1)),
            _ if is(ty, "char") => Ok(quote!((#number) as u8 as char)),
            _ if names_one_of(ty, &["WChar"]) => Ok(quote!(#cdr::WChar((#number) as u16))),
            _ => Err(Error::new_spanned(
                self.ident,
                "say which discriminator is written: `default = Enum::Literal`",
            )),
        }
    }

    fn initial(&self, cdr: &Path) -> TokenStream {
        let ident = self.ident;
        match &self.member {
            Some(member) => {
                let initial = member.initial(cdr);
                quote!(Self::#ident(#initial))
            }
            None => quote!(Self::#ident),
        }
    }
}

/// That labels are values of the discriminator, and no two the same.
fn checks(cases: &[Case<'_>], container: &Container) -> TokenStream {
    let labels: Vec<_> = cases.iter().flat_map(|case| &case.labels).collect();
    let count = labels.len();
    let ty = &container.discriminator;
    let fits = is_number(ty).then(|| quote! {
        assert!(labels[at] as #ty as i64 == labels[at], "a label is no value of the discriminator");
    });
    quote! {
        const _: () = {
            let labels: [i64; #count] = [#(#labels,)*];
            let mut at = 0;
            while at < #count {
                #fits
                assert!(labels[at] as i32 as i64 == labels[at], "a label is no 32-bit number");
                let mut before = 0;
                while before < at {
                    assert!(labels[before] != labels[at], "two variants have this label");
                    before += 1;
                }
                at += 1;
            }
        };
    }
}

fn encode_body(
    cases: &[Case<'_>],
    container: &Container,
    ident: &Ident,
    method: &Ident,
) -> TokenStream {
    let Container {
        extensibility,
        cdr,
        discriminator: ty,
        ..
    } = container;
    let path = format!("{}.discriminator", ident.unraw());
    let only_discriminator = container.key && method == "encode_key";
    let arms = cases.iter().map(|case| {
        let ident = case.ident;
        let discriminator = case
            .discriminator(cases, container)
            .unwrap_or_else(|error| error.to_compile_error());
        let write = quote! {
            writer.member(
                &mark,
                const {
                    #cdr::MemberHeader::of_discriminator(<#ty as #cdr::Encode>::LENGTH_CODE)
                },
                #path,
                |writer| {
                    let discriminator: #ty = #discriminator;
                    #cdr::Encode::encode(&discriminator, writer)
                },
            )?;
        };
        match &case.member {
            None => quote!(Self::#ident => { #write }),
            Some(_) if only_discriminator => quote!(Self::#ident(_) => { #write }),
            Some(member) => {
                let member = member.encode_value(&quote!(value), cdr, method);
                quote!(Self::#ident(value) => { #write #member })
            }
        }
    });
    quote! {
        let mark = writer.begin_struct(#cdr::Extensibility::#extensibility);
        match self {
            #(#arms)*
        }
        writer.end_struct(mark)
    }
}

fn decode_body(
    cases: &[Case<'_>],
    container: &Container,
    ident: &Ident,
    method: &Ident,
) -> TokenStream {
    let Container {
        extensibility,
        cdr,
        discriminator: ty,
        ..
    } = container;
    let path = format!("{}.discriminator", ident.unraw());
    let only_discriminator = container.key && method == "decode_key_into";
    let extensibility = quote!(#cdr::Extensibility::#extensibility);
    let is_mutable = container.extensibility == "Mutable";
    let skip = is_mutable.then(|| quote!(reader.skip_members(&scope)?;));
    let read = |case: &Case<'_>| {
        let (ident, initial) = (case.ident, case.initial(cdr));
        let Some(member) = &case.member else {
            return quote!(*self = #initial; #skip);
        };
        let (id, path) = (member.id, &member.path);
        let (decode, missing) = (member.decode_value(cdr, method), member.initial(cdr));
        let read = match only_discriminator {
            true => quote!(#skip),
            false => {
                let call = quote! {
                    reader.union_member(&scope, #extensibility, #id, #path, value, #decode)?
                };
                let found = match member.try_construct {
                    TryConstruct::UseDefault => quote!({
                        let tried = reader.begin_try();
                        let found = #call;
                        !reader.end_try(tried) && found
                    }),
                    _ => call,
                };
                quote! {
                    if let Self::#ident(value) = self {
                        let found = #found;
                        if !found {
                            *value = #missing;
                        }
                    }
                }
            }
        };
        quote! {
            if !::core::matches!(self, Self::#ident(_)) {
                *self = #initial;
            }
            #read
        }
    };
    let labelled = cases.iter().filter(|case| !case.labels.is_empty());
    let arms = labelled.map(|case| {
        let (labels, read) = (&case.labels, read(case));
        quote!(label if false #(|| label == #labels)* => { #read })
    });
    let other = match cases.iter().find(|case| case.default) {
        Some(case) => read(case),
        None => quote!(reader.unknown_case(&scope, #extensibility, label, #path)?;),
    };
    let number = as_number(&quote!(discriminator), ty);
    quote! {
        let scope = reader.begin_struct(#extensibility)?;
        let ::core::option::Option::Some(discriminator) =
            reader.discriminator::<#ty>(&scope, #extensibility, #path)?
        else {
            reader.end_struct(scope);
            return ::core::result::Result::Ok(());
        };
        match #number {
            #(#arms)*
            label => { #other }
        }
        reader.end_struct(scope);
        ::core::result::Result::Ok(())
    }
}

/// A value of the discriminator as `i64`.
fn as_number(value: &TokenStream, ty: &Type) -> TokenStream {
    match ty {
        _ if is(ty, "char") => quote!(#value as u32 as i64),
        _ if names_one_of(ty, &["WChar"]) => quote!(#value.0 as i64),
        _ => quote!(#value as i64),
    }
}

fn is_number(ty: &Type) -> bool {
    ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"]
        .iter()
        .any(|name| is(ty, name))
}

fn is(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident(name))
}

/// `StopLimit` as `stop_limit`, which is how IDL names members.
fn snake_case(ident: &Ident) -> String {
    let mut name = String::new();
    for char in ident.unraw().to_string().chars() {
        if char.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(char.to_lowercase());
    }
    name
}

const EXPECTED: &str = "expected case, default, or on a variant with a field also initial, id, \
                        hash_id, rename, try_construct, bound, octet, map_key or map_value";
