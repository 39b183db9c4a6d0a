//! Walks all tools.

use std::collections::HashSet;

use serde_json::Value;
use toolgate_core::contract::{OutputSection, SectionKind, ToolContract};
use toolgate_core::{Effect, Egress};

use crate::schema::{is, walk};

fn contracts() -> Vec<ToolContract> {
    toolgate_tools::all()
        .into_iter()
        .map(|tool| tool.contract.unwrap_or_else(|bad| panic!("{bad}")))
        .collect()
}

#[test]
fn every_file_is_a_tool_of_its_name() {
    let mut files: Vec<String> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/tools"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    files.sort();
    let ids: Vec<String> = contracts().iter().map(|contract| contract.id.to_string()).collect();
    let expected: Vec<String> = files.iter().map(|file| format!("core__{file}")).collect();
    assert_eq!(ids, expected);
}

#[test]
fn every_contract_may_be_registered() {
    for contract in contracts() {
        assert!(contract.check().is_ok(), "{}: {:?}", contract.id, contract.check());
        assert_eq!((contract.effect, contract.egress), (Effect::Read, Egress::None), "{}", contract.id);
        assert!(["analysis", "people", "utility"].contains(&contract.category.as_str()), "{}", contract.id);
        // Operating instructions: when, when not. A sentence or two would not hold both.
        assert!((300..1_500).contains(&contract.description.len()), "{}", contract.id);
        assert!(contract.description.contains("Use it "), "{}", contract.id);
    }
}

#[test]
fn descriptions_name_only_tools_that_exist() {
    let ids: HashSet<String> = contracts().iter().map(|contract| contract.id.to_string()).collect();
    for contract in contracts() {
        let words =
            contract.description.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        for named in words.filter(|word| word.starts_with("core__")) {
            assert!(ids.contains(named), "{} names {named}", contract.id);
        }
    }
}

#[test]
fn both_schemas_are_plain_objects() {
    for contract in contracts() {
        for schema in [contract.input_schema.to_value(), contract.output_schema.to_value()] {
            assert_eq!(schema["type"], "object", "{}", contract.id);
            for keyword in ["oneOf", "anyOf", "allOf", "not", "if", "title"] {
                assert_eq!(schema.get(keyword), None, "{}: {keyword}", contract.id);
            }
            assert!(jsonschema::validator_for(&schema).is_ok(), "{}", contract.id);
        }
    }
}

#[test]
fn every_property_says_what_it_is() {
    for contract in contracts() {
        for schema in [contract.input_schema.to_value(), contract.output_schema.to_value()] {
            walk("", &schema, &mut |path, schema| {
                let described = schema["description"].as_str().is_some_and(|text| text.len() > 5);
                let plain_item = path.ends_with("[]") && !is(schema, "object");
                assert!(described || plain_item, "{}{path}", contract.id);
            });
        }
    }
}

#[test]
fn inputs_are_closed_and_bounded() {
    for contract in contracts() {
        walk("", &contract.input_schema.to_value(), &mut |path, schema| {
            let at_most = |keyword: &str, most: f64| {
                assert!(
                    schema[keyword].as_f64().is_some_and(|bound| bound <= most),
                    "{}{path}: {keyword}",
                    contract.id
                );
            };
            if is(schema, "object") {
                assert_eq!(schema["additionalProperties"], false, "{}{path}", contract.id);
            }
            if is(schema, "array") {
                at_most("maxItems", 100.0);
            }
            if is(schema, "string") && schema.get("enum").is_none() {
                // Long enough for a picture in the text, and for nothing larger.
                at_most("maxLength", 700_000.0);
            }
            if is(schema, "number") || is(schema, "integer") {
                at_most("minimum", 1e12);
                at_most("maximum", 1e12);
            }
            let name = path.rsplit('.').next().unwrap_or_default();
            for shape in ["token", "key", "password", "secret", "connection"] {
                assert!(!name.contains(shape), "{}{path}", contract.id);
            }
        });
    }
}

#[test]
fn defaults_and_examples_fit_their_schema() {
    for contract in contracts() {
        let input_schema = contract.input_schema.to_value();
        let examples = input_schema["examples"].as_array();
        assert!(examples.is_some_and(|examples| !examples.is_empty()), "{}", contract.id);
        walk("", &input_schema, &mut |path, schema| {
            let validator = jsonschema::validator_for(schema).unwrap();
            for value in
                schema.get("default").into_iter().chain(schema["examples"].as_array().into_iter().flatten())
            {
                assert!(validator.is_valid(value), "{}{path}: {value}", contract.id);
            }
        });
    }
}

#[test]
fn what_is_not_declared_or_out_of_bounds_is_refused_by_the_schema() {
    for contract in contracts() {
        let input_schema = contract.input_schema.to_value();
        let validator = jsonschema::validator_for(&input_schema).unwrap();
        let mut unknown = input_schema["examples"][0].clone();
        unknown["surprise"] = Value::Bool(true);
        assert!(!validator.is_valid(&unknown), "{}", contract.id);
        for (name, property) in input_schema["properties"].as_object().unwrap() {
            let Some(maximum) = property["maximum"].as_f64() else { continue };
            let mut beyond = input_schema["examples"][0].clone();
            beyond[name] = Value::from(maximum + 1.0);
            assert!(!validator.is_valid(&beyond), "{}: {name}", contract.id);
        }
    }
}

#[test]
fn every_output_field_is_shown() {
    for contract in contracts() {
        let output_schema = contract.output_schema.to_value();
        let declared: HashSet<&String> = output_schema["properties"].as_object().unwrap().keys().collect();
        let shown: HashSet<&String> = contract.redaction.allow.iter().collect();
        assert_eq!(declared, shown, "{}", contract.id);
    }
}

#[test]
fn sections_name_fields_that_exist() {
    let mut kinds = Vec::new();
    for contract in contracts() {
        for section in &contract.output {
            check_section(&contract, section);
            kinds.push(section.kind);
        }
    }
    for kind in [
        SectionKind::Summary,
        SectionKind::Table,
        SectionKind::Chart,
        SectionKind::Radar,
        SectionKind::Ranking,
    ] {
        assert!(kinds.contains(&kind), "{kind:?} is not used");
    }
}

fn check_section(contract: &ToolContract, section: &OutputSection) {
    let place = format!("{}: {}", contract.id, section.label);
    let property = &contract.output_schema.to_value()["properties"][&section.key];
    // A summary draws an object, everything else the items of a list.
    let drawn = if section.kind == SectionKind::Summary { property } else { &property["items"] };
    assert!(is(drawn, "object"), "{place}");
    let field = |name: &Value| {
        let name = name.as_str().unwrap_or_else(|| panic!("{place}: {name}"));
        assert!(drawn["properties"].get(name).is_some(), "{place}: {name}");
    };
    let fields = |list: &Value, most: usize| {
        let list = list.as_array().unwrap_or_else(|| panic!("{place}: {list}"));
        assert!((1..=most).contains(&list.len()), "{place}");
        for shown in list {
            field(&shown["field"]);
            assert!(shown["label"].as_str().is_some_and(|label| !label.is_empty()), "{place}");
            let formats = ["text", "label", "integer", "number", "percent", "money", "list"];
            assert!(formats.iter().any(|format| shown["format"] == *format), "{place}: {shown}");
        }
    };
    let config = section.config.as_ref().unwrap_or_else(|| panic!("{place}"));
    match section.kind {
        SectionKind::Summary => {
            field(&config["text"]);
            fields(&config["figures"], 4);
        }
        SectionKind::Table => fields(&config["columns"], 8),
        SectionKind::Chart => {
            assert!(config["kind"] == "line" || config["kind"] == "bar", "{place}");
            field(&config["x"]["field"]);
            fields(&config["series"], 6);
        }
        SectionKind::Radar => {
            field(&config["axis"]);
            fields(&config["series"], 6);
            assert!(config["max"].is_number(), "{place}");
        }
        SectionKind::Ranking => {
            for name in ["label", "score", "reason"] {
                field(&config[name]);
            }
        }
        SectionKind::Custom => panic!("{place}: nothing draws it"),
    }
}
