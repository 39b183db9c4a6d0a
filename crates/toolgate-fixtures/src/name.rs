//! A tool whose fields name people, tools and files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_native::{NativeTool, Promise, Tool, ToolContext, ToolFailure};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("x-entity-type" = "user"))]
#[expect(dead_code, reason = "only counted")]
struct Person(String);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("format" = "file"))]
#[expect(dead_code, reason = "only counted")]
struct Attachment(String);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only counted")]
struct Names {
    /// Who answers for it.
    #[schemars(extend("x-entity-type" = "user"))]
    owner: String,
    /// Who else looks at it.
    #[serde(default)]
    #[schemars(length(max = 20))]
    reviewers: Vec<Person>,
    /// The tool it is about.
    #[schemars(extend("x-entity-type" = "tool"))]
    tool: Option<String>,
    /// Something nobody here keeps a list of: filled in as text.
    #[schemars(extend("x-entity-type" = "ship"))]
    ship: Option<String>,
    /// What it is about.
    #[schemars(extend("format" = "file", "x-accept" = ["text/csv", ".csv"]))]
    report: Option<String>,
    /// More to read.
    #[serde(default)]
    #[schemars(length(max = 3))]
    attachments: Vec<Attachment>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Named {
    /// How many people were named.
    people: usize,
    /// The report, as it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "file"))]
    report: Option<String>,
}

struct NameThings;

impl Tool for NameThings {
    type Input = Names;
    type Output = Named;
    fn promise() -> Promise {
        Promise::read("fixture__name_things", "Name things")
            .describe("Takes people, a tool and files by name and says how many. For trying the gate only.")
            .category("fixture", "flask-conical")
            .shows(&["people", "report"])
    }
    async fn run(&self, input: Names, _: &ToolContext) -> Result<Named, ToolFailure> {
        Ok(Named { people: 1 + input.reviewers.len(), report: input.report })
    }
}

pub(crate) fn tools() -> Vec<NativeTool> {
    vec![NativeTool::of(NameThings)]
}
