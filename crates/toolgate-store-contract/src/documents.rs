//! Documents: written when as seen, with every version kept.

use futures::future::join_all;
use toolgate_core::administration::Write;
use toolgate_core::document::{Document, DocumentKind, DocumentVersion, Expect};

use crate::given::*;

const ROLE: DocumentKind = DocumentKind::Role;

fn put(kind: DocumentKind, name: &str, body: &str, expect: Expect) -> Write {
    Write::PutDocument { kind, name: name.to_owned(), body: json(body), expect }
}

fn remove(name: &str, expect: Expect) -> Write {
    Write::RemoveDocument { kind: ROLE, name: name.to_owned(), expect }
}

async fn document(store: &Shared, name: &str) -> Option<Document> {
    store.document(&tenant(), ROLE, name).await.unwrap()
}

async fn versions(store: &Shared, name: &str, before: Option<u64>, limit: u32) -> Vec<DocumentVersion> {
    store.document_versions(&tenant(), ROLE, name, before, limit).await.unwrap()
}

/// Every kind and any name; byte for byte; all of them in order of kind and name.
pub async fn a_document_is_read_back_as_written(store: Shared) {
    let kinds = [
        DocumentKind::Role,
        DocumentKind::Policy,
        DocumentKind::Toolset,
        DocumentKind::Profile,
        DocumentKind::Assignment,
        DocumentKind::Limit,
        DocumentKind::Kill,
        DocumentKind::Tool,
    ];
    let body = r#"{ "b" : 1.0, "a":[1e3,  null, "漢字 \u0000"] }"#;
    let names = ["b", "A", "a", "naïve 漢字 ' \" %", ""];
    let writes =
        kinds.iter().flat_map(|kind| names.iter().map(|name| put(*kind, name, body, Expect::Absent)));
    let made = change_of(tenant(), writes.collect());
    let (by, at) = (made.by.clone(), made.at);
    store.change(made).await.unwrap();

    let mut expected: Vec<Document> = kinds
        .iter()
        .flat_map(|kind| names.iter().map(|name| (*kind, (*name).to_owned())))
        .map(|(kind, name)| Document { kind, name, body: json(body), revision: 1, by: by.clone(), at })
        .collect();
    expected.sort_by(|a, b| (a.kind.as_str(), &a.name).cmp(&(b.kind.as_str(), &b.name)));
    assert_eq!(store.documents(&tenant()).await.unwrap(), expected);
    for one in expected {
        assert_eq!(store.document(&tenant(), one.kind, &one.name).await.unwrap(), Some(one));
    }
    assert_eq!(document(&store, "missing").await, None);
}

/// What is expected of a document must be so, when it is written and when it is removed; else nothing changes.
pub async fn a_document_not_as_expected_is_a_conflict(store: Shared) {
    assert!(is_conflict(&try_change(&store, vec![put(ROLE, "r", "1", Expect::Revision(1))]).await));
    change(&store, vec![put(ROLE, "r", "1", Expect::Absent)]).await;
    change(&store, vec![put(ROLE, "r", "2", Expect::Revision(1))]).await;
    let current = document(&store, "r").await.unwrap();
    assert_eq!((current.revision, current.body.as_str()), (2, "2"));

    for expect in [Expect::Absent, Expect::Revision(1), Expect::Revision(3)] {
        assert!(is_conflict(&try_change(&store, vec![put(ROLE, "r", "3", expect)]).await), "{expect:?}");
        assert!(is_conflict(&try_change(&store, vec![remove("r", expect)]).await), "{expect:?}");
    }
    assert_eq!(document(&store, "r").await, Some(current));
    assert_eq!(versions(&store, "r", None, 10).await.len(), 2);

    change(&store, vec![remove("r", Expect::Revision(2))]).await;
    for expect in [Expect::Anything, Expect::Absent, Expect::Revision(2), Expect::Revision(3)] {
        assert!(is_not_found(&try_change(&store, vec![remove("r", expect)]).await), "{expect:?}");
    }
    // A removed document has no revision any more.
    assert!(is_conflict(&try_change(&store, vec![put(ROLE, "r", "4", Expect::Revision(3))]).await));
}

/// Every version stays as it was written, newest first, before any revision, as many as asked for.
pub async fn versions_are_kept_newest_first(store: Shared) {
    let mut expected = Vec::new();
    for revision in 1..=7 {
        let body = format!(r#"{{"number": {revision}}}"#);
        let made = change_of(tenant(), vec![put(ROLE, "r", &body, Expect::Anything)]);
        let version = DocumentVersion { revision, body: Some(json(&body)), by: made.by.clone(), at: made.at };
        expected.insert(0, version);
        store.change(made).await.unwrap();
        assert_eq!(versions(&store, "r", None, 100).await, expected);
    }
    assert_eq!(versions(&store, "r", None, 3).await, expected[..3]);
    assert_eq!(versions(&store, "r", Some(5), 3).await, expected[3..6]);
    assert_eq!(versions(&store, "r", Some(2), 3).await, expected[6..]);
    assert!(versions(&store, "r", Some(1), 3).await.is_empty());
    assert!(versions(&store, "other", None, 3).await.is_empty());
    let policies = store.document_versions(&tenant(), DocumentKind::Policy, "r", None, 3).await.unwrap();
    assert!(policies.is_empty(), "another kind of the same name is another document");
}

/// A removal is a version without a body, and what comes back goes on from there.
pub async fn revisions_go_on_counting_after_removal(store: Shared) {
    change(&store, vec![put(ROLE, "r", "1", Expect::Absent)]).await;
    change(&store, vec![put(ROLE, "r", "2", Expect::Revision(1))]).await;
    change(&store, vec![remove("r", Expect::Anything)]).await;
    assert_eq!(document(&store, "r").await, None);
    assert!(store.documents(&tenant()).await.unwrap().is_empty());
    change(&store, vec![put(ROLE, "r", "4", Expect::Absent)]).await;
    assert_eq!(document(&store, "r").await.unwrap().revision, 4);
    change(&store, vec![remove("r", Expect::Revision(4)), put(ROLE, "r", "6", Expect::Absent)]).await;
    assert_eq!(document(&store, "r").await.unwrap().revision, 6);
    let kept: Vec<(u64, Option<String>)> = versions(&store, "r", None, 10)
        .await
        .into_iter()
        .map(|version| (version.revision, version.body.map(|body| body.as_str().to_owned())))
        .collect();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(kept, [(6, text("6")), (5, None), (4, text("4")), (3, None), (2, text("2")), (1, text("1"))]);
}

/// A tenant's wall: the same name elsewhere is another document, to read, to count and to write.
pub async fn another_tenants_documents_are_not_seen(store: Shared) {
    change(&store, vec![put(ROLE, "r", "1", Expect::Absent)]).await;
    change(&store, vec![put(ROLE, "r", "2", Expect::Anything)]).await;
    make_other_tenant(&store, vec![]).await;
    assert_eq!(store.document(&other_tenant(), ROLE, "r").await.unwrap(), None);
    assert!(store.documents(&other_tenant()).await.unwrap().is_empty());
    assert!(store.document_versions(&other_tenant(), ROLE, "r", None, 10).await.unwrap().is_empty());
    assert!(is_not_found(
        &store.change(change_of(other_tenant(), vec![remove("r", Expect::Anything)])).await
    ));

    store.change(change_of(other_tenant(), vec![put(ROLE, "r", "9", Expect::Absent)])).await.unwrap();
    assert_eq!(store.document(&other_tenant(), ROLE, "r").await.unwrap().unwrap().revision, 1);
    let mine = document(&store, "r").await.unwrap();
    assert_eq!((mine.revision, mine.body.as_str()), (2, "2"));
    store.change(change_of(other_tenant(), vec![remove("r", Expect::Anything)])).await.unwrap();
    assert_eq!(document(&store, "r").await, Some(mine));
}

/// Of many who saw the same revision, one writes.
pub async fn racing_writers_of_one_revision_have_one_winner(store: Shared) {
    change(&store, vec![put(ROLE, "r", "0", Expect::Absent)]).await;
    for seen in 1..5 {
        let tasks = (0..8).map(|number: u32| {
            let (store, write) =
                (Shared::clone(&store), put(ROLE, "r", &number.to_string(), Expect::Revision(seen)));
            tokio::spawn(async move { try_change(&store, vec![write]).await })
        });
        let answers: Vec<_> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
        assert_eq!(answers.iter().filter(|answer| is_conflict(answer)).count(), 7);
        assert_eq!(document(&store, "r").await.unwrap().revision, seen + 1);
    }
    assert_eq!(versions(&store, "r", None, 100).await.len(), 5);
}
