//! Many files in one call.

#[cfg_attr(
    not(test),
    expect(dead_code, reason = "the engine that asks it is not here yet")
)]
mod controller;
