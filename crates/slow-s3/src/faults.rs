//! Delays, refusals, cut connections and truncated bodies.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use clap::Args;
use futures_util::stream;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use hyper::{Response, StatusCode};

/// The time over which requests are counted for `--max-rate`.
const WINDOW: Duration = Duration::from_millis(50);

#[derive(Debug, Args)]
pub struct Faults {
    /// The time in ms before an answer begins
    #[arg(long, default_value_t = 0.0)]
    latency: f64,
    /// Requests per second, beyond which answers are 503 Slow Down
    #[arg(long)]
    max_rate: Option<f64>,
    /// Seconds after which --max-rate begins
    #[arg(long, default_value_t = 0.0)]
    limited_after: f64,
    /// The part of requests, from 0 to 1, that are answered by 503 Slow Down
    #[arg(long, default_value_t = 0.0)]
    refuse: f64,
    /// The part of requests whose connection is closed instead of an answer
    #[arg(long, default_value_t = 0.0)]
    cut: f64,
    /// The part of answers with a body whose body ends in the middle
    #[arg(long, default_value_t = 0.0)]
    truncate: f64,
    #[arg(skip)]
    window: Mutex<Option<Window>>,
    #[arg(skip = Instant::now())]
    began: Instant,
}

/// The requests since a time.
#[derive(Debug)]
struct Window {
    since: Instant,
    requests: f64,
}

/// The way in which a request is answered.
pub enum Verdict {
    Serve,
    Refuse,
    Cut,
    Truncate,
}

impl Faults {
    /// Waits for as long as an answer takes, and says which one it is.
    pub async fn judge(&self) -> Verdict {
        if self.latency > 0.0 {
            tokio::time::sleep(Duration::from_secs_f64(self.latency / 1e3)).await;
        }
        if self.is_over_rate() || fastrand::f64() < self.refuse {
            Verdict::Refuse
        } else if fastrand::f64() < self.cut {
            Verdict::Cut
        } else if fastrand::f64() < self.truncate {
            Verdict::Truncate
        } else {
            Verdict::Serve
        }
    }

    fn is_over_rate(&self) -> bool {
        let Some(rate) = self.max_rate else {
            return false;
        };
        if self.began.elapsed().as_secs_f64() < self.limited_after {
            return false;
        }
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        let window = match &mut *window {
            Some(window) if window.since.elapsed() < WINDOW => window,
            other => other.insert(Window {
                since: Instant::now(),
                requests: 0.0,
            }),
        };
        window.requests += 1.0;
        window.requests > rate * WINDOW.as_secs_f64()
    }
}

/// The answer of S3 to too many requests.
pub fn slow_down() -> Response<s3s::Body> {
    let body = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>SlowDown</Code>\
        <Message>Please reduce your request rate.</Message></Error>";
    let mut answer = Response::new(s3s::Body::from(body.to_owned()));
    *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    answer
}

/// Ends the body of an answer in the middle, and with it the connection. An answer without a body
/// stays.
pub async fn truncate(answer: Response<s3s::Body>) -> Response<s3s::Body> {
    let (parts, mut body) = answer.into_parts();
    let bytes = match body.frame().await {
        Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
        _ => Bytes::new(),
    };
    if bytes.is_empty() {
        return Response::from_parts(parts, body);
    }
    let half = bytes.slice(..bytes.len() / 2);
    let frames = stream::iter([Ok(Frame::data(half)), Err(io::Error::other("truncated"))]);
    Response::from_parts(parts, s3s::Body::http_body_unsync(StreamBody::new(frames)))
}
