//! Compares measured quantities with an independent count from records.

use std::path::Path;

use cambio_core::{Card, Event, Knowledge, Observer, Rules, Seat, replay};
use cambio_sim::{Experiment, play_block};

/// Counts the known cards that each seat lost to another seat's swap, from events and the seats' knowledge.
struct Losses {
    rules: Rules,
    seats: usize,
    knowledge: Vec<Knowledge>,
    lost: Vec<u32>,
}

impl Observer for Losses {
    fn event(&mut self, event: &Event<Card>) {
        if matches!(event, Event::Dealt { .. }) {
            let seats = Seat::ALL[..self.seats].iter();
            self.knowledge = seats.map(|&seat| Knowledge::new(&self.rules, self.seats, seat)).collect();
        }
        if let Event::Swapped { seat, one, other } = *event
            && one.seat() != other.seat()
        {
            for spot in [one, other] {
                let owner = spot.seat();
                if owner != seat && self.knowledge[owner.index()].known().contains(spot) {
                    self.lost[owner.index()] += 1;
                }
            }
        }
        for (knowledge, seat) in self.knowledge.iter_mut().zip(Seat::ALL) {
            knowledge.notice(&event.seen_from(seat));
        }
    }
}

#[test]
fn known_cards_that_are_swapped_away_are_those_of_the_records() {
    let experiment = Experiment {
        seed: Some(9.into()),
        deals: 12,
        rules: vec!["original".into(), "faessler".into(), "classic".into()],
        seats: vec![2, 4],
        agents: vec!["random(pass=0.9)".into(), "greedy".into(), "heuristic".into()],
        records: true,
        ..Experiment::default()
    };
    let plan = experiment.plan(&cambio_agents::roster(), Path::new(".")).unwrap();
    let mut lost = 0;
    for block in plan.blocks() {
        let rows = play_block(&plan, &block).unwrap();
        let seats = block.cell.seats;
        for (record, players) in rows.records.iter().zip(rows.players.chunks(seats)) {
            let rules = block.cell.rules;
            let mut losses = Losses { rules, seats, knowledge: Vec::new(), lost: vec![0; seats] };
            replay(record, &mut losses).unwrap();
            let counted: Vec<u32> = players.iter().map(|row| row.counts.swapped_away).collect();
            assert_eq!(counted, losses.lost, "{}, deal {}", rules.name(), block.deal);
            lost += counted.iter().sum::<u32>();
        }
    }
    assert!(lost > 100, "only {lost}");
}
