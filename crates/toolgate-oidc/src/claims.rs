//! What providers say beside the standard claims: groups, wherever they put them.

use std::collections::HashMap;

use openidconnect::AdditionalClaims;
use serde::{Deserialize, Serialize};
use serde_json::Value;

const MOST_GROUPS: usize = 1_000;

/// Every claim that has no standard.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct OtherClaims {
    #[serde(flatten)]
    all: HashMap<String, Value>,
}

impl AdditionalClaims for OtherClaims {}

impl OtherClaims {
    /// All claims of a token.
    pub(crate) fn of(claims: &serde_json::Map<String, Value>) -> Self {
        Self { all: claims.iter().map(|(name, value)| (name.clone(), value.clone())).collect() }
    }

    /// The groups under this claim: a list of texts or one text. A name with dots may also lead into objects, such as
    /// `realm_access.roles`. None when there is no such claim.
    pub(crate) fn groups(&self, claim: &str) -> Option<Vec<String>> {
        let found = self.all.get(claim).or_else(|| {
            let (first, rest) = claim.split_once('.')?;
            rest.split('.').try_fold(self.all.get(first)?, |value, part| value.get(part))
        })?;
        let groups = match found {
            Value::String(one) => vec![one.clone()],
            Value::Array(many) => {
                many.iter().filter_map(Value::as_str).take(MOST_GROUPS).map(str::to_owned).collect()
            }
            _ => return None,
        };
        Some(groups)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(claims: Value, claim: &str, expected: Option<&[&str]>) {
        let claims: OtherClaims = serde_json::from_value(claims).unwrap();
        let expected = expected.map(|groups| groups.iter().map(|g| (*g).to_owned()).collect::<Vec<_>>());
        assert_eq!(claims.groups(claim), expected);
    }

    #[test]
    fn groups_are_found_where_providers_put_them() {
        check(json!({ "groups": ["a", "b", 7] }), "groups", Some(&["a", "b"]));
        check(json!({ "groups": "a" }), "groups", Some(&["a"]));
        check(json!({ "https://x.example/groups": ["a"] }), "https://x.example/groups", Some(&["a"]));
        check(json!({ "realm_access": { "roles": ["a"] } }), "realm_access.roles", Some(&["a"]));
        check(json!({ "groups": [] }), "groups", Some(&[]));
        check(json!({ "groups": { "a": true } }), "groups", None);
        check(json!({}), "groups", None);
        check(json!({ "a": "x" }), "a.b", None);
    }
}
