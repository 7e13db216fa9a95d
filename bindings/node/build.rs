//! Tells the linker that Node-API symbols come from the host process, and compiles the one part
//! that must be C++.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("windows") {
        // There `src/sys/windows.rs` looks the symbols up, and V8's C++ interface is not used.
        return;
    }
    napi_build::setup();
    println!("cargo:rerun-if-changed=src/v8/buffer.cc");
    cc::Build::new()
        .cpp(true)
        .std("c++14")
        .flag_if_supported("-fno-rtti")
        .file("src/v8/buffer.cc")
        .compile("smallfry_node_buffer");
}
