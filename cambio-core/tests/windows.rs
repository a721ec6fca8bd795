//! A seat can follow snap windows from events alone: the result agrees with the table in random games of every preset
//! and with random values of the knobs.

use crate::play::{Game, amount, games, odd_games};
use cambio_core::engine::{SnapRights, WindowSign};
use cambio_core::play::RoundResult;
use cambio_core::rules::knob::Window;
use cambio_core::{Action, Card, Event, Observer, Phase, Rules, Seat, SeatSet, Standing, State};

/// Follows windows from public events.
struct Follower {
    rights: SnapRights,
    rules: Rules,
    /// The card that opened the window, and the seats that have snapped in it.
    window: Option<(Card, SeatSet)>,
    windows: u64,
    snaps: u64,
}

impl Observer for Follower {
    fn round_begins(&mut self, _: &Standing<'_>, _: &[Card]) {
        assert_eq!(self.window, None, "all windows are closed at the end of a round");
    }

    fn event(&mut self, event: &Event<Card>) {
        let sighting = event.public();
        self.rights.notice(&sighting);
        match self.rules.window_sign(&sighting) {
            WindowSign::Opens(card) => self.window = Some((card, SeatSet::EMPTY)),
            WindowSign::Snaps(seat) => {
                self.snaps += 1;
                if let Some((_, snapped)) = &mut self.window {
                    snapped.insert(seat);
                }
            }
            WindowSign::Closes => self.window = None,
            WindowSign::None => {}
        }
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        let table = state.table();
        assert_eq!(self.rights, table.snap_rights());
        let spec = table.rules().spec();
        match table.phase() {
            Phase::Window => {
                self.windows += 1;
                assert!(table.snap_rights().seats().contains(seat), "{seat} is asked");
                if !spec.snap_known_only {
                    assert_eq!(state.choices().targets(), table.snap_targets(seat));
                }
                // A second window, after a power, opens without an event.
                if spec.window == Window::Both && self.window.is_none() {
                    return;
                }
                let (opener, snapped) = self.window.expect("an open window was opened by an event");
                assert_eq!(Some(opener), table.opener());
                assert_eq!(snapped, SeatSet::EMPTY, "snaps are resolved only after all declarations");
            }
            Phase::Chain => {
                // A declined gift closes the window, because no other seat can snap.
                assert!(self.window.is_none_or(|(_, snapped)| snapped.contains(seat)), "{seat} has not snapped");
            }
            Phase::Start | Phase::Held(_) | Phase::Peek => {
                assert_eq!(self.window, None, "no window is open at {:?}, before `{action}`", table.phase());
            }
            Phase::Power | Phase::Show | Phase::Gift | Phase::Close => {}
            Phase::Over => panic!("a decision after the end of the round"),
        }
        let snaps = matches!(action, Action::Snap(_));
        assert!(!snaps || spec.window != Window::None, "a snap without windows");
    }

    fn round_ends(&mut self, _: &State, _: &RoundResult) {
        assert_eq!(self.window, None);
    }
}

/// The numbers of decisions in windows and of snaps in a game.
fn follow(game: &Game) -> (u64, u64) {
    let rights = SnapRights::new(&game.rules, game.seats);
    let mut follower = Follower { rights, rules: game.rules, window: None, windows: 0, snaps: 0 };
    game.play(&mut follower);
    (follower.windows, follower.snaps)
}

fn follow_all(games: impl Iterator<Item = Game>) {
    let (windows, snaps) =
        games.map(|game| follow(&game)).fold((0, 0), |(windows, snaps), more| (windows + more.0, snaps + more.1));
    assert!(windows > 1_000 && snaps > 100, "{windows} decisions in windows, {snaps} snaps");
}

#[test]
fn public_events_determine_windows_and_snap_rights() {
    follow_all(games(301, amount(1, 12)));
}

#[test]
fn public_events_determine_windows_for_random_rules() {
    follow_all(odd_games(302, amount(120, 2000)));
}
