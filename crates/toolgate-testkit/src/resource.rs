//! An MCP server behind a real authorization server: a Node process that runs `oidc/resource.mjs`.

use serde_json::Value;

use crate::TestOidc;

/// An MCP server that lets in only who brings a token of its authorization server. Ends on drop.
#[derive(Debug)]
pub struct TestResource {
    login: TestOidc,
    url: String,
    client: reqwest::Client,
}

impl TestResource {
    /// Starts both.
    pub async fn start() -> Self {
        let (login, mut lines) = TestOidc::run("resource.mjs").await;
        let url = lines.next_line().await.expect("its output").expect("the MCP server starts");
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        Self { login, url, client }
    }

    /// The MCP server's address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The hosts and ports of both, for a gate that may reach them.
    #[must_use]
    pub fn hosts(&self) -> [&str; 2] {
        [self.login.issuer(), &self.url].map(|url| url.split('/').nth(2).unwrap_or_default())
    }

    /// What a browser does at the authorization server: signs in as `sub`, and is sent back. Answers where to.
    pub async fn visit(&self, url: &str, sub: &str) -> String {
        self.login.visit(url, sub).await
    }

    /// Makes tokens last so many seconds from now on.
    pub async fn tokens_last(&self, seconds: u64) {
        self.login.settings(serde_json::json!({ "ttl": seconds })).await;
    }

    /// Has the MCP server take a token as it is, for a person.
    pub async fn accept(&self, token: &str, sub: &str) {
        let url = format!("{}/test/tokens/{token}", self.login.issuer());
        let answer = self.client.put(url).body(sub.to_owned()).send().await.expect("an answer");
        assert!(answer.status().is_success());
    }

    /// Ends every token and every refresh.
    pub async fn revoke_all(&self) {
        let url = format!("{}/test/revoke", self.login.issuer());
        assert!(self.client.post(url).send().await.expect("an answer").status().is_success());
    }

    /// What the MCP server was sent so far, and how often tokens were refreshed.
    pub async fn seen(&self) -> (Vec<Value>, u64) {
        let url = format!("{}/test/seen", self.login.issuer());
        let text = self.client.get(url).send().await.expect("an answer").text().await.expect("a text");
        let seen: Value = serde_json::from_str(&text).expect("JSON");
        (seen["requests"].as_array().expect("a list").clone(), seen["refreshes"].as_u64().unwrap_or_default())
    }
}
