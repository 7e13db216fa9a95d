//! Many files in one call.

mod controller;
