use serde_json::{Map, Value, json};
use std::time::Instant;
use toolgate_schema::*;
fn nested(levels: usize, innermost: Value) -> Value {
    (0..levels).fold(innermost, |inner, _| Value::Object(Map::from_iter([("a".to_owned(), inner)])))
}
fn winding(links: usize, wrap: fn(Value) -> Value, leaf: Value) -> Value {
    let mut definitions = Map::new();
    for link in 0..links {
        definitions.insert(format!("d{link}"), wrap(json!({"$ref": format!("#/$defs/d{}", link + 1)})));
    }
    let last = json!({"properties": {"a": {"$ref": "#/$defs/d0"}}, "if": {"type": "number"}, "then": leaf});
    definitions.insert(format!("d{links}"), last);
    json!({"$ref": "#/$defs/d0", "$defs": definitions})
}
fn main() {
    let wraps: [fn(Value) -> Value; 4] = [
        |inner| json!({"allOf": [{"anyOf": [{"oneOf": [inner]}]}], "unevaluatedProperties": {"type": ["object", "number"]}}),
        |inner| json!({"if": inner, "then": inner, "unevaluatedProperties": {"type": ["object", "number"]}}),
        |inner| json!({"anyOf": [inner], "unevaluatedProperties": {"type": ["object", "number"]}}),
        |inner| json!({"dependentSchemas": {"a": inner}, "unevaluatedProperties": {"type": ["object", "number"]}}),
    ];
    for (w, wrap) in wraps.into_iter().enumerate() {
        for links in 1..30 {
            let schema = winding(links, wrap, json!({"minimum": 5}));
            let v = match compile(&schema, Role::Output) {
                Ok(v) => v,
                Err(e) => {
                    println!("{w} {links} {e}");
                    break;
                }
            };
            let t = Instant::now();
            let ok = v.validate(&nested(8, json!(7)));
            let t1 = t.elapsed();
            let t = Instant::now();
            let bad = v.validate(&nested(8, json!(2)));
            println!("{w} links {links} {} {:?}, explain {} {:?}", ok.is_ok(), t1, bad.is_err(), t.elapsed());
        }
    }
}
