//! `cargo xtask`: what is to be done with the sources besides building and testing them.

#![forbid(unsafe_code)]

mod cpp;
mod install;

use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let result = match arguments.split_first() {
        Some((task, arguments)) if task == "install" => install::run(arguments),
        Some((task, _)) => Err(format!("there is no task `{task}`\n{HELP}")),
        None => Err(HELP.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

const HELP: &str = "\
usage: cargo xtask install --prefix DIR [--profile NAME]

builds the C library and puts it into DIR: include/tickwire.h, include/tickwire/*.h,
lib/libtickwire.so and .a, lib/pkgconfig/tickwire.pc, the headers of C++ in include/tickwire-cpp, and
lib/cmake/tickwire for CMake's find_package(tickwire). DIR may be /usr/local; the profile of the build is `release` unless
another one is named.";
