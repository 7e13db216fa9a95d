//! The cases.

use super::super::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Display)]
#[display("{shape} {data} {}", if self.new { "new" } else { "overwritten" })]
pub(crate) struct Case {
    #[serde(flatten)]
    pub(super) shape: Shape,
    pub(super) data: Data,
    pub(super) new: bool,
}
