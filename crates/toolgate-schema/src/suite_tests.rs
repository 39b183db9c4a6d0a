//! The official JSON Schema test suite, when it is at hand:
//! `JSON_SCHEMA_TEST_SUITE=<its folder> cargo test -p toolgate-schema official -- --ignored --nocapture`.

use std::path::Path;

use serde_json::Value;

use crate::compile::Compiled;
use crate::explain::explain;
use crate::{Role, SchemaError, compile, compile_foreign};

#[test]
#[ignore = "needs the suite's files, named by JSON_SCHEMA_TEST_SUITE"]
fn official_suite_agrees_with_every_schema_that_is_accepted() {
    let suite = std::env::var("JSON_SCHEMA_TEST_SUITE").unwrap();
    let (mut agreed, mut refused) = (0, 0);
    for (folder, dialect) in [
        ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
        ("draft7", "http://json-schema.org/draft-07/schema#"),
    ] {
        for file in std::fs::read_dir(Path::new(&suite).join("tests").join(folder)).unwrap() {
            let file = file.unwrap().path();
            // There, formats are a mere note; here they are checked.
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            if file.ends_with("format.json") {
                continue;
            }
            for group in serde_json::from_str::<Vec<Value>>(&text).unwrap() {
                let mut schema = group["schema"].clone();
                if let Some(keywords) = schema.as_object_mut() {
                    keywords.entry("$schema").or_insert(dialect.into());
                } else if folder == "draft7" {
                    continue;
                }
                let validator = match compile(&schema, Role::Output) {
                    Ok(validator) => validator,
                    Err(error) => {
                        assert!(
                            !matches!(error, SchemaError::NotASchema | SchemaError::TooLarge),
                            "{schema}"
                        );
                        println!("refused {folder} {}: {error}", group["description"]);
                        refused += 1;
                        continue;
                    }
                };
                let compiled = Compiled::of(&schema).unwrap();
                for test in group["tests"].as_array().unwrap() {
                    let found = validator.validate(&test["data"]);
                    let place =
                        format!("{} {} {}", file.display(), group["description"], test["description"]);
                    assert_eq!(Value::Bool(found.is_ok()), test["valid"], "{place}\n{schema}");
                    // The reasons are looked for by other code than the verdict: it must come to the same.
                    let reasons = explain(&compiled, &test["data"]);
                    let none = reasons[0].message == "does not match the schema";
                    assert_eq!(none, found.is_ok(), "{place}\n{schema}\n{reasons:?}");
                    agreed += 1;
                }
            }
        }
    }
    println!("{agreed} agreed; {refused} schemas refused");
    assert!(agreed > 1_000);
}

#[test]
#[ignore = "needs the suite's files, named by JSON_SCHEMA_TEST_SUITE"]
fn official_suite_in_every_dialect_is_never_refused_more_than_it_says() {
    let suite = std::env::var("JSON_SCHEMA_TEST_SUITE").unwrap();
    let (mut agreed, mut let_through, mut refused) = (0, 0, 0);
    for (folder, dialect) in [
        ("draft4", "http://json-schema.org/draft-04/schema#"),
        ("draft6", "http://json-schema.org/draft-06/schema#"),
        ("draft7", "http://json-schema.org/draft-07/schema#"),
        ("draft2019-09", "https://json-schema.org/draft/2019-09/schema"),
        ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
    ] {
        for file in std::fs::read_dir(Path::new(&suite).join("tests").join(folder)).unwrap() {
            let file = file.unwrap().path();
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            // A dialect of one's own is read as 2020-12.
            if file.ends_with("vocabulary.json") {
                continue;
            }
            for group in serde_json::from_str::<Vec<Value>>(&text).unwrap() {
                let mut schema = group["schema"].clone();
                if let Some(keywords) = schema.as_object_mut() {
                    keywords.entry("$schema").or_insert(dialect.into());
                }
                let validator = match compile_foreign(&schema, Role::Output) {
                    Ok(validator) => validator,
                    Err(error) => {
                        println!("refused {folder} {}: {error}", group["description"]);
                        refused += 1;
                        continue;
                    }
                };
                for test in group["tests"].as_array().unwrap() {
                    let found = validator.validate(&test["data"]);
                    let place = format!("{folder} {} {}", group["description"], test["description"]);
                    match (test["valid"] == true, found.is_ok()) {
                        (true, false) => panic!("{place}\n{schema}\n{found:?}"),
                        (false, true) => {
                            println!("let through {place}");
                            let_through += 1;
                        }
                        _ => agreed += 1,
                    }
                }
            }
        }
    }
    println!("{agreed} agreed, {let_through} let through; {refused} schemas refused");
    assert!(agreed > 4_000 && let_through < 40 && refused < 100);
}
