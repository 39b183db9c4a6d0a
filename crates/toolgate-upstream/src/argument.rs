//! A program's arguments as it is started with them.

use toolgate_core::argument::{ArgumentPart, argument_parts};
use toolgate_core::port::connection::Presented;

/// An argument with what the connection holds in the place of its variables. What comes of it is a secret, for the
/// program alone. The error is the name of a variable that the connection does not hold.
pub(crate) fn filled(argument: &str, presented: &[Presented]) -> Result<String, String> {
    let mut filled = String::with_capacity(argument.len());
    for part in argument_parts(argument) {
        match part {
            ArgumentPart::Text(text) => filled.push_str(text),
            ArgumentPart::Variable(wanted) => {
                let held = presented.iter().find_map(|credential| match credential {
                    Presented::Env(name, value) if name == wanted => Some(value),
                    Presented::Env(..) | Presented::Bearer(_) | Presented::Header(..) => None,
                });
                filled.push_str(held.ok_or_else(|| wanted.to_owned())?.reveal());
            }
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use toolgate_core::port::connection::Opened;

    use super::*;

    #[test]
    fn only_the_connection_fills_variables() {
        let secret = |text: &str| Opened::new(text.to_owned());
        let held = [
            Presented::Env("PG_URL".to_owned(), secret("postgres://a:b@c/d")),
            Presented::Header("PATH".to_owned(), secret("x")),
        ];
        assert_eq!(filled("--at=${PG_URL}!", &held).unwrap(), "--at=postgres://a:b@c/d!");
        assert_eq!(filled("$${PG_URL} $HOME", &held).unwrap(), "${PG_URL} $HOME");
        assert_eq!(filled("${PATH}", &held).unwrap_err(), "PATH", "neither our own nor another kind");
    }
}
