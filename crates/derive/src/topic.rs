//! `#[derive(Topic)]`: reads the attributes, checks what can be checked without types, and writes
//! the calls of the encoding's reader and writer, member by member. Knows names of that crate's
//! items, and no byte of the encoding.

mod enumeration;
mod member;
mod structure;

use proc_macro2::TokenStream;
use quote::format_ident;
use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Data, DeriveInput, Error, Ident, LitInt, LitStr, Path, Result, parse_quote};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    if let Some(parameter) = input.generics.params.first() {
        return Err(Error::new_spanned(
            parameter,
            "a topic type has no generic parameters",
        ));
    }
    let container = Container::parse(input)?;
    match &input.data {
        Data::Struct(data) => structure::derive(&container, &input.ident, &data.fields),
        Data::Enum(data) => enumeration::derive(&container, &input.ident, data),
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
