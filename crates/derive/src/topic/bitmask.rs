//! `#[derive(Topic)]` on a struct around an unsigned number: a bitmask.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{Error, Fields, Ident, Result, Type};

use super::Container;

pub(super) fn derive(container: &Container, ident: &Ident, fields: &Fields) -> Result<TokenStream> {
    let Container {
        name,
        extensibility,
        cdr,
        ..
    } = container;
    let (ty, width) = carrier(ident, fields)?;
    let bit_bound = container.bit_bound.unwrap_or(width);
    if !(width / 2 < bit_bound || width == 8) || bit_bound > width {
        let text = format!("{bit_bound} bits are those of another unsigned number");
        return Err(Error::new_spanned(ty, text));
    }
    let flags = positions(container, bit_bound)?;
    let constants = flags.iter().map(|(name, position)| {
        let doc = format!("Bit {position}.");
        quote! {
            #[doc = #doc]
            #[allow(dead_code, reason = "a program may need few of the flags")]
            #[allow(non_upper_case_globals, reason = "peers call it so")]
            pub const #name: Self = Self(1 << #position);
        }
    });
    let names = flags.iter().map(|(name, _)| name.unraw().to_string());
    let positions = flags.iter().map(|(_, position)| position);
    let size = quote!(#cdr::bitmask_size(#bit_bound));
    Ok(quote! {
        impl #ident {
            #(#constants)*
        }

        #[automatically_derived]
        impl #cdr::Describe for #ident {
            const TYPE: #cdr::Type =
                #cdr::Type::Bitmask(#cdr::Shared::Static(&#cdr::BitmaskDescription {
                    name: #cdr::Shared::Static(#name),
                    extensibility: #cdr::Extensibility::#extensibility,
                    bit_bound: #bit_bound,
                    flags: #cdr::Shared::Static(&[#(
                        #cdr::Flag {
                            name: #cdr::Shared::Static(#names),
                            position: #positions,
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
                writer.write_bits(::core::convert::From::from(self.0), #size);
                ::core::result::Result::Ok(())
            }
        }

        #[automatically_derived]
        impl #cdr::Decode for #ident {
            const MIN_SIZE: usize = #size;

            fn initial() -> Self {
                Self(0)
            }

            fn decode_into(
                &mut self,
                reader: &mut #cdr::Reader<'_>,
            ) -> ::core::result::Result<(), #cdr::DecodeError> {
                // As wide as what was read.
                self.0 = reader.read_bits(#size)? as #ty;
                ::core::result::Result::Ok(())
            }
        }
    })
}

/// The number, and how many bits it has.
fn carrier<'f>(ident: &Ident, fields: &'f Fields) -> Result<(&'f Type, u16)> {
    let mut all = fields.iter();
    let (Some(field), None) = (all.next(), all.next()) else {
        return Err(Error::new_spanned(ident, WRONG));
    };
    let Type::Path(path) = &field.ty else {
        return Err(Error::new_spanned(&field.ty, WRONG));
    };
    let widths = [("u8", 8), ("u16", 16), ("u32", 32), ("u64", 64)];
    let width = widths.iter().find(|(name, _)| path.path.is_ident(name));
    match width {
        Some((_, width)) => Ok((&field.ty, *width)),
        None => Err(Error::new_spanned(&field.ty, WRONG)),
    }
}

/// The flags in order of their positions. One that is not given is one more than the one before.
fn positions(container: &Container, bit_bound: u16) -> Result<Vec<(&Ident, u16)>> {
    let mut flags: Vec<(&Ident, u16)> = Vec::new();
    let mut next = 0;
    for (name, position) in &container.flags {
        let position = position.unwrap_or(next);
        if position >= bit_bound {
            let text = format!("bit {position} is beyond the bit bound {bit_bound}");
            return Err(Error::new_spanned(name, text));
        }
        if flags
            .iter()
            .any(|(other, at)| *at == position || *other == name)
        {
            return Err(Error::new_spanned(name, "two flags are the same"));
        }
        next = position + 1;
        flags.push((name, position));
    }
    if flags.is_empty() {
        return Err(Error::new_spanned(&container.extensibility, WRONG));
    }
    flags.sort_by_key(|(_, position)| *position);
    Ok(flags)
}

const WRONG: &str = "a topic type is a struct with named members, an enum, or a bitmask: \
                     `#[topic(flags(FIRST, OTHER = 3))] struct Flags(u8)`";
