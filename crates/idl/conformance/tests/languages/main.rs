//! The C, the C++ and the C# of IDL, beside its Rust and beside descriptions of its types.

mod any;
mod corpus;
mod peer;
mod random_idl;
mod values;

/// A test in each language, each by the name of it.
macro_rules! in_each_language {
    ($($test:ident)*) => {$(
        mod $test {
            use crate::peer::Language;

            #[test]
            fn c() {
                super::$test(Language::C);
            }

            #[test]
            fn cpp() {
                super::$test(Language::Cpp);
            }

            #[test]
            fn csharp() {
                super::$test(Language::CSharp);
            }
        }
    )*};
}
use in_each_language;
