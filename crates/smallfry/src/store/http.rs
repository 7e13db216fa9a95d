//! Requests by blocking calls on the thread that needs the answer.
//!
//! `object_store` makes requests and reads answers, and this sends them. A worker waits for its
//! answer in any case. With 256 requests in flight this is 1.3 times as fast as threads that wait
//! for a runtime. Futures on one thread are up to 1.2 times as fast as this, and would need an
//! engine of their own (`docs/experiments.md`).

use std::fmt;
use std::io::{self, Read};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, SizeHint};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
    HttpResponse, HttpResponseBody, HttpService,
};
use smallfry_workers::MAX_REQUESTS;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, BodyReader};

/// The time to wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// The time to wait for more bytes of a request or an answer.
const STALLED: Duration = Duration::from_secs(30);
/// The size in bytes of each buffer of a connection. Larger pieces bypass it.
const BUFFER: usize = 16 << 10;
/// The maximum number of bytes that are read at once.
const PIECE: usize = 256 << 10;
/// The maximum size in bytes of an answer that explains a refusal.
const MAX_REASON: u64 = 4 << 10;

/// Makes clients of one agent, which keeps their connections.
#[derive(Debug, Default)]
pub(super) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_idle_connections(MAX_REQUESTS)
            .max_idle_connections_per_host(MAX_REQUESTS)
            .input_buffer_size(BUFFER)
            .output_buffer_size(BUFFER)
            .tls_config(tls())
            .timeout_connect(Some(CONNECT))
            .timeout_per_read(Some(STALLED))
            .timeout_per_write(Some(STALLED))
            .user_agent(concat!("smallfry/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(HttpClient::new(Client(config.into())))
    }
}

/// Trusts the certificates that the system trusts.
fn tls() -> TlsConfig {
    TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build()
}

#[derive(Debug)]
struct Client(Agent);

#[async_trait]
impl HttpService for Client {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let has_body = !body.is_empty() || matches!(parts.method, Method::PUT | Method::POST);
        let answer = if has_body {
            let body = gather(body)?;
            self.0.run(Request::from_parts(parts, &body[..]))
        } else {
            self.0.run(Request::from_parts(parts, ()))
        };
        let (parts, body) = answer.map_err(failed)?.into_parts();
        let length = body.content_length();
        let mut reader = body.into_with_config().limit(u64::MAX).reader();
        if parts.status.is_client_error() || parts.status.is_server_error() {
            let mut reason = Vec::new();
            // What was cut off explains less.
            let _ = reader.by_ref().take(MAX_REASON).read_to_end(&mut reason);
            let wait = parts.headers.get(header::RETRY_AFTER);
            let refused = Refused {
                status: parts.status,
                reason: String::from_utf8_lossy(&reason).into_owned(),
                wait: wait
                    .and_then(|wait| wait.to_str().ok()?.parse().ok())
                    .map(Duration::from_secs),
            };
            return Err(HttpError::new(HttpErrorKind::Request, refused));
        }
        let pieces = Pieces {
            reader: Mutex::new(reader),
            left: length,
        };
        Ok(HttpResponse::from_parts(
            parts,
            HttpResponseBody::new(pieces),
        ))
    }
}

/// Returns the body of a request in one piece. Bodies of small objects are in one already.
fn gather(body: HttpRequestBody) -> Result<Bytes, HttpError> {
    if let Some(bytes) = body.as_bytes() {
        return Ok(bytes.clone());
    }
    let collected = pollster::block_on(body.collect())?;
    Ok(collected.to_bytes())
}

/// The body of an answer, read as it is asked for.
struct Pieces {
    /// The lock makes it `Sync`, which nobody needs.
    reader: Mutex<BodyReader<'static>>,
    /// The number of bytes that are still to come, if the server has told it.
    left: Option<u64>,
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let left = self.left.unwrap_or(u64::MAX);
        let room = usize::try_from(left).unwrap_or(PIECE).clamp(1, PIECE);
        let mut piece = Vec::with_capacity(room);
        let reader = self
            .reader
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let read = reader.take(room as u64).read_to_end(&mut piece);
        Poll::Ready(match read {
            Ok(0) => None,
            Ok(count) => {
                self.left = self.left.map(|left| left.saturating_sub(count as u64));
                Some(Ok(Frame::data(piece.into())))
            }
            Err(error) => Some(Err(HttpError::new(HttpErrorKind::Interrupted, error))),
        })
    }

    fn size_hint(&self) -> SizeHint {
        self.left
            .map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

/// The answer of a server that has not done what it was asked for.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    /// The text of the answer.
    pub(super) reason: String,
    /// The time after which the server wants to be asked again, if it said one.
    pub(super) wait: Option<Duration>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server answered {}", self.status)
    }
}

impl std::error::Error for Refused {}

/// Tells failures after which a request may be sent again from others.
fn failed(error: ureq::Error) -> HttpError {
    let kind = match error {
        ureq::Error::Timeout(_) => HttpErrorKind::Timeout,
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => HttpErrorKind::Connect,
        ureq::Error::Io(error) => {
            use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
            let kind = match error.kind() {
                BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof => {
                    HttpErrorKind::Interrupted
                }
                // A name that was not found has no kind of its own.
                _ => HttpErrorKind::Connect,
            };
            return HttpError::new(kind, error);
        }
        ureq::Error::Protocol(_) => HttpErrorKind::Interrupted,
        _ => HttpErrorKind::Unknown,
    };
    HttpError::new(kind, error)
}
