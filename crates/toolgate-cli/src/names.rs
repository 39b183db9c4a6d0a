//! Names in the operator's file that name nothing: most are slips of the hand, and whoever made one should hear of it.

/// The names that no known id fits, each with the known id that is written most like it, if any is. `*` at the end of a name
/// stands for any rest.
pub(crate) fn unknown<'a>(
    names: &'a [String],
    known: &[&'a str],
) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
    let fits = |name: &str| match name.strip_suffix('*') {
        Some(start) => known.iter().any(|id| id.starts_with(start)),
        None => known.contains(&name),
    };
    names.iter().map(String::as_str).filter(move |name| !fits(name)).map(|name| (name, nearest(name, known)))
}

fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let far = (name.len() / 3).clamp(1, 5);
    known
        .iter()
        .map(|id| (distance(name, id), *id))
        .filter(|(steps, _)| *steps <= far)
        .min()
        .map(|(_, id)| id)
}

/// How many letters to put in, leave out or change to get from one to the other.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.bytes().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, b) in to.bytes().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_told_with_what_was_meant() {
        let known = ["core__get_current_time", "core__quick_score", "team__note"];
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let check = |given: &[&str], expected: &[(&str, Option<&str>)]| {
            let given = names(given);
            assert_eq!(unknown(&given, &known).collect::<Vec<_>>(), expected);
        };
        check(&["core__quick_score", "core__*", "*"], &[]);
        check(&["core__quik_score"], &[("core__quik_score", Some("core__quick_score"))]);
        check(&["cor__*", "zebra"], &[("cor__*", None), ("zebra", None)]);
        assert_eq!((distance("abc", "abd"), distance("", "abc"), distance("kitten", "sitting")), (1, 3, 3));
    }
}
