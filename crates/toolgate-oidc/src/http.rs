//! The one way out: no redirects, a time limit, and a limit on what is read.

use std::pin::Pin;
use std::time::Duration;

use openidconnect::{HttpRequest, HttpResponse};

const TIMEOUT: Duration = Duration::from_secs(10);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Discovery documents and key sets are a few KiB.
const MOST_BYTES: usize = 1 << 20;

/// Why a request had no usable answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    #[error("the request failed")]
    Request(#[from] reqwest::Error),
    #[error("the answer is larger than {MOST_BYTES} bytes")]
    TooLarge,
    #[error("there is nothing there")]
    NoAnswer,
}

/// A client for talking to providers.
pub(crate) fn client() -> Result<reqwest::Client, reqwest::Error> {
    reqwest::Client::builder()
        // A redirect could lead requests with our secret in them anywhere.
        .redirect(reqwest::redirect::Policy::none())
        .timeout(TIMEOUT)
        .connect_timeout(CONNECT_TIMEOUT)
        .build()
}

/// What is at an address, if it answers well.
pub(crate) async fn get(client: &reqwest::Client, url: &str) -> Result<Vec<u8>, HttpError> {
    let answer = client.get(url).header("accept", "application/json").send().await?.error_for_status()?;
    if !answer.status().is_success() {
        return Err(HttpError::NoAnswer);
    }
    read(answer).await
}

async fn send(client: reqwest::Client, request: HttpRequest) -> Result<HttpResponse, HttpError> {
    let (parts, body) = request.into_parts();
    let answer =
        client.request(parts.method, parts.uri.to_string()).headers(parts.headers).body(body).send().await?;
    let (status, headers) = (answer.status(), answer.headers().clone());
    let mut response = HttpResponse::new(read(answer).await?);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    Ok(response)
}

async fn read(mut answer: reqwest::Response) -> Result<Vec<u8>, HttpError> {
    let mut read = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        if read.len() + chunk.len() > MOST_BYTES {
            return Err(HttpError::TooLarge);
        }
        read.extend_from_slice(&chunk);
    }
    Ok(read)
}

/// The client in the shape the protocol wants it.
pub(crate) fn sender(client: &reqwest::Client) -> impl Fn(HttpRequest) -> Sending + Send + Sync + use<> {
    let client = client.clone();
    move |request| Box::pin(send(client.clone(), request))
}

type Sending = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send>>;
