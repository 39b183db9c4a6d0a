//! What fields of forms can name, by the command line.

use crate::gate::serve;
use crate::governance::Walk;

#[test]
fn entities_are_found_by_name() {
    let gate = serve(&[], &[]);
    let mut walk = Walk::on(&gate);
    walk.ok(&["user", "create", "u7", "--title", "Ada Lovelace"]);
    walk.ok(&["entity", "types"]);
    walk.ok(&["entity", "list", "user", "--search", "lovlace"]);
    walk.ok(&["entity", "list", "user", "--search", "nobody at all"]);
    walk.ok(&["entity", "list", "tool", "--search", "curent time", "--json"]);
    walk.ends(1, &["entity", "list", "ship"]);
    walk.ends(2, &["entity", "list"]);
    walk.check("entity");
}
