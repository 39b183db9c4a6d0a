//! A browser as far as signing in goes: keeps cookies, sends them, and knows its CSRF token.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::gate::TestGate;

pub(crate) const COOKIE: &str = "__Host-toolgate";
pub(crate) const PASSWORD: &str = "correct horse battery staple";

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or(Value::Null)
    }

    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or("none").to_owned()
    }

    pub(crate) fn location(&self) -> String {
        self.headers["location"].to_str().unwrap().to_owned()
    }
}

pub(crate) struct Browser<'a> {
    gate: &'a TestGate,
    client: reqwest::Client,
    pub(crate) cookies: BTreeMap<String, String>,
    pub(crate) csrf: String,
}

impl<'a> Browser<'a> {
    pub(crate) fn new(gate: &'a TestGate) -> Self {
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        Self { gate, client, cookies: BTreeMap::new(), csrf: String::new() }
    }

    /// A browser with someone signed in.
    pub(crate) async fn signed_in(gate: &'a TestGate, login: &str) -> Self {
        let mut browser = Self::new(gate);
        let answer = browser.sign_in(login, PASSWORD).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        browser
    }

    pub(crate) async fn sign_in(&mut self, login: &str, password: &str) -> Answer {
        let body = json!({ "login": login, "password": password });
        self.send("POST", "/api/v1/auth/sign-in", Some(body), &[]).await
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.send("GET", path, None, &[]).await
    }

    /// A changing request as our own pages make it.
    pub(crate) async fn change(&mut self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let csrf = self.csrf.clone();
        self.send(method, path, body, &[("x-toolgate-csrf", &csrf)]).await
    }

    pub(crate) async fn form(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let body = serde_urlencoded::to_string(fields).unwrap();
        let url = format!("{}{path}", self.gate.url);
        let request = self.client.post(url).header("origin", &self.gate.url).body(body);
        self.finish(request.header("content-type", "application/x-www-form-urlencoded")).await
    }

    pub(crate) async fn send(
        &mut self,
        method: &str,
        path: &str,
        body: Option<Value>,
        headers: &[(&str, &str)],
    ) -> Answer {
        let url = if path.starts_with("http") { path.to_owned() } else { format!("{}{path}", self.gate.url) };
        let mut request = self.client.request(method.parse().unwrap(), url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        self.finish(request).await
    }

    async fn finish(&mut self, mut request: reqwest::RequestBuilder) -> Answer {
        if !self.cookies.is_empty() {
            let cookies: Vec<String> =
                self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            request = request.header("cookie", cookies.join("; "));
        }
        let answer = request.send().await.unwrap();
        for set in answer.headers().get_all("set-cookie") {
            let (pair, _) = set.to_str().unwrap().split_once(';').unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            if value.is_empty() {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let answer = Answer { status, headers, text: answer.text().await.unwrap() };
        if let Some(csrf) = answer.json()["csrf_token"].as_str() {
            self.csrf = csrf.to_owned();
        }
        answer
    }
}
