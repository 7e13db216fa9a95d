//! Files of async-std.

use super::futures_io::{AsyncFile, into_handle};
use crate::closer::{FastCloseable, Handle};
use crate::raw::{self, BorrowedFile};

impl FastCloseable for ::async_std::fs::File {
    fn into_handle(self) -> Handle {
        into_handle(self)
    }
}

impl AsyncFile for ::async_std::fs::File {
    fn borrow(&self) -> BorrowedFile<'_> {
        raw::borrow(self)
    }
}
