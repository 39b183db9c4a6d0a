use serde_json::json;

use super::*;

fn command(schema: &Value, required: Required) -> (Flags, Command) {
    let taken = BTreeSet::from(["json".to_owned(), "wait".to_owned(), "input".to_owned(), "help".to_owned()]);
    let flags = Flags::of(schema, &taken);
    let command = flags.add_to(Command::new("invoke").no_binary_name(true), required);
    (flags, command)
}

fn parse(schema: &Value, words: &[&str]) -> Result<Value, String> {
    let (flags, command) = command(schema, Required::AsFlags);
    let matches = command.try_get_matches_from(words).map_err(|error| error.to_string())?;
    Ok(Value::Object(flags.read(&matches)))
}

fn check(schema: &Value, words: &[&str], expected: Value) {
    assert_eq!(parse(schema, words).unwrap(), expected, "{words:?}");
}

fn refuse(schema: &Value, words: &[&str], because: &str) {
    let message = parse(schema, words).unwrap_err();
    assert!(message.contains(because), "{words:?}: {message}");
}

fn object(properties: Value) -> Value {
    json!({ "type": "object", "properties": properties })
}

#[test]
fn scalars_have_their_type() {
    let schema = object(json!({
        "time_zone": { "type": "string" },
        "count": { "type": "integer" },
        "rate": { "type": "number" },
        "maybe": { "type": ["string", "null"] },
    }));
    check(&schema, &[], json!({}));
    check(&schema, &["--time-zone", "Europe/Berlin"], json!({ "time_zone": "Europe/Berlin" }));
    check(&schema, &["--time-zone=-5"], json!({ "time_zone": "-5" }));
    check(&schema, &["--count", "3", "--rate", "1.5"], json!({ "count": 3, "rate": 1.5 }));
    check(&schema, &["--count", "-3", "--rate", "-1.5"], json!({ "count": -3, "rate": -1.5 }));
    check(&schema, &["--rate", "2"], json!({ "rate": 2 }));
    check(&schema, &["--rate", "1e3"], json!({ "rate": 1000.0 }));
    check(&schema, &["--count", "18446744073709551615"], json!({ "count": u64::MAX }));
    check(&schema, &["--maybe", "12"], json!({ "maybe": "12" }));
    refuse(&schema, &["--count", "1.5"], "must be a whole number");
    refuse(&schema, &["--rate", "NaN"], "must be a number");
    refuse(&schema, &["--rate", "fast"], "must be a number");
    refuse(&schema, &["--unknown", "1"], "--unknown");
    refuse(&schema, &["--count", "1", "--count", "2"], "multiple times");
}

#[test]
fn booleans_are_switches() {
    let schema = object(json!({ "dry_run": { "type": "boolean" } }));
    check(&schema, &["--dry-run"], json!({ "dry_run": true }));
    check(&schema, &["--dry-run", "true"], json!({ "dry_run": true }));
    check(&schema, &["--dry-run", "false"], json!({ "dry_run": false }));
    check(&schema, &["--dry-run=false"], json!({ "dry_run": false }));
    check(&schema, &["--no-dry-run"], json!({ "dry_run": false }));
    check(&schema, &["--dry-run", "--no-dry-run"], json!({ "dry_run": false }));
    check(&schema, &["--no-dry-run", "--dry-run"], json!({ "dry_run": true }));
    refuse(&schema, &["--dry-run", "perhaps"], "invalid value");
}

#[test]
fn a_property_keeps_its_name_before_a_switch_says_no() {
    let schema = object(json!({ "x": { "type": "boolean" }, "no_x": { "type": "string" } }));
    check(&schema, &["--x", "--no-x", "text"], json!({ "x": true, "no_x": "text" }));
}

#[test]
fn enumerations_list_their_values() {
    let schema = object(json!({
        "unit": { "enum": ["metre", "foot"] },
        "level": { "type": ["integer", "null"], "enum": [1, 2, null] },
        "how": { "oneOf": [
            { "const": "fast", "description": "At once." },
            { "enum": ["slow", "slower"] },
            { "type": "null" },
        ] },
    }));
    check(&schema, &["--unit", "foot", "--level", "2"], json!({ "unit": "foot", "level": 2 }));
    check(&schema, &["--how", "fast"], json!({ "how": "fast" }));
    check(&schema, &["--how", "slower"], json!({ "how": "slower" }));
    refuse(&schema, &["--unit", "mile"], "possible values: metre, foot");
    refuse(&schema, &["--how", "never"], "fast");
    let (_, mut command) = command(&schema, Required::AsFlags);
    assert!(command.render_long_help().to_string().contains("At once."));
}

#[test]
fn lists_repeat_their_flag() {
    let schema = object(json!({
        "names": { "type": "array", "items": { "type": "string" } },
        "scores": { "type": "array", "items": { "type": "number" } },
        "units": { "type": "array", "items": { "enum": ["a", "b"] } },
        "grid": { "type": "array", "items": { "type": "array", "items": { "type": "number" } } },
    }));
    check(&schema, &["--names", "a", "--names", "b,c"], json!({ "names": ["a", "b,c"] }));
    check(&schema, &["--scores", "1", "--scores", "-2.5"], json!({ "scores": [1, -2.5] }));
    check(&schema, &["--units", "b"], json!({ "units": ["b"] }));
    check(&schema, &["--grid", "[[1],[2]]"], json!({ "grid": [[1], [2]] }));
    refuse(&schema, &["--units", "c"], "possible values");
}

#[test]
fn objects_are_json_text() {
    let schema = object(json!({
        "person": { "type": "object", "properties": { "name": { "type": "string" } } },
        "rows": { "type": "array", "items": { "type": "object" } },
        "any": true,
        "either": { "type": ["string", "integer"] },
    }));
    check(&schema, &["--person", r#"{"name":"Ada"}"#], json!({ "person": { "name": "Ada" } }));
    check(&schema, &["--rows", "[{}]", "--any", "-1"], json!({ "rows": [{}], "any": -1 }));
    check(&schema, &["--either", "\"5\""], json!({ "either": "5" }));
    refuse(&schema, &["--person", "Ada"], "must be JSON");
}

#[test]
fn names_of_our_own_get_a_prefix() {
    let schema = object(json!({
        "json": { "type": "string" },
        "input_json": { "type": "string" },
        "wait": { "type": "integer" },
        "a_b": { "type": "string" },
        "a-b": { "type": "string" },
    }));
    check(&schema, &["--input-json", "plain"], json!({ "input_json": "plain" }));
    check(&schema, &["--input-input-json", "ours"], json!({ "json": "ours" }));
    check(&schema, &["--input-wait", "5"], json!({ "wait": 5 }));
    check(&schema, &["--a-b", "1", "--input-a-b", "2"], json!({ "a_b": "1", "a-b": "2" }));
}

#[test]
fn names_that_are_no_flags_are_left_to_input() {
    let schema = object(json!({ "two words": { "type": "string" }, "-x": {}, "": {}, "a=b": {}, "été": {} }));
    let (flags, _) = command(&schema, Required::AsFlags);
    assert_eq!(flags.0.iter().map(|flag| flag.long.as_str()).collect::<Vec<_>>(), ["été"]);
}

#[test]
fn references_are_followed_and_circles_end() {
    let schema = json!({
        "type": "object",
        "properties": {
            "unit": { "$ref": "#/$defs/Unit", "description": "Which unit." },
            "maybe": { "anyOf": [{ "$ref": "#/$defs/Unit" }, { "type": "null" }], "default": null },
            "wrapped": { "allOf": [{ "$ref": "#/$defs/Whole" }], "default": 3 },
            "many": { "type": "array", "items": { "$ref": "#/$defs/Whole" } },
            "circle": { "$ref": "#/$defs/Circle" },
            "outside": { "$ref": "https://example.com/schema" },
        },
        "$defs": {
            "Unit": { "type": "string", "enum": ["metre", "foot"], "description": "A unit." },
            "Whole": { "type": "integer" },
            "Circle": { "$ref": "#/$defs/Circle" },
        },
    });
    check(&schema, &["--unit", "foot", "--maybe", "metre"], json!({ "unit": "foot", "maybe": "metre" }));
    check(&schema, &["--wrapped", "4", "--many", "1"], json!({ "wrapped": 4, "many": [1] }));
    check(&schema, &["--circle", "{}", "--outside", "1"], json!({ "circle": {}, "outside": 1 }));
    refuse(&schema, &["--unit", "mile"], "possible values");
    let (_, mut command) = command(&schema, Required::AsFlags);
    let help = command.render_help().to_string();
    // The words beside a reference win over those behind it.
    assert!(help.contains("--unit <CHOICE>      Which unit."), "{help}");
    assert!(help.contains("--maybe <CHOICE>     A unit."), "{help}");
    assert!(help.contains("[default: 3]") && !help.contains("null"), "{help}");
}

#[test]
fn required_fields_must_come_somehow() {
    let mut schema = object(json!({ "name": { "type": "string" }, "note": { "type": "string" } }));
    schema["required"] = json!(["name"]);
    refuse(&schema, &["--note", "x"], "--name");
    check(&schema, &["--name", "x"], json!({ "name": "x" }));
    let (_, command) = command(&schema, Required::Anyhow);
    assert!(command.try_get_matches_from(["--note", "x"]).is_ok());
}

#[test]
fn hostile_schemas_make_no_flags_and_no_panic() {
    for schema in [
        json!(null),
        json!(true),
        json!({ "properties": [] }),
        object(
            json!({ "a": { "enum": [] }, "b": { "enum": [{}] }, "c": { "type": 5 }, "d": { "$ref": "#/x" } }),
        ),
        object(json!({ "a": { "enum": ["x", "x"] }, "field_a": { "const": "" } })),
    ] {
        let (_, command) = command(&schema, Required::AsFlags);
        command.debug_assert();
    }
}

#[test]
fn words_for_an_unknown_tool_are_kept_as_typed() {
    let words: Vec<OsString> =
        ["--effect-id", "x", "--on", "--count=3", "stray"].map(OsString::from).to_vec();
    assert_eq!(Value::Object(as_typed(&words)), json!({ "effect_id": "x", "on": true, "count": "3" }));
}
