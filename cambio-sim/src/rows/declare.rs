//! The macro that turns the declarations in `quantities` into counters, columns, sums and labels.

/// Declares the measured quantities of the module `quantities`.
///
/// Each quantity is counted at one kind of moment. `COUNTS` are pairs of a seat and an amount; `AMOUNT` is an `Option`.
/// - `event(|context| PATTERN => COUNTS)`: an event fits the pattern.
/// - `decision(|state, seat| PATTERN => COUNTS)`: a decision of a seat fits it, before it is carried out.
/// - `deal(|state, seat| AMOUNT)`: for each seat, once a round, when nothing has moved since the deal.
/// - `round(|end, seat| AMOUNT)`: for each seat when a round has ended.
/// - `finish(|end, seat| VALUE)`: for each seat, by its index, when the match has ended; the quantity is set to the value.
macro_rules! quantities {
    (
        measured {
            $($(#[doc = $doc:literal])+ $name:ident: $type:ty = $moment:ident $how:tt;)+
        }

        behaviour |$sum:ident, $mean:ident| {
            $($(#[doc = $column_doc:literal])+ $column:ident: $form:ident $label:literal = $value:expr;)+
        }
    ) => {
        /// The counters of one seat in a match: one for each measured quantity.
        #[derive(Clone, Copy, PartialEq, Default, Debug)]
        pub struct Counts {
            $($(#[doc = $doc])+ pub $name: $type,)+
        }

        impl Counts {
            /// Counts an event.
            #[inline(always)]
            pub(crate) fn event(seats: &mut [Counts; MAX_SEATS], event: &Event<Card>, context: &Context) {
                $($crate::rows::declare::on_event!(seats, $name, event, context, $moment $how);)+
            }

            /// Counts a decision, before it is carried out.
            #[inline]
            pub(crate) fn decision(seats: &mut [Counts; MAX_SEATS], state: &State, seat: Seat, action: Action) {
                let _ = (&seats, state, seat, action);
                $($crate::rows::declare::on_decision!(seats, $name, state, seat, action, $moment $how);)+
            }

            /// Counts what a seat was dealt.
            pub(crate) fn deal(&mut self, state: &State, seat: Seat) {
                $($crate::rows::declare::at_deal!(self, $name, state, seat, $moment $how);)+
            }

            /// Counts the result of a round for a seat.
            pub(crate) fn round(&mut self, end: &RoundEnd<'_>, seat: Seat) {
                $($crate::rows::declare::at_round!(self, $name, end, seat, $moment $how);)+
            }

            /// Sets the quantities that are known only when the match has ended.
            pub(crate) fn finish(&mut self, end: &MatchEnd<'_>, seat: usize) {
                $($crate::rows::declare::at_finish!(self, $name, end, seat, $moment $how);)+
            }

            /// A row with the measured columns; the caller fills in the others.
            pub(crate) fn row(&self) -> PlayerRow<'static> {
                PlayerRow {
                    rules: "",
                    seats: 0,
                    lineup: "",
                    deal: 0,
                    rotation: 0,
                    seat: Seat::A,
                    agent: "",
                    total: None,
                    rank: 0,
                    rank_points: 0.0,
                    win: 0.0,
                    rounds: 0,
                    $($name: self.$name,)+
                    analysis: false,
                    forfeit: false,
                }
            }
        }

        row! {
            /// A row of `players.csv`: one agent in one match.
            PlayerRow<'a> {
                /// The agent's seat.
                seat: Seat,
                /// The agent.
                agent: &'a str,
                /// Its total; empty in a match that was forfeited.
                total: Option<f64>,
                /// Its rank by total; equal totals share a rank.
                rank: usize,
                /// (seats − midrank) / (seats − 1): 1 for the best alone, 0 for the worst alone, ties share.
                rank_points: f64,
                /// Its share of the match's win: 1 / k with k seats of rank 1.
                win: f64,
                /// How many rounds were played.
                rounds: u32,
                $($(#[doc = $doc])+ $name: $type,)+
                /// Whether an agent that sees hidden cards took part in the match.
                analysis: bool,
                /// Whether it was at fault and lost the match by that.
                forfeit: bool,
            }
        }

        /// The sums of each measured quantity over the matches of one agent in a cell.
        #[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Deserialize, Serialize)]
        pub struct Sums {
            /// Matches, one for each seat that the agent had.
            pub matches: u64,
            /// Matches that it forfeited.
            pub forfeits: u64,
            /// Rounds.
            pub rounds: u64,
            /// Turns of all seats.
            pub table_turns: u64,
            $($(#[doc = $doc])+ pub $name: <$type as Summed>::Sum,)+
        }

        impl Sums {
            /// Adds a match in which all seats together had `table_turns` turns.
            pub(crate) fn add(&mut self, row: &PlayerRow<'_>, table_turns: u32) {
                self.matches += 1;
                self.forfeits += u64::from(row.forfeit);
                self.rounds += u64::from(row.rounds);
                self.table_turns += u64::from(table_turns);
                $(row.$name.add_to(&mut self.$name, row.rounds);)+
            }
        }

        impl std::ops::AddAssign<&Sums> for Sums {
            fn add_assign(&mut self, other: &Sums) {
                self.matches += other.matches;
                self.forfeits += other.forfeits;
                self.rounds += other.rounds;
                self.table_turns += other.table_turns;
                $(self.$name += other.$name;)+
            }
        }

        /// A row of `behaviour.csv`: how one agent played. All per round unless the column says otherwise; empty where there
        /// was no occasion.
        #[derive(Clone, PartialEq, Debug, Default, Serialize)]
        pub struct BehaviourRow {
            /// The rule system.
            pub rules: String,
            /// The number of seats.
            pub seats: usize,
            /// The agent.
            pub agent: String,
            /// How many rounds it played, one for each seat that it had.
            pub rounds: u64,
            /// Rounds per match.
            pub rounds_per_match: f64,
            $($(#[doc = $column_doc])+ pub $column: Option<f64>,)+
        }

        impl BehaviourRow {
            /// The row of an agent; `mean` is the mean of the points of the deck's cards.
            pub(crate) fn new(rules: String, seats: usize, agent: String, sums: &Sums, mean: f64) -> BehaviourRow {
                let ($sum, $mean) = (sums, mean);
                BehaviourRow {
                    rules,
                    seats,
                    agent,
                    rounds: sums.rounds,
                    rounds_per_match: sums.rounds as f64 / sums.matches as f64,
                    $($column: $value,)+
                }
            }
        }

        /// The measures of behaviour that reports show, in their order.
        pub const MEASURES: &[Measure] = &[
            Measure { label: "rounds, all", form: Form::Count, value: |row| Some(row.rounds as f64) },
            Measure { label: "rounds a match", form: Form::Mean, value: |row| Some(row.rounds_per_match) },
            $(Measure { label: $label, form: Form::$form, value: |row| row.$column },)+
        ];
    };
}

macro_rules! on_event {
    ($seats:ident, $name:ident, $event:ident, $context:ident, event(|$at:pat_param| $pattern:pat => $counts:expr)) => {{
        let $at = $context;
        if let $pattern = *$event {
            for (seat, amount) in $counts {
                Count::count(&mut $seats[seat.index()].$name, amount);
            }
        }
    }};
    ($($other:tt)*) => {};
}

macro_rules! on_decision {
    (
        $seats:ident, $name:ident, $state:ident, $seat:ident, $action:ident,
        decision(|$at:pat_param, $who:pat_param| $pattern:pat => $counts:expr)
    ) => {{
        let ($at, $who) = ($state, $seat);
        if let $pattern = $action {
            for (seat, amount) in $counts {
                Count::count(&mut $seats[seat.index()].$name, amount);
            }
        }
    }};
    ($($other:tt)*) => {};
}

macro_rules! at_deal {
    ($counts:ident, $name:ident, $state:ident, $seat:ident, deal(|$at:pat_param, $who:pat_param| $amount:expr)) => {{
        let ($at, $who) = ($state, $seat);
        if let Some(amount) = $amount {
            Count::count(&mut $counts.$name, amount);
        }
    }};
    ($($other:tt)*) => {};
}

macro_rules! at_round {
    ($counts:ident, $name:ident, $end:ident, $seat:ident, round(|$at:pat_param, $who:pat_param| $amount:expr)) => {{
        let ($at, $who) = ($end, $seat);
        if let Some(amount) = $amount {
            Count::count(&mut $counts.$name, amount);
        }
    }};
    ($($other:tt)*) => {};
}

macro_rules! at_finish {
    ($counts:ident, $name:ident, $end:ident, $seat:ident, finish(|$at:pat_param, $who:pat_param| $value:expr)) => {{
        let ($at, $who) = ($end, $seat);
        $counts.$name = $value;
    }};
    ($($other:tt)*) => {};
}

pub(crate) use {at_deal, at_finish, at_round, on_decision, on_event, quantities};
