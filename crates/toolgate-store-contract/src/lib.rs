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
pub mod changes;
pub mod connections;
pub mod documents;
pub mod event_list;
pub mod files;
mod given;
pub mod grant_uses;
pub mod guards;
pub mod identities;
pub mod input_search;
pub mod keys;
pub mod leases;
pub mod lists;
pub mod notifications;
pub mod oauth;
pub mod principals;
pub mod record;
pub mod reviews;
pub mod sessions;
pub mod shares;
pub mod sign_ins;
pub mod spending;
pub mod tenant_links;
pub mod tenants;
pub mod texts;
pub mod tokens;
pub mod tools;
pub mod usage;

pub use given::{now, opened};

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
            calls: an_agent_works_for_one_person_at_a_time,
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
            reviews: a_review_is_kept_step_by_step,
            sessions: sessions_belong_to_their_owner,
            sessions: a_session_is_made_once,
            sessions: labels_survive,
            sessions: the_administration_session_takes_no_calls,
            record: row_and_events_are_written_together,
            record: folding_events_gives_the_row,
            record: concurrent_appends_to_one_session_keep_one_chain,
            record: calls_of_one_session_do_not_stand_in_each_others_way,
            record: events_come_in_parts,
            record: the_whole_record_can_be_walked,
            event_list: the_record_is_listed_newest_first,
            event_list: the_record_is_narrowed,
            event_list: followers_miss_nothing,
            event_list: large_events_come_in_smaller_parts,
            lists: newest_calls_come_first,
            lists: pages_never_overlap,
            lists: filters_narrow,
            input_search: inputs_are_searched_whatever_the_case,
            input_search: a_search_says_how_far_it_went,
            grant_uses: uses_of_grants_are_counted,
            usage: usage_counts_what_was_called,
            leases: due_calls_are_found_most_overdue_first,
            leases: only_the_holder_renews_a_lease,
            anchors: anchors_cover_touched_sessions_and_chain,
            anchors: a_small_limit_leaves_no_session_out,
            anchors: racing_anchors_keep_one_chain,
            tools: write_egress_forces_approval,
            tools: tools_are_replaced_by_what_is_recorded,
            spending: costs_are_summed_by_actor_tool_and_time,
            spending: a_sum_is_right_at_its_edges,
            changes: a_change_is_made_whole_or_not_at_all,
            changes: every_kind_of_failure_leaves_nothing_behind,
            changes: a_generation_goes_up_by_one_per_change_of_its_tenant,
            changes: changes_are_a_chain_that_anchors_cover,
            changes: concurrent_changes_of_one_tenant_keep_one_chain,
            changes: later_writes_see_earlier_ones,
            tenants: the_default_tenant_is_there_from_the_start,
            tenants: a_tenant_is_made_once_and_changed_when_as_seen,
            tenants: racing_makers_of_one_tenant_have_one_winner,
            tenants: tenants_come_in_pages,
            documents: a_document_is_read_back_as_written,
            documents: a_document_not_as_expected_is_a_conflict,
            documents: versions_are_kept_newest_first,
            documents: revisions_go_on_counting_after_removal,
            documents: another_tenants_documents_are_not_seen,
            documents: racing_writers_of_one_revision_have_one_winner,
            principals: a_principal_is_read_back_as_written,
            principals: principals_are_replaced_whole,
            principals: a_principal_expected_to_be_new_must_be,
            principals: another_tenants_principals_are_not_seen,
            principals: principals_are_listed_by_kind_and_page,
            identities: passwords_are_set_replaced_and_taken_away,
            identities: an_identity_is_one_principal_in_each_tenant,
            identities: anyone_signs_in_once_there_is_a_way,
            keys: a_key_is_read_back_as_made,
            keys: a_key_speaks_for_its_principal,
            keys: a_keys_subject_comes_along,
            keys: a_key_needs_a_principal_and_is_made_once,
            keys: an_ended_key_ends_at_once_or_later_and_never_later_again,
            keys: a_line_of_keys_ends_together,
            keys: a_keys_last_use_never_moves_back,
            keys: keys_are_listed_by_principal_and_page,
            keys: another_tenants_keys_are_not_seen,
            shares: a_link_is_read_back_as_made,
            shares: a_link_needs_a_call_and_is_made_once,
            shares: a_link_that_was_taken_back_is_over,
            sign_ins: a_sign_in_leads_to_its_principal,
            sign_ins: a_sign_in_is_made_once_and_for_someone,
            sign_ins: sign_ins_are_listed_newest_first,
            sign_ins: a_use_never_moves_a_sign_in_back,
            sign_ins: sign_ins_end_one_or_all_but_one_or_all,
            sign_ins: sign_ins_whose_time_is_over_are_forgotten,
            sign_ins: who_switched_is_found_where_they_came_from,
            tenant_links: a_link_holds_with_both_halves,
            tenant_links: halves_must_name_each_other,
            tenant_links: a_link_needs_two_users_of_two_tenants,
            tenant_links: either_half_ends_a_link,
            tenant_links: a_new_link_takes_the_place_of_the_old,
            tenant_links: links_end_with_their_proof,
            tenant_links: links_are_listed_by_user_and_page,
            tenant_links: a_person_elsewhere_is_found_in_all_tenants,
            tokens: a_token_works_once,
            tokens: a_token_works_for_its_purpose_and_in_its_time,
            tokens: racing_takers_have_one_winner,
            tokens: old_tokens_are_forgotten,
            tokens: voided_tokens_work_no_more,
            notifications: steps_that_concern_people_are_news,
            notifications: news_are_taken_with_what_is_told_of_them,
            notifications: racing_readers_of_news_have_one_winner,
            notifications: a_notification_has_one_sender_at_a_time,
            notifications: racing_senders_share_the_work,
            notifications: tries_are_kept_and_the_dead_brought_back,
            notifications: notifications_come_in_parts_and_are_forgotten,
            notifications: what_a_person_decided_is_found,
            oauth: a_token_leads_to_its_grant_and_person,
            oauth: a_grant_and_its_tokens_are_made_once_and_for_someone,
            oauth: a_token_is_exchanged_once_and_in_its_time,
            oauth: racing_exchanges_have_one_winner,
            oauth: a_grant_that_was_taken_back_is_over,
            oauth: an_applications_grants_end_together,
            oauth: grants_are_listed_by_person_and_page,
            oauth: a_grants_last_use_never_moves_back,
            oauth: registrations_are_kept_and_bounded,
            oauth: what_ended_long_ago_is_forgotten,
            connections: a_connection_is_read_back_as_made,
            connections: a_connection_takes_the_place_of_its_owners,
            connections: a_connection_needs_its_person_and_tenant,
            connections: a_removed_connection_is_gone,
            connections: another_tenants_connections_are_not_seen,
            connections: connections_are_listed_by_owner_and_page,
            connections: racing_renewals_have_one_winner,
            connections: one_at_a_time_may_renew,
            connections: a_state_changes_under_the_version_seen,
            connections: a_connections_last_use_never_moves_back,
            connections: keys_are_wrapped_anew,
            connections: one_master_key_is_named,
            files: a_file_is_read_back_as_sent,
            files: an_unfinished_file_is_not_there,
            files: another_tenants_files_are_not_seen,
            files: files_are_listed_by_owner_and_page,
            files: a_removed_file_is_gone_and_its_room_comes_back,
            files: racing_parts_share_the_room,
            files: ending_files_know_who_needs_them,
            files: many_small_files_come_and_go,
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
