//! The question that a match of a batch is at.

use cambio_core::{Action, ActionSpace, Choices};

/// Who is asked in a match, what it may decide, and what it decides next.
#[derive(Clone, Copy)]
pub(super) struct Ask {
    pub(super) legal: Choices,
    pub(super) next: Action,
}

impl Ask {
    pub(super) const NOBODY: Ask = Ask { legal: Choices::NONE, next: Action::Pass };

    /// Takes the next decision; `false` if it is not legal.
    #[inline]
    pub(super) fn plan(&mut self, space: &ActionSpace, index: i64) -> bool {
        let action = usize::try_from(index).ok().and_then(|index| space.from_index(index, self.legal.seat()));
        match action {
            Some(action) if self.legal.contains(action) => {
                self.next = action;
                true
            }
            _ => false,
        }
    }
}
