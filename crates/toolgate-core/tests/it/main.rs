//! What other crates can't do.

/// Executors accept only a `ClearedCall`, and nothing outside the runner can make one or reach an executor.
#[test]
fn no_other_crate_can_run_a_tool() {
    trybuild::TestCases::new().compile_fail("tests/it/sealed/*.rs");
}
