//! What `#[topic(...)]` says of the type of a member that Rust's type does not tell: bounds, and
//! which `u8`s are octets.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::meta::ParseNestedMeta;
use syn::{Error, Expr, ExprLit, Lit, Path, Result, Type};

use super::{argument_of, names_one_of, parse_values};

/// What is said of a type, and of what is in it.
#[derive(Default)]
pub(super) struct Constraint {
    /// Whether its `u8`s are octets; those in a map it does not reach.
    octet: bool,
    /// Largest length, then that of each element, and so on; 0 for any.
    bounds: Vec<u32>,
    /// Of the map that it is or that its elements are: what is said of keys and of values.
    entries: Option<Box<Entries>>,
}

#[derive(Default)]
struct Entries {
    key: Constraint,
    value: Constraint,
}

impl Constraint {
    /// Reads one attribute; false if it is something else.
    pub(super) fn read(&mut self, meta: &ParseNestedMeta<'_>) -> Result<bool> {
        if meta.path.is_ident("octet") {
            self.octet = true;
        } else if meta.path.is_ident("bound") {
            for bound in parse_values(meta)? {
                let Expr::Lit(ExprLit {
                    lit: Lit::Int(bound),
                    ..
                }) = &bound
                else {
                    return Err(Error::new_spanned(bound, "a bound is a number"));
                };
                self.bounds.push(bound.base10_parse()?);
            }
            if self.bounds.last().is_none_or(|last| *last == 0) {
                return Err(meta.error("a bound is at least 1"));
            }
        } else if meta.path.is_ident("map_key") {
            self.entries.get_or_insert_default().key.read_all(meta)?;
        } else if meta.path.is_ident("map_value") {
            self.entries.get_or_insert_default().value.read_all(meta)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Reads attributes in parentheses.
    fn read_all(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        meta.parse_nested_meta(|meta| match self.read(&meta)? {
            true => Ok(()),
            false => Err(meta.error("expected bound, octet, map_key or map_value")),
        })
    }

    /// That the type has what is said of it; of types by other names only bounds are known.
    pub(super) fn check(&self, ty: &Type) -> Result<()> {
        let mut inner = Some(ty);
        for bound in &self.bounds {
            let bounded = ["String", "CompactString", "WString", "Vec", "BTreeMap"];
            if inner.is_none_or(|ty| *bound > 0 && !names_one_of(unboxed(ty), &bounded)) {
                return Err(Error::new_spanned(
                    ty,
                    "only strings, Vec and maps have a bound",
                ));
            }
            inner = inner.and_then(element_type);
        }
        let Some(entries) = &self.entries else {
            return Ok(());
        };
        let mut map = ty;
        while let Some(element) = element_type(map) {
            map = element;
        }
        let (Some((key, value)), false) = (entry_types(map), self.octet) else {
            return Err(Error::new_spanned(
                ty,
                "only maps have map_key and map_value, and say octet there",
            ));
        };
        entries.key.check(key)?;
        entries.value.check(value)
    }

    /// The description of a type of which this is said.
    pub(super) fn description(&self, ty: &Type, cdr: &Path) -> TokenStream {
        self.description_within(ty, &self.bounds, cdr)
    }

    /// The same of what is in it, whose bounds are these.
    fn description_within(&self, ty: &Type, bounds: &[u32], cdr: &Path) -> TokenStream {
        let (bound, inner) = bounds.split_first().unwrap_or((&0, &[]));
        let own = quote!(<#ty as #cdr::Describe>::TYPE_REF);
        let constant = |ty: TokenStream| {
            quote!({
                const TYPE: &#cdr::Type = &#ty;
                TYPE
            })
        };
        let entries = self.entries.as_ref();
        match (element_type(ty), entries.zip(entry_types(ty))) {
            _ if bounds.is_empty() && !self.octet && entries.is_none() => {
                quote!(<#ty as #cdr::Describe>::TYPE)
            }
            // What is in it has a bound, too, is a map, or is made of octets and not one itself.
            (Some(element), _)
                if !inner.is_empty()
                    || entries.is_some()
                    || self.octet && element_type(element).is_some() =>
            {
                let element = constant(self.description_within(element, inner, cdr));
                quote!(#own.of(#element, #bound))
            }
            (None, Some((entries, (key, value)))) => {
                let key = constant(entries.key.description(key, cdr));
                let value = constant(entries.value.description(value, cdr));
                quote!(#own.of_entries(#key, #value, #bound))
            }
            _ => {
                let octet = self.octet;
                quote!(#own.constrained(#octet, #bound))
            }
        }
    }

    /// The largest length, 0 for any.
    pub(super) fn bound(&self) -> u32 {
        self.bounds.first().copied().unwrap_or_default()
    }

    /// Statements that check what is in `value`, as [`checks`](Self::checks) does, and not its own length.
    pub(super) fn checks_inside(
        &self,
        ty: &Type,
        value: &TokenStream,
        check: &TokenStream,
    ) -> TokenStream {
        let inner = self.bounds.get(1..).unwrap_or_default();
        self.checks_within(ty, &[&[0], inner].concat(), value, check, 0)
    }

    /// Statements that check the length of `value`, and those of what is in it, by calling `check`;
    /// none if nothing has a bound.
    pub(super) fn checks(
        &self,
        ty: &Type,
        value: &TokenStream,
        check: &TokenStream,
    ) -> TokenStream {
        self.checks_within(ty, &self.bounds, value, check, 0)
    }

    /// The same of what is in it, whose bounds are these, inside so many loops.
    fn checks_within(
        &self,
        ty: &Type,
        bounds: &[u32],
        of: &TokenStream,
        check: &TokenStream,
        depth: usize,
    ) -> TokenStream {
        let (bound, inner) = bounds.split_first().unwrap_or((&0, &[]));
        let own = (*bound > 0).then(|| quote!(#check((#of).len(), #bound)?;));
        let depth = depth + 1;
        let each = |name: TokenStream, all: TokenStream, checks: TokenStream| {
            (!checks.is_empty()).then(|| quote!(for #name in (#of).#all() { #checks }))
        };
        if let Some(element) = element_type(ty) {
            let name = format_ident!("element{depth}");
            let name = quote!(#name);
            let checks = self.checks_within(element, inner, &name, check, depth);
            let elements = each(name, quote!(iter), checks);
            return quote!(#own #elements);
        }
        let Some((entries, (key, value))) = self.entries.as_ref().zip(entry_types(ty)) else {
            return quote!(#own);
        };
        let sides = [
            (&entries.key, key, "key", quote!(keys)),
            (&entries.value, value, "value", quote!(values)),
        ];
        let sides = sides.into_iter().map(|(side, ty, name, all)| {
            let name = format_ident!("{name}{depth}");
            let name = quote!(#name);
            let checks = side.checks_within(ty, &side.bounds, &name, check, depth);
            each(name, all, checks)
        });
        quote!(#own #(#sides)*)
    }
}

/// `T` of `Vec<T>` and `[T; N]`, boxed or not.
fn element_type(ty: &Type) -> Option<&Type> {
    match unboxed(ty) {
        Type::Array(array) => Some(&array.elem),
        ty => argument_of(ty, "Vec", 0),
    }
}

/// `K` and `V` of `BTreeMap<K, V>`, boxed or not.
pub(super) fn entry_types(ty: &Type) -> Option<(&Type, &Type)> {
    let entry = |index| argument_of(unboxed(ty), "BTreeMap", index);
    entry(0).zip(entry(1))
}

/// `T` of `Box<T>`, which is on the wire no different.
fn unboxed(ty: &Type) -> &Type {
    argument_of(ty, "Box", 0).map_or(ty, unboxed)
}
