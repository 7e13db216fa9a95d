//! Failed requests, in the terms of `std::io`, and with the server's reason.

use std::error::Error;
use std::io;
use std::time::Duration;

use http::StatusCode;
use object_store::client::{HttpError, HttpErrorKind};

use super::http::Refused;

/// The failure of a request.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server gets too many requests. It may be asked again after this time, if it said one.
    Refused(io::Error, Option<Duration>),
    /// The server or the network has failed. The request may be sent again.
    Broken(io::Error),
    /// The connection broke after some more of the answer had come. The rest may be asked for.
    Cut(io::Error),
    /// There is no connection. The request may be sent again.
    Unreachable(io::Error),
    /// The same request would fail again.
    Final(io::Error),
}

impl From<object_store::Error> for Failure {
    fn from(error: object_store::Error) -> Self {
        let refused = cause::<Refused>(&error);
        let answer = refused.map(|refused| (refused.status, refused.wait));
        let kind = cause::<HttpError>(&error).map(HttpError::kind);
        let reason = explain(error);
        match (answer, kind) {
            (Some((StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE, wait)), _) => {
                Self::Refused(reason, wait)
            }
            (Some((status, _)), _)
                if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT =>
            {
                Self::Broken(reason)
            }
            (None, Some(HttpErrorKind::Connect)) => Self::Unreachable(reason),
            (
                None,
                Some(HttpErrorKind::Request | HttpErrorKind::Timeout | HttpErrorKind::Interrupted),
            ) => Self::Broken(reason),
            _ => Self::Final(reason),
        }
    }
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(reason, _)
            | Failure::Broken(reason)
            | Failure::Cut(reason)
            | Failure::Unreachable(reason)
            | Failure::Final(reason) => reason,
        }
    }
}

/// Finds an error of a type among an error and its causes.
fn cause<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut error = Some(error);
    while let Some(it) = error {
        if let Some(found) = it.downcast_ref() {
            return Some(found);
        }
        error = it.source();
    }
    None
}

/// Makes an error of the standard library, with what the server has said and without what surrounds
/// it.
fn explain(error: object_store::Error) -> io::Error {
    if let Some(refused) = cause::<Refused>(&error) {
        return refused.explain();
    }
    let Some(http) = cause::<HttpError>(&error) else {
        return io::Error::new(kind_of(&error), error);
    };
    let kind = match http.kind() {
        HttpErrorKind::Timeout => io::ErrorKind::TimedOut,
        _ => cause::<io::Error>(http).map_or(io::ErrorKind::Other, io::Error::kind),
    };
    let root = http
        .source()
        .map_or_else(|| http.to_string(), ToString::to_string);
    io::Error::new(kind, root)
}

fn kind_of(error: &object_store::Error) -> io::ErrorKind {
    use object_store::Error as Store;
    match error {
        Store::NotFound { .. } => io::ErrorKind::NotFound,
        Store::AlreadyExists { .. } => io::ErrorKind::AlreadyExists,
        Store::PermissionDenied { .. } | Store::Unauthenticated { .. } => {
            io::ErrorKind::PermissionDenied
        }
        Store::InvalidPath { .. } => io::ErrorKind::InvalidInput,
        Store::NotSupported { .. } | Store::NotImplemented { .. } => io::ErrorKind::Unsupported,
        _ => io::ErrorKind::Other,
    }
}

impl Refused {
    fn explain(&self) -> io::Error {
        let kind = match self.status {
            StatusCode::NOT_FOUND => io::ErrorKind::NotFound,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => io::ErrorKind::PermissionDenied,
            StatusCode::BAD_REQUEST => io::ErrorKind::InvalidInput,
            StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => io::ErrorKind::AlreadyExists,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                io::ErrorKind::ResourceBusy
            }
            _ => io::ErrorKind::Other,
        };
        let reason = match (tag(&self.reason, "Code"), tag(&self.reason, "Message")) {
            (Some(code), Some(message)) => format!("{self}: {code}: {message}"),
            (Some(code), None) => format!("{self}: {code}"),
            _ => self.to_string(),
        };
        io::Error::new(kind, reason)
    }
}

/// Returns the text of the first element of this name in the answer of a store.
fn tag<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once("</")?;
    Some(text)
}
