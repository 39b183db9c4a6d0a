//! Tool files reach nothing by themselves: no environment, no files, no network, no processes, no clock of their own.

use std::path::Path;

const REACHES_OUT: [&str; 9] = [
    "std::env",
    "std::fs",
    "std::net",
    "std::process",
    "SystemTime",
    "Instant::now",
    "Timestamp::now",
    "Zoned::now",
    "unsafe",
];

#[test]
fn tool_files_reach_nothing_by_themselves() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tools");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        for word in REACHES_OUT {
            assert!(!text.contains(word), "{} uses {word}", path.display());
        }
        files += 1;
    }
    assert!(files >= 9);
}
