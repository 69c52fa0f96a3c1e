//! `#[derive(Topic)]` on a struct.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Fields, Ident, Result};

use super::member::Member;
use super::{Container, name_self};

pub(super) fn derive(container: &Container, ident: &Ident, fields: &Fields) -> Result<TokenStream> {
    let members = Member::parse_all(fields, container, ident)?;
    let Container {
        name,
        extensibility,
        cdr,
        nested,
        hash_ids,
        ..
    } = container;
    let has_key = members.iter().any(|member| member.key);
    let all: Vec<&Member<'_>> = members.iter().filter(|m| !m.non_serialized).collect();
    let keys: Vec<&Member<'_>> = all.iter().copied().filter(|m| m.key || !has_key).collect();
    let apart: Vec<&Member<'_>> = members.iter().filter(|m| m.non_serialized).collect();
    // What a sample does not have begins anew with it; one that has the key alone keeps what is not of that.
    let anew = apart.iter().map(|member| {
        let (ident, initial) = (member.ident, member.initial(cdr));
        quote!(self.#ident = #initial;)
    });
    let anew: TokenStream = anew.collect();
    let key_anew = (keys.len() == all.len()).then_some(&anew);

    let descriptions = all.iter();
    let descriptions = descriptions.map(|member| name_self(member.description(cdr), ident));
    let encode = encode_body(&all, container, &format_ident!("encode"));
    let encode_key = encode_key_body(&keys, container);
    let (encode_all, decode_all) = all_bodies(&all, &apart, container).unzip();
    let decode = decode_body(&all, container, &format_ident!("decode_into"));
    let decode_key = decode_body(&keys, container, &format_ident!("decode_key_into"));
    let idents = members.iter().map(|member| member.ident);
    let initials = members.iter().map(|member| member.initial(cdr));
    let min_sizes = all.iter().map(|member| member.min_size(cdr));
    let is_empty = all.is_empty().then(|| {
        quote!(
            const IS_EMPTY: bool = true;
        )
    });
    let checks = container.packed.then(|| copy_checks(&members));
    Ok(quote! {
        // What is wrong with the type is found where it is defined, not where it is used.
        const _: &#cdr::TypeDescription = <#ident as #cdr::Topic>::DESCRIPTION;
        #checks

        #[automatically_derived]
        impl #cdr::Describe for #ident {
            const TYPE: #cdr::Type =
                #cdr::Type::Struct(#cdr::Shared::Computed(<Self as #cdr::Topic>::description));
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

            #encode_all
        }

        #[automatically_derived]
        impl #cdr::Decode for #ident {
            const MIN_SIZE: usize = #cdr::min_struct_size(
                #cdr::Extensibility::#extensibility,
                0 #(+ #min_sizes)*,
            );
            #is_empty

            fn initial() -> Self {
                Self { #(#idents: #initials,)* }
            }

            fn decode_into(
                &mut self,
                reader: &mut #cdr::Reader<'_>,
            ) -> ::core::result::Result<(), #cdr::DecodeError> {
                #anew
                #decode
            }

            fn decode_key_into(
                &mut self,
                reader: &mut #cdr::Reader<'_>,
            ) -> ::core::result::Result<(), #cdr::DecodeError> {
                #key_anew
                #decode_key
            }

            #decode_all
        }

        #[automatically_derived]
        impl #cdr::Topic for #ident {
            const TYPE_NAME: &'static str = #name;
            const EXTENSIBILITY: #cdr::Extensibility = #cdr::Extensibility::#extensibility;
            const HAS_KEY: bool = #has_key;
            const DESCRIPTION: &'static #cdr::TypeDescription = {
                // Of one address, by which a type is known when it is met again.
                static DESCRIPTION: #cdr::TypeDescription = #cdr::TypeDescription {
                    name: #cdr::Shared::Static(#name),
                    extensibility: #cdr::Extensibility::#extensibility,
                    nested: #nested,
                    hash_ids: #hash_ids,
                    members: #cdr::Shared::Static(&[#(#descriptions,)*]),
                };
                &DESCRIPTION
            };
        }
    })
}

/// That fields to which there are no references can be copied.
fn copy_checks(members: &[Member<'_>]) -> TokenStream {
    let types = members.iter().map(|member| member.ty);
    quote! {
        const _: () = {
            const fn fields_of_packed_structs_are_copied<T: ::core::marker::Copy>() {}
            #(fields_of_packed_structs_are_copied::<#types>();)*
        };
    }
}

fn encode_body(members: &[&Member<'_>], container: &Container, method: &Ident) -> TokenStream {
    let Container {
        extensibility, cdr, ..
    } = container;
    let statements = parts(members, container).map(|part| match part {
        [member] => member.encode(cdr, method),
        run => {
            let values = run.iter().rev().fold(quote!(()), |rest, member| {
                let ident = member.ident;
                quote!((self.#ident, #rest))
            });
            quote!(writer.run(#values);)
        }
    });
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

/// Members that are read and written together, see `Run` of the encoding, or alone.
fn parts<'m, 'a>(
    members: &'m [&'m Member<'a>],
    container: &Container,
) -> impl Iterator<Item = &'m [&'m Member<'a>]> {
    let has_headers = container.extensibility == "Mutable";
    let mut rest = members;
    std::iter::from_fn(move || {
        let first = rest.first()?;
        let longest = first.number_size().filter(|_| !has_headers);
        let mut end = 0;
        let more = rest.iter().take_while(|member| {
            let size = member.number_size();
            let follows = size.is_some_and(|size| Some(size) <= longest && end % size == 0);
            end += size.unwrap_or_default();
            follows
        });
        let (part, others) = rest.split_at(more.count().max(1));
        rest = others;
        Some(part)
    })
}

/// Functions for the elements of a sequence, if all members that are serialized are numbers: see `runs` of reader and
/// writer.
fn all_bodies(
    members: &[&Member<'_>],
    apart: &[&Member<'_>],
    container: &Container,
) -> Option<(TokenStream, TokenStream)> {
    let Container {
        extensibility, cdr, ..
    } = container;
    if extensibility == "Mutable" || members.is_empty() {
        return None;
    }
    let (mut types, mut names, mut values) = (quote!(()), quote!(()), quote!(()));
    let mut fields = Vec::new();
    // Not what a default may call so.
    let place = Ident::new("value", Span::mixed_site());
    for (i, member) in members.iter().enumerate().rev() {
        let (ident, ty) = (member.ident, member.plain_type()?);
        let name = format_ident!("number{i}", span = Span::mixed_site());
        types = quote!((#ty, #types));
        names = quote!((#name, #names));
        values = quote!((value.#ident, #values));
        fields.push(quote!(#ident: #name));
    }
    for member in apart {
        let (ident, initial) = (member.ident, member.initial(cdr));
        fields.push(quote!(#ident: #initial));
    }
    let encode_all = quote! {
        fn encode_all(
            values: &[Self],
            writer: &mut #cdr::Writer<'_>,
        ) -> ::core::result::Result<(), #cdr::EncodeError> {
            let extensibility = #cdr::Extensibility::#extensibility;
            let written = writer.runs(extensibility, values, |value| #values);
            let mut rest = values.iter().skip(written);
            rest.try_for_each(|value| #cdr::Encode::encode(value, writer))
        }
    };
    let decode_all = quote! {
        fn decode_all(
            values: &mut [Self],
            reader: &mut #cdr::Reader<'_>,
        ) -> ::core::result::Result<(), #cdr::DecodeError> {
            let extensibility = #cdr::Extensibility::#extensibility;
            let read = reader.runs(extensibility, values, |#place: &mut Self, #names: #types| {
                *#place = Self { #(#fields),* };
            });
            let mut rest = values.iter_mut().skip(read);
            rest.try_for_each(|value| #cdr::Decode::decode_into(value, reader))
        }
    };
    Some((encode_all, decode_all))
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
        let statements = parts(members, container).map(|part| {
            let each = part.iter().map(|member| member.decode(cdr, method));
            let [_, _, ..] = part else {
                return quote!(#(#each)*);
            };
            let (mut types, mut values) = (quote!(()), quote!(()));
            for member in part.iter().rev() {
                let (ident, ty) = (member.ident, member.ty);
                types = quote!((::core::primitive::#ty, #types));
                values = quote!((self.#ident, #values));
            }
            quote! {
                match reader.run::<#types>() {
                    ::core::option::Option::Some(values) => #values = values,
                    ::core::option::Option::None => { #(#each)* }
                }
            }
        });
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
    let optional = members.iter().filter_map(|member| member.empty_arm(cdr));
    let optional: Vec<TokenStream> = optional.collect();
    let next = match optional.as_slice() {
        [] => quote!(reader.next_member(&scope)?),
        arms => quote!(reader.next_member_with(&scope, |id| match id { #(#arms)* _ => false })?),
    };
    quote! {
        #begin
        let mut seen = [false; #count];
        while let ::core::option::Option::Some(member) = #next {
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
