//! Governing: tenants, principals, keys, roles, policies, toolsets, profiles, limits, kill switches.

use serde_json::Value;

use crate::gate::{Gate, Ran, finish, serve, toolgate};
use crate::shown;

const CLOCK: &str = "core__get_current_time";

/// What several commands showed, one after the other.
pub(crate) struct Walk<'a> {
    gate: &'a Gate,
    key: String,
    shown: String,
}

impl<'a> Walk<'a> {
    pub(crate) fn on(gate: &'a Gate) -> Self {
        Self { gate, key: gate.key.clone(), shown: String::new() }
    }

    /// The same with another key from here on.
    pub(crate) fn with_key(&mut self, key: &str) {
        self.key = key.to_owned();
    }

    pub(crate) fn run(&mut self, args: &[&str]) -> Ran {
        let mut command = toolgate();
        command.args(args).env("TOOLGATE_URL", &self.gate.url).env("TOOLGATE_KEY", &self.key);
        let ran = finish(command, "");
        let talk: String = ran.stderr.lines().map(|line| format!("| {line}\n")).collect();
        self.shown.push_str(&format!(
            "$ toolgate {}\n{}{talk}=> {}\n\n",
            args.join(" "),
            ran.stdout,
            ran.code
        ));
        ran
    }

    /// Runs a command that must end like this.
    pub(crate) fn ends(&mut self, code: i32, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, code, "{args:?}: {ran:?}");
        ran.stdout.trim_end().to_owned()
    }

    pub(crate) fn ok(&mut self, args: &[&str]) -> String {
        self.ends(0, args)
    }

    pub(crate) fn check(self, name: &str) {
        check(name, "(a walk; | is standard error, => the exit code)", self.shown);
    }
}

/// Compares with a snapshot, without secrets.
fn check(name: &str, line: &str, stdout: String) {
    let mut settings = insta::Settings::clone_current();
    for (pattern, stands_for) in [
        (r"\btgk_[0-9a-f]{64}", "tgk_[secret]"),
        (r"token=[0-9A-Za-z_-]+", "token=[secret]"),
        (r"again in \d+ s", "again in [n] s"),
        // Written now and then, so it may be there already.
        (r"(last used +).*", "${1}[now or later]"),
    ] {
        settings.add_filter(pattern, stands_for);
    }
    settings.bind(|| shown::check(name, line, &Ran { code: 0, stdout, stderr: String::new() }));
}

/// A file beside the gate's store.
pub(crate) fn file(gate: &Gate, name: &str, text: &str) -> String {
    let path = gate.data().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn an_agent_has_what_it_was_given_and_nothing_else() {
    let gate = serve(&[], &[]);
    let mut walk = Walk::on(&gate);
    walk.ok(&["me"]);
    walk.ok(&["user", "create", "ada", "--title", "Ada Lovelace", "--role", "approver"]);
    walk.ok(&["role", "set", "support", "--description", "answers customers", "--rule", "crm.contacts.read"]);
    walk.ok(&["agent", "create", "helper", "--role", "support", "--acts-for", "ada"]);
    walk.ok(&["agent", "show", "helper"]);
    walk.ok(&["agent", "list"]);
    let key = walk.ok(&["key", "create", "--principal", "agent:helper", "--label", "laptop"]);
    walk.ends(3, &["policy", "explain", "--tool", CLOCK, "--principal", "agent:helper"]);
    walk.ok(&[
        "toolset",
        "set",
        "reading",
        "--tool",
        "core__*",
        "--exclude",
        "core__quick_score",
        "--effect",
        "read",
    ]);
    walk.ok(&["profile", "set", "careful", "--description", "asks first", "--approval", "always_ask"]);
    walk.ok(&["tool", "assign", "--agent", "helper", "--toolset", "reading"]);
    walk.ok(&["tool", "assign", "--agent", "helper", "--tool", "fixture__slow_read", "--profile", "careful"]);
    walk.ok(&["tool", "list", "--assignments"]);
    walk.ok(&["tool", "list", "--profiles", "--agent", "helper"]);
    walk.with_key(&key);
    walk.ok(&["me"]);
    walk.ok(&["tool", "list"]);
    walk.ok(&["tool", "invoke", CLOCK, "-q"]);
    walk.ends(1, &["tool", "invoke", "core__quick_score", "--input", "{}"]);
    let call = walk.ends(4, &["tool", "invoke", "fixture__slow_read", "--milliseconds", "1"]);
    walk.ends(3, &["agent", "list"]);
    walk.with_key(&gate.key);
    walk.ok(&["policy", "explain", "--tool", CLOCK, "--principal", "agent:helper", "--input", "{}"]);
    walk.ends(4, &["policy", "explain", "--tool", "fixture__slow_read", "--principal", "agent:helper"]);
    walk.ok(&["tool", "invocations", "--agent", "helper", "--status", "pending"]);
    walk.ok(&["tool", "reject", &call, "--reason", "not today"]);
    walk.ok(&["tool", "revoke", "--agent", "helper", "--toolset", "reading"]);
    walk.with_key(&key);
    walk.ends(1, &["tool", "invoke", CLOCK]);
    walk.with_key(&gate.key);
    walk.ok(&["agent", "disable", "helper"]);
    walk.with_key(&key);
    walk.ends(3, &["tool", "list"]);
    walk.with_key(&gate.key);
    walk.ok(&["agent", "enable", "helper"]);
    walk.check("govern_agent");
}

#[test]
fn policies_are_checked_tried_saved_compared_and_taken_back() {
    let gate = serve(&[], &[]);
    let start = gate.run(&["policy", "show"]);
    assert!(start.stderr.starts_with("version 0: "), "{start:?}");
    let more = "\n// The clock is for people.\n@id(\"no clock for services\")\nforbid (\n    \
                principal is Toolgate::Service,\n    action == Toolgate::Action::\"call\",\n    \
                resource == Toolgate::Tool::\"core__get_current_time\"\n);\n";
    let draft = file(&gate, "draft.cedar", &format!("{}{more}", start.stdout));
    let bad = file(&gate, "bad.cedar", "@id(\"a\")\npermit (principal, actin, resource);\n");
    let odd = "@id(\"a\")\npermit (principal, action == Toolgate::Action::\"call\", resource)\n\
               when { resource.efect == 1 };\n";
    let odd = file(&gate, "odd.cedar", odd);

    let mut walk = Walk::on(&gate);
    walk.ok(&["service", "create", "nightly"]);
    let key =
        walk.ok(&["key", "create", "--principal", "service:nightly", "--label", "cron", "--expires", "12h"]);
    walk.with_key(&key);
    walk.ok(&["tool", "invoke", CLOCK, "-q"]);
    walk.with_key(&gate.key);
    walk.ends(1, &["policy", "validate", "--file", &bad]);
    walk.ends(1, &["policy", "validate", "--file", &odd]);
    walk.ends(1, &["policy", "save", "--file", &bad]);
    walk.ends(1, &["policy", "try", "--file", &bad]);
    walk.ok(&["policy", "validate", "--file", &draft]);
    walk.ok(&["policy", "save", "--file", &draft, "--dry-run"]);
    walk.ok(&["policy", "try", "--file", &draft, "--principal", "service:nightly"]);
    walk.ok(&["policy", "versions"]);
    walk.ok(&["policy", "save", "--file", &draft, "--note", "the clock is for people", "--if-version", "0"]);
    walk.ends(1, &["policy", "save", "--file", &draft, "--if-version", "0"]);
    walk.ok(&["policy", "diff", "0"]);
    walk.ends(3, &["policy", "explain", "--tool", CLOCK, "--principal", "service:nightly"]);
    walk.with_key(&key);
    walk.ends(3, &["tool", "invoke", CLOCK]);
    walk.with_key(&gate.key);
    walk.ok(&["policy", "rollback", "0"]);
    walk.ok(&["policy", "versions"]);
    walk.ok(&["policy", "diff", "0"]);
    walk.ends(1, &["policy", "show", "17"]);
    walk.with_key(&key);
    walk.ok(&["tool", "invoke", CLOCK, "-q"]);
    walk.check("govern_policy");

    let saved = gate.run(&["policy", "show", "1"]);
    assert_eq!(saved.stdout, std::fs::read_to_string(&draft).unwrap());
    let schema = gate.ok(&["policy", "schema"]);
    assert!(schema.contains("namespace Toolgate"), "{schema}");
}

#[test]
fn a_text_may_come_by_stdin() {
    let gate = serve(&[], &[]);
    let bad = "@id(\"a\")\npermit (principal, actin, resource);\n";
    let ran = gate.run_with(&["policy", "validate", "--file", "-"], bad);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.starts_with("<stdin>:2:"), "{ran:?}");
    let ran = gate.run_with(&["policy", "validate", "--file", "-", "--json"], bad);
    assert_eq!((ran.code, &json(&ran.stdout)["ok"]), (1, &false.into()));
    let ran = gate.run_with(&["policy", "validate", "--file", "-", "--key-stdin"], &gate.key);
    assert_eq!(ran.code, 2, "{ran:?}");
    let bounds = "{\"type\": \"object\", \"properties\": {\"timezone\": {\"maxLength\": 5}}}";
    let ran = gate.run_with(&["profile", "set", "short", "--arguments", "-", "--json"], bounds);
    assert_eq!((ran.code, &json(&ran.stdout)["arguments"]["type"]), (0, &"object".into()), "{ran:?}");
}

#[test]
fn limits_and_switches_stop_calls() {
    let gate = serve(&[], &[]);
    gate.ok(&["service", "create", "nightly"]);
    let key = gate.ok(&["key", "create", "--principal", "service:nightly", "--label", "cron"]);
    let mut walk = Walk::on(&gate);
    walk.ok(&["limit", "set", "services", "--principal", "service:*", "--per", "principal", "--rate", "1"]);
    walk.ok(&["limit", "set", "spending", "--per", "tenant", "--cost", "12.50/day", "--on-overrun", "ask"]);
    walk.ok(&["limit", "list"]);
    walk.with_key(&key);
    walk.ok(&["tool", "invoke", CLOCK, "-q"]);
    walk.ends(1, &["tool", "invoke", CLOCK]);
    walk.with_key(&gate.key);
    walk.ok(&["limit", "show", "spending"]);
    walk.ok(&["limit", "remove", "services"]);
    walk.with_key(&key);
    walk.ok(&["tool", "invoke", CLOCK, "-q"]);
    walk.with_key(&gate.key);
    walk.ends(2, &["kill", "throw", "tool", CLOCK, "--reason", "it is late"]);
    walk.ends(2, &["kill", "throw", "tool", "--reason", "it is late"]);
    walk.ok(&["kill", "throw", "tool", CLOCK, "--reason", "it is late", "--yes"]);
    walk.ok(&["kill", "throw", "tenant", "--reason", "so are all", "--yes"]);
    walk.ok(&["kill", "throw", "principal", "agent:to-come", "--reason", "not yet", "--yes"]);
    walk.ok(&["kill", "list"]);
    walk.with_key(&key);
    walk.ends(3, &["tool", "invoke", CLOCK]);
    walk.with_key(&gate.key);
    walk.ends(2, &["kill", "lift", "tenant"]);
    walk.ok(&["kill", "lift", "tenant", "--yes"]);
    walk.ok(&["kill", "lift", "principal", "agent:to-come", "--yes"]);
    walk.ok(&["kill", "lift", "tool", CLOCK, "--yes"]);
    walk.ends(1, &["kill", "lift", "tool", CLOCK, "--yes"]);
    walk.ok(&["kill", "list"]);
    walk.with_key(&key);
    walk.ok(&["tool", "invoke", CLOCK, "-q"]);
    walk.check("govern_limits");
}

#[test]
fn tools_are_switched_on_and_off() {
    let gate = serve(&[], &[]);
    let mut walk = Walk::on(&gate);
    walk.ok(&["tool", "disable", CLOCK]);
    walk.ends(1, &["tool", "show", CLOCK]);
    walk.ok(&["tool", "enable", CLOCK, "--approval", "always_ask"]);
    walk.ok(&["tool", "disable", CLOCK]);
    // Switching on and off does not loosen what was said of approval.
    walk.ok(&["tool", "enable", CLOCK]);
    walk.ends(4, &["tool", "invoke", CLOCK]);
    walk.ok(&["tool", "enable", CLOCK, "--approval", "by_policy"]);
    walk.ok(&["tool", "reset", CLOCK]);
    walk.ends(1, &["tool", "reset", CLOCK]);
    walk.ends(1, &["tool", "enable", "core__nothing"]);
    walk.check("govern_registry");
    let registry = gate.ok(&["tool", "list", "--registry"]);
    assert!(
        registry.lines().any(|line| line.starts_with(CLOCK) && line.contains("on by default")),
        "{registry}"
    );
    assert_eq!(gate.run(&["tool", "list", "--registry", "--agent", "helper"]).code, 2);
}

#[test]
fn keys_narrow_rotate_and_end() {
    let gate = serve(&[], &[]);
    let mut walk = Walk::on(&gate);
    let scopes = ["--scope", "tool:core__*", "--scope", "manage:keys"];
    let narrow = walk.ok(&[&["key", "create", "--label", "narrow"], &scopes[..]].concat());
    walk.with_key(&narrow);
    walk.ok(&["me"]);
    walk.ends(3, &["key", "create", "--label", "wider", "--scope", "tool:*"]);
    walk.ends(3, &["role", "list"]);
    walk.with_key(&gate.key);
    walk.ends(1, &["key", "create", "--label", "odd", "--scope", "everything"]);
    walk.ends(2, &["key", "create", "--label", "odd", "--expires", "soon"]);
    walk.ends(1, &["key", "create", "--label", "odd", "--expires", "2020-01-01T00:00:00Z"]);
    walk.ends(2, &["key", "create"]);
    let keys = json(&gate.ok(&["key", "list", "--json"]));
    let id =
        keys["keys"].as_array().unwrap().iter().find(|key| key["label"] == "narrow").unwrap()["id"].clone();
    let id = id.as_str().unwrap();
    let rotated = walk.ok(&["key", "rotate", id, "--overlap", "1h"]);
    assert!(rotated.starts_with("tgk_") && rotated != narrow);
    walk.ok(&["key", "show", id]);
    walk.ends(1, &["key", "rotate", id, "--overlap", "1h"]);
    walk.with_key(&rotated);
    walk.ok(&["me"]);
    walk.with_key(&gate.key);
    walk.ok(&["key", "revoke", id]);
    for ended in [&narrow, &rotated] {
        walk.with_key(ended);
        walk.ends(3, &["me"]);
    }
    walk.check("govern_keys");
    let keys = gate.ok(&["key", "list", "--principal", "user:admin"]);
    let states: Vec<&str> = keys.lines().skip(1).filter_map(|line| line.split_whitespace().nth(2)).collect();
    assert_eq!(states, ["active", "revoked", "revoked"], "{keys}");
    let made = json(&gate.ok(&["key", "create", "--label", "whole", "--expires", "90d", "--json"]));
    assert!(made["secret"].as_str().is_some_and(|secret| secret.starts_with("tgk_")));
    assert_eq!(made["key"]["status"], "active");
}

#[test]
fn tenants_are_walls_and_people_are_invited() {
    let gate = serve(&[], &[]);
    let mut walk = Walk::on(&gate);
    let acme = walk.ok(&["tenant", "create", "acme", "--title", "Acme Ltd"]);
    walk.ends(1, &["tenant", "create", "acme"]);
    walk.ok(&["tenant", "update", "acme", "--title", "Acme Limited"]);
    walk.with_key(&acme);
    walk.ok(&["me"]);
    walk.ok(&["user", "create", "bob"]);
    walk.ok(&["user", "invite", "bob"]);
    walk.ends(1, &["tenant", "list"]);
    walk.ends(1, &["tenant", "show", "default"]);
    walk.with_key(&gate.key);
    walk.ends(1, &["user", "show", "bob"]);
    walk.ok(&["tenant", "list"]);
    walk.ok(&["tenant", "disable", "acme"]);
    walk.with_key(&acme);
    walk.ends(3, &["me"]);
    walk.with_key(&gate.key);
    walk.ok(&["tenant", "enable", "acme"]);
    walk.ends(1, &["tenant", "disable", "default"]);
    let recovered = walk.ok(&["tenant", "recover", "acme"]);
    walk.ends(1, &["tenant", "recover", "default"]);
    walk.with_key(&recovered);
    walk.ok(&["me"]);
    walk.ends(1, &["tenant", "recover", "acme"]);
    walk.ok(&["tenant", "links"]);
    walk.ok(&["tenant", "links", "--user", "bob"]);
    walk.ends(1, &["tenant", "unlink", "lnk_00000000000000000000000000000000", "--yes"]);
    walk.ends(2, &["tenant", "unlink", "bob", "--yes"]);
    walk.check("govern_tenants");
}

#[test]
fn a_document_can_be_shown_changed_and_written_again() {
    let gate = serve(&[], &[]);
    let profile = ["--rate", "30", "--concurrency", "2", "--cost", "0.5/hour", "--on-overrun", "ask"];
    gate.ok(&[&["profile", "set", "slow"], &profile[..]].concat());
    gate.ok(&["limit", "set", "all", "--per", "tool", "--rate", "9"]);
    gate.ok(&["role", "set", "support", "--rule", "crm.contacts.read"]);
    gate.ok(&["toolset", "set", "reading", "--tool", "core__*"]);
    for (noun, name) in [("profile", "slow"), ("limit", "all"), ("role", "support"), ("toolset", "reading")] {
        let before = gate.ok(&[noun, "show", name, "--json"]);
        let path = file(&gate, "document.json", &before);
        let set = |revision: &str, description: &str| {
            let flags = ["--file", &path, "--if-revision", revision, "--description", description, "--json"];
            gate.run(&[&[noun, "set", name], &flags[..]].concat())
        };
        let ran = set("1", "anew");
        assert_eq!(ran.code, 0, "{noun}: {ran:?}");
        let (mut before, mut after) = (json(&before), json(&ran.stdout));
        assert_eq!((&after["description"], &after["revision"]), (&"anew".into(), &2.into()), "{noun}");
        for changed in ["description", "revision", "updated_at"] {
            before[changed] = Value::Null;
            after[changed] = Value::Null;
        }
        assert_eq!(before, after, "{noun}");
        let stale = set("1", "again");
        assert_eq!(stale.code, 1, "{noun}: {stale:?}");
        assert!(stale.stderr.starts_with("error[conflict]"), "{noun}: {stale:?}");
        gate.ok(&[noun, "remove", name]);
        assert_eq!(gate.run(&[noun, "show", name]).code, 1, "{noun}");
    }
    assert_eq!(gate.run(&["profile", "set", "x", "--file", "-"]).code, 2);
}

#[test]
fn bad_input_is_said_so() {
    let gate = serve(&[], &[]);
    let wrong = file(&gate, "wrong.json", "{\"rate\": 3}");
    let mut walk = Walk::on(&gate);
    walk.ends(2, &["agent", "show", "user:ada"]);
    walk.ends(2, &["user", "create", "a b"]);
    walk.ends(1, &["agent", "show", "nobody"]);
    walk.ends(1, &["agent", "create", "helper", "--role", "nothing"]);
    walk.ends(1, &["user", "create", "bob", "--acts-for", "ada"]);
    walk.ends(2, &["user", "update", "bob"]);
    walk.ends(2, &["role", "show", "No Such"]);
    walk.ends(1, &["role", "show", "nothing"]);
    walk.ends(2, &["key", "show", "key_1"]);
    walk.ends(2, &["tool", "assign", "--agent", "helper"]);
    walk.ends(2, &["tool", "assign", "--agent", "helper", "--tool", CLOCK, "--toolset", "reading"]);
    walk.ends(1, &["tool", "assign", "--agent", "helper", "--tool", CLOCK]);
    walk.ends(2, &["toolset", "set", "reading"]);
    walk.ends(2, &["toolset", "set", "reading", "--tool", "*", "--effect", "nice"]);
    walk.ends(1, &["profile", "set", "loose", "--approval", "auto"]);
    walk.ends(2, &["profile", "set", "dear", "--cost", "12.50/year"]);
    walk.ends(2, &["profile", "set", "odd", "--arguments", "{"]);
    walk.ends(2, &["profile", "set", "odd", "--file", &wrong]);
    walk.ends(1, &["limit", "set", "nothing", "--per", "tenant"]);
    walk.ends(2, &["policy", "save", "--file", "no-such-file.cedar"]);
    walk.ends(1, &["policy", "explain", "--tool", "core__nothing"]);
    walk.ends(2, &["policy", "explain", "--tool", "nothing"]);
    walk.ends(2, &["kill", "throw", "weather", "x", "--reason", "rain"]);
    walk.ends(1, &["kill", "throw", "session", "x", "--reason", "rain", "--yes"]);
    walk.check("govern_bad_input");
}

#[test]
fn every_command_has_help_with_examples() {
    let six = ["list", "show", "create", "update", "disable", "enable"];
    let four = ["list", "show", "set", "remove"];
    let policy = ["show", "validate", "save", "versions", "diff", "rollback", "explain", "try", "schema"];
    let tool = ["assign", "revoke", "enable", "disable", "reset", "invocations", "approve", "reject"];
    let approval = ["list", "show", "approve", "reject", "edit", "ask", "reassign", "decide", "watch"];
    for (noun, commands) in [
        (
            "tenant",
            &["list", "show", "create", "update", "disable", "enable", "recover", "links", "unlink"][..],
        ),
        ("user", &["list", "show", "create", "update", "disable", "enable", "invite"]),
        ("agent", &six),
        ("service", &six),
        ("key", &["list", "show", "create", "rotate", "revoke"]),
        ("role", &four),
        ("policy", &policy),
        ("toolset", &four),
        ("profile", &four),
        ("limit", &four),
        ("kill", &["list", "throw", "lift"]),
        ("me", &[]),
        ("approval", &approval),
        ("approval-rule", &four),
        ("grant", &["list", "show", "revoke"]),
        ("notification", &["list", "retry", "test"]),
        ("connection", &["list", "set", "connect", "remove"]),
        ("secrets", &["rewrap"]),
        ("entity", &["types", "list"]),
        ("tool", &tool),
    ] {
        let own = std::iter::once(vec![noun]).filter(|_| noun != "tool");
        let mut shown = String::new();
        for words in own.chain(commands.iter().map(|command| vec![noun, *command])) {
            let mut command = toolgate();
            command.args(&words).arg("--help");
            let ran = finish(command, "");
            assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
            let (before, global) = ran.stdout.split_once("\nGlobal options:\n").unwrap();
            let (_, examples) = global.split_once("how long they take\n").unwrap();
            let is_leaf = words.len() == 2 || noun == "me";
            assert!(!is_leaf || examples.contains("Examples:"), "{words:?} has no examples");
            shown.push_str(&format!("$ toolgate {} --help\n{before}{examples}\n", words.join(" ")));
        }
        check(&format!("help_of_{noun}"), "(without the global options)", shown);
    }
}

/// Each command of the guide with the exit code it names. A block with a text in it is one command.
fn commands(guide: &str) -> Vec<(String, i32)> {
    let mut found = Vec::new();
    for block in guide.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        if block.contains("<<'END'") {
            found.push((block.to_owned(), 0));
            continue;
        }
        for line in block.replace("\\\n", "").lines().filter(|line| !line.trim().is_empty()) {
            let code = line.split_once("# exit ").map_or(0, |(_, code)| code.trim().parse().unwrap());
            found.push((format!("{line}\n"), code));
        }
    }
    found
}

#[test]
fn every_command_of_the_guide_works() {
    run_guide("governing.md", 50);
}

/// Runs the commands of a guide from top to bottom on a fresh gate. There are at least so many.
pub(crate) fn run_guide(name: &str, least: usize) {
    run_guide_on(&serve(&[], &[]), name, least);
}

/// The same on a gate that has what the guide needs.
pub(crate) fn run_guide_on(gate: &Gate, name: &str, least: usize) {
    let guide = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides").join(name);
    let commands = commands(&std::fs::read_to_string(guide).unwrap());
    assert!(commands.len() > least, "{commands:?}");
    let mut script = "set -u\n".to_owned();
    for (number, (command, code)) in commands.iter().enumerate() {
        script.push_str(&format!("{command}[ $? -eq {code} ] || {{ echo command {number} >&2; exit 9; }}\n"));
    }
    let folder = tempfile::TempDir::new().unwrap();
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_toolgate")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).current_dir(folder.path()).env("PATH", path);
    shell.env("TOOLGATE_URL", &gate.url).env("TOOLGATE_KEY", &gate.key);
    let ran = finish(shell, "");
    let number =
        ran.stderr.lines().last().and_then(|line| line.strip_prefix("command ")?.parse::<usize>().ok());
    assert_eq!(ran.code, 0, "{:?}\n{}\n{}", number.map(|number| &commands[number]), ran.stdout, ran.stderr);
}
