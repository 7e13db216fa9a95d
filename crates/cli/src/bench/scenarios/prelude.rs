//! The names that scenarios use.

pub(super) use super::shared::batch::Batch;
pub(super) use super::shared::cache::{self, Cache};
pub(super) use super::shared::many::{self, Shape};
pub(super) use super::shared::outputs::{
    Output, Written, empty, fill, flush, make_directories, make_directory, put_all_aside,
    verify_files,
};
pub(super) use super::shared::prelude::*;
pub(super) use super::shared::rows::{
    self, BULK_RUST, MOUNT_ALONE, NODE_PARALLEL, NODE_SYNC, OURS, RAW, RowOf,
};
pub(super) use super::shared::trees::{self, has_extension, is_searched, walk};
pub(super) use super::shared::{idioms, word};
