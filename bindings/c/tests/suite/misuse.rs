//! Whatever handles, NULLs and numbers a program passes to any function, it gets an error or a result: a program that
//! does so at random with each function of the header, from several threads, goes on to its end.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use crate::common::{build, program, source, succeed, temporary};
use crate::header::{Function, functions};

#[test]
fn no_call_with_wrong_arguments_does_harm() {
    let mut calls = String::from("static const function_under_test all[] = {\n");
    let mut bodies = String::new();
    for function in functions().iter().filter(|it| it.name != "tw_last_error") {
        if matches!(function.name.as_str(), "tw_result_name" | "tw_version") {
            continue;
        }
        let name = &function.name;
        bodies.push_str(&body(function));
        writeln!(calls, "    {{\"{name}\", try_{name}}},").expect("a string takes it all");
    }
    calls.push_str("};\n");
    let frame = fs::read_to_string(source("tests/programs/misuse.c")).expect("it is there");
    let text = frame.replace("/* CALLS */", &format!("{bodies}{calls}"));
    let path = temporary("misuse.c");
    fs::write(&path, text).expect("there is room");
    let misuse = build(&path, "misuse");
    let tag = format!("misuse-{}", std::process::id());
    for seed in SEEDS {
        succeed(program(&misuse).args([&tag, seed]));
    }
}

/// A function in C that calls one of ours with arguments at random.
fn body(function: &Function) -> String {
    let mut before = String::new();
    let mut arguments = Vec::new();
    let mut rest = function.arguments.iter().map(String::as_str).peekable();
    let mut used = BTreeSet::new();
    while let Some(argument) = rest.next() {
        let (ty, name) = declared(argument);
        assert!(used.insert(name.to_owned()), "{function:?}");
        let next = rest.peek().map(|next| declared(next).1);
        let mut pair = |kind: &str| {
            let (_, second) = declared(rest.next().expect("a pointer has a length"));
            writeln!(before, "    {kind}_argument {name} = any_{kind}(it);").expect("it fits");
            arguments.push(format!("{name}.pointer"));
            arguments.push(format!("{name}.count"));
            used.insert(second.to_owned());
        };
        match (ty.trim_start_matches("const "), next) {
            ("void *", Some("len")) => {
                pair("bytes");
                if !argument.starts_with("const") {
                    let pointer = arguments.iter_mut().rev().nth(1).expect("the pair");
                    *pointer = format!("(void *){pointer}");
                }
            }
            ("char *const *", _) => pair("texts"),
            ("char *", Some("capacity")) | ("void *", Some("capacity")) => pair("buffer"),
            (_, Some("capacity")) => pair("array"),
            ("void *", _) if name != "context" => arguments.push("any_object(it)".to_owned()),
            ("void *", _) => arguments.push("it".to_owned()),
            ("char *", _) if name == "rendezvous" => arguments.push("any_host(it)".to_owned()),
            ("char *", _) => arguments.push("any_text(it)".to_owned()),
            ("int64_t", _) => arguments.push("any_timeout(it)".to_owned()),
            ("uint32_t" | "int32_t" | "size_t", _) => {
                arguments.push(format!("({ty})any_number(it)"))
            }
            ("int64_t *" | "tw_instance *", _) => arguments.push(format!("({ty})any_place(it)")),
            ("tw_listener *", _) => arguments.push("any_listener(it)".to_owned()),
            ("tw_samples *", _) => arguments.push("any_samples(it)".to_owned()),
            ("tw_idl_options *", _) => arguments.push("any_options(it)".to_owned()),
            (ty, _) if ty.starts_with("void (**") => {
                arguments.push("(void (**)(void *))any_result(it)".to_owned());
            }
            (ty, _) if ty.starts_with("void (*on_end)") => {
                arguments.push("any_end(it)".to_owned());
            }
            (ty, _) if ty.starts_with("void (*each)") => {
                arguments.push("any_each(it)".to_owned());
            }
            (ty, _) if ty.starts_with("void (") => arguments.push("any_free(it)".to_owned()),
            (handle, _) if handle_kind(handle).is_some() => {
                let kind = handle_kind(handle).unwrap_or_default();
                let may_be_null =
                    name == "qos" && function.name != "tw_qos_set" && function.name != "tw_qos_get";
                let may_be_null = i32::from(may_be_null);
                arguments.push(format!("({ty})any_handle(it, {kind}, {may_be_null})"));
            }
            (out, _) if out.ends_with("**") => {
                let made = format!("({ty})any_result(it)");
                arguments.push(made);
            }
            (out, _) if out.ends_with('*') => arguments.push(format!("({ty})any_struct(it)")),
            other => panic!("{other:?} of {function:?}"),
        }
    }
    let name = &function.name;
    let arguments = arguments.join(", ");
    format!(
        "static tw_result try_{name}(state *it) {{\n{before}    return {name}({arguments});\n}}\n"
    )
}

/// The type and the name of an argument.
fn declared(argument: &str) -> (&str, &str) {
    if let Some((_, function)) = argument.split_once("(*") {
        return (argument, function.split(')').next().unwrap_or_default());
    }
    let at = argument.rfind([' ', '*']).map_or(0, |at| at + 1);
    let (ty, name) = argument.split_at(at);
    (ty.trim_end(), name)
}

/// The kind of a handle, as the program has it.
fn handle_kind(ty: &str) -> Option<&str> {
    let name = ty.strip_prefix("tw_")?.strip_suffix(" *")?;
    let kinds = [
        "participant",
        "type",
        "topic",
        "publisher",
        "subscriber",
        "writer",
        "reader",
        "requester",
        "replier",
        "condition",
        "waitset",
        "qos",
        "loan",
        "mq",
    ];
    let kind = kinds.iter().find(|kind| **kind == name)?;
    Some(match *kind {
        "participant" => "PARTICIPANT",
        "type" => "TYPE",
        "topic" => "TOPIC",
        "publisher" => "PUBLISHER",
        "subscriber" => "SUBSCRIBER",
        "writer" => "WRITER",
        "reader" => "READER",
        "requester" => "REQUESTER",
        "replier" => "REPLIER",
        "condition" => "CONDITION",
        "waitset" => "WAITSET",
        "qos" => "QOS",
        "mq" => "MQ",
        _ => "LOAN",
    })
}

const SEEDS: [&str; 2] = ["1", "2"];
