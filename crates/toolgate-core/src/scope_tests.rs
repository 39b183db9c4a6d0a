use super::*;
use serde_json::json;

fn scopes(texts: &[&str]) -> Scopes {
    Scopes::new(texts.iter().map(|text| text.parse().unwrap()))
}

fn tool(id: &str, effect: &str) -> ToolContract {
    serde_json::from_value(json!({
        "id": id, "title": "t", "description": "d", "category": "c", "icon": "i",
        "input_schema": {"type": "object"}, "output_schema": {"type": "object"},
        "effect": effect, "redaction": {"allow": ["*"]}, "execution": {"kind": "native", "plugin": "core"}
    }))
    .unwrap()
}

const ALL: [&str; 12] = [
    "tool:core__*",
    "tool:core__x",
    "tool:*",
    "effect:read",
    "effect:mutate",
    "rule:a.b.read",
    "rule:a.b.write",
    "approve",
    "manage",
    "manage:keys",
    "manage:policies",
    "manage:audit",
];

#[test]
fn scopes_survive_their_text_form_and_others_are_refused() {
    for text in ALL {
        assert_eq!(text.parse::<Scope>().unwrap().to_string(), text);
    }
    for bad in [
        "",
        "tool",
        "tool:",
        "tool:a b",
        "effect:write",
        "manage:everything",
        "admin",
        "rule:",
        "*",
        "approve:x",
    ] {
        assert!(bad.parse::<Scope>().is_err(), "{bad}");
    }
}

#[test]
fn none_narrows_nothing_and_any_narrows_everything_else() {
    let (read, write) = (tool("core__x", "read"), tool("other__y", "mutate"));
    let all = Scopes::default();
    assert!(all.reach(&read) && all.may_approve() && all.may_manage(Area::Keys));
    let check = |texts: &[&str], reads: bool, writes: bool, approves: bool, manages: bool| {
        let narrow = scopes(texts);
        assert_eq!(
            (narrow.reach(&read), narrow.reach(&write), narrow.may_approve(), narrow.may_manage(Area::Keys)),
            (reads, writes, approves, manages),
            "{texts:?}"
        );
    };
    check(&["tool:core__*"], true, false, false, false);
    check(&["effect:read"], true, false, false, false);
    check(&["tool:*", "effect:mutate"], false, true, false, false);
    check(&["approve"], false, false, true, false);
    check(&["manage"], false, false, false, true);
    check(&["manage:keys"], false, false, false, true);
    check(&["manage:audit"], false, false, false, false);
    check(&["rule:a.b.read"], true, true, false, false);
}

#[test]
fn rules_are_only_ever_fewer() {
    let held = ["a.b.read".to_owned(), "c.d.read".to_owned()];
    assert_eq!(scopes(&[]).narrow_rules(&held), held);
    assert_eq!(scopes(&["rule:a.b.read", "rule:x.y.z"]).narrow_rules(&held), ["a.b.read"]);
    assert_eq!(scopes(&["rule:x.y.z"]).narrow_rules(&["*".to_owned()]), ["x.y.z"]);
}

proptest::proptest! {
    #[test]
    fn what_is_within_can_never_do_more(
        inner in proptest::collection::vec(0..ALL.len(), 0..5),
        outer in proptest::collection::vec(0..ALL.len(), 0..5),
    ) {
        let of = |picks: &[usize]| scopes(&picks.iter().map(|&pick| ALL[pick]).collect::<Vec<_>>());
        let (inner, outer) = (of(&inner), of(&outer));
        if inner.within(&outer) {
            for id in ["core__x", "core__y", "other__z"] {
                for effect in ["read", "mutate", "destructive"] {
                    let tool = tool(id, effect);
                    proptest::prop_assert!(!inner.reach(&tool) || outer.reach(&tool), "{id} {effect}");
                }
            }
            proptest::prop_assert!(!inner.may_approve() || outer.may_approve());
            for area in Area::ALL {
                proptest::prop_assert!(!inner.may_manage(area) || outer.may_manage(area));
            }
            let held = ["*".to_owned()];
            let (few, many) = (inner.narrow_rules(&held), outer.narrow_rules(&held));
            let can_call = inner.reach(&tool("core__x", "read"));
            proptest::prop_assert!(
                !can_call || many.contains(&held[0]) || few.iter().all(|rule| many.contains(rule))
            );
        }
        proptest::prop_assert!(inner.within(&inner));
    }
}
