//! The cases and the rows, and what a row is asked to do.

use super::super::prelude::*;
use super::super::shared::rows::RAW_KEPT;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Display)]
#[display("{shape} {}{watch}", self.state())]
pub(crate) struct Case {
    #[serde(flatten)]
    pub(super) shape: Shape,
    /// `None`: discarded.
    pub(super) kept: Option<Data>,
    pub(super) cold: bool,
    pub(super) watch: Watch,
}

impl Case {
    pub(super) fn state(&self) -> String {
        let kept = self.kept.map(|data| format!("kept {data}"));
        let kept = kept.as_deref().unwrap_or("discarded");
        format!("{kept} {}", if self.cold { "cold" } else { "warm" })
    }

    /// Returns the row of raw system calls that the rows of this case are compared with.
    pub(super) fn raw(&self) -> &'static str {
        if self.kept.is_some() { RAW_KEPT } else { RAW }
    }
}

/// One run that keeps what it reads; `scale` asks the same.
#[derive(Serialize, Deserialize)]
pub(crate) struct Request {
    #[serde(flatten)]
    pub(crate) many: many::Request,
    /// True to compare the contents with the files, untimed.
    pub(crate) compare: bool,
    pub(crate) watch: Watch,
}

/// A figure that is watched beside the clock, or in place of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Watch {
    #[display("")]
    Nothing,
    /// The turns of the event loop, in place of the clock.
    #[display(" delay")]
    EventLoop,
    #[display(" memory")]
    Memory,
    /// The rounds after the first ones in one process.
    #[display(" steady")]
    Steady,
}

/// Refuses a row that has read less than there is; both are numbers of files and of bytes.
pub(crate) fn check(read: (usize, usize), there: (usize, usize)) -> Result<(), String> {
    if read == there {
        return Ok(());
    }
    let ((of, bytes), (files, all)) = (read, there);
    Err(format!(
        "it read {bytes} bytes of {of} files instead of {all} bytes of {files}"
    ))
}
