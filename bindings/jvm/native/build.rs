//! Has the library stay loaded.

fn main() {
    // When its class loader is collected, Java unloads a library, and threads of ours may run in it
    // still. On Windows `sys/windows.rs` sees to it.
    let family = std::env::var("CARGO_CFG_TARGET_OS");
    if let Ok("linux" | "android" | "freebsd") = family.as_deref() {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
