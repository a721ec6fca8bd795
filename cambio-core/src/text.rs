//! Quotes of texts from outside the program, and suggestions for misspelt names.

use std::fmt::{self, Write as _};

/// A text from outside the program, made safe to quote in a message; see [`excerpt`].
#[derive(Clone, Copy, Debug)]
pub struct Excerpt<'t> {
    text: &'t str,
    most: usize,
}

/// Quotes a text that comes from a file, a command line or another program.
///
/// Control characters and marks that change the writing direction are escaped, such as `\u{1b}`, so that the text can
/// neither control a terminal nor imitate another line. After 100 characters the text is cut and ends with `…`.
///
/// ```
/// use cambio_core::text::excerpt;
///
/// assert_eq!(excerpt("never").to_string(), "never");
/// assert_eq!(excerpt("\u{1b}[31mred\n").to_string(), r"\u{1b}[31mred\n");
/// assert_eq!(excerpt(&"x".repeat(1_000_000)).to_string(), "x".repeat(100) + "…");
/// assert_eq!(excerpt("a long story").up_to(6).to_string(), "a long…");
/// ```
pub const fn excerpt(text: &str) -> Excerpt<'_> {
    Excerpt { text, most: 100 }
}

impl Excerpt<'_> {
    /// Cuts the text after this number of characters, instead of 100.
    #[must_use]
    pub const fn up_to(self, most: usize) -> Self {
        Excerpt { most, ..self }
    }
}

/// Suggests the most similar name, with a space at the end: "did you mean `name`? ". Empty if no name is similar.
///
/// ```
/// use cambio_core::text::did_you_mean;
///
/// assert_eq!(did_you_mean("greddy", ["random", "greedy"]), "did you mean `greedy`? ");
/// assert_eq!(did_you_mean("external", ["random", "greedy"]), "");
/// ```
pub fn did_you_mean<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    // A long text is not a typo, and its edit distance would take long to compute.
    if word.len() > 40 {
        return String::new();
    }
    let most = 1 + word.chars().count() / 4;
    let typos = names.into_iter().map(|name| (strsim::damerau_levenshtein(word, name), name));
    let nearest =
        typos.filter(|&(typos, _)| typos <= most && typos < word.chars().count()).min_by_key(|&(typos, _)| typos);
    nearest.map_or_else(String::new, |(_, name)| format!("did you mean `{name}`? "))
}

/// Whether a character can control a terminal. The `matches!` lists Unicode's line and paragraph separators and its
/// direction marks.
fn commands(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut chars = self.text.chars();
        for char in chars.by_ref().take(self.most) {
            if commands(char) {
                write!(f, "{}", char.escape_default())?;
            } else {
                f.write_char(char)?;
            }
        }
        if chars.next().is_some() { f.write_char('…') } else { Ok(()) }
    }
}

/// The noun `one` in the form for this number: `match` for 1, otherwise `matches`.
///
/// ```
/// use cambio_core::text::noun;
///
/// assert_eq!([noun(1, "match"), noun(2, "match"), noun(0, "deal")], ["match", "matches", "deals"]);
/// ```
pub fn noun(value: u64, one: &str) -> String {
    let plural = if one.ends_with("ch") { "es" } else { "s" };
    format!("{one}{}", if value == 1 { "" } else { plural })
}

/// A time with two significant digits or more and its unit: `0.34 µs`, `4.2 ms`, `120 ms`, `1.5 s`.
pub fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        seconds if seconds < 0.999_5e-3 => (seconds * 1e6, "µs"),
        seconds if seconds < 0.999_5 => (seconds * 1e3, "ms"),
        seconds => (seconds, "s"),
    };
    let digits = if value < 0.995 { 2 } else { usize::from(value < 9.95) };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests;
