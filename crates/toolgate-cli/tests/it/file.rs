//! Files by the command line: sent, listed, fetched, handed to a tool and removed.

use serde_json::Value;
use tempfile::TempDir;

use crate::gate::serve;

const CSV: &str = "region;amount\nNorth;10\nSouth;2.5\n";

#[test]
fn a_file_goes_there_and_back() {
    let (gate, folder) = (serve(&[], &[]), TempDir::new().unwrap());
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("q3.csv"), CSV).unwrap();

    let put: Value = serde_json::from_str(&gate.ok(&["file", "put", &path("q3.csv"), "--json"])).unwrap();
    let id = put["id"].as_str().unwrap();
    assert_eq!((put["name"].as_str(), put["media_type"].as_str()), (Some("q3.csv"), Some("text/csv")));
    let shown = gate.ok(&["file", "show", id]);
    assert!(shown.contains("q3.csv") && shown.contains(put["sha256"].as_str().unwrap()), "{shown}");
    let listed = gate.ok(&["file", "list"]);
    assert!(listed.contains(id) && listed.contains("q3.csv"), "{listed}");

    assert_eq!(gate.run(&["file", "get", id]).stdout, CSV);
    gate.ok(&["file", "get", id, "-o", &path("back.csv")]);
    assert_eq!(std::fs::read_to_string(path("back.csv")).unwrap(), CSV);
    let over = gate.run(&["file", "get", id, "-o", &path("back.csv")]);
    assert_eq!(over.code, 2, "nothing is overwritten: {over:?}");

    let named = gate.ok(&["file", "put", &path("q3.csv"), "--name", "../other.txt", "--type", "text/plain"]);
    assert!(named.contains("other.txt") && !named.contains(".."), "{named}");
    gate.ok(&["file", "remove", id, "--yes"]);
    let gone = gate.run(&["file", "show", id]);
    assert_eq!(gone.code, 1, "{gone:?}");
    assert!(gone.stderr.contains("not_found") && gone.stderr.contains("hint:"), "{gone:?}");
    let missing = gate.run(&["file", "put", &path("none.csv")]);
    assert_eq!(missing.code, 2, "{missing:?}");
    assert_eq!(gate.run(&["file", "put", folder.path().to_str().unwrap()]).code, 2, "a folder is no file");
}

#[test]
fn a_tool_is_called_with_a_file_by_its_path() {
    let (gate, folder) = (serve(&[], &[]), TempDir::new().unwrap());
    let path = folder.path().join("q3.csv");
    std::fs::write(&path, CSV).unwrap();
    let named = format!("file={}", path.to_str().unwrap());
    let call = gate.ok(&["tool", "invoke", "core__profile_csv", "--file", &named, "--json"]);
    let call: Value = serde_json::from_str(&call).unwrap();
    assert_eq!(
        (&call["status"], &call["value"]["summary"]["rows"]),
        (&"completed".into(), &2.into()),
        "{call}"
    );
    assert_eq!(call["value"]["columns"][1]["mean"], 6.25);

    let id = gate.ok(&["file", "list", "--json"]);
    let id: Value = serde_json::from_str(&id).unwrap();
    let id = id["files"][0]["id"].as_str().unwrap();
    let text =
        gate.ok(&["tool", "invoke", "core__profile_csv", "--input-file", id, "--delimiter", "semicolon"]);
    assert!(text.contains("2 rows in 2 columns."), "{text}");

    let dry = gate.ok(&["tool", "invoke", "core__profile_csv", "--file", &named, "--dry-run"]);
    assert!(dry.contains("q3.csv"), "{dry}");
    let files: Value = serde_json::from_str(&gate.ok(&["file", "list", "--json"])).unwrap();
    assert_eq!(files["files"].as_array().unwrap().len(), 1, "a dry run sends nothing");
    let wrong = gate.run(&["tool", "invoke", "core__profile_csv", "--file", "q3.csv"]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
    let unknown =
        gate.run(&["tool", "invoke", "core__profile_csv", "--input-file", &id.replace(&id[30..], "000000")]);
    assert_eq!(unknown.code, 1, "{unknown:?}");
    assert!(unknown.stderr.contains("validation"), "{unknown:?}");
}
