//! Approvals: what waits, previews, decisions, quorum, standing grants, the walk at a terminal.

use serde_json::Value;
use tokio::runtime::Runtime;
use toolgate_testkit::CountingReceiver;

use crate::gate::{Gate, finish, serve, toolgate};
use crate::governance::{Walk, file, json, run_guide};
use crate::terminal::Terminal;

const TRANSFER: &str = "fixture__transfer";
const DESTROY: &str = "fixture__destroy";

/// A gate with an agent that has to ask, and two people who may decide.
struct House {
    gate: Gate,
    receiver: CountingReceiver,
    _runtime: Runtime,
    ada: String,
    bob: String,
    helper: String,
}

impl House {
    fn new() -> Self {
        let runtime = Runtime::new().unwrap();
        let receiver = runtime.block_on(CountingReceiver::start());
        let gate = serve(&["--fixture-receiver", &receiver.url()], &[]);
        for name in ["ada", "bob"] {
            gate.ok(&["user", "create", name, "--role", "approver"]);
        }
        gate.ok(&["agent", "create", "helper", "--acts-for", "ada"]);
        for tool in [TRANSFER, DESTROY] {
            gate.ok(&["tool", "assign", "--agent", "helper", "--tool", tool]);
        }
        let key = |principal: &str| gate.ok(&["key", "create", "--principal", principal, "--label", "test"]);
        let (ada, bob, helper) = (key("user:ada"), key("user:bob"), key("agent:helper"));
        Self { gate, receiver, _runtime: runtime, ada, bob, helper }
    }

    /// Makes the agent ask for a transfer.
    fn ask(&self, amount: &str) -> String {
        self.ask_for(&[TRANSFER, "--amount", amount, "--to", "ada"])
    }

    fn ask_for(&self, call: &[&str]) -> String {
        let mut command = toolgate();
        command.args(["tool", "invoke"]).args(call);
        command.env("TOOLGATE_URL", &self.gate.url).env("TOOLGATE_KEY", &self.helper);
        let ran = finish(command, "");
        assert_eq!(ran.code, 4, "{ran:?}");
        ran.stdout.trim().to_owned()
    }

    fn call(&self, id: &str) -> Value {
        json(&self.gate.ok(&["invocation", "show", id, "--json"]))
    }

    fn digest(&self, id: &str) -> String {
        self.call(id)["review"]["digest"].as_str().unwrap().to_owned()
    }

    fn walk(&self) -> Walk<'_> {
        Walk::on(&self.gate)
    }

    /// A command of Ada's on a terminal.
    fn at_terminal(&self, args: &[&str], envs: &[(&str, &str)]) -> Terminal {
        let mut command = toolgate();
        command.args(args).env("TOOLGATE_URL", &self.gate.url).env("TOOLGATE_KEY", &self.ada);
        command.envs(envs.iter().copied());
        Terminal::open(command)
    }
}

#[test]
fn a_waiting_call_is_listed_shown_and_approved() {
    let house = House::new();
    let mut walk = house.walk();
    walk.with_key(&house.ada);
    walk.ok(&["approval", "list"]);
    let call = house.ask("10");
    walk.ok(&["approval", "list"]);
    walk.ok(&["approval", "list", "--box", "mine"]);
    walk.ok(&["approval", "list", "--box", "group", "-q"]);
    walk.ends(2, &["approval", "list", "--box", "theirs"]);
    walk.ok(&["approval", "show", &call]);
    walk.ok(&["approval", "approve", &call, "--reason", "as agreed"]);
    walk.ends(1, &["approval", "approve", &call]);
    walk.ok(&["approval", "list"]);
    walk.ok(&["approval", "list", "--decided"]);
    walk.with_key(&house.helper);
    walk.ok(&["approval", "show", &call]);
    walk.ok(&["approval", "list"]);
    walk.ends(1, &["approval", "show", "inv_1"]);
    walk.check("approval_approve");
}

#[test]
fn a_call_is_edited_talked_about_and_given_to_someone() {
    let house = House::new();
    let call = house.ask("10");
    let mut walk = house.walk();
    walk.with_key(&house.bob);
    walk.ok(&["approval", "ask", &call, "--text", "is that the yearly one?"]);
    walk.with_key(&house.helper);
    walk.ok(&["approval", "ask", &call, "--text", "yes, see ticket 12"]);
    walk.ends(3, &["approval", "edit", &call, "--input", "{\"amount\": 1, \"to\": \"eve\"}"]);
    walk.ends(3, &["approval", "approve", &call]);
    walk.with_key(&house.bob);
    walk.ends(1, &["approval", "edit", &call, "--input", "{\"amount\": \"few\", \"to\": \"ada\"}"]);
    walk.ends(2, &["approval", "edit", &call, "--input", "{"]);
    walk.ends(2, &["approval", "edit", &call]);
    walk.ok(&["approval", "edit", &call, "--input", "{\"amount\": 7, \"to\": \"ada\"}"]);
    walk.ends(1, &["approval", "reassign", &call, "--to", "helper"]);
    walk.ends(2, &["approval", "reassign", &call, "--to", "agent:helper"]);
    walk.ends(2, &["approval", "reassign", &call, "--to", "ada", "--role", "approver"]);
    walk.ends(1, &["approval", "reassign", &call, "--role", "auditor"]);
    walk.ok(&["approval", "reassign", &call, "--role", "approver"]);
    walk.ok(&["approval", "show", &call]);
    walk.ok(&["approval", "reassign", &call, "--to", "ada"]);
    walk.with_key(&house.ada);
    walk.ok(&["approval", "list", "--box", "mine"]);
    walk.ok(&["approval", "show", &call]);
    walk.ok(&["approval", "approve", &call, "--input", "{\"amount\": 5, \"to\": \"ada\"}"]);
    walk.with_key(&house.helper);
    walk.ok(&["invocation", "wait", &call]);
    walk.ok(&["invocation", "show", &call]);
    walk.check("approval_edit");
    let call = house.call(&call);
    assert_eq!((&call["input"]["amount"], &call["review"]["input"]["amount"]), (&10.into(), &5.into()));
}

#[test]
fn what_is_remembered_runs_without_asking_until_it_is_taken_back() {
    let house = House::new();
    let mut walk = house.walk();
    let invoke = |amount| ["tool", "invoke", TRANSFER, "--amount", amount, "--to", "ada", "-q"];
    walk.with_key(&house.ada);
    let call = house.ask("10");
    walk.ends(2, &["approval", "approve", &call, "--for", "1h"]);
    walk.ends(2, &["approval", "approve", &call, "--remember", "some"]);
    walk.ends(2, &["approval", "approve", &call, "--remember", "same", "--for", "0s"]);
    walk.ends(1, &["approval", "approve", &call, "--remember", "same", "--for", "91d"]);
    walk.ok(&["approval", "approve", &call, "--remember", "same", "--for", "1h"]);
    walk.with_key(&house.helper);
    walk.ok(&invoke("10"));
    walk.ends(4, &invoke("11"));
    walk.with_key(&house.ada);
    walk.ok(&["grant", "list"]);
    let grants = json(&house.gate.ok(&["grant", "list", "--json"]));
    let name = grants["grants"][0]["name"].as_str().unwrap();
    walk.ok(&["grant", "show", name]);
    walk.with_key(&house.bob);
    walk.ends(1, &["grant", "revoke", name]);
    walk.with_key(&house.ada);
    walk.ok(&["grant", "revoke", name]);
    walk.ends(1, &["grant", "show", name]);
    walk.ok(&["grant", "list"]);
    walk.with_key(&house.helper);
    walk.ends(4, &invoke("10"));
    walk.check("approval_remember");
}

#[test]
fn bounds_are_remembered_for_one_session() {
    let house = House::new();
    let by_helper = |args: &[&str]| {
        let mut command = toolgate();
        command.args(args).env("TOOLGATE_URL", &house.gate.url).env("TOOLGATE_KEY", &house.helper);
        finish(command, "")
    };
    let session = by_helper(&["session", "new"]).stdout.trim().to_owned();
    let bounds = r#"{"type": "object", "properties": {"amount": {"maximum": 20}}}"#;
    let bounds = format!("@{}", file(&house.gate, "bounds.json", bounds));
    let invoke = |amount: &str, more: &[&str]| {
        let args = [&["tool", "invoke", TRANSFER, "--amount", amount, "--to", "ada"], more].concat();
        by_helper(&args)
    };
    let first = invoke("10", &["--session", &session]);
    assert_eq!(first.code, 4, "{first:?}");
    let id = first.stdout.trim();
    house.gate.ok(&["approval", "approve", id, "--remember", &bounds, "--session-only"]);
    assert_eq!(invoke("20", &["--session", &session]).code, 0);
    assert_eq!(invoke("21", &["--session", &session]).code, 4);
    assert_eq!(invoke("20", &[]).code, 4);
}

#[test]
fn a_call_is_rejected_by_whichever_command() {
    let house = House::new();
    let mut walk = house.walk();
    let call = house.ask("10");
    walk.with_key(&house.ada);
    walk.ends(2, &["approval", "reject", &call]);
    walk.ok(&["approval", "reject", &call, "--reason", "not today"]);
    walk.ends(1, &["approval", "reject", &call, "--reason", "not today"]);
    walk.with_key(&house.helper);
    walk.ends(1, &["invocation", "wait", &call]);
    walk.check("approval_reject");
    for noun in ["invocation", "tool"] {
        let (yes, no) = (house.ask("1"), house.ask("2"));
        house.gate.ok(&[noun, "approve", &yes, "--reason", "fine"]);
        house.gate.ok(&[noun, "reject", &no, "--reason", "not fine"]);
        assert_eq!(house.call(&yes)["status"], "completed");
        assert_eq!(house.call(&no)["status"], "rejected");
    }
}

#[test]
fn two_people_have_to_agree() {
    let house = House::new();
    let mut walk = house.walk();
    let rule = ["--tool", TRANSFER, "--principal", "agent:*", "--approver", "approver", "--needed", "2"];
    let times = ["--escalate-after", "1h", "--escalate-to", "admin", "--expires-after", "1d"];
    walk.ends(1, &["approval-rule", "set", "payments", "--approver", "nobody"]);
    walk.ends(2, &["approval-rule", "set", "payments", "--needed", "11"]);
    walk.ok(
        &[&["approval-rule", "set", "payments", "--description", "four eyes"], &rule[..], &times].concat()
    );
    walk.ok(&["approval-rule", "list"]);
    let call = house.ask("10");
    walk.with_key(&house.ada);
    walk.ends(4, &["approval", "approve", &call, "--reason", "fine with me"]);
    walk.ends(1, &["approval", "approve", &call]);
    walk.ok(&["approval", "list"]);
    walk.with_key(&house.bob);
    walk.ok(&["approval", "list"]);
    walk.ok(&["approval", "show", &call]);
    walk.ok(&["approval", "approve", &call]);
    walk.with_key(&house.gate.key);
    walk.ok(&["approval-rule", "remove", "payments"]);
    walk.ends(1, &["approval-rule", "show", "payments"]);
    walk.ok(&["approval-rule", "list"]);
    walk.with_key(&house.ada);
    walk.ends(3, &["approval-rule", "list"]);
    walk.check("approval_quorum");
}

#[test]
fn a_rule_can_be_shown_changed_and_written_again() {
    let house = House::new();
    let gate = &house.gate;
    gate.ok(&["approval-rule", "set", "deletions", "--effect", "destructive", "--needed", "3"]);
    let document = file(gate, "rule.json", &gate.ok(&["approval-rule", "show", "deletions", "--json"]));
    let set =
        ["approval-rule", "set", "deletions", "--file", &document, "--needed", "2", "--if-revision", "1"];
    let written = json(&gate.ok(&[&set[..], &["--json"]].concat()));
    assert_eq!((&written["needed"], &written["effects"][0]), (&2.into(), &"destructive".into()));
    let stale = gate.run(&set);
    assert_eq!(stale.code, 1, "{stale:?}");
    assert!(stale.stderr.contains("toolgate approval-rule show deletions"), "{stale:?}");
}

#[test]
fn a_decision_on_what_is_no_longer_so_is_a_conflict() {
    let house = House::new();
    let mut walk = house.walk();
    let call = house.ask("10");
    let seen = house.digest(&call);
    house.gate.ok(&["approval", "edit", &call, "--input", "{\"amount\": 9, \"to\": \"eve\"}"]);
    walk.with_key(&house.ada);
    walk.ends(1, &["approval", "approve", &call, "--digest", &seen]);
    walk.ends(1, &["approval", "reject", &call, "--reason", "no", "--digest", &seen]);
    walk.ends(
        1,
        &["approval", "edit", &call, "--input", "{\"amount\": 1, \"to\": \"ada\"}", "--digest", &seen],
    );
    walk.ok(&["approval", "approve", &call, "--digest", &house.digest(&call)]);
    walk.check("approval_conflict");
}

#[test]
fn what_destroys_is_confirmed_by_name() {
    let house = House::new();
    let mut walk = house.walk();
    let call = house.ask_for(&[DESTROY, "--effect-id", "x"]);
    walk.with_key(&house.ada);
    walk.ends(2, &["approval", "approve", &call, "--yes"]);
    walk.ends(1, &["approval", "approve", &call, "--confirm", "fixture__destory"]);
    assert!(house.receiver.counts().is_empty());
    walk.ok(&["approval", "approve", &call, "--confirm", DESTROY]);
    walk.check("approval_destructive");
    assert_eq!(house.receiver.counts()["x"], 1);
}

#[test]
fn without_a_preview_one_decides_on_the_input() {
    let house = House::new();
    let call = house.ask_for(&[TRANSFER, "--amount", "1", "--to", "nobody"]);
    let shown = house.gate.ok(&["approval", "show", &call]);
    assert!(shown.starts_with("There is no preview: there is no such account\n\nid "), "{shown}");
}

#[test]
fn the_count_is_followed_live() {
    let house = House::new();
    let once = house.gate.ok(&["approval", "watch", "--once"]);
    assert!(once.ends_with("  nothing waits for you"), "{once}");
    house.ask("1");
    assert_eq!(house.gate.ok(&["approval", "watch", "--once", "--json"]), "{\"count\":1}");
    let mut watch = house.at_terminal(&["approval", "watch"], &[]);
    watch.sees("  1 call waits for you");
    let call = house.ask("2");
    watch.sees("  2 calls wait for you");
    house.gate.ok(&["approval", "reject", &call, "--reason", "no"]);
    watch.sees("  1 call waits for you");
}

#[test]
fn waiting_ends_with_the_call_or_in_time() {
    let house = House::new();
    let call = house.ask("10");
    let ran = house.gate.run(&["invocation", "wait", &call, "--timeout", "0s"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    let mut wait = house.at_terminal(&["invocation", "wait", &call], &[]);
    house.gate.ok(&["approval", "approve", &call]);
    wait.sees("completed");
    let ran = wait.end();
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = house.gate.run(&["invocation", "wait", &call, "--json"]);
    assert_eq!((ran.code, &json(&ran.stdout)["status"]), (0, &"completed".into()), "{ran:?}");
    assert_eq!(house.gate.run(&["invocation", "wait", "inv_1"]).code, 1);
}

#[test]
fn a_person_goes_through_what_waits() {
    let house = House::new();
    let calls = ["1", "2", "3", "4"].map(|amount| house.ask(amount));
    let gone = house.ask_for(&[DESTROY, "--effect-id", "x"]);
    let mut walk = house.at_terminal(&["approval", "decide"], &[("EDITOR", "sed -i s/2/20/")]);
    let keys = "[q]uit: ";
    walk.sees("moves 1 to ada");
    walk.answer(keys, "a");
    walk.sees("completed");
    walk.sees("moves 2 to ada");
    walk.answer(keys, "e");
    walk.sees("moves 20 to ada");
    walk.answer(keys, "a");
    walk.sees("moves 3 to ada");
    walk.answer(keys, "x");
    walk.sees("none of the letters");
    walk.sees("moves 3 to ada");
    walk.answer(keys, "d");
    walk.answer("will read it: ", "too much");
    walk.sees("moves 4 to ada");
    walk.answer(keys, "?");
    walk.answer("want to know? ", "why four?");
    walk.answer(keys, "a");
    walk.answer("to let it run: ", "yes");
    walk.sees("not the tool's name");
    walk.answer(keys, "a");
    walk.answer("to let it run: ", DESTROY);
    walk.sees("nothing more waits for you");
    assert_eq!(walk.end().code, 0);
    let status = |id: &str| house.call(id)["status"].clone();
    assert_eq!(calls.each_ref().map(|id| status(id)), ["completed", "completed", "rejected", "pending"]);
    assert_eq!(house.call(&calls[1])["output"]["amount"], 20);
    assert_eq!(house.call(&calls[2])["reason"], "too much");
    assert_eq!(house.call(&calls[3])["review"]["remarks"][0]["text"], "why four?");
    assert_eq!((status(&gone), house.receiver.counts()["x"]), ("completed".into(), 1));
}

#[test]
fn a_person_remembers_on_the_walk() {
    let house = House::new();
    let call = house.ask("1");
    let mut walk = house.at_terminal(&["approval", "decide"], &[]);
    walk.answer("[q]uit: ", "r");
    walk.answer("to go back] ", "-");
    walk.answer("[q]uit: ", "r");
    walk.answer("to go back] ", "often");
    walk.sees("30m, 8h or 7d");
    walk.answer("[q]uit: ", "r");
    walk.answer("to go back] ", "1h");
    walk.sees("completed");
    walk.sees("nothing more waits for you");
    assert_eq!(walk.end().code, 0);
    let grants = json(&house.gate.ok(&["grant", "list", "--json"]));
    let grants = grants["grants"].as_array().unwrap().clone();
    assert_eq!((grants.len(), &grants[0]["call_id"]), (1, &Value::from(call)));
    assert_eq!(grants[0]["arguments"]["const"], serde_json::json!({ "amount": 1, "to": "ada" }));
}

#[test]
fn someone_faster_is_noticed_on_the_walk() {
    let house = House::new();
    let call = house.ask("1");
    let mut walk = house.at_terminal(&["approval", "decide"], &[]);
    walk.sees("[q]uit: ");
    house.gate.ok(&["approval", "edit", &call, "--input", "{\"amount\": 9, \"to\": \"eve\"}"]);
    walk.answer("", "a");
    walk.sees("error[conflict]");
    walk.sees("moves 9 to eve");
    walk.answer("[q]uit: ", "q");
    assert_eq!(walk.end().code, 0);
    assert_eq!(house.call(&call)["status"], "pending");
}

#[test]
fn the_walk_needs_a_person() {
    let house = House::new();
    let mut walk = house.walk();
    walk.with_key(&house.ada);
    walk.ends(2, &["approval", "decide"]);
    walk.check("approval_walk_piped");
}

#[test]
fn a_question_is_asked_at_a_terminal_before_something_runs() {
    let house = House::new();
    let call = house.ask("1");
    let mut no = house.at_terminal(&["approval", "approve", &call], &[]);
    no.answer("run? [y/N] ", "n");
    assert_eq!(no.end().code, 1);
    let destroy = house.ask_for(&[DESTROY, "--effect-id", "x"]);
    let mut wrong = house.at_terminal(&["approval", "approve", &destroy], &[]);
    wrong.answer("to let it run: ", "y");
    assert_eq!(wrong.end().code, 1);
    assert_eq!(house.call(&destroy)["approval"], "pending");
    let mut edit = house.at_terminal(&["approval", "edit", &call], &[("EDITOR", "sed -i s/1/6/")]);
    edit.sees("moves 6 to ada");
    assert_eq!(edit.end().code, 0);
}

#[test]
fn every_command_of_the_guide_works() {
    run_guide("approving.md", 25);
}
