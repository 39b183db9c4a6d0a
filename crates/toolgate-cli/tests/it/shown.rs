//! Snapshots of what a command showed, with ids, times and addresses taken out.

use crate::gate::{Gate, Ran};

/// What changes from run to run, and what stands for it.
const FILTERS: &[(&str, &str)] = &[
    (r"\b(inv|ses|key|wrk|ntf)_[0-9a-f]{32}\b", "${1}_[id]"),
    (r"\bgnt-[0-9a-f]{32}\b", "gnt-[id]"),
    (r"\b[0-9a-f]{64}\b", "[hash]"),
    (r"(version +)[0-9a-f]{12}\b", "${1}[hash]"),
    (r"http://(127\.0\.0\.1|\[::1\]):\d{5}", "[gate]"),
    (r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})", "[time]"),
    // How often the record was anchored by then depends on the clock.
    (r"(anchors +)\d+", "${1}[n]"),
    (r"(broken at .*, number) \d+", "${1} [n]"),
    (r"number \d+(: anchor) \d+", "number [n]${1} [n]"),
    (r"\d+\.\d+ ms", "[ms]"),
    (r"dur=\d+\.\d+", "dur=[ms]"),
    (r#"("(unix_ms|at_micros|gate_us|tool_us)": ?)\d+"#, "${1}0"),
    (r#"("(date|time|weekday)": ?)"[^"]*""#, "${1}\"[time]\""),
    (r"/[^`\s]*/\.tmp[A-Za-z0-9]{6}", "[data]"),
];

/// Compares everything a command showed with its snapshot.
pub(crate) fn check(name: &str, line: &str, ran: &Ran) {
    let text = format!(
        "$ toolgate {line}\nexit {}\n---- stdout\n{}\n---- stderr\n{}\n",
        ran.code,
        ran.stdout.trim_end(),
        ran.stderr.trim_end()
    );
    let version = env!("CARGO_PKG_VERSION").replace('.', r"\.");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (pattern, stands_for) in FILTERS {
        settings.add_filter(pattern, *stands_for);
    }
    settings.add_filter(&version, "[version]");
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Runs a command and compares everything it showed with its snapshot.
pub(crate) fn run(gate: &Gate, name: &str, args: &[&str]) -> Ran {
    let ran = gate.run(args);
    check(name, &args.join(" "), &ran);
    ran
}
