use super::*;

fn profile_in(parts: &[&[u8]], delimiter: Delimiter) -> Result<Output, ToolFailure> {
    let mut profile = Profile::new(delimiter);
    for part in parts {
        let text = profile.begin(part)?;
        profile.take(text)?;
    }
    profile.finish()
}

fn profile(text: &str) -> Output {
    profile_in(&[text.as_bytes()], Delimiter::Auto).unwrap()
}

fn message(answer: Result<Output, ToolFailure>) -> String {
    match answer {
        Err(ToolFailure::Failed { message, .. }) => message,
        other => panic!("{other:?}"),
    }
}

/// Worked out by hand.
const SALES: &str =
    "region,amount,day,note\nNorth,10,2026-01-01,\nSouth,2.5,2026-03-01,\"a, b\"\nNorth,,2026-02-01,\n";

#[test]
fn a_small_file_is_described_as_by_hand() {
    let output = profile(SALES);
    let summary = &output.summary;
    assert_eq!((summary.rows, summary.column_count, summary.empty_cells, summary.uneven_rows), (3, 4, 3, 0));
    assert_eq!(summary.text, "3 rows in 4 columns.");
    let amount = &output.columns[1];
    assert_eq!((amount.name.as_str(), amount.kind, amount.filled, amount.empty), ("amount", "number", 2, 1));
    // (10 + 2.5) / 2.
    assert_eq!(
        (amount.mean, amount.min.as_deref(), amount.max.as_deref()),
        (Some(6.25), Some("2.5"), Some("10"))
    );
    // 1 of 3.
    assert_eq!(amount.empty_percent, Some(33.3));
    let region = &output.columns[0];
    assert_eq!((region.kind, region.distinct, region.distinct_is_partial), ("text", 2, false));
    assert_eq!(output.columns[2].kind, "date");
    assert_eq!(output.columns[3].max.as_deref(), Some("a, b"));
}

/// However the file is cut into parts, down to single bytes.
#[test]
fn parts_may_be_cut_anywhere() {
    let whole = serde_json::to_value(profile(SALES)).unwrap();
    for size in [1, 2, 3, 7, 50] {
        let parts: Vec<&[u8]> = SALES.as_bytes().chunks(size).collect();
        // A first part of a byte or two does not show the delimiter.
        let output = profile_in(&parts, Delimiter::Comma).unwrap();
        assert_eq!(serde_json::to_value(output).unwrap(), whole, "{size}");
    }
}

#[test]
fn the_delimiter_is_found_in_the_first_row() {
    for (text, columns) in [
        ("a;b;c\n1;2;3\n", 3),
        ("a\tb\n1\t2\n", 2),
        ("a|b|c|d\n", 4),
        ("\"x;y;z\",b\n1,2\n", 2),
        ("alone\n1\n", 1),
        ("\u{feff}a,b\n1,2", 2),
    ] {
        assert_eq!(profile(text).summary.column_count, columns, "{text:?}");
    }
    assert_eq!(profile_in(&[b"a;b,c\n"], Delimiter::Semicolon).unwrap().columns[1].name, "b,c");
}

#[test]
fn a_last_row_needs_no_line_break_and_empty_lines_are_none() {
    assert_eq!(profile("a\n1\n\n\n2").summary.rows, 2);
    assert_eq!(profile("a,b\r\n1,2\r\n").summary.rows, 1);
    assert_eq!(profile("a,b").summary.text, "0 rows in 2 columns.");
    assert_eq!(profile("a,b").columns[0].empty_percent, None);
}

#[test]
fn uneven_rows_are_counted_and_break_nothing() {
    let output = profile("a,b\n1\n1,2,3\n1,2\n");
    assert_eq!((output.summary.uneven_rows, output.summary.rows), (2, 3));
    assert_eq!((output.columns[1].filled, output.columns[1].empty), (2, 1));
    assert!(output.summary.text.contains("2 rows do not have as many cells"), "{}", output.summary.text);
}

#[test]
fn names_can_be_told_apart() {
    let names: Vec<String> = profile("a,,a,a (2),a\n").columns.into_iter().map(|row| row.name).collect();
    assert_eq!(names, ["a", "column 2", "a (2)", "a (2) (2)", "a (3)"]);
}

#[test]
fn hostile_files_are_refused_or_inert() {
    assert_eq!(message(profile_in(&[b""], Delimiter::Auto)), "the file is empty");
    assert_eq!(message(profile_in(&[], Delimiter::Auto)), "the file is empty");
    assert_eq!(message(profile_in(&[b"PK\x03\x04\x00\x00"], Delimiter::Auto)), "the file is not plain text");
    assert_eq!(message(profile_in(&[b"a\x00,\x00b\x00"], Delimiter::Auto)), "the file is not plain text");
    let wide = "a,".repeat(201);
    assert_eq!(
        message(profile_in(&[wide.as_bytes()], Delimiter::Auto)),
        "the file has more than 200 columns"
    );
    let wider = format!("a,b\n{}\n", "1,".repeat(1_000_000));
    assert_eq!(
        message(profile_in(&[wider.as_bytes()], Delimiter::Auto)),
        "the file has more than 200 columns"
    );
    let endless = format!("a,b\n\"{}", "x".repeat(2 << 20));
    let parts: Vec<&[u8]> = endless.as_bytes().chunks(256 << 10).collect();
    assert_eq!(message(profile_in(&parts, Delimiter::Auto)), "a row of the file is longer than 1 MiB");
    let quotes = profile("a\n\"\"\"\"\n\"unclosed");
    assert_eq!(quotes.summary.rows, 2);
    let broken = profile_in(&[b"name\n\xff\xfe\xfd\n<script>alert(1)</script>\n"], Delimiter::Auto).unwrap();
    assert_eq!(broken.columns[0].min.as_deref(), Some("<script>alert(1)</script>"), "text stays text");
    let long = profile(&format!("{}\n{}\n", "n".repeat(5_000), "v".repeat(5_000)));
    assert!(serde_json::to_string(&long).unwrap().len() < 1_000);
}

/// A hundred thousand rows, each value known: 0 to 99,999, so the mean is half of the last.
#[test]
fn many_rows_take_little() {
    let mut text = "n,even\n".to_owned();
    for n in 0..100_000 {
        text.push_str(&format!("{n},{}\n", if n % 2 == 0 { "yes" } else { "no" }));
    }
    let parts: Vec<&[u8]> = text.as_bytes().chunks(256 << 10).collect();
    let output = profile_in(&parts, Delimiter::Auto).unwrap();
    let n = &output.columns[0];
    assert_eq!(
        (output.summary.rows, n.kind, n.distinct, n.distinct_is_partial),
        (100_000, "integer", 1_000, true)
    );
    assert_eq!((n.mean, n.min.as_deref(), n.max.as_deref()), (Some(49_999.5), Some("0"), Some("99999")));
    assert_eq!((output.columns[1].kind, output.columns[1].distinct), ("boolean", 2));
}

#[test]
fn what_is_given_is_what_was_promised() {
    let contract = tool().contract.unwrap();
    let gives = jsonschema::validator_for(&contract.output_schema.to_value()).unwrap();
    for text in [SALES, "a", "a,b\n1\n", "a\n\n", "x\n1e308\n-1e308\n"] {
        let output = serde_json::to_value(profile(text)).unwrap();
        let wrong = gives.iter_errors(&output).next().map(|error| error.to_string());
        assert_eq!(wrong, None, "{text:?}");
    }
    assert_eq!(contract.input_schema.to_value()["properties"]["file"]["format"], "file");
}
