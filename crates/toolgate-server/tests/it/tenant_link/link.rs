//! Links are made by proof of both, told in both records, and ended by either side.

use serde_json::json;

use super::*;

#[tokio::test]
async fn both_are_proved_in_one_browser_and_then_linked() {
    let gate = gate().await;
    let mut browser = signed_in(&gate, "default", "ada").await;
    assert_eq!(tenants(&mut browser).await, ["default current"]);
    let begun = begin(&mut browser, "elsewhere").await;
    assert_eq!(begun.status, 201, "{}", begun.text);
    let cookie = begun.headers["set-cookie"].to_str().unwrap().replace(&browser.cookies[LINK], "[secret]");
    insta::assert_snapshot!(cookie, @"__Host-toolgate-link=[secret]; Path=/; Max-Age=600; Secure; HttpOnly; SameSite=Lax");
    assert!(!begun.text.contains(&browser.cookies[LINK]), "the secret is in the cookie alone");

    // The page shows the form although someone is signed in.
    let page = browser.get(text(&begun.json()["sign_in"])).await;
    assert!(page.text.contains("name=\"password\"") && page.text.contains("elsewhere"), "{}", page.text);
    let done = sign_in_to(&mut browser, "elsewhere", "lovelace").await;
    assert_eq!((done.status, done.location().as_str()), (303, "/link"));
    assert!(links(&gate, ADMIN).await.is_empty(), "nothing is linked before the person says yes");
    let page = browser.get("/link").await;
    for named in ["elsewhere", "lovelace", "default", "ada"] {
        assert!(page.text.contains(&format!("<strong>{named}</strong>")), "{named} in {}", page.text);
    }
    assert_eq!(answer(&mut browser, "link").await.status, 303);
    assert!(!browser.cookies.contains_key(LINK), "it is not needed any more");

    assert_eq!(who(&mut browser).await, "elsewhere user:lovelace");
    assert_eq!(tenants(&mut browser).await, ["default switch", "elsewhere current"]);
    for (key, principal, other) in
        [(ADMIN, "user:ada", "elsewhere"), (OTHER_TENANT, "user:lovelace", "default")]
    {
        let links = links(&gate, key).await;
        assert_eq!(links.len(), 1);
        let link = &links[0];
        assert_eq!((text(&link["principal"]), text(&link["other_tenant"])), (principal, other));
        assert_eq!(text(&link["proof"]), "password");
        let shown = link.to_string();
        assert!(
            shown.contains("user:ada") != shown.contains("user:lovelace"),
            "who they are there is theirs"
        );
        assert_eq!(told(&gate, key).await, ["user.linked"]);
    }
    gate.verify().await;
}

#[tokio::test]
async fn who_says_no_is_not_linked_and_is_not_asked_again() {
    let gate = gate().await;
    let mut browser = signed_in(&gate, "default", "ada").await;
    begin(&mut browser, "elsewhere").await;
    let kept = browser.cookies[LINK].clone();
    sign_in_to(&mut browser, "elsewhere", "lovelace").await;
    assert_eq!(answer(&mut browser, "no").await.status, 303);
    browser.cookies.insert(LINK.into(), kept);
    let again = answer(&mut browser, "link").await;
    assert!(again.status == 404 && again.text.contains("<code>token_invalid</code>"), "{}", again.text);
    assert!(links(&gate, ADMIN).await.is_empty());
}

#[tokio::test]
async fn a_third_tenant_is_linked_with_the_one_it_was_begun_in_alone() {
    let gate = gate().await;
    let third = gate
        .caller(NewCaller { tenant: "third", principal: "user:chief", rules: &["*"], ..NewCaller::default() })
        .await;
    add_person(&gate, &third, "third", "countess").await;
    let mut browser = linked(&gate).await;
    begin(&mut browser, "third").await;
    sign_in_to(&mut browser, "third", "countess").await;
    assert_eq!(answer(&mut browser, "link").await.status, 303);
    assert_eq!(tenants(&mut browser).await, ["elsewhere switch", "third current"]);
    assert_eq!(
        tenants(&mut signed_in(&gate, "default", "ada").await).await.len(),
        2,
        "nobody carries links on"
    );
    let mut browser = signed_in(&gate, "elsewhere", "lovelace").await;
    assert_eq!(tenants(&mut browser).await, ["default switch", "elsewhere current", "third switch"]);
    let left = browser.change("DELETE", &format!("{MINE}/third"), None).await;
    assert_eq!(left.status, 204, "{}", left.text);
    assert_eq!(tenants(&mut browser).await, ["default switch", "elsewhere current"]);
    let mut browser = signed_in(&gate, "third", "countess").await;
    assert_eq!(tenants(&mut browser).await, ["third current"]);
    assert!(links(&gate, &third).await.is_empty());
    gate.verify().await;
}

#[tokio::test]
async fn either_tenants_administrator_ends_a_link_and_nobody_else() {
    let gate = gate().await;
    for (key, stranger) in [(ADMIN, OTHER_TENANT), (OTHER_TENANT, ADMIN)] {
        linked(&gate).await;
        let link = links(&gate, key).await.remove(0);
        let path = format!("/api/v1/tenant-links/{}", text(&link["id"]));
        let end = async |key: &str| gate.send(Some(key), "DELETE", &path, None, &[]).await.0;
        let mut eve = signed_in(&gate, "default", "eve").await;
        assert_eq!(eve.change("DELETE", &path, None).await.status, 403);
        assert_eq!(eve.get("/api/v1/tenant-links").await.status, 403);
        assert_eq!(end(key).await, 204);
        assert_eq!((end(key).await, end(stranger).await), (404, 404), "it has ended for both");
        for key in [ADMIN, OTHER_TENANT] {
            assert!(links(&gate, key).await.is_empty());
            assert_eq!(told(&gate, key).await.last().unwrap(), "user.unlinked");
        }
        assert_eq!(tenants(&mut signed_in(&gate, "default", "ada").await).await, ["default current"]);
    }
    gate.verify().await;
}

#[tokio::test]
async fn a_new_password_ends_what_the_old_one_linked() {
    let gate = gate().await;
    let mut switched = linked(&gate).await;
    assert_eq!(switch(&mut switched, "default").await.status, 200);
    // Whoever had Lovelace's password could have linked themselves with her: she changes it.
    let mut lovelace = signed_in(&gate, "elsewhere", "lovelace").await;
    let body = json!({ "current": PASSWORD, "new": "another correct horse" });
    assert_eq!(lovelace.change("POST", "/api/v1/auth/password", Some(body)).await.status, 204);
    assert_eq!(who(&mut switched).await, "401", "those who came from there are out");
    assert_eq!(tenants(&mut lovelace).await, ["elsewhere current"]);
    assert_eq!(tenants(&mut signed_in(&gate, "default", "ada").await).await, ["default current"]);
    for key in [ADMIN, OTHER_TENANT] {
        assert_eq!(told(&gate, key).await.last().unwrap(), "user.unlinked", "both records tell of the link");
        assert_eq!(told(&gate, key).await.iter().filter(|action| *action == "user.unlinked").count(), 1);
    }
    gate.verify().await;
}
