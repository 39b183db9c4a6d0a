//! Notifications: a channel is tried, what was told is listed, what was not is sent once more.

use tokio::runtime::Runtime;
use toolgate_testkit::HookReceiver;

use crate::gate::serve;
use crate::governance::{Walk, json};

#[test]
fn what_is_told_is_listed_tried_and_sent_again() {
    let runtime = Runtime::new().unwrap();
    let hook = runtime.block_on(HookReceiver::start());
    let folder = tempfile::TempDir::new().unwrap();
    let config = folder.path().join("toolgate.toml");
    let text = format!("[notify.chat]\nkind = \"slack\"\nurl = {:?}\n", hook.url());
    std::fs::write(&config, text).unwrap();
    let gate = serve(&["--config", config.to_str().unwrap()], &[]);
    let mut walk = Walk::on(&gate);
    walk.ok(&["notification", "list"]);
    walk.ok(&["notification", "test", "chat"]);
    hook.answer_next(500, &[]);
    walk.ends(1, &["notification", "test", "chat"]);
    walk.ends(1, &["notification", "test", "none"]);
    walk.ok(&["notification", "list"]);
    let dead = json(&gate.ok(&["notification", "list", "--state", "dead", "--json"]));
    let dead = dead["notifications"][0]["id"].as_str().unwrap().to_owned();
    walk.ok(&["notification", "retry", &dead]);
    runtime.block_on(hook.until(3, |_| true));
    walk.ends(1, &["notification", "retry", "ntf_1"]);
    walk.check("notification");
    assert!(hook.came().iter().all(|one| one.json()["text"] == "A message from Toolgate"));
}
