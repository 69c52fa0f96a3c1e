//! Makes structs and decoders of the template files that the tests know when they are built.

#[path = "src/choice.rs"]
#[allow(dead_code, unreachable_pub, reason = "the library has all of it")]
mod choice;
#[path = "src/template.rs"]
#[allow(dead_code, unreachable_pub, reason = "the library has all of it")]
mod template;
#[path = "src/value.rs"]
#[allow(dead_code, unreachable_pub, reason = "the library has all of it")]
mod value;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use choice::Choices;
use template::{Shape, Spelling};
use tickwire_fast::build::{Config, Error};
use tickwire_fast::{Mode, Templates};

/// How many random files there are.
const RANDOM_FILES: u64 = 24;

fn main() -> Result<(), Error> {
    let topics = Config::new().lenient().topics().key("Symbol");
    topics.generate("templates/topics.xml")?;
    let mut files = Files::default();
    for name in ["simple", "complex"] {
        files.add(
            &format!("../../feed/templates/{name}.xml"),
            None,
            Shape::Standard,
        )?;
    }
    for name in ["everything", "extension"] {
        files.add(
            &format!("../../../fuzz/seeds/template_xml/{name}.xml"),
            None,
            Shape::Dialect,
        )?;
    }
    for (name, default) in [
        ("names", None),
        ("restart", Some("Update")),
        ("heavy", None),
        ("opra", Some("Quote")),
    ] {
        files.add(&format!("templates/{name}.xml"), default, Shape::Standard)?;
    }
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").ok_or(Error::NoOutDir)?);
    for seed in 0..RANDOM_FILES {
        let shape = [Shape::Standard, Shape::Extension, Shape::Dialect][(seed % 3) as usize];
        let xml = template::templates(&mut Choices::from_seed(seed), shape, Spelling::Standard);
        let path = out_dir.join(format!("random{seed}.xml"));
        write(&path, &xml)?;
        files.add(&path.to_string_lossy(), None, shape)?;
    }
    write(&out_dir.join("generated_files.rs"), &files.text())
}

/// The modules of generated code, and a table of them.
#[derive(Default)]
struct Files {
    modules: String,
    rows: String,
}

impl Files {
    fn add(&mut self, path: &str, default: Option<&str>, shape: Shape) -> Result<(), Error> {
        let config = Config::new().lenient();
        let config = match default {
            Some(name) => config.default_template(name),
            None => config,
        };
        let generated = config.generate(path)?;
        let path = fs::canonicalize(path).map_err(|error| Error::Read(path.into(), error))?;
        let xml = fs::read_to_string(&path).map_err(|error| Error::Read(path.clone(), error))?;
        // The text was just read without an error.
        let templates =
            Templates::parse(&xml, Mode::Lenient).expect("a template file that was generated");
        let templates = match default {
            Some(name) => templates.with_default(name).expect("a template's name"),
            None => templates,
        };
        let name = generated.file_stem().unwrap_or_default().to_string_lossy();
        let _ = writeln!(
            self.modules,
            "#[allow(dead_code, unreachable_pub, reason = \"as a user has it\")]\n\
             mod {name} {{\n    include!({generated:?});\n}}\n\
             impl {name}::Handler for Seen<<{name}::Decoder as Of>::Messages> {{"
        );
        for template in templates.iter().filter(|template| template.has_messages()) {
            let struct_name = camel(template.name());
            let method = snake(&struct_name);
            let _ = writeln!(
                self.modules,
                "    fn {method}(&mut self, message: &{name}::{struct_name}) {{ self.message(message); }}"
            );
        }
        self.modules
            .push_str("    fn reset(&mut self) { self.session_reset(); }\n}\n");
        let _ = writeln!(
            self.rows,
            "    Generated {{ name: {name:?}, xml: include_str!({path:?}), mode: Mode::Lenient, default: {default:?}, shape: Shape::{shape:?}, \
             codec: |options| Box::new(Pair::new(\
             {name}::Decoder::with_options(options), {name}::Encoder::with_reset(options.reset))) }},"
        );
        Ok(())
    }

    fn text(&self) -> String {
        format!(
            "{}/// All of them.\npub const FILES: &[Generated] = &[\n{}];\n",
            self.modules, self.rows
        )
    }
}

/// The struct of a template; the names of these files are words without punctuation.
fn camel(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    first.to_ascii_uppercase() + rest
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    match snake.as_str() {
        // A keyword.
        "static" => "r#static".to_owned(),
        _ => snake,
    }
}

/// Writes a file unless it is there already, so that nothing is built again without need.
fn write(path: &Path, text: &str) -> Result<(), Error> {
    if fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    fs::write(path, text).map_err(|error| Error::Write(path.to_owned(), error))
}
