//! Variables in a program's arguments: `${NAME}` stands for what the connection to a server holds under that name, and is
//! put in its place when the program is started, nowhere else. `$${NAME}` is the text `${NAME}` itself.

/// A part of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentPart<'a> {
    /// Text as it is.
    Text(&'a str),
    /// The name of a variable.
    Variable(&'a str),
}

/// The parts of an argument, in order.
#[must_use]
pub fn argument_parts(argument: &str) -> Vec<ArgumentPart<'_>> {
    let (mut parts, mut rest) = (Vec::new(), argument);
    let mut searched = 0;
    while let Some(found) = rest[searched..].find("${") {
        let at = searched + found;
        let name = rest[at + 2..].split('}').next().unwrap_or_default();
        if !is_variable(name) || at + 2 + name.len() == rest.len() {
            searched = at + 2;
            continue;
        }
        let end = at + 2 + name.len() + 1;
        if rest[..at].ends_with('$') {
            parts.push(ArgumentPart::Text(&rest[..at - 1]));
            parts.push(ArgumentPart::Text(&rest[at..end]));
        } else {
            parts.push(ArgumentPart::Text(&rest[..at]));
            parts.push(ArgumentPart::Variable(name));
        }
        (rest, searched) = (&rest[end..], 0);
    }
    parts.push(ArgumentPart::Text(rest));
    parts.retain(|part| *part != ArgumentPart::Text(""));
    parts
}

/// The names of the variables in an argument.
pub fn argument_variables(argument: &str) -> impl Iterator<Item = &str> {
    argument_parts(argument).into_iter().filter_map(|part| match part {
        ArgumentPart::Variable(name) => Some(name),
        ArgumentPart::Text(_) => None,
    })
}

fn is_variable(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::ArgumentPart::{Text, Variable};
    use super::*;

    #[test]
    fn variables_are_found_and_everything_else_is_text() {
        let check = |argument: &str, expected: &[ArgumentPart<'_>]| {
            assert_eq!(argument_parts(argument), expected, "{argument}");
        };
        check("", &[]);
        check("plain", &[Text("plain")]);
        check("${PG_URL}", &[Variable("PG_URL")]);
        check("--key=${A}${_b2}!", &[Text("--key="), Variable("A"), Variable("_b2"), Text("!")]);
        check("$${PG_URL}x", &[Text("${PG_URL}"), Text("x")]);
        for text in ["$PG_URL", "${}", "${a-b}", "${1a}", "${PG_URL", "$(x)", "é${", "${ A}"] {
            check(text, &[Text(text)]);
        }
        check("${a-b}${C}", &[Text("${a-b}"), Variable("C")]);
    }
}
