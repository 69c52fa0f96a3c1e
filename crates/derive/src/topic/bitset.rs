//! `#[derive(Topic)]` on a struct of fields that share one number: a bitset.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{Error, Field, Fields, Ident, LitInt, LitStr, Result, Type};

use super::{Container, for_each_meta};

/// A field, with what `#[topic(...)]` says on it.
struct Bitfield<'f> {
    ident: &'f Ident,
    name: String,
    ty: &'f Type,
    octet: bool,
    bits: u8,
    position: u16,
}

pub(super) fn derive(container: &Container, ident: &Ident, fields: &Fields) -> Result<TokenStream> {
    let Container { name, cdr, .. } = container;
    let mut all: Vec<Bitfield<'_>> = Vec::new();
    for field in fields {
        let free = all.last().map_or(0, Bitfield::end);
        let field = Bitfield::parse(field, free)?;
        if all.iter().any(|other| other.name == field.name) {
            let text = format!("two fields are called `{}`", field.name);
            return Err(Error::new_spanned(field.ident, text));
        }
        all.push(field);
    }
    let Some(bit_bound) = all.last().map(Bitfield::end) else {
        return Err(Error::new_spanned(ident, "a bitset has at least one field"));
    };
    let size = quote!(#cdr::bitmask_size(#bit_bound));
    let descriptions = all.iter().map(|field| field.description(cdr));
    let fits = all.iter().map(|Bitfield { ty, bits, .. }| {
        quote!(assert!(#bits <= <#ty as #cdr::BitfieldValue>::WIDTH, "more bits than the type has");)
    });
    let places = all.iter().map(|field| {
        let Bitfield {
            ident: member,
            bits,
            position,
            ..
        } = field;
        let path = format!("{}.{}", ident.unraw(), field.name);
        quote! {
            bits |= #cdr::BitfieldValue::place(self.#member, #position, #bits)
                .map_err(|error| error.within(#path))?;
        }
    });
    let takes = |bitset: TokenStream| {
        let takes = all.iter().map(move |field| {
            let Bitfield {
                ident,
                bits,
                position,
                ..
            } = field;
            quote!(#ident: #cdr::BitfieldValue::take(#bitset, #position, #bits),)
        });
        quote!(Self { #(#takes)* })
    };
    let (taken, initial) = (takes(quote!(bits)), takes(quote!(0)));
    Ok(quote! {
        const _: () = { #(#fits)* };

        #[automatically_derived]
        impl #cdr::Describe for #ident {
            const TYPE: #cdr::Type =
                #cdr::Type::Bitset(#cdr::Shared::Static(&#cdr::BitsetDescription {
                    name: #cdr::Shared::Static(#name),
                    fields: #cdr::Shared::Static(&[#(#descriptions,)*]),
                }));
        }

        #[automatically_derived]
        impl #cdr::Encode for #ident {
            const LENGTH_CODE: #cdr::LengthCode = #cdr::LengthCode::of_size(#size);

            fn encode(
                &self,
                writer: &mut #cdr::Writer<'_>,
            ) -> ::core::result::Result<(), #cdr::EncodeError> {
                let mut bits = 0;
                #(#places)*
                writer.write_bits(bits, #size);
                ::core::result::Result::Ok(())
            }
        }

        #[automatically_derived]
        impl #cdr::Decode for #ident {
            const MIN_SIZE: usize = #size;

            fn initial() -> Self {
                #initial
            }

            fn decode_into(
                &mut self,
                reader: &mut #cdr::Reader<'_>,
            ) -> ::core::result::Result<(), #cdr::DecodeError> {
                let bits = reader.read_bits(#size)?;
                *self = #taken;
                ::core::result::Result::Ok(())
            }
        }
    })
}

impl<'f> Bitfield<'f> {
    /// One that lies at `free` or above it.
    fn parse(field: &'f Field, free: u16) -> Result<Self> {
        let Some(ident) = &field.ident else {
            return Err(Error::new_spanned(field, "fields of a bitset have names"));
        };
        let mut parsed = Self {
            ident,
            name: ident.unraw().to_string(),
            ty: &field.ty,
            octet: false,
            bits: 0,
            position: free,
        };
        for_each_meta(&field.attrs, |meta| {
            if meta.path.is_ident("bits") {
                parsed.bits = meta.value()?.parse::<LitInt>()?.base10_parse()?;
            } else if meta.path.is_ident("position") {
                parsed.position = meta.value()?.parse::<LitInt>()?.base10_parse()?;
            } else if meta.path.is_ident("rename") {
                parsed.name = meta.value()?.parse::<LitStr>()?.value();
            } else if meta.path.is_ident("octet") {
                parsed.octet = true;
            } else {
                return Err(meta.error("expected bits, position, rename or octet"));
            }
            Ok(())
        })?;
        let wrong = if !(1..=64).contains(&parsed.bits) {
            "a field of a bitset says how many bits it has: `#[topic(bits = 3)]`, 1 to 64"
        } else if parsed.position < free {
            "fields of a bitset come in order of their positions, and share no bit"
        } else if parsed.end() > 64 {
            "a bitset has 64 bits at most"
        } else {
            return Ok(parsed);
        };
        Err(Error::new_spanned(field, wrong))
    }

    /// Where the bits behind it begin.
    fn end(&self) -> u16 {
        self.position.saturating_add(self.bits.into())
    }

    fn description(&self, cdr: &syn::Path) -> TokenStream {
        let Self {
            name,
            ty,
            bits,
            position,
            ..
        } = self;
        let ty = match self.octet {
            true => quote!(#cdr::Type::Byte),
            false => quote!(<#ty as #cdr::Describe>::TYPE),
        };
        quote!(#cdr::Bitfield {
            name: #cdr::Shared::Static(#name),
            position: #position,
            bits: #bits,
            ty: #ty,
        })
    }
}
