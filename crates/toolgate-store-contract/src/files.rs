//! Files that arrive in parts.

use futures::future::join_all;
use toolgate_core::Timestamp;
use toolgate_core::change::SessionUse;
use toolgate_core::file::{COUNTED_BYTES, File, Picture};
use toolgate_core::id::{FileId, PrincipalId, TenantId, WorkerId};
use toolgate_core::invocation::Step;
use toolgate_core::port::file::{Finished, NewFile, Room};
use toolgate_core::port::store::StoreError;

use crate::given::*;

const MOST: u64 = 1 << 30;

fn new_file(owner: &PrincipalId) -> NewFile {
    NewFile {
        id: FileId::generate(),
        tenant: tenant(),
        owner: owner.clone(),
        sent_by: principal("agent:helper"),
        name: "naïve 漢字 🦀.csv".to_owned(),
        media_type: "text/csv".to_owned(),
        created_at: now(),
        given_up_at: seconds_after(now(), 900),
    }
}

fn finished(expires_at: Timestamp) -> Finished {
    Finished { picture: Some(Picture::Png), sha256: "ab".repeat(32), expires_at }
}

async fn begun(store: &Shared, owner: &PrincipalId) -> NewFile {
    let file = new_file(owner);
    assert_eq!(store.begin_file(file.clone(), MOST).await.unwrap(), Room::Taken);
    file
}

async fn sent(store: &Shared, owner: &PrincipalId, parts: &[&[u8]], expires_at: Timestamp) -> File {
    let file = begun(store, owner).await;
    for (number, part) in (0..).zip(parts) {
        let room = store.append_file(&tenant(), file.id, number, part.to_vec(), MOST).await.unwrap();
        assert_eq!(room, Room::Taken);
    }
    store.finish_file(&tenant(), file.id, finished(expires_at)).await.unwrap()
}

async fn one(store: &Shared, tenant: &TenantId, id: FileId) -> Option<File> {
    store.files_by_id(tenant, &[id]).await.unwrap().pop()
}

async fn purged(store: &Shared) {
    while store.purge_files(2).await.unwrap() {}
}

fn later() -> Timestamp {
    seconds_after(now(), 3_600)
}

/// Every field comes back as it went in, and the parts in their order, NUL bytes and all.
pub async fn a_file_is_read_back_as_sent(store: Shared) {
    let new = begun(&store, &ada()).await;
    for (number, part) in [(0, vec![0, 1, 255]), (1, b"rest".to_vec())] {
        assert_eq!(store.append_file(&tenant(), new.id, number, part, MOST).await.unwrap(), Room::Taken);
    }
    let expires_at = later();
    let file = store.finish_file(&tenant(), new.id, finished(expires_at)).await.unwrap();
    let expected = File {
        id: new.id,
        tenant: new.tenant,
        owner: new.owner,
        sent_by: new.sent_by,
        name: new.name,
        media_type: new.media_type,
        picture: Some(Picture::Png),
        size: 7,
        sha256: "ab".repeat(32),
        created_at: new.created_at,
        expires_at,
    };
    assert_eq!(file, expected);
    assert_eq!(one(&store, &tenant(), file.id).await, Some(expected));
    assert_eq!(store.file_part(&tenant(), file.id, 0).await.unwrap(), Some(vec![0, 1, 255]));
    assert_eq!(store.file_part(&tenant(), file.id, 1).await.unwrap(), Some(b"rest".to_vec()));
    assert_eq!(store.file_part(&tenant(), file.id, 2).await.unwrap(), None);
}

/// What is not finished can't be read, and what is finished can't be changed.
pub async fn an_unfinished_file_is_not_there(store: Shared) {
    let file = begun(&store, &ada()).await;
    store.append_file(&tenant(), file.id, 0, b"half".to_vec(), MOST).await.unwrap();
    assert_eq!(one(&store, &tenant(), file.id).await, None);
    assert_eq!(store.file_part(&tenant(), file.id, 0).await.unwrap(), None);
    assert_eq!(store.files(&tenant(), None, None, 10).await.unwrap(), []);
    store.finish_file(&tenant(), file.id, finished(later())).await.unwrap();
    let more = store.append_file(&tenant(), file.id, 1, b"more".to_vec(), MOST).await;
    assert!(matches!(more, Err(StoreError::NotFound)));
    let again = store.finish_file(&tenant(), file.id, finished(later())).await;
    assert!(matches!(again, Err(StoreError::NotFound)));
}

/// Another tenant reads, adds to, finishes and removes nothing.
pub async fn another_tenants_files_are_not_seen(store: Shared) {
    let file = sent(&store, &ada(), &[b"x"], later()).await;
    let other = other_tenant();
    assert_eq!(one(&store, &other, file.id).await, None);
    assert_eq!(store.file_part(&other, file.id, 0).await.unwrap(), None);
    assert_eq!(store.files(&other, None, None, 10).await.unwrap(), []);
    assert!(matches!(store.remove_file(&other, file.id).await, Err(StoreError::NotFound)));
    let arriving = begun(&store, &ada()).await;
    let added = store.append_file(&other, arriving.id, 0, b"x".to_vec(), MOST).await;
    assert!(matches!(added, Err(StoreError::NotFound)));
    let done = store.finish_file(&other, arriving.id, finished(later())).await;
    assert!(matches!(done, Err(StoreError::NotFound)));
}

/// Newest first, of that owner alone, and pages never overlap.
pub async fn files_are_listed_by_owner_and_page(store: Shared) {
    let bob = principal("user:bob");
    let mut adas = Vec::new();
    for _ in 0..5 {
        adas.insert(0, sent(&store, &ada(), &[b"a"], later()).await);
        sent(&store, &bob, &[b"b"], later()).await;
    }
    assert_eq!(store.files(&tenant(), Some(&ada()), None, 10).await.unwrap(), adas);
    assert_eq!(store.files(&tenant(), Some(&ada()), None, 2).await.unwrap(), adas[..2]);
    assert_eq!(store.files(&tenant(), Some(&ada()), Some(adas[1].id), 2).await.unwrap(), adas[2..4]);
    assert_eq!(store.files(&tenant(), None, None, 100).await.unwrap().len(), 10);
    let two = [adas[0].id, FileId::generate(), adas[4].id];
    let found = store.files_by_id(&tenant(), &two).await.unwrap();
    assert_eq!(found, [adas[4].clone(), adas[0].clone()], "in order of id, without those there are not");
}

/// A removed file can't be read from that moment on; its parts go a few at a time, and its room comes back at the end.
pub async fn a_removed_file_is_gone_and_its_room_comes_back(store: Shared) {
    let most = 2 * COUNTED_BYTES + 10;
    let file = sent(&store, &ada(), &[b"aaaa", b"bbb", b"ccc"], later()).await;
    let second = new_file(&ada());
    assert_eq!(store.begin_file(second.clone(), most).await.unwrap(), Room::Taken);
    let full = store.append_file(&tenant(), second.id, 0, b"x".to_vec(), most).await.unwrap();
    assert_eq!(full, Room::Full);
    store.remove_file(&tenant(), file.id).await.unwrap();
    assert_eq!(one(&store, &tenant(), file.id).await, None);
    assert_eq!(store.file_part(&tenant(), file.id, 0).await.unwrap(), None);
    assert!(matches!(store.remove_file(&tenant(), file.id).await, Err(StoreError::NotFound)));
    assert!(store.purge_files(2).await.unwrap(), "there is more to take away");
    purged(&store).await;
    let room = store.append_file(&tenant(), second.id, 0, vec![7; 10], most).await.unwrap();
    assert_eq!(room, Room::Taken, "the room is back, and the part that did not fit took none");
    let done = store.finish_file(&tenant(), second.id, finished(later())).await.unwrap();
    assert_eq!(done.size, 10);
}

/// Racing parts never take more room than there is, and every one that was told so has it.
pub async fn racing_parts_share_the_room(store: Shared) {
    let owner = ada();
    let files = join_all((0..8).map(|_| begun(&store, &owner))).await;
    let most = 8 * COUNTED_BYTES + 1_000;
    let answers = join_all(files.iter().flat_map(|file| {
        (0..4).map(|part| store.append_file(&file.tenant, file.id, part, vec![1; 100], most))
    }))
    .await;
    let taken = answers.into_iter().filter(|answer| *answer.as_ref().unwrap() == Room::Taken).count();
    assert_eq!(taken, 10);
    let mut kept = 0;
    for file in files {
        kept += store.finish_file(&tenant(), file.id, finished(later())).await.unwrap().size;
    }
    assert_eq!(kept, 1_000);
    assert_eq!(
        store.begin_file(new_file(&ada()), most).await.unwrap(),
        Room::Full,
        "even an empty one counts"
    );
}

/// Ending files come in order of their time, unfinished ones too, and say whether a call still needs them.
pub async fn ending_files_know_who_needs_them(store: Shared) {
    let at = now();
    let soon = |seconds| seconds_after(at, seconds);
    let unneeded = sent(&store, &ada(), &[b"a"], soon(1)).await;
    let needed = sent(&store, &ada(), &[b"b"], soon(2)).await;
    let edited = sent(&store, &ada(), &[b"c"], soon(3)).await;
    let settled = sent(&store, &ada(), &[b"d"], soon(4)).await;
    let long = sent(&store, &ada(), &[b"e"], soon(9_999)).await;
    let mut half = new_file(&ada());
    half.given_up_at = soon(5);
    store.begin_file(half.clone(), MOST).await.unwrap();

    let naming = |id: FileId, approval_required: bool| {
        opened_with(|opened| {
            opened.input = json(&format!(r#"{{"file":"{id}"}}"#));
            opened.approval_required = approval_required;
        })
    };
    begin(&store, new_call(naming(needed.id, true), &[needs_approval()], SessionUse::New)).await;
    let mut other = review(later());
    other.input = Some(json(&format!(r#"{{"file":"{}"}}"#, edited.id)));
    let asked = Step::NeedsApproval {
        reason: "policy asks".into(),
        deadline: later(),
        review: Some(Box::new(other)),
    };
    let waiting = opened_with(|opened| opened.approval_required = true);
    begin(&store, new_call(waiting, &[asked], SessionUse::New)).await;
    let steps = [started(1, WorkerId::generate()), completed("{}")];
    begin(&store, new_call(naming(settled.id, false), &steps, SessionUse::New)).await;

    let ending = store.ending_files(soon(100), None, 10).await.unwrap();
    let shown: Vec<(FileId, bool)> = ending.iter().map(|file| (file.id, file.named)).collect();
    let expected =
        [(unneeded.id, false), (needed.id, true), (edited.id, true), (settled.id, false), (half.id, false)];
    assert_eq!(shown, expected);
    let part = store.ending_files(soon(100), Some((ending[1].expires_at, ending[1].id)), 2).await.unwrap();
    assert_eq!(part, ending[2..4]);

    store.keep_files(&[needed.id, edited.id], soon(5_000)).await.unwrap();
    store.keep_files(&[long.id], soon(5_000)).await.unwrap();
    let ids: Vec<FileId> = expected.iter().map(|(id, _)| *id).collect();
    store.end_files(&ids, soon(100)).await.unwrap();
    purged(&store).await;
    let mut left: Vec<FileId> =
        store.files(&tenant(), None, None, 10).await.unwrap().iter().map(|file| file.id).collect();
    left.reverse();
    assert_eq!(left, [needed.id, edited.id, long.id], "a file is ended only if its time is still over");
    assert_eq!(one(&store, &tenant(), long.id).await.unwrap().expires_at, soon(9_999), "never moved back");
    let given_up = store.append_file(&tenant(), half.id, 0, b"x".to_vec(), MOST).await;
    assert!(matches!(given_up, Err(StoreError::NotFound)));
}

/// Ten thousand small files: a page of them is a page, and they all go.
pub async fn many_small_files_come_and_go(store: Shared) {
    let mut ids = Vec::new();
    for _ in 0..100 {
        ids.extend(
            join_all((0..100).map(|_| async {
                let file = begun(&store, &ada()).await;
                store.finish_file(&tenant(), file.id, finished(now())).await.unwrap().id
            }))
            .await,
        );
    }
    let page = store.files(&tenant(), Some(&ada()), None, 1_000).await.unwrap();
    assert_eq!(page.len(), 1_000);
    assert!(page.is_sorted_by(|a, b| a.id > b.id));
    store.end_files(&ids, later()).await.unwrap();
    while store.purge_files(8).await.unwrap() {}
    assert_eq!(store.files(&tenant(), None, None, 10).await.unwrap(), []);
    assert_eq!(
        store.begin_file(new_file(&ada()), COUNTED_BYTES).await.unwrap(),
        Room::Taken,
        "all room is back"
    );
}
