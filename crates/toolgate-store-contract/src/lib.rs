//! What every store promises, as tests. An adapter passes when it runs them all:
//!
//! ```text
//! /// A fresh, empty store, and whatever has to live as long as it does.
//! async fn fresh() -> (SqliteStore, TempDir) { … }
//!
//! toolgate_store_contract::store_contract!(fresh().await);
//! ```
//!
//! Each promise is one test of the same name, and one public function here whose docs say what it holds.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "test code: a broken promise should stop the test"
)]

pub mod anchors;
pub mod calls;
mod given;
pub mod guards;
pub mod leases;
pub mod lists;
pub mod principals;
pub mod record;
pub mod sessions;
pub mod texts;
pub mod tools;

/// Makes one test of each promise. The expression is evaluated in an async context, once for each test, and gives a
/// fresh empty store together with a guard that is dropped after it; `()` where there is nothing to guard.
#[macro_export]
macro_rules! store_contract {
    ($fresh:expr) => {
        $crate::store_contract! { @ $fresh;
            calls: a_call_is_read_back_as_written,
            calls: a_refused_call_leaves_nothing_behind,
            calls: same_key_returns_the_first_call,
            calls: a_key_belongs_to_its_tenant_actor_and_tool,
            calls: racing_calls_with_one_key_have_one_winner,
            calls: same_call_id_twice_is_one_call,
            calls: stale_revision_is_refused,
            calls: concurrent_advances_have_one_winner,
            calls: a_call_nobody_wrote_is_not_found,
            calls: another_tenants_rows_are_not_found,
            guards: terminal_rows_refuse_changes,
            guards: a_late_result_is_kept_and_changes_nothing,
            guards: nothing_runs_while_a_person_decides,
            guards: writes_outside_never_start_without_a_person,
            sessions: sessions_belong_to_their_owner,
            sessions: a_session_is_made_once,
            record: row_and_events_are_written_together,
            record: folding_events_gives_the_row,
            record: concurrent_appends_to_one_session_keep_one_chain,
            record: calls_of_one_session_do_not_stand_in_each_others_way,
            record: events_come_in_parts,
            record: the_whole_record_can_be_walked,
            lists: newest_calls_come_first,
            lists: pages_never_overlap,
            lists: filters_narrow,
            leases: due_calls_are_found_most_overdue_first,
            leases: only_the_holder_renews_a_lease,
            anchors: anchors_cover_touched_sessions_and_chain,
            anchors: a_small_limit_leaves_no_session_out,
            anchors: racing_anchors_keep_one_chain,
            tools: write_egress_forces_approval,
            tools: tools_are_replaced_by_what_is_recorded,
            principals: principals_are_replaced_whole,
            principals: a_key_speaks_for_its_principal,
            principals: a_key_needs_a_principal_and_is_made_once,
            texts: unicode_survives,
            texts: nul_characters_do_no_harm,
            texts: a_mebibyte_survives,
            texts: the_store_answers,
        }
    };
    (@ $fresh:expr; $($module:ident: $promise:ident,)+) => {
        $(
            #[test]
            fn $promise() {
                $crate::run(async {
                    let (store, guard) = $fresh;
                    $crate::$module::$promise(::std::sync::Arc::new(store)).await;
                    drop(guard);
                });
            }
        )+
    };
}

/// Runs one test on a runtime with two threads, so that races are real.
pub fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(test);
}
