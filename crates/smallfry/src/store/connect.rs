//! Clients of stores, with credentials from the environment.

use std::io;
use std::sync::Arc;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::memory::InMemory;
use object_store::{ClientOptions, ObjectStore, RetryConfig};

use super::http::Connector;

/// Makes the client of one bucket or server, with options by their names in `object_store`. Nothing
/// is sent yet.
pub(super) fn connect<'a>(
    scheme: &str,
    authority: &str,
    options: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> io::Result<Arc<dyn ObjectStore>> {
    let store = try_connect(scheme, authority, options);
    store.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
}

fn try_connect<'a>(
    scheme: &str,
    authority: &str,
    options: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> object_store::Result<Arc<dyn ObjectStore>> {
    let retry = RetryConfig {
        max_retries: 0, // `retry` sends requests again.
        ..RetryConfig::default()
    };
    // Sets what all builders have, and the options. An endpoint without encryption is one that the
    // user has named.
    macro_rules! build {
        ($builder:expr) => {{
            let client = ClientOptions::new().with_allow_http(true);
            let mut builder = $builder
                .with_client_options(client)
                .with_retry(retry)
                .with_http_connector(Connector);
            for (name, value) in options {
                builder = builder.with_config(name.parse()?, value);
            }
            Ok(Arc::new(builder.build()?))
        }};
    }
    match scheme {
        "s3" | "s3a" => build!(AmazonS3Builder::from_env().with_bucket_name(authority)),
        "gs" => build!(GoogleCloudStorageBuilder::from_env().with_bucket_name(authority)),
        "az" => build!(MicrosoftAzureBuilder::from_env().with_container_name(authority)),
        "memory" => Ok(Arc::new(InMemory::new())),
        _ => build!(HttpBuilder::new().with_url(format!("{scheme}://{authority}"))),
    }
}
