//! Tells the linker that Node-API symbols come from the host process, and compiles the one part that must be C++.

fn main() {
    napi_build::setup();
    println!("cargo:rerun-if-changed=src/v8/buffer.cc");
    cc::Build::new()
        .cpp(true)
        .std("c++14")
        .flag_if_supported("-fno-rtti")
        .file("src/v8/buffer.cc")
        .compile("smallfry_node_buffer");
}
