//! Programs that take their secret as an argument.

use crate::upstream::Peers;

const SECRET: &str = "postgres://ada:hunter2-in-the-clear@db.example/main";

#[test]
fn a_secret_argument_is_seen_by_its_program_alone() {
    let peers = Peers::new();
    peers.program("mcp-server-arg", "#!/bin/sh\necho \"got $1\" >&2\nexec mcp-server-notes\n");
    let gate = peers.gate();
    let add = |argument: &str, auth: &str| {
        gate.run(&[
            "upstream",
            "add",
            "orders",
            "--auth",
            auth,
            "--no-look",
            "--",
            "mcp-server-arg",
            argument,
        ])
    };
    let refused = add(SECRET, "shared");
    assert!(refused.code == 1 && refused.stderr.contains("names it as `${VARIABLE}`"), "{refused:?}");
    let refused = add("--at=${PG_URL}", "none");
    assert!(refused.code == 1 && refused.stderr.contains("the arguments name `${PG_URL}`"), "{refused:?}");
    assert_eq!(add("--at=${PG_URL}", "shared").code, 0);
    let set = |name: &str| {
        let set = ["connection", "set", "mcp:orders", "--kind", "env", "--name", name, "--shared"];
        assert_eq!(gate.run_with(&set, SECRET).code, 0);
    };
    set("OTHER");
    let missing = gate.run(&["upstream", "refresh", "orders"]);
    assert!(
        missing.stderr.contains("name `${PG_URL}`, which the connection to it does not hold"),
        "{missing:?}"
    );
    set("PG_URL");
    gate.ok(&["upstream", "refresh", "orders"]);
    let shown = gate.ok(&["upstream", "show", "orders"]);
    assert!(shown.contains("got --at=***") && shown.contains("--at=${PG_URL}"), "{shown}");
    // With other arguments it is another place, and the secret does not go there.
    let moved = gate.run(&[
        "upstream",
        "set",
        "orders",
        "--",
        "mcp-server-arg",
        "--to=https://elsewhere.example",
        "${PG_URL}",
    ]);
    assert!(!gate.log().contains("hunter2") && !moved.stdout.contains("got "), "{moved:?}");
    let held = gate.run(&["upstream", "refresh", "orders"]);
    assert!(held.code != 0 && held.stderr.contains("connection"), "{held:?}");
    for told in [shown, gate.ok(&["audit", "export"]), gate.log()] {
        assert!(!told.contains("hunter2"), "{told}");
    }
}
