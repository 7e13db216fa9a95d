//! A real S3 server on the loopback that is as slow, faulty and busy as asked.
//!
//! The protocol is that of the crate `s3s`: signatures are checked, and answers are XML. Objects
//! are in memory, or files of a directory (`s3s-fs`). The first line that it prints is its URL.

mod faults;
mod memory;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Parser;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use tokio::net::TcpListener;

use faults::{Faults, Verdict};
use memory::Memory;

/// Serves objects of buckets as S3 does.
#[derive(Debug, Parser)]
struct Options {
    /// Serve the files of this directory, whose directories are buckets, instead of objects in
    /// memory
    #[arg(long)]
    directory: Option<PathBuf>,
    /// Buckets that there are from the beginning
    #[arg(long)]
    bucket: Vec<String>,
    /// Objects that the first bucket has from the beginning, named o/0000/000000 and so on
    #[arg(long, default_value_t = 0)]
    objects: usize,
    /// The size of each of them in bytes
    #[arg(long, default_value_t = 10_000)]
    size: usize,
    /// The port on 127.0.0.1; a free one if it is 0
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// The key that requests must be signed with
    #[arg(long, default_value = "key")]
    access_key: String,
    /// The secret of that key
    #[arg(long, default_value = "secret")]
    secret_key: String,
    #[command(flatten)]
    faults: Faults,
}

#[tokio::main(worker_threads = 1)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse();
    let mut service = match &options.directory {
        Some(directory) => {
            for bucket in &options.bucket {
                std::fs::create_dir_all(directory.join(bucket))?;
            }
            S3ServiceBuilder::new(
                s3s_fs::FileSystem::new(directory).map_err(|error| format!("{error:?}"))?,
            )
        }
        None => {
            let memory = Memory::default();
            memory.fill(&options.bucket, options.objects, options.size);
            S3ServiceBuilder::new(memory)
        }
    };
    service.set_auth(SimpleAuth::from_single(
        options.access_key,
        options.secret_key,
    ));
    let service = service.build();
    let faults = Arc::new(options.faults);
    let listener = TcpListener::bind(("127.0.0.1", options.port)).await?;
    println!("http://{}", listener.local_addr()?);
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let (service, faults) = (service.clone(), Arc::clone(&faults));
        tokio::spawn(async move {
            let answer = service_fn(|request| answer(&service, &faults, request));
            // A client that goes away is no error here.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(socket), answer)
                .await;
        });
    }
}

/// Answers one request, after the time and with the faults that were asked for. An error closes the
/// connection.
async fn answer(
    service: &S3Service,
    faults: &Faults,
    request: hyper::Request<hyper::body::Incoming>,
) -> Result<hyper::Response<s3s::Body>, Box<dyn std::error::Error + Send + Sync>> {
    let request = request.map(s3s::Body::from);
    match faults.judge().await {
        Verdict::Serve => Ok(service.call(request).await?),
        Verdict::Refuse => Ok(faults::slow_down()),
        Verdict::Cut => Err("cut".into()),
        Verdict::Truncate => Ok(faults::truncate(service.call(request).await?).await),
    }
}
