//! The names that scenarios use.

pub(super) use super::scenario::{Facts, Fault, OUTPUTS, Scenario, Serve, Turn, parse};
pub(super) use super::shared::batch::Batch;
pub(super) use super::shared::cache::{self, Cache};
pub(super) use super::shared::many::{self, Shape};
pub(super) use super::shared::outputs::{
    Output, Written, empty, fill, flush, make_directories, make_directory, put_all_aside,
    verify_files,
};
pub(super) use super::shared::rows::{
    self, BULK_RUST, MOUNT_ALONE, NODE_PARALLEL, NODE_SYNC, OURS, RAW, RowOf,
};
pub(super) use super::shared::trees::{self, has_extension, is_searched, walk};
pub(super) use super::shared::{idioms, word};
pub(super) use crate::bench::directories::{self, unicode};
pub(super) use crate::bench::failure::Failure;
pub(super) use crate::bench::host;
pub(super) use crate::bench::options::Extent;
pub(super) use crate::bench::report::cases::Report;
pub(super) use crate::bench::report::page::{Page, verdict};
pub(super) use crate::bench::report::text::{self, or_dash, thousands};
pub(super) use crate::bench::report::view::{View, WALL, place};
pub(super) use crate::bench::results::{CaseResult, Results};
#[cfg(feature = "peers")]
pub(super) use crate::bench::runtime::native::peers;
pub(super) use crate::bench::runtime::native::raw::Prepared;
pub(super) use crate::bench::runtime::native::usage::{Meter, nanoseconds};
pub(super) use crate::bench::runtime::native::{PEERS_BUILT, bulk, failed, flush_directory, share};
pub(super) use crate::bench::runtime::protocol::{
    Data, Functions, Launch, Layout, PeerFailure, Style, Text, Threads, Times, contents_of,
};
pub(super) use crate::bench::runtime::{Kind, Row, Runtime, Way};
pub(super) use crate::bench::session::{Node, Session};
pub(super) use crate::bench::stats::percentiles::{Percentiles, median};
pub(super) use derive_more::Display;
pub(super) use serde::{Deserialize, Serialize};
pub(super) use serde_json::{Value, json};
pub(super) use std::collections::{BTreeMap, BTreeSet, HashMap};
pub(super) use std::fmt::Write as _;
pub(super) use std::fs::{File, OpenOptions};
pub(super) use std::io::Write as _;
pub(super) use std::path::{Path, PathBuf};
pub(super) use std::time::{Duration, Instant};
pub(super) use std::{fmt, fs, io};
