//! Types of IDL, as tables of which `tickwire/_classes.py` makes classes.

use std::io;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use tickwire_idl::model::{DefinitionId, DefinitionKind, Extensibility, Interface, Member, Value};
use tickwire_idl::{
    Call, Descriptions, Files, Loader, Model, Options, Service, Services, compile, exception_member,
};

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

/// Compiles IDL: the table of all types, why others have no description, constants, modules, which types are exceptions,
/// interfaces, and `@default` of members.
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
        compile(&paths, &options, &mut Given { text }).map(|compiled| compiled.model)
    })?;
    let compiled = compiled.map_err(|error| Kind::Idl.error(error))?;
    let services = Services::of(&compiled);
    let model = &*services.model;
    let descriptions = run(py, || Descriptions::of(model))?;
    let (mut types, wrong) = (Vec::new(), PyDict::new(py));
    let (constants, modules) = (PyList::empty(py), PyList::empty(py));
    let (interfaces, defaults) = (PyList::empty(py), PyDict::new(py));
    for (id, definition) in model.definitions() {
        let name = &definition.full_name;
        match &definition.kind {
            DefinitionKind::Module(_) => modules.append(name)?,
            DefinitionKind::Const(_, value) => {
                if let Some(value) = constant(py, model, value)? {
                    constants.append((name, value))?;
                }
            }
            DefinitionKind::Interface(of) => match services.services.get(&id) {
                Some(service) => match cannot_be_called(&descriptions, service) {
                    Some(why) => wrong.set_item(name, why)?,
                    None => interfaces.append(interface(py, &services, id, (of, service))?)?,
                },
                None if of.definitions.is_empty() => {
                    wrong.set_item(name, "it has no operations")?;
                }
                None => {}
            },
            _ => match descriptions.get(id) {
                Some(Ok(ty)) => {
                    types.push(ty.clone());
                    let own = defaults_of(py, model, &definition.kind)?;
                    if !own.is_empty() {
                        defaults.set_item(name, own)?;
                    }
                }
                Some(Err(why)) => wrong.set_item(name, why)?,
                None => {}
            },
        }
    }
    let table = schema::table_of(py, types, usize::MAX)?;
    let exceptions = services.exceptions.iter();
    let exceptions = PyList::new(py, exceptions.map(|id| &model.definition(*id).full_name))?;
    (
        table, wrong, constants, modules, exceptions, interfaces, defaults,
    )
        .into_pyobject(py)
}

/// `@default` of the members of a struct, its bases' among them, or of a union, by their names.
fn defaults_of<'py>(
    py: Python<'py>,
    model: &Model,
    kind: &DefinitionKind,
) -> PyResult<Bound<'py, PyDict>> {
    let (members, base): (Vec<&Member>, _) = match kind {
        DefinitionKind::Struct(of) => (of.members.iter().collect(), of.base),
        DefinitionKind::Union(of) => (of.cases.iter().map(|case| &case.member).collect(), None),
        _ => (Vec::new(), None),
    };
    let defaults = match base {
        Some(base) => defaults_of(py, model, &model.definition(base).kind)?,
        None => PyDict::new(py),
    };
    for member in members {
        if let Some(value) = &member.default
            && let Some(value) = constant(py, model, value)?
        {
            defaults.set_item(&member.name, value)?;
        }
    }
    Ok(defaults)
}

/// Why requests or replies have no description; what is in them first.
fn cannot_be_called<'d>(descriptions: &'d Descriptions, service: &Service) -> Option<&'d str> {
    let calls = service.calls.iter();
    let parts = calls.flat_map(|call| {
        let output = call.answer.map(|(output, _)| output);
        [call.input].into_iter().chain(output)
    });
    parts
        .chain([service.request, service.reply])
        .find_map(|id| descriptions.get(id).and_then(Result::err))
}

/// An interface: its name, bases, comment, the types of requests and replies, and its operations.
fn interface<'py>(
    py: Python<'py>,
    services: &Services<'_>,
    id: DefinitionId,
    (of, service): (&Interface, &Service),
) -> PyResult<Bound<'py, PyTuple>> {
    let name = |id: DefinitionId| &*services.model.definition(id).full_name;
    // Interfaces that define types alone have no operations.
    let bases = of.bases.iter();
    let bases = bases.filter(|id| services.services.contains_key(id));
    let bases: Vec<&str> = bases.map(|id| name(*id)).collect();
    let calls = PyList::empty(py);
    for call in &service.calls {
        calls.append(operation(py, call, &name)?)?;
    }
    let doc = services.model.definition(id).doc.as_deref();
    let (request, reply) = (name(service.request), name(service.reply));
    (name(id), bases, doc, request, reply, calls).into_pyobject(py)
}

/// An operation: its name, comment, what it takes and gives, what it raises with the members for that, and the structs of
/// all that.
fn operation<'py, 'n>(
    py: Python<'py>,
    call: &Call,
    name: &dyn Fn(DefinitionId) -> &'n str,
) -> PyResult<Bound<'py, PyTuple>> {
    let inputs: Vec<&str> = call.inputs.iter().map(|(name, _)| &**name).collect();
    let mut outputs: Vec<&str> = call.outputs.iter().map(|(name, _)| &**name).collect();
    if call.returns {
        outputs.rotate_right(1);
    }
    let raises = call.raises.iter();
    let raises: Vec<_> = raises
        .map(|id| (name(*id), exception_member(name(*id))))
        .collect();
    let input = name(call.input);
    let answer = call
        .answer
        .map(|(output, result)| (name(output), name(result)));
    let doc = call.doc.as_deref();
    (&*call.name, doc, inputs, outputs, raises, input, answer).into_pyobject(py)
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
