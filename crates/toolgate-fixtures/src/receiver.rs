//! The one outside address fixture tools can reach: a receiver that counts what arrives.

use std::time::Duration;

use async_trait::async_trait;
use toolgate_core::port::capability::Http;
use toolgate_native::ToolFailure;

/// Posts to one receiver and nowhere else: a path is all a tool can choose.
#[derive(Debug, Clone)]
pub struct ReceiverHttp {
    base: String,
    client: reqwest::Client,
}

impl ReceiverHttp {
    /// Reaches the receiver at this address.
    ///
    /// # Errors
    /// When no HTTP client can be made.
    pub fn new(base: &str) -> Result<Self, reqwest::Error> {
        let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(60)).build()?;
        Ok(Self { base: base.trim_end_matches('/').to_owned(), client })
    }
}

#[async_trait]
impl Http for ReceiverHttp {
    async fn post_json(&self, path: &str, body: String) -> Result<(u16, String), ToolFailure> {
        let unreachable = |_| ToolFailure::failed("the receiver can't be reached");
        let response = self
            .client
            .post(format!("{}/{}", self.base, path.trim_start_matches('/')))
            .header("content-type", "application/json")
            .body(body)
            .send()
            .await
            .map_err(unreachable)?;
        let status = response.status().as_u16();
        Ok((status, response.text().await.map_err(unreachable)?))
    }
}
