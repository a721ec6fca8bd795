//! Exported files, read back by a separate reader.

use std::io::{Error, Write};

use crate::{mini, motley};
use cambio_core::Seat;
use cambio_solve::{Game, SolveError, Strategy};

/// Reads the nodes of a file, one per line, as words with or without quotes.
struct Reader<'t> {
    lines: std::iter::Skip<std::str::Lines<'t>>,
    /// The numbers of terminal, chance and decision nodes.
    counts: [u64; 3],
    races: u64,
}

fn fraction(text: &str) -> (i64, i64) {
    let (above, below) = text.split_once('/').unwrap_or((text, "1"));
    (above.parse().unwrap(), below.parse().unwrap())
}

fn number(text: &str) -> f64 {
    let (above, below) = fraction(text);
    above as f64 / below as f64
}

impl Reader<'_> {
    /// The value of the next node for seat a under a strategy.
    fn node(&mut self, game: &Game, strategy: &Strategy) -> f64 {
        let line = self.lines.next().expect("a node for each choice and outcome");
        let words: Vec<&str> = line.split(' ').collect();
        let list = &line[line.find('{').unwrap() + 2..line.rfind('}').unwrap() - 1];
        match words[0] {
            "t" => {
                self.counts[0] += 1;
                assert_ne!(words[2], "0", "in Gambit, outcome 0 means no outcome");
                let (own, other) = list.split_once(", ").unwrap();
                let (above, below) = fraction(own);
                assert_eq!(fraction(other), (-above, below), "a zero-sum game");
                number(own)
            }
            "c" => {
                self.counts[1] += 1;
                assert_eq!(words[2], self.counts[1].to_string(), "each chance node has its own number");
                assert_eq!(words.last(), Some(&"0"));
                let words: Vec<&str> = list.split(' ').collect();
                let (pairs, []) = words.as_chunks::<2>() else { panic!("{line}") };
                let odds: Vec<_> = pairs.iter().map(|[_, p]| fraction(p)).collect();
                let all: i64 = odds.iter().map(|(_, below)| below).product();
                assert_eq!(odds.iter().map(|(above, below)| above * (all / below)).sum::<i64>(), all, "{line}");
                let mut labels: Vec<_> = pairs.iter().map(|[label, _]| label).collect();
                self.races += u64::from(labels == [&"\"a\"", &"\"b\""] || labels == [&"\"b\"", &"\"a\""]);
                labels.sort_unstable();
                labels.dedup();
                assert_eq!(labels.len(), pairs.len(), "{line}");
                pairs.iter().map(|[_, p]| number(p) * self.node(game, strategy)).sum()
            }
            "p" => {
                self.counts[2] += 1;
                let seat = [Seat::A, Seat::B][words[2].parse::<usize>().unwrap() - 1];
                let at = words[3].parse::<usize>().unwrap() - 1;
                assert_eq!(words[4], format!("\"{}\"", game.key(seat, at)));
                let choices: Vec<_> = game.choices(seat, at).iter().map(|action| format!("\"{action}\"")).collect();
                assert_eq!(list, choices.join(" "), "all nodes of an information set have the same actions");
                let probabilities = game.probabilities(strategy, seat, at);
                probabilities.iter().map(|p| p * self.node(game, strategy)).sum()
            }
            _ => panic!("{line}"),
        }
    }
}

#[test]
fn the_tree_that_is_written_is_the_game_that_is_solved() {
    let mut races = 0;
    for name in ["mini-m0", "mini-m1", "mini-s"] {
        let (game, mut file) = (mini(name), Vec::new());
        let bytes = game.write_efg(&mut file).unwrap();
        assert_eq!((bytes, game.write_efg(&mut std::io::sink()).unwrap()), (file.len() as u64, bytes), "{name}");
        let text = String::from_utf8(file).unwrap();
        assert!(text.starts_with(&format!("EFG 2 R \"{name}\" {{ \"a\" \"b\" }}\n\"One round ")), "{name}");
        gambit_parser::ExtensiveFormGame::try_from(text.as_str()).expect("another reader accepts it too");
        let mut reader = Reader { lines: text.lines().skip(3), counts: [0; 3], races: 0 };
        let strategy = motley(&game);
        let worth = reader.node(&game, &strategy);
        assert_eq!(reader.lines.next(), None, "{name}: the whole file was read");
        assert_eq!(reader.counts.iter().sum::<u64>(), game.histories(), "{name}");
        assert_eq!(reader.counts[0], game.terminals(), "{name}");
        assert!((worth - game.value(&strategy)).abs() < 1e-12, "{name}: {worth} and {}", game.value(&strategy));
        races += reader.races;
    }
    assert!(races > 0, "the order of a race is a chance outcome too");
}

/// A disk with room for this many bytes.
struct Disk(usize);

impl Write for Disk {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.checked_sub(buffer.len()).ok_or_else(|| Error::other("the disk is full"))?;
        Ok(buffer.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error_at_any_byte() {
    let game = mini("mini-m0");
    let size = game.write_efg(&mut std::io::sink()).unwrap() as usize;
    for room in [0, 10_000, size - 1] {
        let error = game.write_efg(&mut Disk(room)).unwrap_err();
        assert_eq!(error, SolveError::Unwritten("the disk is full".to_owned()));
        assert_eq!(error.to_string(), "cannot write the game tree: the disk is full");
    }
    assert!(game.write_efg(&mut Disk(size)).is_ok());
}
