use cambio_core::rng::{Bounded as _, Key, Purpose, Stream};
use cambio_core::rules::PRESETS;
use cambio_core::{Deal, Record, Rules, replay};
use cambio_view::{Replay, SessionConfig};

use super::replay::ReplayView;
use super::session::SessionView;
use super::*;

/// The page as rows of text.
fn rows(page: &impl Page, columns: usize, rows: usize) -> Vec<String> {
    page.lines(columns, rows).iter().map(ToString::to_string).collect()
}

/// The text of the page at 80×24. Fails if the page does not fit.
fn shown(page: &impl Page) -> String {
    let rows = rows(page, 80, 24);
    assert!(rows.len() <= 24, "{} rows:\n{}", rows.len(), rows.join("\n"));
    for row in &rows {
        assert!(row.chars().count() <= 80, "{} columns: {row}", row.chars().count());
    }
    rows.join("\n")
}

fn seated(rules: &str, opponents: &[&str], seed: u64, notes: bool) -> SessionView {
    let roster = cambio_agents::roster();
    let opponents: Vec<_> = opponents.iter().map(|spec| roster.parse(spec).unwrap()).collect();
    let deal = Deal::new(&Rules::preset(rules).unwrap(), Key::new(seed, 0));
    let person = cambio_core::Seat::A;
    let adviser = Some(roster.parse("greedy").unwrap());
    let config = SessionConfig { notes, practice: true, ..SessionConfig::alone(deal, person, opponents) };
    SessionView::new(cambio_view::Session::new(config), adviser)
}

/// Runs the agents' decisions until the player has to decide.
fn wait(seat: &mut SessionView) {
    while let Some(job) = seat.session.job() {
        seat.session.finish(job.run());
        seat.look();
    }
}

fn press(seat: &mut SessionView, keys: &str) {
    for key in keys.chars() {
        seat.key(if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) });
        wait(seat);
    }
}

/// Plays a match with random keys that may have an effect. Returns the record and the number of keys.
fn played(rules: &str, opponents: &[&str], seed: u64) -> (Record, usize) {
    let mut seat = seated(rules, opponents, seed, seed.is_multiple_of(2));
    let mut chance: Stream = Key::new(seed, 9).stream(Purpose::Agent, 0);
    press(&mut seat, " ");
    for keys in 0..20_000 {
        shown(&seat);
        if seat.is_over() {
            return (seat.session.record().unwrap(), keys);
        }
        let letters: Vec<char> = "dtcexspm123456?r\t".chars().collect();
        match chance.below(letters.len() as u32 + 6) as usize {
            at if at < letters.len() => press(&mut seat, &letters[at].to_string()),
            at if at < letters.len() + 2 => seat.key(KeyCode::Right),
            at if at < letters.len() + 3 => seat.key(KeyCode::Tab),
            _ => press(&mut seat, "\n"),
        }
    }
    panic!("the match is not over:\n{}", shown(&seat));
}

#[test]
fn a_match_of_every_preset_can_be_played_by_keys_alone_at_80_by_24() {
    for (number, preset) in PRESETS.into_iter().enumerate() {
        let opponents =
            &["greedy", "heuristic", "sharp", "random", "greedy", "random", "greedy"][..[1, 3, 2, 3, 2, 3][number]];
        let (record, keys) = played(preset, opponents, number as u64);
        replay(&record, &mut ()).unwrap();
        // A match of one round may end with the first turn.
        assert!(keys > 4, "{preset}: {keys}");
        let mut replay_view = ReplayView::new(Replay::of(&record).unwrap(), (0, 0));
        let mut steps = 0;
        for view in 0..=opponents.len() + 1 {
            for _ in 0..40 {
                shown(&replay_view);
                replay_view.key(KeyCode::Right);
                steps += 1;
            }
            replay_view.key(KeyCode::Char('v'));
            assert_eq!(replay_view.view.is_none(), view == opponents.len() + 1);
        }
        assert!(steps > 80);
    }
}

#[test]
fn the_largest_table_fits_too() {
    let mut seat = seated("classic", &["greedy(call_at=7)"; 7], 4, true);
    press(&mut seat, " ");
    let page = shown(&seat);
    for expected in ["a  you", "h  greedy(call_a…", "stock: "] {
        assert!(page.contains(expected), "{expected} in:\n{page}");
    }
}

/// A match in a snap window in which the player knows a card that matches.
fn with_a_match() -> SessionView {
    for seed in 0.. {
        let mut seat = seated("classic", &["greedy(call_at=0)"], seed, true);
        press(&mut seat, " ");
        for _ in 0..12 {
            let asked = seat.step.ask.as_ref();
            if asked.is_some_and(|ask| ask.window && !ask.matches.is_empty()) {
                return seat;
            }
            if seat.step.end.is_some() {
                break;
            }
            let key = ["draw", "drop"].iter().position(|verb| seat.offers(verb)).map_or("p", |at| ["d", "x"][at]);
            press(&mut seat, key);
            press(&mut seat, "s");
        }
    }
    unreachable!("some deal has a known match")
}

#[test]
fn enter_throws_no_known_match_away_unasked() {
    let mut seat = with_a_match();
    let before = seat.step.n;
    press(&mut seat, "\n");
    assert_eq!(seat.step.n, before, "Enter alone has passed");
    assert!(shown(&seat).contains("would match. Press Enter again to pass, or m to snap."), "{}", shown(&seat));
    // Any other key cancels the question.
    press(&mut seat, "z\n");
    assert_eq!(seat.step.n, before);
    press(&mut seat, "\n");
    assert!(seat.step.n > before, "the second Enter passes");

    let mut seat = with_a_match();
    let snapped = seat.matches()[0].clone();
    press(&mut seat, "m");
    let printed = seat.log.join("\n");
    assert!(printed.contains(&format!("a snaps {snapped}")), "{printed}");
}

#[test]
fn what_was_seen_goes_where_it_has_to_be_remembered() {
    let mut seat = seated("classic", &["greedy"], 42, false);
    press(&mut seat, " ");
    let glimpsed = seat.glimpses.clone();
    assert_eq!(glimpsed.len(), 2, "classic shows two cards at the start");
    let kinds = seat.kinds.clone();
    let labels: Vec<String> = glimpsed.iter().map(|(spot, kind, _)| format!("{spot} {}", kinds[*kind].label)).collect();
    let page = shown(&seat);
    assert!(labels.iter().all(|label| page.contains(label)), "{labels:?} in:\n{page}");
    seat.glimpses.iter_mut().for_each(|(.., until)| *until = std::time::Instant::now());
    seat.tick();
    let page = shown(&seat);
    for (label, (_, kind, _)) in labels.iter().zip(&glimpsed) {
        assert!(!page.contains(label.as_str()), "{label} in:\n{page}");
        assert!(!seat.log.join("\n").contains(&kinds[*kind].label), "{label} is in the log");
    }
}

#[test]
fn leaving_is_asked_twice_and_a_hint_is_given() {
    let mut seat = seated("classic", &["greedy"], 3, true);
    press(&mut seat, " q");
    assert!(!seat.is_left);
    press(&mut seat, "d");
    assert!(!seat.is_left && seat.step.scene.held.is_some());
    press(&mut seat, "h");
    while seat.advice.is_some() {
        seat.tick();
    }
    assert!(seat.said.starts_with("greedy suggests: "), "{}", seat.said);
    press(&mut seat, "u");
    assert!(seat.step.scene.held.is_none(), "the decision is undone");
    press(&mut seat, "qq");
    assert!(seat.is_left);
}

#[test]
fn names_that_are_words_have_brackets() {
    let mut seat = seated("original", &["greedy"], 3, true);
    press(&mut seat, " k");
    let page = shown(&seat);
    assert!(page.contains("[swap]") && page.contains("KR is the red king"), "{page}");
}

struct Full;

impl Page for Full {
    fn lines(&self, columns: usize, rows: usize) -> Vec<Line<'static>> {
        vec![Line::from("x".repeat(columns)); rows]
    }
}

#[test]
fn a_window_that_is_too_small_says_so() {
    let printed = |width, height| fitted(&Full, Rect::new(0, 0, width, height)).lines[0].to_string();
    assert_eq!(printed(79, 24), "This window has 79 × 24 characters;");
    assert_eq!(printed(80, 23), "This window has 80 × 23 characters;");
    assert_eq!(printed(80, 24), "x".repeat(80));
}
