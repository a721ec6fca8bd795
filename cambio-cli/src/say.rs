//! Messages on standard error, and the output of commands.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use cambio_core::text::{EscapingWriter, excerpt};

/// Longer messages are truncated to this number of characters.
const MESSAGE: usize = 10_000;

/// Prints a line on standard error, like `eprintln!`. All messages use this macro, because they may quote untrusted
/// text: see [`plain`].
macro_rules! say {
    ($($words:tt)*) => { $crate::say::line(&format!($($words)*)) };
}
pub(crate) use say;

/// Prints a line on standard error. Ignores write errors, because they cannot be reported.
pub(crate) fn line(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", plain(text));
}

/// Prints a text of several lines on standard error.
#[cfg(feature = "learn")]
pub(crate) fn lines(text: &str) {
    let _ = io::stderr().lock().write_all(plain_lines(text).as_bytes());
}

/// Whether an output file is standard output, so that [`stdout`] is standard error.
static IS_STDOUT_A_FILE: AtomicBool = AtomicBool::new(false);

/// Reserves standard output for an output file, or frees it. Returns whether it was reserved.
pub(crate) fn reserve_stdout(is_file: bool) -> bool {
    IS_STDOUT_A_FILE.swap(is_file, Ordering::Relaxed)
}

/// The output of a command.
pub(crate) type Stdout = EscapingWriter<Box<dyn Write>>;

/// The output of the command. All commands print here, because they may print untrusted text. If an output file is `-`, the
/// file has standard output, and this is standard error.
pub(crate) fn stdout() -> Stdout {
    let is_file = IS_STDOUT_A_FILE.load(Ordering::Relaxed);
    EscapingWriter::new(if is_file { Box::new(io::stderr()) } else { Box::new(io::stdout()) })
}

/// Prints a usage error.
pub(crate) fn usage_error(error: &clap::Error) {
    let text = error.render().to_string();
    // The parse errors of the standard library do not say which values are valid.
    for (error, expected) in [
        ("invalid digit found in string", "must be a whole number, 0 or more"),
        ("number too large to fit in target type", "must be a whole number below 2^64"),
        ("invalid float literal", "must be a number"),
    ] {
        if text.contains(error) {
            let _ = io::stderr().lock().write_all(plain_lines(&text.replace(error, expected)).as_bytes());
            return;
        }
    }
    let harmless = plain_lines(&text);
    // Write errors are ignored. Only text without escaped characters gets colours.
    let _ = if text == harmless { error.print() } else { io::stderr().lock().write_all(harmless.as_bytes()) };
}

/// A message as one line that is safe to print: control characters are escaped, and a very long text is truncated.
pub(crate) fn plain(text: &str) -> String {
    excerpt(text).up_to(MESSAGE).to_string()
}

/// Like [`plain`], for a text of several lines.
pub(crate) fn plain_lines(text: &str) -> String {
    text.split('\n').map(plain).collect::<Vec<_>>().join("\n")
}

/// A number with its noun: `1 match`, `2 matches`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    format!("{number} {}", cambio_core::text::noun(number, noun))
}
