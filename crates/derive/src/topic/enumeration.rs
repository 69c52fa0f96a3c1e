//! `#[derive(Topic)]` on a C-like enum.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{DataEnum, Error, Ident, LitStr, Result};

use super::{Container, for_each_meta};

pub(super) fn derive(container: &Container, ident: &Ident, data: &DataEnum) -> Result<TokenStream> {
    let Container {
        name,
        extensibility,
        cdr,
        bit_bound,
        ..
    } = container;
    let bit_bound = bit_bound.unwrap_or(32);
    let (mut literals, mut default) = (Vec::new(), None);
    for variant in &data.variants {
        let mut literal = variant.ident.unraw().to_string();
        for_each_meta(&variant.attrs, |meta| {
            if meta.path.is_ident("rename") {
                literal = meta.value()?.parse::<LitStr>()?.value();
            } else if !meta.path.is_ident("default") {
                return Err(meta.error("expected rename or default"));
            } else if default.replace(&variant.ident).is_some() {
                return Err(meta.error("two literals are the default"));
            }
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
    let initial = default.unwrap_or(first);
    // Descriptions have the default first, which is how peers are told of it.
    let mut described: Vec<(&Ident, &String)> = variants.iter().copied().zip(&literals).collect();
    let at = variants.iter().position(|variant| *variant == initial);
    if let Some(up_to_default) = at.and_then(|at| described.get_mut(..=at)) {
        up_to_default.rotate_right(1);
    }
    let (described, names): (Vec<&Ident>, Vec<&String>) = described.into_iter().unzip();
    let size = quote!(#cdr::enum_size(#bit_bound));
    Ok(quote! {
        // What is wrong with the type is found where it is defined, not where it is used.
        const _: &#cdr::Type = <#ident as #cdr::Describe>::TYPE_REF;

        #[automatically_derived]
        impl #cdr::Describe for #ident {
            const TYPE: #cdr::Type =
                #cdr::Type::Enum(#cdr::Shared::Static(&#cdr::EnumDescription {
                    name: #cdr::Shared::Static(#name),
                    extensibility: #cdr::Extensibility::#extensibility,
                    bit_bound: #bit_bound,
                    literals: #cdr::Shared::Static(&[#(
                        #cdr::Literal {
                            name: #cdr::Shared::Static(#names),
                            value: {
                                let value = #ident::#described as i128;
                                let half = 1_i128 << (#bit_bound - 1);
                                assert!(-half <= value && value < half, "beyond the bit bound");
                                #ident::#described as i32
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
                Self::#initial
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
                        reader.not_constructed(kind)?;
                        Self::#initial
                    }
                };
                ::core::result::Result::Ok(())
            }
        }
    })
}
