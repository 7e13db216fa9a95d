//! URLs of objects in stores, which stand for paths.

use std::path::Path;

/// The schemes of such URLs.
const SCHEMES: [&str; 7] = ["s3", "s3a", "gs", "az", "http", "https", "memory"];

/// Returns true for a path that is the URL of an object.
pub(crate) fn is_url(path: &Path) -> bool {
    let path = path.as_os_str().as_encoded_bytes();
    SCHEMES.iter().any(|scheme| {
        path.strip_prefix(scheme.as_bytes())
            .is_some_and(|rest| rest.starts_with(b"://"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_url_tells_urls_of_stores_from_paths() {
        for url in [
            "s3://b/k",
            "s3a://b",
            "gs://b/k",
            "az://c/k",
            "http://h/p",
            "https://h/p",
            "memory://m/k",
        ] {
            assert!(is_url(Path::new(url)), "{url}");
        }
        for path in [
            "",
            "s3",
            "s3:",
            "s3:/b/k",
            "./s3://b/k",
            "/s3://b/k",
            "ftp://h/p",
            "S3://b/k",
            "xs3://b/k",
        ] {
            assert!(!is_url(Path::new(path)), "{path}");
        }
    }
}
