//! The names that shared parts use, and with them all scenarios.

pub(in super::super) use super::super::scenario::{
    Facts, Fault, OUTPUTS, Scenario, Serve, Turn, parse,
};
pub(in super::super) use crate::bench::directories::{self, unicode};
pub(in super::super) use crate::bench::options::Extent;
pub(in super::super) use crate::bench::report::answer::Question;
pub(in super::super) use crate::bench::report::cases::Report;
pub(in super::super) use crate::bench::report::page::{Page, verdict};
pub(in super::super) use crate::bench::report::view::{Time, View, WALL, place};
pub(in super::super) use crate::bench::results::{CaseResult, Results};
#[cfg(feature = "peers")]
pub(in super::super) use crate::bench::runtime::native::peers;
pub(in super::super) use crate::bench::runtime::native::raw::Prepared;
pub(in super::super) use crate::bench::runtime::native::usage::{Meter, nanoseconds};
pub(in super::super) use crate::bench::runtime::native::{
    PEERS_BUILT, bulk, failed, flush_directory, share,
};
pub(in super::super) use crate::bench::runtime::protocol::{
    Data, Functions, Launch, Layout, PeerFailure, Style, Text, Threads, Times, contents_of,
};
pub(in super::super) use crate::bench::runtime::{Kind, Row, Runtime, Way};
pub(in super::super) use crate::bench::session::{Node, Session};
pub(in super::super) use crate::failure::Failure;
pub(in super::super) use crate::host;
pub(in super::super) use crate::output::text::{self, or_dash, thousands};
pub(in super::super) use crate::stats::percentiles::{Percentiles, median};
pub(in super::super) use derive_more::{AsMut, AsRef, Display};
pub(in super::super) use serde::{Deserialize, Serialize};
pub(in super::super) use serde_json::{Value, json};
pub(in super::super) use std::collections::{BTreeMap, BTreeSet, HashMap};
pub(in super::super) use std::fmt::Write as _;
pub(in super::super) use std::fs::{File, OpenOptions};
pub(in super::super) use std::io::Write as _;
pub(in super::super) use std::path::{Path, PathBuf};
pub(in super::super) use std::time::{Duration, Instant};
pub(in super::super) use std::{fmt, fs, io};
