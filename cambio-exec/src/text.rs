//! Files that people write, read whole.

use std::fmt;
use std::fs::File;
use std::io::{self, Error, ErrorKind, Read as _};
use std::marker::PhantomData;
use std::path::Path;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{IntoDeserializer as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The most bytes of a file that people write: rules, an experiment, a strategy.
const MOST: u64 = 1 << 24;

/// Reads a text file that people write. It is a regular file of at most 16 MiB: what has no end, such as `/dev/zero`, and what
/// waits for somebody, such as a named pipe, is refused before it is read.
///
/// # Errors
/// If it cannot be read, is no regular file, is larger, or is not UTF-8; the sentence says which, without the path.
///
/// ```
/// use std::path::Path;
///
/// let text = cambio_exec::read_text(Path::new("../experiments/quickstart.toml"))?;
/// assert!(text.contains("seats"));
/// let error = cambio_exec::read_text(Path::new(".")).unwrap_err();
/// assert_eq!(error.to_string(), "it is a folder; allowed is a file");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_text(path: &Path) -> io::Result<String> {
    read_up_to(path, MOST)
}

/// As [`read_text`], with another bound in bytes.
///
/// # Errors
/// As [`read_text`].
pub fn read_up_to(path: &Path, most: u64) -> io::Result<String> {
    let file = open_regular(path)?;
    let mut bytes = Vec::new();
    let too_long =
        || Error::new(ErrorKind::FileTooLarge, format!("it has more than {most} bytes; allowed are that many"));
    if file.metadata()?.len() > most {
        return Err(too_long());
    }
    // It may grow while it is read.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_long());
    }
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        Error::new(ErrorKind::InvalidData, format!("it is not UTF-8 from byte {} on; allowed is UTF-8", place + 1))
    })
}

/// Opens a regular file, or what a link says is one.
///
/// # Errors
/// If it cannot be opened or is not a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_file() {
        return File::open(path);
    }
    let what = if kind.is_dir() { "a folder" } else { "a device, a pipe or a socket" };
    Err(Error::new(ErrorKind::InvalidInput, format!("it is {what}; allowed is a file")))
}

/// Reads a list, or one text or number alone, which is a list of one: for `deserialize_with`.
///
/// # Errors
/// If it is neither, or one of the list is not what it should be.
///
/// ```
/// #[derive(serde::Deserialize)]
/// struct Tables {
///     #[serde(deserialize_with = "cambio_exec::one_or_many")]
///     seats: Vec<usize>,
/// }
///
/// assert_eq!(toml::from_str::<Tables>("seats = 2")?.seats, [2]);
/// assert_eq!(toml::from_str::<Tables>("seats = [2, 4]")?.seats, [2, 4]);
/// let error = toml::from_str::<Tables>("seats = 2.5").err().unwrap();
/// assert_eq!(error.message(), "invalid type: floating point `2.5`, expected usize");
/// # Ok::<(), toml::de::Error>(())
/// ```
pub fn one_or_many<'de, T: Deserialize<'de>, D: Deserializer<'de>>(source: D) -> Result<Vec<T>, D::Error> {
    struct OneOrMany<T>(PhantomData<T>);

    macro_rules! one {
        ($($visit:ident: $type:ty),+) => {
            $(fn $visit<E: serde::de::Error>(self, value: $type) -> Result<Vec<T>, E> {
                T::deserialize(value.into_deserializer()).map(|one| vec![one])
            })+
        };
    }

    impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrMany<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("one value, or a list of them")
        }

        one! { visit_bool: bool, visit_f64: f64, visit_i64: i64, visit_u64: u64, visit_i128: i128, visit_u128: u128, visit_str: &str }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Vec<T>, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(list))
        }
    }

    source.deserialize_any(OneOrMany(PhantomData))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_of_that_length_in_utf_8_is_refused_before_it_is_read() {
        let folder = std::env::temp_dir().join(format!("cambio-text-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let refusal = |path: &Path| read_text(path).unwrap_err().to_string();
        assert_eq!(refusal(Path::new("/dev/zero")), "it is a device, a pipe or a socket; allowed is a file");
        assert_eq!(refusal(&folder), "it is a folder; allowed is a file");
        let pipe = folder.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(refusal(&pipe), "it is a device, a pipe or a socket; allowed is a file");
        // Ten gigabytes of nothing, which take no place on the disk.
        let large = folder.join("large");
        File::create(&large).unwrap().set_len(10 << 30).unwrap();
        assert_eq!(refusal(&large), "it has more than 16777216 bytes; allowed are that many");
        let latin = folder.join("latin");
        std::fs::write(&latin, b"name = 'Gr\xfc\xdfe'\n").unwrap();
        assert_eq!(refusal(&latin), "it is not UTF-8 from byte 11 on; allowed is UTF-8");
        // A file of the kernel says that it has no bytes, and has some.
        assert!(!read_text(Path::new("/proc/self/status")).unwrap().is_empty());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
