use serde_json::json;

use super::*;

fn gathered() -> Gathered {
    Gathered::new(&"files".parse().unwrap())
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object" } })
}

fn check(tool: Value, expected: &str) {
    let mut pages = gathered();
    pages.page(vec![tool], None);
    let (offers, problems) = pages.finish();
    match expected {
        "" => assert_eq!((offers.len(), problems.len()), (1, 0), "{problems:?}"),
        part => {
            assert!(offers.is_empty() && problems.len() == 1, "{offers:?} {problems:?}");
            assert!(problems[0].contains(part), "{problems:?}");
        }
    }
}

#[test]
fn what_can_not_be_reviewed_is_left_out() {
    check(tool("read"), "");
    check(tool("a.b/c d"), "");
    check(json!("read"), "not described by an object");
    check(json!({ "inputSchema": {} }), "no name");
    check(json!({ "name": "read" }), "no input schema");
    check(json!({ "name": "read", "inputSchema": true }), "no object");
    check(tool(&"n".repeat(257)), "longer than 256");
    check(tool("re\u{200b}ad"), "not seen");
    check(tool("re\nad"), "not seen");
    let mut long = tool("read");
    long["description"] = json!("d".repeat(LONGEST_DESCRIPTION + 1));
    check(long, "description longer");
    let mut large = tool("read");
    large["inputSchema"]["x"] = json!("x".repeat(LARGEST_SCHEMA));
    check(large, "schema larger");
}

#[test]
fn of_two_with_one_name_neither_stays() {
    let mut pages = gathered();
    let cursor = pages.page(vec![tool("a"), tool("b")], Some("2".to_owned()));
    assert_eq!(cursor.as_deref(), Some("2"));
    let mut other = tool("a");
    other["description"] = json!("another");
    pages.page(vec![other, tool("b"), tool("c")], None);
    let (offers, problems) = pages.finish();
    assert_eq!(offers.iter().map(|offer| offer.name.as_str()).collect::<Vec<_>>(), ["b", "c"]);
    assert_eq!(problems, ["it has more than one `a`; all of them are left out"]);
}

#[test]
fn endless_lists_end() {
    let mut pages = gathered();
    assert!(pages.page(vec![], Some("1".to_owned())).is_some());
    assert!(pages.page(vec![], Some("1".to_owned())).is_none());
    assert_eq!(pages.finish().1, ["it goes around in circles; the rest is left out"]);

    let mut pages = gathered();
    let asked = (0..1_000).take_while(|n| pages.page(vec![], Some(n.to_string())).is_some()).count();
    assert_eq!(asked, MOST_PAGES - 1);

    let mut pages = gathered();
    let many = (0..MOST_TOOLS + 5).map(|n| tool(&format!("t{n}"))).collect();
    assert!(pages.page(many, Some("more".to_owned())).is_none());
    assert_eq!(pages.finish().0.len(), MOST_TOOLS);

    let mut pages = gathered();
    let fat = |n: usize| {
        let mut fat = tool(&format!("t{n}"));
        fat["inputSchema"]["x"] = json!("x".repeat(200_000));
        fat
    };
    assert!(pages.page((0..100).map(fat).collect(), Some("more".to_owned())).is_none());
    assert!(pages.finish().0.len() < 50);
}

#[test]
fn faults_are_counted_and_then_not() {
    let mut pages = gathered();
    pages.page((0..1_000).map(|_| json!(1)).collect(), None);
    assert_eq!(pages.finish().1.len(), MOST_PROBLEMS + 1);
}

#[test]
fn words_are_made_visible_and_demands_stay() {
    let mut poisoned = tool("read");
    poisoned["description"] = json!("a\u{e0041}\u{1b}[8mb");
    poisoned["annotations"] = json!({ "title": "t\u{200b}", "readOnlyHint": true });
    poisoned["inputSchema"] = json!({ "type": "object", "properties": {
        "description": { "type": "string", "description": "x\u{200b}", "const": "y\u{200b}" },
    }});
    let mut pages = gathered();
    pages.page(vec![poisoned], None);
    let (offers, _) = pages.finish();
    assert_eq!(offers[0].description, "a\\u{e0041}b");
    assert_eq!(offers[0].annotations["title"], "t\\u{200b}");
    let property = &offers[0].input_schema["properties"]["description"];
    assert_eq!(property["description"], "x\\u{200b}");
    assert_eq!(property["const"], "y\u{200b}");
}
