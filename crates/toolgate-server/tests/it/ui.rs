//! The web UI as it is served: one page for people under a strict policy, and never a page for programs.

use reqwest::Method;

use crate::gate::TestGate;

async fn ask(gate: &TestGate, method: Method, path: &str, accept: &str) -> reqwest::Response {
    let request = gate.client.request(method, format!("{}{path}", gate.url)).header("accept", accept);
    request.send().await.unwrap()
}

fn header<'a>(answer: &'a reqwest::Response, name: &str) -> &'a str {
    answer.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn people_get_the_page_whatever_its_address() {
    let gate = TestGate::start().await;
    // Without the built UI there is a page that says how to build it, and says that it is not the real one.
    let expected = if toolgate_ui::BUILT { 200 } else { 503 };
    for path in ["/", "/runs", "/tools/core__quick_score", "/some/where?x=1"] {
        let answer = ask(&gate, Method::GET, path, "text/html,*/*;q=0.8").await;
        assert_eq!(answer.status(), expected, "{path}");
        assert_eq!(header(&answer, "content-type"), "text/html; charset=utf-8");
        assert_eq!(header(&answer, "cache-control"), "no-cache");
        assert_eq!(header(&answer, "x-frame-options"), "DENY");
        let policy = header(&answer, "content-security-policy");
        for rule in
            ["default-src 'self'", "script-src 'self';", "object-src 'none'", "frame-ancestors 'none'"]
        {
            assert!(policy.contains(rule), "{policy}");
        }
        assert!(!policy.contains("unsafe-eval") && !policy.contains("http"), "{policy}");
    }
}

#[tokio::test]
async fn programs_never_get_a_page() {
    let gate = TestGate::start().await;
    let html = "text/html,*/*;q=0.8";
    for (method, path, accept) in [
        (Method::GET, "/api", html),
        (Method::GET, "/api/v1/nothing", html),
        (Method::GET, "/auth/nothing", html),
        (Method::GET, "/embed/nothing/here", html),
        (Method::GET, "/.well-known/nothing", html),
        (Method::GET, "/assets/nothing.js", html),
        (Method::GET, "/assets/..%2findex.html", html),
        (Method::GET, "/assets/%2fetc%2fpasswd", html),
        (Method::GET, "/nothing", "application/json"),
        (Method::GET, "/nothing", "*/*"),
        (Method::POST, "/runs", html),
        (Method::PUT, "/nothing", html),
    ] {
        let answer = ask(&gate, method.clone(), path, accept).await;
        let (status, kind) = (answer.status(), header(&answer, "content-type").to_owned());
        assert_eq!(status, 404, "{method} {path}");
        assert_eq!(kind, "application/json", "{method} {path}");
        assert!(!header(&answer, "cache-control").contains("immutable"), "{method} {path}");
    }
}

#[tokio::test]
async fn the_plain_pages_wear_the_same_letters() {
    let gate = TestGate::start().await;
    let answer = ask(&gate, Method::GET, "/auth/style.css", "text/css").await;
    let style = answer.text().await.unwrap();
    assert_eq!(style.contains("@font-face"), toolgate_ui::BUILT);
    let sign_in = ask(&gate, Method::GET, "/sign-in?tenant=%3Cb%3E", "text/html").await;
    assert!(header(&sign_in, "content-security-policy").contains("font-src 'self'"));
    assert!(!sign_in.text().await.unwrap().contains("<b>"));
}
