//! What a name looks like at a glance. Two names of one look can be taken for each other, by people and by models.

use crate::clean::hides;

/// The name without case, separators, accents and what is not seen, letters of other scripts as the ones they resemble.
#[must_use]
pub(crate) fn glance(name: &str) -> String {
    let name = plain(name);
    if name.is_ascii() {
        return name;
    }
    // Unicode's own table knows far more letters than ours, and ours some that it tells apart.
    plain(&unicode_security::skeleton(&name).collect::<String>())
}

fn plain(name: &str) -> String {
    let mut seen = String::with_capacity(name.len());
    for c in name.chars().filter(|c| !hides(*c)).flat_map(char::to_lowercase) {
        match c {
            '_' | '-' | '.' | '/' | ' ' | '\u{300}'..='\u{36f}' => {}
            '0' | 'о' | 'ο' | 'օ' => seen.push('o'),
            '1' | 'l' | 'і' | 'ι' | 'ı' | 'ӏ' | '|' => seen.push('i'),
            'а' | 'α' | 'ɑ' => seen.push('a'),
            'е' | 'ε' | 'ё' => seen.push('e'),
            'с' | 'ϲ' => seen.push('c'),
            'р' | 'ρ' => seen.push('p'),
            'х' | 'χ' => seen.push('x'),
            'у' | 'γ' => seen.push('y'),
            'ѕ' => seen.push('s'),
            'ј' => seen.push('j'),
            'к' | 'κ' => seen.push('k'),
            'м' | 'm' => seen.push_str("rn"),
            'т' | 'τ' => seen.push('t'),
            'н' => seen.push('h'),
            'в' => seen.push('b'),
            'ν' => seen.push('v'),
            'ԁ' => seen.push('d'),
            'ɡ' => seen.push('g'),
            // Full-width forms.
            '\u{ff01}'..='\u{ff5e}' => seen.extend(char::from_u32(u32::from(c) - 0xfee0)),
            c => seen.push(c),
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_have_one_look() {
        for (name, like) in [
            ("read_file", "Read_File"),
            ("read_file", "readFile"),
            ("read_file", "read__file"),
            ("read_file", "read-fi1e"),
            ("write", "wrіte"),
            ("write", "wrïte"),
            ("write", "𝐰𝐫𝐢𝐭𝐞"),
            ("write", "ｗｒｉｔｅ"),
            ("forms", "forrns"),
            ("scan", "ꜱ𝖼аn"),
        ] {
            assert_eq!(glance(name), glance(like), "{name} {like}");
        }
        for (name, other) in
            [("a", "b"), ("read_file", "read_files"), ("get_user", "set_user"), ("読む", "書く")]
        {
            assert_ne!(glance(name), glance(other), "{name} {other}");
        }
    }
}
