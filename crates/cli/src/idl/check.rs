//! `tickwire idl check`: what is wrong with files, and what they define.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use tickwire::cdr::xtypes::TypeObjects;
use tickwire::cdr::{Type, TypeDescription};
use tickwire_idl::model::{Definition, DefinitionKind, Extensibility};
use tickwire_idl::{CompileError, Descriptions, Diagnostic, Model, Severity};

use super::source::{CompileOptions, invalid};
use crate::failure::{Failure, Result};
use crate::output::{counted, note, stdout, table};
use crate::survey::ReportFormat;
use crate::topic::hexadecimal;

/// Tell what is wrong with files of IDL, and what they define
#[derive(Args)]
#[command(
    long_about = "\
Compiles files of OMG IDL 4.2 with the annotations of XTypes 1.3, as one text, with their preprocessor \
directives, and tells each error and warning with its line, a caret, and what to do. Then lists the \
types: whether they are for topics, how they may change, and which members are the key; as JSON also the \
identifiers that participants announce of them, as `tickwire topic info` shows them. The interfaces follow; \
as JSON with the names of their operations and attributes. What no language can have, such as `long double`, \
is a warning; what one cannot have, `tickwire idl gen` refuses.

The exit status is 1 if there is an error; warnings leave it 0.",
    after_help = "\
Examples:
  tickwire idl check market.idl
  tickwire idl check -I idl -D WITH_DEPTH idl/*.idl
  tickwire idl check market.idl -o json | jq '.types[] | select(.topic) | .name'"
)]
pub(crate) struct Arguments {
    /// Files of IDL
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    options: CompileOptions,

    /// Form of the answer
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: ReportFormat,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let result = self.options.compile(&self.files);
        let (mut found, model) = match &result {
            Ok(compilation) => (compilation.warnings.clone(), Some(&compilation.model)),
            Err(CompileError::Invalid(found)) => (found.clone(), None),
            Err(error) => return Err(Failure::new(error)),
        };
        if let Ok(compilation) = &result {
            found.extend(compilation.refused_by_all());
        }
        let mut out = stdout();
        match self.output {
            ReportFormat::Table => {
                found.iter().for_each(note);
                if let Some(model) = model {
                    write_table(model, found.len() as u64, &mut out)?;
                }
            }
            ReportFormat::Json => {
                let files = model.map(|model| {
                    let paths = model.files().iter().map(|file| &file.path);
                    // Definitions of the command line are in no file.
                    let paths = paths.filter(|path| !path.starts_with('<'));
                    paths.map(|path| json!(path)).collect::<Vec<_>>()
                });
                let report = json!({
                    "files": files.unwrap_or_default(),
                    "types": model.map(types).unwrap_or_default(),
                    "interfaces": model.map(interfaces).unwrap_or_default(),
                    "found": found.iter().map(diagnostic).collect::<Vec<_>>(),
                });
                serde_json::to_writer_pretty(&mut out, &report).map_err(std::io::Error::from)?;
                writeln!(out)?;
            }
        }
        out.flush()?;
        match model {
            Some(_) => Ok(()),
            None => Err(invalid(&found)),
        }
    }
}

fn write_table(model: &Model, warnings: u64, out: &mut impl Write) -> Result<()> {
    let columns = ["type", "kind", "extensibility", "topic", "key", "defined"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (types, interfaces) = (types(model), interfaces(model));
    let rows: Vec<Vec<Value>> = types
        .iter()
        .chain(&interfaces)
        .map(|ty| {
            let keys = ty["key"].as_array().map_or(&[][..], Vec::as_slice);
            let keys: Vec<String> = keys.iter().map(text).collect();
            let topic = if ty["topic"] == true { "yes" } else { "" };
            vec![
                ty["name"].clone(),
                ty["kind"].clone(),
                ty["extensibility"].clone(),
                json!(topic),
                json!(keys.join(", ")),
                json!(format!("{}:{}", text(&ty["file"]), ty["line"])),
            ]
        })
        .collect();
    if !rows.is_empty() {
        for line in table(&columns, &rows).to_string().lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
        writeln!(out)?;
    }
    let topics = types.iter().filter(|ty| ty["topic"] == true).count();
    let interfaces = match interfaces.len() as u64 {
        0 => String::new(),
        count => format!("{}, ", counted(count, "interface", "interfaces")),
    };
    writeln!(
        out,
        "{}, {topics} for topics, {interfaces}{}",
        counted(types.len() as u64, "type", "types"),
        counted(warnings, "warning", "warnings"),
    )?;
    Ok(())
}

fn diagnostic(found: &Diagnostic) -> Value {
    json!({
        "severity": match found.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "file": found.file,
        "line": found.line,
        "column": found.column,
        "message": found.message,
        "help": found.help,
        "notes": found.notes,
    })
}

/// What has a form on the wire.
fn types(model: &Model) -> Vec<Value> {
    let descriptions = Descriptions::of(model);
    let all = model.definitions();
    let all = all.filter_map(|(id, definition)| {
        let mut ty = ty(model, definition)?;
        if let Some(Ok(Type::Struct(of))) = descriptions.get(id) {
            ty["type_ids"] = type_ids(of);
        }
        Some(ty)
    });
    all.collect()
}

/// What can be called. Operations and attributes of their bases are listed with these.
fn interfaces(model: &Model) -> Vec<Value> {
    let interface = |(_, definition): (_, &Definition)| {
        let DefinitionKind::Interface(of) = &definition.kind else {
            return None;
        };
        let operations = of.operations.iter().map(|operation| &operation.name);
        let attributes = of.attributes.iter().map(|attribute| &attribute.name);
        Some(json!({
            "name": definition.full_name,
            "kind": definition.kind.keyword(),
            "operations": operations.collect::<Vec<_>>(),
            "attributes": attributes.collect::<Vec<_>>(),
            "file": file(model, definition),
            "line": definition.position.line,
        }))
    };
    model.definitions().filter_map(interface).collect()
}

/// Where it is defined.
fn file<'m>(model: &'m Model, definition: &Definition) -> Option<&'m str> {
    let file = model.files().get(definition.position.file as usize);
    file.map(|file| file.path.as_str())
}

/// What a participant announces of a type: the identifiers of its type objects.
fn type_ids(ty: &TypeDescription) -> Value {
    let information = TypeObjects::new().add(ty).unwrap_or_default();
    let ids = [information.complete, information.minimal];
    let [complete, minimal] = ids.map(|of| of.map(|of| hexadecimal(of.id)));
    json!({"complete": complete, "minimal": minimal})
}

fn ty(model: &Model, definition: &Definition) -> Option<Value> {
    let (extensibility, topic, key) = match &definition.kind {
        DefinitionKind::Struct(of) => {
            let members = model.all_members(of).into_iter();
            let keys = members.filter(|member| member.key);
            let keys: Vec<&str> = keys.map(|member| &*member.name).collect();
            (Some(of.extensibility), !of.nested, keys)
        }
        // Topics are of structs; their unions are members.
        DefinitionKind::Union(of) => (Some(of.extensibility), false, Vec::new()),
        DefinitionKind::Enum(of) => (Some(of.extensibility), false, Vec::new()),
        DefinitionKind::Bitmask(of) => (Some(of.extensibility), false, Vec::new()),
        DefinitionKind::Bitset(_) => (None, false, Vec::new()),
        _ => return None,
    };
    Some(json!({
        "name": definition.full_name,
        "kind": definition.kind.keyword(),
        "extensibility": extensibility.map(|extensibility| match extensibility {
            Extensibility::Final => "final",
            Extensibility::Appendable => "appendable",
            Extensibility::Mutable => "mutable",
        }),
        "topic": topic,
        "key": key,
        "file": file(model, definition),
        "line": definition.position.line,
    }))
}
