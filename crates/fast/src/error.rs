//! What went wrong and where: one error type for loading templates, one for decoding, one for encoding.

use core::fmt;
use std::sync::Arc;

use tickwire_base::{excerpt, line_and_column};

use crate::{Code, TemplateId};

/// A template file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// What is wrong: S1 to S5 or D8.
    pub code: Code,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The names and values that it is about, for people.
    pub detail: Box<str>,
    excerpt: Box<str>,
}

impl TemplateError {
    /// An error at byte `at` of the file.
    pub(crate) fn new(file: &str, at: usize, code: Code, detail: String) -> Self {
        let (line, column) = line_and_column(file, at);
        Self {
            code,
            line,
            column,
            detail: detail.into(),
            excerpt: excerpt(file, line, column).into(),
        }
    }

    /// The line of the file with a caret under the column: three lines of text. Of a long line the part around it.
    ///
    /// ```
    /// # use tickwire_fast::{Mode, Templates};
    /// let xml = "<templates>\n  <template id=\"1\"/>\n</templates>";
    /// let error = Templates::parse(xml, Mode::Strict).unwrap_err();
    /// assert_eq!(error.excerpt(), "  |\n2 |   <template id=\"1\"/>\n  |   ^");
    /// ```
    pub fn excerpt(&self) -> &str {
        &self.excerpt
    }
}

/// A line that says what is wrong, then the [`excerpt`](TemplateError::excerpt).
impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {} column {}: {} ({})\n{}",
            self.line, self.column, self.code, self.detail, self.excerpt
        )
    }
}

impl core::error::Error for TemplateError {}

/// What is odd about a template file that [`Mode::Lenient`](crate::Mode::Lenient) accepts: an attribute that FAST does
/// not have and that is nearly one that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateWarning {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What it is, and what was probably meant.
    pub detail: Box<str>,
}

impl From<TemplateError> for TemplateWarning {
    fn from(error: TemplateError) -> Self {
        Self {
            line: error.line,
            column: error.column,
            detail: error.detail,
        }
    }
}

impl fmt::Display for TemplateWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.detail)
    }
}

/// A message that cannot be decoded. What the decoder's dictionaries held is lost with it: give up the packet; later
/// messages that need a lost value are refused, until the sender resets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// What is wrong.
    pub code: Code,
    /// Offset in the bytes given to the decoder: of the value that is wrong, or behind it if it could be read and its
    /// operator or type does not allow it (D6, D7, R1, R2, R4, R8).
    pub offset: usize,
    /// Name of the innermost template, once it is known.
    pub template: Option<Arc<str>>,
    /// The id that no template has (D9), or that of a session's reset message in place of a struct (D1).
    pub unknown_template: Option<TemplateId>,
    /// Path of the field in its template, names joined with dots, once decoding got to a field.
    pub field: Option<Arc<str>>,
    /// Number of the innermost sequence element (from 0) if the field is in one.
    pub element: Option<u32>,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}", self.offset)?;
        place(
            f,
            self.template.as_deref(),
            self.field.as_deref(),
            self.element,
        )?;
        if matches!(self.code, Code::D5 | Code::Lost) && self.field.is_none() {
            // The one value that is of no field.
            f.write_str(", template id")?;
        }
        write!(f, ": {}", self.code)?;
        match self.unknown_template {
            Some(TemplateId(id)) => write!(f, " ({id})"),
            None => Ok(()),
        }
    }
}

impl core::error::Error for DecodeError {}

/// A message that cannot be encoded. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// What is wrong.
    pub code: Code,
    /// Name of the innermost template.
    pub template: Option<Arc<str>>,
    /// Path of the field in its template, names joined with dots.
    pub field: Option<Arc<str>>,
    /// Number of the innermost sequence element (from 0) if the field is in one.
    pub element: Option<u32>,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("message")?;
        place(
            f,
            self.template.as_deref(),
            self.field.as_deref(),
            self.element,
        )?;
        write!(f, ": {}", self.code)
    }
}

impl core::error::Error for EncodeError {}

fn place(
    f: &mut fmt::Formatter<'_>,
    template: Option<&str>,
    field: Option<&str>,
    element: Option<u32>,
) -> fmt::Result {
    if let Some(template) = template {
        write!(f, ", template {template}")?;
    }
    if let Some(field) = field {
        write!(f, ", field {field}")?;
    }
    if let Some(element) = element {
        write!(f, ", element {element}")?;
    }
    Ok(())
}
