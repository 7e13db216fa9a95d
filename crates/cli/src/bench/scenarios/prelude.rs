//! The names that every scenario uses.

pub(super) use crate::bench::failure::Failure;
pub(super) use crate::bench::options::Extent;
pub(super) use crate::bench::report::page::Page;
pub(super) use crate::bench::report::text;
pub(super) use crate::bench::report::text::{or_dash, thousands};
pub(super) use crate::bench::report::view::View;
pub(super) use crate::bench::results::{CaseResult, Results};
pub(super) use crate::bench::runtime::Row;
pub(super) use crate::bench::runtime::native::failed;
pub(super) use crate::bench::runtime::native::usage::Meter;
pub(super) use crate::bench::runtime::protocol::{
    Functions, Launch, Layout, PeerFailure, Style, Threads, Times,
};
pub(super) use crate::bench::scenarios::scenario::{
    Answer, Facts, Scenario, Serve, Show, Turn, parse,
};
pub(super) use crate::bench::session::Session;
pub(super) use serde::{Deserialize, Serialize};
pub(super) use serde_json::Value;
