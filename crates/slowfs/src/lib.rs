//! draft
mod error;
mod parameters;
mod profile;
mod quantity;
pub mod device;
pub use device::Device;
pub use error::Error;
pub use parameters::{PARAMETERS, Parameter, Parameters};
pub use profile::Profile;
