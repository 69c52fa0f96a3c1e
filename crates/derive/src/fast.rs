//! `#[derive(FastMessage)]`: numbers a struct's members and hands events on by number. Knows no template.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Fields, Ident, LitStr, Member, Type};

/// One member of the struct.
struct Entry<'a> {
    member: Member,
    ty: &'a Type,
    name: String,
    /// Expression of the members' numbers before it.
    offset: TokenStream,
    end: Ident,
}

pub(crate) fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(syn::Error::new_spanned(
            &input.ident,
            "FastMessage is for structs",
        ));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(syn::Error::new_spanned(
            &input.ident,
            "FastMessage needs named members",
        ));
    };
    if let Some(param) = input.generics.params.first() {
        return Err(syn::Error::new_spanned(
            param,
            "FastMessage is for structs without parameters",
        ));
    }
    let ident = &input.ident;
    let template = attribute(&input.attrs, "template")?.unwrap_or_else(|| ident.to_string());
    let mut entries = Vec::new();
    let mut offset = quote!(0u32);
    for (index, field) in fields.named.iter().enumerate() {
        let Some(field_ident) = &field.ident else {
            continue;
        };
        let name = match attribute(&field.attrs, "rename")? {
            Some(name) => name,
            None => field_ident.to_string().trim_start_matches("r#").to_owned(),
        };
        let end = Ident::new(&format!("END_{index}"), field_ident.span());
        entries.push(Entry {
            member: Member::Named(field_ident.clone()),
            ty: &field.ty,
            name,
            offset,
            end: end.clone(),
        });
        offset = quote!(#end);
    }
    Ok(expand(ident, &template, &entries, &offset))
}

fn expand(
    ident: &Ident,
    template: &str,
    entries: &[Entry<'_>],
    count: &TokenStream,
) -> TokenStream {
    let typed = quote!(::tickwire_fast::typed);
    let types: Vec<_> = entries.iter().map(|entry| entry.ty).collect();
    let members: Vec<_> = entries.iter().map(|entry| &entry.member).collect();
    let names = entries.iter().map(|entry| &entry.name);
    let offsets: Vec<_> = entries.iter().map(|entry| &entry.offset).collect();
    let ends: Vec<_> = entries.iter().map(|entry| &entry.end).collect();
    // Nested pairs, since the standard library has no Default for long tuples.
    let spare = types.iter().rev().fold(
        quote!(()),
        |rest, ty| quote!((<#ty as #typed::Member>::Spare, #rest)),
    );
    let places: Vec<_> = (0..entries.len())
        .map(|depth| std::iter::repeat_n(quote!(.1), depth).collect::<TokenStream>())
        .collect();
    let numbers = quote! {
        #(const #ends: u32 = #offsets + <#types as #typed::Member>::COUNT;)*
    };
    quote! {
        #[automatically_derived]
        impl ::tickwire_fast::FastMessage for #ident {
            const TEMPLATE: &'static str = #template;
            const COUNT: u32 = {
                #numbers
                #count
            };
            type Spare = #spare;

            fn bind(
                binder: &mut #typed::Binder<'_>,
                fields: ::tickwire_fast::Fields<'_>,
                base: u32,
            ) -> ::core::result::Result<(), #typed::BindError> {
                #numbers
                #(binder.member::<#types>(::core::clone::Clone::clone(&fields), #names, base + #offsets)?;)*
                ::core::result::Result::Ok(())
            }

            #[inline]
            fn set(
                &mut self,
                number: u32,
                event: #typed::Event<'_>,
                spare: &mut Self::Spare,
            ) -> ::core::result::Result<(), ::tickwire_fast::Code> {
                #numbers
                match number {
                    #(#offsets => return #typed::Member::set(&mut self.#members, 0, event, &mut spare #places .0),)*
                    _ => {}
                }
                // The numbers of members below; there are none between most.
                #(if number > #offsets && number < #ends {
                    return #typed::Member::set(&mut self.#members, number - #offsets, event, &mut spare #places .0);
                })*
                ::core::result::Result::Ok(())
            }

            fn give(&self, number: u32, field: ::tickwire_fast::Field<'_>, giver: &mut #typed::Giver<'_>) {
                #numbers
                #(if number < #ends {
                    return #typed::Member::give(&self.#members, field, giver);
                })*
            }

            fn clear(&mut self, spare: &mut Self::Spare) {
                #(#typed::Member::clear(&mut self.#members, &mut spare #places .0);)*
            }
        }
    }
}

/// The string of `#[fast(key = "...")]`, if the attribute is there; any other key is an error.
fn attribute(attributes: &[syn::Attribute], key: &str) -> syn::Result<Option<String>> {
    let mut found = None;
    for attribute in attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("fast"))
    {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident(key) {
                return Err(meta.error(format!("expected {key} = \"...\"")));
            }
            found = Some(meta.value()?.parse::<LitStr>()?.value());
            Ok(())
        })?;
    }
    Ok(found)
}
