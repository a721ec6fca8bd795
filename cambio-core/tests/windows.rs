//! Snap windows as a seat follows them by events alone agree with those of the table, in random games of every preset and by
//! rules of which every knob has a random value.

use crate::play::{Game, amount, games, odd_games};
use cambio_core::knob::Window;
use cambio_core::{
    Action, Card, Event, Observer, Phase, RoundResult, Rules, Seat, SeatSet, SnapRights, Standing, State, WindowSign,
};

/// Follows windows by what everybody perceives.
struct Follower {
    rights: SnapRights,
    rules: Rules,
    /// The card that opened the window, and who snapped in it.
    window: Option<(Card, SeatSet)>,
    windows: u64,
    snaps: u64,
}

impl Observer for Follower {
    fn round_begins(&mut self, _: &Standing<'_>, _: &[Card]) {
        assert_eq!(self.window, None, "a round ends with its windows closed");
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
                assert!(table.may_snap().contains(seat), "{seat} is asked");
                if !spec.snap_known_only {
                    assert_eq!(state.choices().targets(), table.snap_targets(seat));
                }
                // A window that a power opened again has no sign.
                if spec.window == Window::Both && self.window.is_none() {
                    return;
                }
                let (opener, snapped) = self.window.expect("an open window was opened by an event");
                assert_eq!(Some(opener), table.opener());
                assert_eq!(snapped, SeatSet::EMPTY, "snaps are told when all have declared");
            }
            Phase::Chain => {
                // A gift that was declined has closed the window: nobody else can snap.
                assert!(self.window.is_none_or(|(_, snapped)| snapped.contains(seat)), "{seat} goes on without a snap");
            }
            Phase::Start | Phase::Held(_) | Phase::Peek => {
                assert_eq!(self.window, None, "no window is open at {:?}, before `{action}`", table.phase());
            }
            Phase::Power | Phase::Show | Phase::Gift | Phase::Close => {}
            Phase::Over => panic!("nobody decides when the round is over"),
        }
        let snaps = matches!(action, Action::Snap(_));
        assert!(!snaps || spec.window != Window::None, "nobody snaps without windows");
    }

    fn round_ends(&mut self, _: &State, _: &RoundResult) {
        assert_eq!(self.window, None);
    }
}

/// How many decisions in windows and how many snaps a game had.
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
fn a_seat_that_hears_the_events_knows_the_windows_and_rights_of_the_table() {
    follow_all(games(301, amount(1, 12)));
}

#[test]
fn a_seat_that_hears_the_events_knows_the_windows_and_rights_whatever_the_knobs() {
    follow_all(odd_games(302, amount(120, 2000)));
}
