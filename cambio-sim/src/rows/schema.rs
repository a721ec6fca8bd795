//! The rows of each CSV file, each declared once.

use cambio_core::{Score, Seat, SeatSet};

use super::cell::{BySeat, Field, Kind, Print, SeatOrder};
use super::cell_writer::CellWriter;

/// A column of a CSV file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    /// Its name in the header.
    pub name: &'static str,
    /// The kind of its cells.
    pub kind: Kind,
    /// Whether its cells may be empty.
    pub may_be_empty: bool,
}

impl Column {
    /// The column of a field of this type.
    pub(super) const fn of<'a, T: Field<'a>>(name: &'static str) -> Column {
        Column { name, kind: T::KIND, may_be_empty: T::MAY_BE_EMPTY }
    }
}

/// A row of a CSV file.
pub trait Row<'a>: Sized {
    /// The columns, one for each field, in order.
    const COLUMNS: &'static [Column];

    /// The most bytes that the cells of [`Row::put_rest`] take, texts not counted.
    const ROOM: usize;

    /// Writes the cells behind those of the match: everything that is not in a [`RowKey`](super::RowKey).
    fn put_rest(&self, writer: &mut CellWriter<'_>);

    /// Reads a row from its cells.
    ///
    /// # Errors
    /// The name of the first field that is missing or malformed.
    fn read(cells: impl Iterator<Item = &'a str>) -> Result<Self, &'static str>;
}

/// The header line of a row type, with its line feed.
///
/// ```
/// use cambio_sim::rows::{MatchRow, header};
///
/// assert!(header::<MatchRow<'_>>().starts_with(b"rules,seats,lineup,deal,rotation,"));
/// ```
pub fn header<'a, R: Row<'a>>() -> Vec<u8> {
    let names: Vec<&str> = R::COLUMNS.iter().map(|column| column.name).collect();
    (names.join(",") + "\n").into_bytes()
}

/// Declares a row type. Every row begins with the cells of its match.
macro_rules! row {
    ($(#[$doc:meta])* $name:ident<$life:lifetime> { $($(#[$field_doc:meta])+ $field:ident: $type:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Debug)]
        pub struct $name<$life> {
            /// The rule system.
            pub rules: &$life str,
            /// The number of seats.
            pub seats: usize,
            /// The agents of the lineup, seat a of rotation 0 first.
            pub lineup: &$life str,
            /// The deal.
            pub deal: u64,
            /// The rotation: which of the lineup's seatings.
            pub rotation: usize,
            $($(#[$field_doc])+ pub $field: $type,)+
        }

        impl<$life> Row<$life> for $name<$life> {
            const COLUMNS: &'static [Column] = &[
                Column::of::<&$life str>("rules"),
                Column::of::<usize>("seats"),
                Column::of::<&$life str>("lineup"),
                Column::of::<u64>("deal"),
                Column::of::<usize>("rotation"),
                $(Column::of::<$type>(stringify!($field)),)+
            ];

            const ROOM: usize = 0 $(+ <$type as Field<'_>>::ROOM)+;

            #[inline]
            fn put_rest(&self, writer: &mut CellWriter<'_>) {
                $(Field::put(&self.$field, writer);)+
            }

            fn read(mut cells: impl Iterator<Item = &$life str>) -> Result<Self, &'static str> {
                let mut next = || cells.next();
                let row = $name {
                    rules: next().and_then(Field::read).ok_or("rules")?,
                    seats: next().and_then(Field::read).ok_or("seats")?,
                    lineup: next().and_then(Field::read).ok_or("lineup")?,
                    deal: next().and_then(Field::read).ok_or("deal")?,
                    rotation: next().and_then(Field::read).ok_or("rotation")?,
                    $($field: next().and_then(Field::read).ok_or(stringify!($field))?,)+
                };
                if next().is_some() { Err("the end of the row") } else { Ok(row) }
            }
        }
    };
}

row! {
    /// A row of `matches.csv`: one match.
    MatchRow<'a> {
        /// How many rounds were played.
        rounds: usize,
        /// How many turns began.
        turns: u32,
        /// How many decisions were made.
        decisions: u32,
        /// The seats of rank 1.
        winners: SeatSet,
        /// The fingerprint of play, 16 hexadecimal digits.
        fingerprint: Print,
        /// Whether an agent that sees hidden cards took part.
        analysis: bool,
        /// Whether all agents of the match are reproducible.
        reproducible: bool,
    }
}

row! {
    /// A row of `rounds.csv`: one round.
    RoundRow<'a> {
        /// The round, counted from 1.
        round: usize,
        /// The seat with the first turn.
        starter: Seat,
        /// Why the round ended: `call`, `empty_hand`, `turn_limit` or `stock_out`.
        ended: &'a str,
        /// The callers in the order of their calls; empty without one.
        callers: SeatOrder,
        /// The seats that won the round: the callers who succeeded, else those with the fewest points who did not call.
        winners: SeatSet,
        /// How many turns began.
        turns: usize,
        /// How many decisions were made.
        decisions: u32,
        /// How often the pile became a new stock.
        reshuffles: usize,
        /// The points of the layouts, seat a first, separated by spaces.
        points: BySeat<i32>,
        /// What the round added to the totals, seat a first, separated by spaces.
        scores: BySeat<Score>,
        /// The turn in which the first call was made, counted from 1; empty without one.
        call_turn: Option<u32>,
    }
}

pub(crate) use row;
