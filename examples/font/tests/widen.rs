//! A font that norad has saved is changed, and norad finds it whole.

use std::fs;

use norad::{Font, Glyph};

#[test]
fn each_glyph_is_wider_or_none() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("a.ufo");
    let mut font = Font::new();
    for index in 0..500 {
        let mut glyph = Glyph::new(&format!("g{index}"));
        glyph.width = f64::from(index);
        font.default_layer_mut().insert_glyph(glyph);
    }
    font.save(&place).unwrap();

    assert_eq!(font::widen(&place, 20.0).unwrap(), 500);
    let widened = Font::load(&place).unwrap();
    for index in 0..500 {
        let glyph = widened
            .default_layer()
            .get_glyph(&format!("g{index}"))
            .unwrap();
        assert_eq!(glyph.width, f64::from(index) + 20.0);
    }

    let damaged = place.join("glyphs/g7.glif");
    let before = fs::read(place.join("glyphs/g8.glif")).unwrap();
    fs::write(&damaged, "<glyph").unwrap();
    let error = font::widen(&place, 20.0).unwrap_err().to_string();
    assert!(error.contains("g7.glif"), "{error}");
    assert_eq!(fs::read(place.join("glyphs/g8.glif")).unwrap(), before);
}
