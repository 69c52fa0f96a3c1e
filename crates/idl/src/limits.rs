//! What a text may make the compiler do, whoever wrote it. Far above what people write, and far below
//! what would take the memory or the stack of the process that compiles it.

/// Bytes of one file.
pub(crate) const FILE_BYTES: usize = 16 << 20;
/// Bytes of all files, each time that it is included.
pub(crate) const ALL_BYTES: usize = 64 << 20;
/// Files that include each other.
pub(crate) const INCLUDE_DEPTH: usize = 64;
/// Files, each time that it is included.
pub(crate) const FILES: usize = 4096;
/// `#if` within `#if`.
pub(crate) const CONDITION_DEPTH: usize = 64;
/// Uses of macros, and tokens that come out of them.
pub(crate) const EXPANSIONS: usize = 1 << 18;
/// Macros within arguments of macros.
pub(crate) const MACRO_DEPTH: usize = 32;
/// Macros that come out of each other.
pub(crate) const MACRO_CHAIN: usize = 256;
/// Parameters of a macro.
pub(crate) const MACRO_PARAMETERS: usize = 128;
/// Bytes of the tokens that `#` and `##` make.
pub(crate) const MADE_BYTES: usize = 1 << 20;
/// Tokens of a compilation, and of one file.
pub(crate) const TOKENS: usize = 1 << 20;
/// Modules, types and parentheses within each other.
pub(crate) const NESTING: usize = 48;
/// Operators of one expression.
pub(crate) const OPERATORS: usize = 256;
/// Bytes of a name, and of one with all scopes around it: type objects have no longer ones
/// (XTypes 1.3 Annex B, TYPE_NAME_MAX_LENGTH).
pub(crate) const NAME_BYTES: usize = 256;
/// Typedefs of typedefs.
pub(crate) const ALIASES: usize = 48;
/// Members that structs have from their bases, all structs together.
pub(crate) const INHERITED: usize = 1 << 18;
/// Parameters of an annotation.
pub(crate) const ANNOTATION_PARAMETERS: usize = 64;
/// Bytes of strings, comments and annotations, each time that a definition or a member has it.
pub(crate) const COPIED_BYTES: usize = 64 << 20;
/// Bytes of source text that is made of a model.
pub(crate) const OUTPUT_BYTES: usize = 64 << 20;
/// Elements of an array, dimensions multiplied.
pub(crate) const ARRAY_ELEMENTS: u64 = 0x7fff_ffff;
