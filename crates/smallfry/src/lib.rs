//! Fast small files.
