//! A font that norad has saved is changed, and norad finds it whole.

use std::fs;
use std::process::{Command, Stdio};

use norad::{Font, Glyph};

/// As many as a font for many scripts has.
const GLYPHS: usize = 3_000;

#[test]
fn each_glyph_is_wider_or_none() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("a.ufo");
    let mut font = Font::new();
    for index in 0..GLYPHS {
        let mut glyph = Glyph::new(&format!("g{index}"));
        glyph.width = index as f64;
        font.default_layer_mut().insert_glyph(glyph);
    }
    font.save(&place).unwrap();

    assert_eq!(font::widen(&place, 20.0).unwrap(), GLYPHS);
    let widened = Font::load(&place).unwrap();
    for index in 0..GLYPHS {
        let glyph = widened
            .default_layer()
            .get_glyph(&format!("g{index}"))
            .unwrap();
        assert_eq!(glyph.width, index as f64 + 20.0);
    }

    let damaged = place.join("glyphs/g7.glif");
    let before = fs::read(place.join("glyphs/g8.glif")).unwrap();
    fs::write(&damaged, "<glyph").unwrap();
    let error = font::widen(&place, 20.0).unwrap_err().to_string();
    assert!(error.contains("g7.glif"), "{error}");
    assert_eq!(fs::read(place.join("glyphs/g8.glif")).unwrap(), before);
}

#[test]
fn what_is_saved_is_flushed() {
    if Command::new("strace")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_err()
    {
        assert!(
            std::env::var_os("CI").is_none_or(|ci| ci != "true"),
            "strace is not installed"
        );
        return eprintln!("skipped: strace is not installed");
    }
    let directory = tempfile::tempdir().unwrap();
    let (place, calls) = (
        directory.path().join("a.ufo"),
        directory.path().join("calls"),
    );
    let mut font = Font::new();
    font.default_layer_mut().insert_glyph(Glyph::new("a"));
    font.save(&place).unwrap();
    let mut command = Command::new("strace");
    command
        .args(["-f", "-e", "trace=fsync,fdatasync,syncfs", "-o"])
        .arg(&calls);
    command
        .arg(env!("CARGO_BIN_EXE_font"))
        .arg(&place)
        .arg("20");
    let output = command.output().unwrap();
    assert_eq!(output.stdout, b"1 glyphs\n");
    let calls = fs::read_to_string(calls).unwrap();
    assert!(calls.lines().any(|line| line.ends_with("= 0")), "{calls}");
}
