//! The program as README has it run.

use std::process::Command;

#[test]
fn the_book_is_read_back() {
    let output = Command::new(env!("CARGO_BIN_EXE_idl-types")).output();
    let output = output.expect("it starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(printed.starts_with("TICK [Level {"), "{printed}");
    assert!(
        printed.contains("price: 101.25") && printed.contains("Ask"),
        "{printed}"
    );
}
