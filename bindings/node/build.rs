//! Tells the linker that Node-API symbols come from the host process.

fn main() {
    // On Windows `src/sys/windows.rs` looks the symbols up.
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("windows") {
        napi_build::setup();
    }
}
