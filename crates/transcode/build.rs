//! Compiles the AVX-512 code, which the oldest supported version of Rust cannot express.

fn main() {
    println!("cargo:rerun-if-changed=src/avx512.c");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("x86_64") {
        cc::Build::new()
            .file("src/avx512.c")
            .compile("smallfry_avx512");
    }
}
