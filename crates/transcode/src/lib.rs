//! Latin-1 and UTF-16 to UTF-8.
