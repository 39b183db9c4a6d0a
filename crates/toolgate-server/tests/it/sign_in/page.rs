//! The pages that work without a script.

use super::{SESSION, gate};
use crate::browser::{Browser, PASSWORD};
use crate::gate::TestGate;

#[tokio::test]
async fn pages_work_without_a_script_and_give_nothing_away() {
    let gate = TestGate::start().await;
    let token = gate.app.offer_set_up().await.unwrap().unwrap();
    let mut browser = Browser::new(&gate);
    for path in ["/sign-in", "/set-up?token=%22%3E%3Cscript%3E", "/invite?token=x", "/auth/oidc/none/start"] {
        let page = browser.get(path).await;
        let header = |name: &str| page.headers[name].to_str().unwrap().to_owned();
        assert!(header("content-security-policy").starts_with("default-src 'none'; "), "{path}");
        assert!(header("content-security-policy").contains("frame-ancestors 'none'"), "{path}");
        assert_eq!(header("referrer-policy"), "strict-origin");
        assert_eq!(header("cache-control"), "no-store");
        assert!(!page.text.contains("<script"), "{path}: {}", page.text);
        assert!(page.text.contains("<h1>") && page.text.contains("lang=\"en\""));
    }
    let form = browser.get("/set-up?token=abc").await.text;
    let form = form.split_once("</svg>\n").unwrap().1.split_once("</main>").unwrap().0;
    insta::assert_snapshot!(form, @r#"
    <h1>Set up Toolgate</h1>
    <p>Make the first administrator. This link works once.</p>
    <form method="post" action="/set-up">
    <input type="hidden" name="token" value="abc">
    <p><label for="login">Login</label>
    <input id="login" name="login" type="text" autocomplete="username" required value="admin" spellcheck="false" autocapitalize="none"></p>
    <p><label for="title">Your name</label>
    <input id="title" name="title" type="text" autocomplete="name" maxlength="200"></p>
    <p><label for="password">Password</label>
    <input id="password" name="password" type="password" autocomplete="new-password" required minlength="12" maxlength="256" aria-describedby="rule"></p>
    <p id="rule"><small>At least 12 characters. A few unrelated words are easy to remember.</small></p>
    <p><button>Create and sign in</button></p>
    </form>
    "#);

    let fields = [("token", token.reveal()), ("login", "root"), ("title", ""), ("password", "short")];
    let refused = browser.form("/set-up", &fields).await;
    assert_eq!(refused.status, 400);
    assert!(refused.text.contains("role=\"alert\"") && refused.text.contains(token.reveal()));
    let fields = [("token", token.reveal()), ("login", "root"), ("title", ""), ("password", PASSWORD)];
    let done = browser.form("/set-up", &fields).await;
    assert_eq!((done.status, done.location().as_str()), (303, "/"));
    let page = browser.get("/sign-in").await;
    assert!(page.text.contains("signed in as <strong>root</strong>"), "{}", page.text);

    let wrong = browser.form("/sign-out", &[("csrf", "x")]).await;
    assert_eq!(wrong.status, 403);
    let csrf = browser.get(SESSION).await.json()["csrf_token"].as_str().unwrap().to_owned();
    let out = browser.form("/sign-out", &[("csrf", &csrf)]).await;
    assert_eq!((out.status, out.location().as_str()), (303, "/sign-in"));
    assert_eq!(browser.get(SESSION).await.status, 401);

    for (return_to, location) in [
        ("/tools?x=1", "/tools?x=1"),
        ("//evil.example", "/"),
        ("https://evil.example", "/"),
        ("/\\evil", "/"),
    ] {
        let fields = [("login", "root"), ("password", PASSWORD), ("return_to", return_to)];
        let done = browser.form("/sign-in", &fields).await;
        assert_eq!((done.status, done.location().as_str()), (303, location));
    }
    let wrong = browser.form("/sign-in", &[("login", "<b>"), ("password", "wrong wrong wrong")]).await;
    assert_eq!(wrong.status, 401);
    assert!(!wrong.text.contains("<b>"));
}

#[tokio::test]
async fn forms_from_other_sites_are_refused() {
    let gate = gate().await;
    let post = async |headers: &[(&str, &str)]| {
        let mut request = gate
            .client
            .post(format!("{}/sign-in", gate.url))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(format!("login=ada&password={}", PASSWORD.replace(' ', "+")));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.headers().contains_key("set-cookie"))
    };
    assert_eq!(post(&[]).await, (403, false));
    assert_eq!(post(&[("origin", "http://evil.example")]).await, (403, false));
    assert_eq!(post(&[("origin", "null")]).await, (403, false));
    assert_eq!(post(&[("sec-fetch-site", "cross-site")]).await, (403, false));
}
