//! Times and bytes as people write them: `8.5ms`, `150MB`, `64MiB`.

use crate::error::Error;
use std::time::Duration;

const TIMES: &[(&str, f64)] = &[("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];
const BYTES: &[(&str, u64)] = &[
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("kB", 1000),
    ("B", 1),
];

/// Parses a time as on the command line, such as `8.5ms`.
pub fn parse_time(text: &str) -> Result<Duration, Error> {
    time(text).ok_or_else(|| Error::Argument(format!("{text}: expected a time such as 8.5ms")))
}

/// Parses a number of bytes as on the command line, such as `64MiB`.
pub fn parse_bytes(text: &str) -> Result<u64, Error> {
    bytes(text).ok_or_else(|| Error::Argument(format!("{text}: expected bytes such as 64MiB")))
}

/// Parses a number with a unit, or a bare 0.
pub(crate) fn time(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let (number, unit) = split(text)?;
    let (_, seconds) = TIMES.iter().find(|(name, _)| *name == unit)?;
    Duration::try_from_secs_f64(number * seconds).ok()
}

/// Parses a number with a unit, or a bare number of bytes.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let unit = if unit.is_empty() { "B" } else { unit };
    let (_, each) = BYTES.iter().find(|(name, _)| *name == unit)?;
    let bytes = number * *each as f64;
    #[allow(clippy::cast_sign_loss, reason = "in that range it has none")]
    (0.0..u64::MAX as f64)
        .contains(&bytes)
        .then_some(bytes as u64)
}

fn split(text: &str) -> Option<(f64, &str)> {
    let unit = text
        .find(|character: char| character.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    Some((number.parse().ok()?, unit))
}

/// Prints a time so that [`time`] can parse it.
pub(crate) fn show_time(time: Duration) -> String {
    if time.is_zero() {
        return "0".to_owned();
    }
    // The standard library prints a micro sign.
    format!("{time:?}").replace('µ', "u")
}

/// Prints bytes so that [`bytes`] can parse them, in the largest unit that divides them.
pub(crate) fn show_bytes(bytes: u64) -> String {
    if bytes == 0 {
        return "0".to_owned();
    }
    BYTES
        .iter()
        .find(|(_, each)| bytes.is_multiple_of(*each))
        .map_or_else(
            || bytes.to_string(),
            |(unit, each)| format!("{}{unit}", bytes / each),
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_are_parsed_and_times_need_one() {
        assert_eq!(time("8.5ms"), Some(Duration::from_micros(8500)));
        assert_eq!(time("0"), Some(Duration::ZERO));
        assert_eq!(time("2s"), Some(Duration::from_secs(2)));
        for wrong in ["", "8", "ms", "-1ms", "1h", "8 ms", "1e400s", "nans"] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
        assert_eq!(bytes("150MB"), Some(150_000_000));
        assert_eq!(bytes("1.5KiB"), Some(1536));
        assert_eq!(bytes("512"), Some(512));
        for wrong in ["", "MB", "-1", "1mb", "1e40", "NaN"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn printed_quantities_parse_to_the_same(nanos in 0..u64::from(u32::MAX) * 1000, size in 0..1_u64 << 50) {
            let shown = time(&show_time(Duration::from_nanos(nanos))).unwrap();
            prop_assert!(shown.abs_diff(Duration::from_nanos(nanos)) <= Duration::from_nanos(1));
            prop_assert_eq!(bytes(&show_bytes(size)), Some(size));
        }
    }
}
