//! The kinds of attributes that a copy may have of its source, besides permissions.

/// The kinds of attributes that a copy gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AttributeKinds {
    pub(crate) access_lists: bool,
    /// Extended attributes that are no access control lists.
    pub(crate) others: bool,
}

impl AttributeKinds {
    /// Gives a copy nothing.
    pub(crate) const NONE: Self = Self {
        access_lists: false,
        others: false,
    };
}
