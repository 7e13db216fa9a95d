//! Windows: Ctrl-C, Ctrl-Break, and the end of the console or of the session. The system does not
//! use exit codes for them, so all are what shells give for Ctrl-C.

use std::io;

pub(super) fn listen(mut stop: impl FnMut(u8) + Send + 'static) -> io::Result<()> {
    ctrlc::set_handler(move || stop(130)).map_err(io::Error::other)
}
