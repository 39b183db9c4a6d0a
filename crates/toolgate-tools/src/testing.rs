//! What every tool is tried on: its own examples, the corners of its input schema and a few hundred random inputs.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use toolgate_native::{NativeTool, ToolFailure};

/// Checks that whatever the input schema lets through is answered by something the output schema promises.
///
/// serde writes `NaN` and infinities as null, so a schema that asks for a number also proves that it is finite.
pub(crate) fn check_promises<I: DeserializeOwned, O: Serialize>(
    tool: NativeTool,
    calculate: impl Fn(I) -> Result<O, ToolFailure>,
) {
    let contract = tool.contract.unwrap();
    let input_schema = contract.input_schema.to_value();
    let takes = jsonschema::validator_for(&input_schema).unwrap();
    let gives = jsonschema::validator_for(&contract.output_schema.to_value()).unwrap();
    let run = |input: &Value| {
        assert!(takes.is_valid(input), "{input}");
        let output =
            serde_json::to_value(calculate(serde_json::from_value(input.clone()).unwrap())?).unwrap();
        let error = gives.iter_errors(&output).next().map(|error| error.to_string());
        assert_eq!(error, None, "{input}");
        assert!(output.to_string().len() as u64 <= contract.limits.max_result_bytes);
        Ok::<_, ToolFailure>(output)
    };

    let examples = input_schema["examples"].as_array().unwrap();
    assert!(!examples.is_empty());
    for example in examples {
        assert!(run(example).is_ok(), "{example}");
    }

    let mut answered = 0;
    for seed in 0..300 {
        let input = Draw::new(seed).value(&input_schema);
        // A tool may refuse what no schema can say, but it may not refuse everything.
        answered += usize::from(run(&input).is_ok());
    }
    assert!(answered > 0);
}

/// Draws a value that fits a schema. Seeds 0 to 3 give the corners, others something in between.
struct Draw {
    state: u64,
    numbers: Option<f64>,
    sizes: Option<f64>,
}

impl Draw {
    fn new(seed: u64) -> Self {
        let (numbers, sizes) = match seed {
            0 => (Some(0.0), Some(0.0)),
            1 => (Some(1.0), Some(1.0)),
            2 => (Some(0.0), Some(1.0)),
            3 => (Some(1.0), Some(0.0)),
            _ => (None, None),
        };
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, numbers, sizes }
    }

    /// From 0 to 1, by xorshift.
    fn random(&mut self) -> f64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, schema: &Value, low: &str, high: &str, corner: Option<f64>) -> f64 {
        let bound = |name: &str| schema[name].as_f64().unwrap_or_else(|| panic!("no {name} in {schema}"));
        let share = corner.unwrap_or_else(|| self.random());
        bound(low) + (bound(high) - bound(low)) * share
    }

    fn value(&mut self, schema: &Value) -> Value {
        if let Some(choices) = schema["enum"].as_array() {
            let share = self.numbers.unwrap_or_else(|| self.random());
            return choices[((choices.len() - 1) as f64 * share).round() as usize].clone();
        }
        match schema["type"].as_str().unwrap_or_else(|| panic!("no type in {schema}")) {
            "object" => self.object(schema),
            "array" => {
                let length = self.between(schema, "minItems", "maxItems", self.sizes).round() as usize;
                (0..length).map(|_| self.value(&schema["items"])).collect()
            }
            "string" => {
                "x".repeat(self.between(schema, "minLength", "maxLength", self.sizes) as usize).into()
            }
            "integer" => json!(self.between(schema, "minimum", "maximum", self.numbers).round() as u64),
            "number" => json!(self.between(schema, "minimum", "maximum", self.numbers)),
            "boolean" => json!(self.numbers.unwrap_or_else(|| self.random()) >= 0.5),
            other => panic!("{other} is not drawn yet"),
        }
    }

    fn object(&mut self, schema: &Value) -> Value {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let mut object = Map::new();
        for (name, property) in schema["properties"].as_object().unwrap() {
            let needed = required.iter().any(|other| other == name) || self.numbers.is_some();
            if needed || self.random() < 0.5 {
                object.insert(name.clone(), self.value(property));
            }
        }
        Value::Object(object)
    }
}
