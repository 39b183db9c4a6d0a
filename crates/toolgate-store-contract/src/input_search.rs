//! Finding calls by what they were called with.

use toolgate_core::JsonText;
use toolgate_core::id::InvocationId;
use toolgate_core::invocation::Invocation;
use toolgate_core::port::input_search::{InputSearch, Searched};
use toolgate_core::port::store::{InvocationFilter, Page};

use crate::given::*;

async fn call(store: &Shared, tool: &str, input: &str) -> InvocationId {
    let opened = opened_with(|opened| {
        opened.tool = tool.parse().unwrap();
        opened.input = JsonText::parse(input).unwrap();
    });
    begin(store, running(opened)).await.id()
}

async fn search(store: &Shared, filter: &InvocationFilter, text: &str, page: Page, most: u32) -> Searched {
    store.search_inputs(&tenant(), InputSearch { filter, text, page, most }).await.unwrap()
}

fn ids(searched: &Searched) -> Vec<InvocationId> {
    searched.invocations.iter().map(Invocation::id).collect()
}

const ALL: Page = Page { after: None, limit: 100 };

/// A text is found whatever its case, and means itself; what is too long, and what is another tenant's, is not looked
/// into.
pub async fn inputs_are_searched_whatever_the_case(store: Shared) {
    let north = call(&store, "core__x", r#"{"to":"Northwind (50 %_.*)"}"#).await;
    let munich = call(&store, "core__x", r#"{"to":"MÜNCHEN"}"#).await;
    call(&store, "core__x", &format!(r#"{{"to":"{} northwind"}}"#, "x".repeat(9_000))).await;
    let other = opened_with(|opened| {
        opened.tenant = other_tenant();
        opened.input = JsonText::parse(r#"{"to":"Northwind"}"#).unwrap();
    });
    begin(&store, running(other)).await;
    let none = InvocationFilter::default();
    let check = async |text: &str, expected: &[InvocationId]| {
        let searched = search(&store, &none, text, ALL, 100).await;
        assert_eq!(ids(&searched), expected, "{text}");
        assert_eq!((searched.looked_at, searched.more), (3, false), "{text}");
    };
    check("NORTHwind", &[north]).await;
    check("münchen", &[munich]).await;
    check("Münch", &[munich]).await;
    check("\"to\":\"n", &[north]).await;
    check("50 %_.*)", &[north]).await;
    check("50 %x", &[]).await;
    check(".*", &[north]).await;
    check("[nN]", &[]).await;
    check("nul\0", &[]).await;
    let found = search(&store, &none, "northwind", ALL, 100).await.invocations.remove(0);
    assert_eq!(found, store.get(&tenant(), north).await.unwrap().unwrap());
}

/// No more is looked at than was said, and what was not looked at is where the next search begins.
pub async fn a_search_says_how_far_it_went(store: Shared) {
    let mut calls = Vec::new();
    for number in 0..10 {
        let (tool, word) = if number % 2 == 0 { ("core__y", "even") } else { ("core__x", "odd") };
        calls.push(call(&store, tool, &format!(r#"{{"word":"{word} {number}"}}"#)).await);
    }
    let none = InvocationFilter::default();

    let first = search(&store, &none, "odd", ALL, 4).await;
    assert_eq!(ids(&first), [calls[9], calls[7]]);
    assert_eq!((first.looked_at, first.more, first.end.map(|(id, _)| id)), (4, true, Some(calls[6])));
    let at = store.get(&tenant(), calls[6]).await.unwrap().unwrap().opened.created_at;
    assert_eq!(first.end.map(|(_, at)| at), Some(at));

    let rest = search(&store, &none, "odd", Page { after: Some(calls[6]), limit: 100 }, 100).await;
    assert_eq!(ids(&rest), [calls[5], calls[3], calls[1]]);
    assert_eq!((rest.looked_at, rest.more, rest.end.map(|(id, _)| id)), (6, false, Some(calls[0])));

    let enough = search(&store, &none, "odd", Page { after: None, limit: 2 }, 100).await;
    assert_eq!(ids(&enough), [calls[9], calls[7]]);
    assert_eq!((enough.looked_at, enough.more, enough.end.map(|(id, _)| id)), (3, true, Some(calls[7])));

    let narrowed = InvocationFilter { tool: Some("core__y".parse().unwrap()), ..none.clone() };
    let even = search(&store, &narrowed, "even 2", ALL, 100).await;
    assert_eq!((ids(&even), even.looked_at, even.more), (vec![calls[2]], 5, false));

    let acting = opened().acting();
    let mine = InvocationFilter { visible_to: Some(acting), ..none.clone() };
    assert_eq!(search(&store, &mine, "odd", ALL, 100).await.looked_at, 10);

    let beyond = search(&store, &none, "odd", Page { after: Some(calls[0]), limit: 5 }, 100).await;
    assert_eq!(beyond, Searched { invocations: Vec::new(), looked_at: 0, end: None, more: false });
}
