//! Types of IDL, as tables of which `tickwire/_classes.py` makes classes.

use std::io;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use tickwire_idl::model::{DefinitionKind, Extensibility, Value};
use tickwire_idl::{Descriptions, Files, Loader, Model, Options, compile};

use crate::errors::{Kind, run};
use crate::schema;

/// Reads files, and a text that stands for one.
struct Given {
    text: Option<String>,
}

impl Loader for Given {
    fn load(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        match &self.text {
            Some(text) if path == Path::new(TEXT) => Ok(text.as_bytes().to_vec()),
            _ => Files.load(path),
        }
    }
}

/// Compiles IDL: the table of all types, why others have no description, constants, and modules.
#[pyfunction]
pub(crate) fn compile_idl<'py>(
    py: Python<'py>,
    mut paths: Vec<PathBuf>,
    text: Option<String>,
    include: Vec<PathBuf>,
    define: Vec<(String, String)>,
    extensibility: &str,
) -> PyResult<Bound<'py, PyTuple>> {
    let options = Options {
        search: include,
        defines: define,
        extensibility: match extensibility {
            "final" => Extensibility::Final,
            "appendable" => Extensibility::Appendable,
            "mutable" => Extensibility::Mutable,
            other => {
                return Err(Kind::Idl.error(format!(
                    "there is no extensibility `{other}`; there are final, appendable, mutable"
                )));
            }
        },
    };
    if text.is_some() {
        paths.push(TEXT.into());
    }
    let compiled = run(py, move || {
        let compiled = compile(&paths, &options, &mut Given { text })?;
        let descriptions = Descriptions::of(&compiled.model);
        Ok((compiled.model, descriptions))
    })?;
    let compiled: Result<_, tickwire_idl::CompileError> = compiled;
    let (model, descriptions) = compiled.map_err(|error| Kind::Idl.error(error))?;
    let (mut types, wrong) = (Vec::new(), PyDict::new(py));
    let (constants, modules) = (PyList::empty(py), PyList::empty(py));
    for (id, definition) in model.definitions() {
        let name = &definition.full_name;
        match &definition.kind {
            DefinitionKind::Module(_) => modules.append(name)?,
            DefinitionKind::Const(_, value) => {
                if let Some(value) = constant(py, &model, value)? {
                    constants.append((name, value))?;
                }
            }
            _ => match descriptions.get(id) {
                Some(Ok(ty)) => types.push(ty.clone()),
                Some(Err(why)) => wrong.set_item(name, why)?,
                None if is_of_services(&definition.kind) => {
                    wrong.set_item(name, "interfaces have stubs in Rust alone")?;
                }
                None => {}
            },
        }
    }
    let table = schema::table_of(py, types, usize::MAX)?;
    (table, wrong, constants, modules).into_pyobject(py)
}

/// Whether requests and replies are made of it, which is not done here.
fn is_of_services(kind: &DefinitionKind) -> bool {
    matches!(
        kind,
        DefinitionKind::Interface(_) | DefinitionKind::Exception(_)
    )
}

/// A constant; literals of enums are told by their values.
fn constant<'py>(
    py: Python<'py>,
    model: &Model,
    value: &Value,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(Some(match value {
        Value::Bool(value) => pyo3::types::PyBool::new(py, *value).to_owned().into_any(),
        Value::Integer(value) => value.into_pyobject(py)?.into_any(),
        Value::Float(value) => pyo3::types::PyFloat::new(py, *value).into_any(),
        Value::Char(value) => PyString::new(py, value.encode_utf8(&mut [0; 4])).into_any(),
        Value::String(value) => PyString::new(py, value).into_any(),
        Value::Literal { of, index } => match &model.definition(*of).kind {
            DefinitionKind::Enum(of) => {
                let literal = of.literals.get(*index as usize);
                let value = literal.map_or(0, |literal| literal.value);
                value.into_pyobject(py)?.into_any()
            }
            _ => return Ok(None),
        },
    }))
}

/// What a text is called in errors.
const TEXT: &str = "<text>";
