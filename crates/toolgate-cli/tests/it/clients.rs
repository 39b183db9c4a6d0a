//! MCP clients that other people wrote, each a process of its own, at the real gate: the official SDKs of both eras in
//! TypeScript and Python, and the inspector.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use toolgate_testkit::CountingReceiver;

use crate::gate::{Gate, Ran, finish, serve};

const CLOCK: &str = "core__get_current_time";
const ROI: &str = "core__calculate_roi";

/// What a client of the suite runs in, and where its packages are.
#[derive(Debug, Clone, Copy)]
enum Client {
    Script(&'static str),
    Python { version: u8, script: &'static str },
}

const LEGACY_TYPESCRIPT: Client = Client::Script("legacy.mjs");
const MODERN_TYPESCRIPT: Client = Client::Script("modern.mjs");
const LEGACY_PYTHON: Client = Client::Python { version: 1, script: "legacy.py" };
const MODERN_PYTHON: Client = Client::Python { version: 2, script: "modern.py" };

impl Client {
    /// Lets it walk through a plan, and gives its report.
    fn walk(self, plan: &Value) -> Value {
        let ran = self.run(plan);
        assert_eq!(ran.code, 0, "{self:?}: {ran:?}");
        serde_json::from_str(ran.stdout.lines().last().unwrap_or_default()).unwrap()
    }

    fn run(self, plan: &Value) -> Ran {
        let installed = installed();
        match self {
            Self::Script(name) => {
                // On standard input, so that its imports are looked up where the packages are.
                let mut command = Command::new(&installed.node);
                command.current_dir(installed.target.join("clients"));
                command.args(["--input-type=module", "-", &plan.to_string()]);
                finish(command, &std::fs::read_to_string(sources().join(name)).unwrap())
            }
            Self::Python { version, script } => {
                let python = installed.target.join(format!("python-{version}/bin/python"));
                let mut command = Command::new(python);
                command.arg(sources().join(script)).arg(plan.to_string());
                finish(command, "")
            }
        }
    }
}

/// Where the clients are installed.
pub(crate) struct Installed {
    pub(crate) node: String,
    pub(crate) target: PathBuf,
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn sources() -> PathBuf {
    root().join("crates/toolgate-testkit/mcp/clients")
}

/// Installs the clients unless they are there.
pub(crate) fn installed() -> &'static Installed {
    static INSTALLED: OnceLock<Installed> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let script = |name: &str| {
            let output = Command::new(root().join("scripts").join(name)).output().unwrap();
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        script("need-clients");
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
        Installed { node: script("need-node22"), target: target.join("mcp") }
    })
}

fn plan(gate: &Gate, key: &str) -> Value {
    json!({ "url": format!("{}/mcp", gate.url), "key": key, "calls": calls() })
}

fn calls() -> Value {
    json!([
        { "name": CLOCK, "arguments": { "timezone": "Europe/Berlin" } },
        { "name": ROI, "arguments": { "initial_cost": 1000, "years": [{ "benefit": 500 }], "horizon_years": 4 } },
        { "name": ROI, "arguments": { "initial_cost": -1 } },
        { "name": "core__no_such_tool", "arguments": {} },
    ])
}

/// A key of an agent that has the clock and nothing else.
fn narrowed(gate: &Gate) -> String {
    gate.ok(&["agent", "create", "narrow"]);
    gate.ok(&["tool", "assign", "--agent", "narrow", "--tool", CLOCK]);
    gate.ok(&["key", "create", "--principal", "agent:narrow", "--label", "narrow"])
}

fn names(report: &Value) -> Vec<&str> {
    report["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// What every client must see, whatever its era and language.
fn check_report(report: &Value) {
    let names = names(report);
    assert!(names.contains(&CLOCK) && names.contains(&ROI), "{names:?}");
    assert!(names.is_sorted(), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("conformance")), "{names:?}");
    let clock = report["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == CLOCK).unwrap();
    assert_eq!(clock["annotations"]["readOnlyHint"], true);
    assert_eq!(clock["outputSchema"]["properties"]["iso"]["type"], "string");
    let [clock, roi, refused, unknown] = &report["results"].as_array().unwrap()[..] else {
        panic!("{report}")
    };
    check_ok(clock, "/timezone", &json!("Europe/Berlin"));
    check_ok(roi, "/summary/npv", &json!(584.93));
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("years"), "{refused}");
    assert_eq!(unknown["code"], -32602, "{unknown}");
}

/// A result that went well: structured, and the same as text.
fn check_ok(result: &Value, place: &str, expected: &Value) {
    assert_ne!(result["isError"], true, "{result}");
    assert_eq!(result["structuredContent"].pointer(place), Some(expected), "{result}");
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text.pointer(place), Some(expected), "{result}");
}

/// With all tools, with a narrowed key, and with a key that is none.
fn check_over_http(client: Client) {
    let gate = serve(&[], &[]);
    check_report(&client.walk(&plan(&gate, &gate.key)));

    let report = client.walk(&plan(&gate, &narrowed(&gate)));
    assert_eq!(names(&report), [CLOCK]);
    assert_ne!(report["results"][0]["isError"], true);
    assert_eq!(report["results"][1]["code"], -32602, "a tool that is not listed does not exist");

    let stranger = format!("tgk_{}", "ab".repeat(32));
    let ran = client.run(&plan(&gate, &stranger));
    assert_ne!(ran.code, 0);
    assert!(!ran.stdout.contains(CLOCK), "{ran:?}");
}

#[test]
fn the_typescript_sdk_of_the_handshake_era_calls_tools() {
    check_over_http(LEGACY_TYPESCRIPT);
}

#[test]
fn the_typescript_sdk_of_the_stateless_era_calls_tools() {
    check_over_http(MODERN_TYPESCRIPT);
}

#[test]
fn the_python_sdk_of_the_handshake_era_calls_tools() {
    check_over_http(LEGACY_PYTHON);
}

#[test]
fn the_python_sdk_of_the_stateless_era_calls_tools() {
    check_over_http(MODERN_PYTHON);
}

#[test]
fn clients_of_both_eras_start_a_process_that_leads_to_the_gate() {
    let gate = serve(&[], &[]);
    let plan = json!({
        "command": env!("CARGO_BIN_EXE_toolgate"),
        "args": ["mcp"],
        "env": { "TOOLGATE_URL": gate.url, "TOOLGATE_KEY": gate.key },
        "calls": calls(),
    });
    for client in [LEGACY_TYPESCRIPT, MODERN_TYPESCRIPT, MODERN_PYTHON] {
        check_report(&client.walk(&plan));
    }
}

#[test]
fn clients_of_both_eras_start_a_process_that_serves_its_own_data() {
    let data = tempfile::TempDir::new().unwrap();
    let plan = json!({
        "command": env!("CARGO_BIN_EXE_toolgate"),
        "args": ["mcp", "--data", data.path()],
        "env": {},
        "calls": calls(),
    });
    for client in [LEGACY_TYPESCRIPT, MODERN_TYPESCRIPT, MODERN_PYTHON] {
        check_report(&client.walk(&plan));
    }
}

/// Their person confirms in the client itself, and the call then runs, once.
fn check_confirmation(client: Client) {
    let runtime = Runtime::new().unwrap();
    let receiver = runtime.block_on(CountingReceiver::start());
    let gate = serve(&["--fixture-receiver", &receiver.url()], &[]);
    let mut plan = plan(&gate, &gate.key);
    plan["calls"] = json!([{ "name": "fixture__always_ask", "arguments": { "effect_id": "asked" } }]);
    plan["fill"] = json!({ "decision": "approve", "reason": "it is mine" });
    let report = client.walk(&plan);
    let question = report["asked"][0]["message"].as_str().unwrap_or_default();
    assert!(question.contains("fixture__always_ask"), "{report}");
    assert_eq!(report["results"][0]["structuredContent"]["effect_id"], "asked", "{report}");
    assert_eq!(receiver.counts()["asked"], 1);

    plan["calls"][0]["arguments"]["effect_id"] = json!("refused");
    plan["fill"] = json!({ "decision": "reject" });
    let report = client.walk(&plan);
    assert_eq!(report["results"][0]["isError"], true, "{report}");
    assert!(!receiver.counts().contains_key("refused"));

    // A client that can't ask gets the link instead of a decision.
    plan["fill"] = Value::Null;
    let report = client.walk(&plan);
    assert_eq!(report["asked"], json!([]));
    let told = report["results"][0]["content"][0]["text"].as_str().unwrap();
    assert!(told.contains("/approvals?id="), "{report}");
    assert!(!receiver.counts().contains_key("refused"));
}

#[test]
fn a_person_confirms_a_call_in_a_client_of_the_handshake_era() {
    check_confirmation(LEGACY_TYPESCRIPT);
}

#[test]
fn a_person_confirms_a_call_in_a_client_of_the_stateless_era() {
    check_confirmation(MODERN_TYPESCRIPT);
}

#[test]
fn the_inspector_lists_and_calls_tools_in_both_eras() {
    let gate = serve(&[], &[]);
    let narrow = narrowed(&gate);
    for era in ["legacy", "modern"] {
        let listed = inspect(&gate, &gate.key, era, &["--method", "tools/list"]);
        assert!(names(&listed).contains(&ROI), "{listed}");
        let call = |arguments: &str| {
            let call = ["--method", "tools/call", "--tool-name", CLOCK, "--tool-args-json", arguments];
            inspect(&gate, &gate.key, era, &call)
        };
        check_ok(&call(r#"{"timezone":"Europe/Berlin"}"#), "/timezone", &json!("Europe/Berlin"));
        assert_eq!(call(r#"{"timezone":5}"#)["isError"], true);
        assert_eq!(names(&inspect(&gate, &narrow, era, &["--method", "tools/list"])), [CLOCK]);
    }
}

/// What the inspector's command line prints as the result.
fn inspect(gate: &Gate, key: &str, era: &str, args: &[&str]) -> Value {
    let installed = installed();
    // It keeps a catalog of servers at home.
    let home = tempfile::TempDir::new().unwrap();
    let mut command = Command::new(&installed.node);
    command
        .current_dir(installed.target.join("clients"))
        .arg("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js")
        .args(["--cli", &format!("{}/mcp", gate.url), "--transport", "http", "--protocol-era", era])
        .args(["--stored-auth-only", "--quiet", "--format", "json"])
        .args(["--header", &format!("Authorization: Bearer {key}")])
        .args(args)
        .env("HOME", home.path());
    let ran = finish(command, "");
    let said: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{args:?}: {ran:?}"));
    said["result"].clone()
}
