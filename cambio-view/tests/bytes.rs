//! Arbitrary bytes as the requests of pages never cause a panic: a record from a link or a file, a table, a saved table. The
//! fuzz target calls the same function.

use std::sync::Arc;

use cambio_view::{Answer, Catalogue, Desk};

const OPEN: &str = r#"{"request":{"rules":"classic","opponents":["greedy"],"seed":"7","practice":true}}"#;

fn desk() -> Desk {
    Desk::new(Arc::new(Catalogue::of_browser(cambio_agents::roster())), 42)
}

fn ask(desk: &mut Desk, path: &str, body: Option<&str>) -> Answer {
    desk.answer(path, body).expect("there is news")
}

/// Sends bytes as the body of a request. The first byte selects the request. Returns whether it was answered with success.
///
/// # Panics
/// If the desk panics, or a refusal is not a sentence.
pub(crate) fn request(bytes: &[u8]) -> bool {
    let [which, bytes @ ..] = bytes else { return false };
    let text = String::from_utf8_lossy(bytes);
    let record = || text.lines().find(|line| !line.trim().is_empty()).unwrap_or("null").to_owned();
    let (path, body) = match which % 5 {
        0 => ("api/replay", text.to_string()),
        1 => ("api/position", format!(r#"{{"from":{{"record":{},"round":1,"decision":1}}}}"#, record())),
        2 => ("api/reviews", format!(r#"{{"record":{},"round":1}}"#, record())),
        3 => ("api/tables/1/open", text.to_string()),
        _ => ("api/tables/1/act", text.to_string()),
    };
    let mut desk = desk();
    if which % 5 == 4 {
        assert_eq!(ask(&mut desk, "api/tables/1/open", Some(OPEN)).status, 200);
    }
    let answer = ask(&mut desk, path, Some(&body));
    if answer.status == 200 {
        return true;
    }
    let error: serde_json::Value = serde_json::from_str(&answer.body).expect("an answer is JSON");
    let sentence = error["error"].as_str().expect("a refusal has a sentence");
    assert!(!sentence.is_empty() && !sentence.contains(char::is_control), "{sentence:?}");
    false
}

#[cfg(test)]
mod tests {
    use cambio_core::Seat;
    use cambio_core::rng::{Bounded as _, Key};

    use super::*;
    use crate::mutate::mutate;

    /// A record of a match, and a table that was kept after a decision.
    fn seeds() -> [String; 2] {
        let mut desk = desk();
        let wish = r#"{"rules":"mini-m1","agents":["greedy","random"],"seed":"7"}"#;
        let parsed = |answer: Answer| serde_json::from_str::<serde_json::Value>(&answer.body).unwrap();
        let answer = parsed(ask(&mut desk, "api/matches", Some(wish)));
        assert_eq!(ask(&mut desk, "api/tables/1/open", Some(OPEN)).status, 200);
        assert_eq!(ask(&mut desk, "api/tables/1/act", Some(r#"{"at":0,"action":"draw"}"#)).status, 200);
        let kept = parsed(ask(&mut desk, "api/tables/1/events", None));
        [&answer["record"], &kept["kept"]["saved"]].map(|text| text.as_str().unwrap().to_owned())
    }

    #[test]
    fn changed_requests_never_panic() {
        let seeds = seeds();
        let (mut stream, mut done) = (Key::new(631, 0).agent(Seat::A), [0; 5]);
        for which in 0..5 {
            let act = r#"{"at":0,"action":"draw"}"#.to_owned();
            let seed = [&seeds[0], &seeds[0], &seeds[0], &seeds[1], &act][which];
            assert!(request(&[&[which as u8], seed.as_bytes()].concat()), "{which}: {seed}");
            for _ in 0..amount(150, 20_000) {
                let other = seeds[stream.below(2) as usize].as_bytes();
                let changed = mutate(seed.as_bytes(), other, &mut stream);
                done[which] += usize::from(request(&[&[which as u8], &changed[..]].concat()));
            }
        }
        assert!(done.iter().sum::<usize>() > 20, "{done:?}");
    }

    fn amount<T>(small: T, full: T) -> T {
        if std::env::var_os("CAMBIO_FULL").is_some_and(|value| value == "1") { full } else { small }
    }
}
