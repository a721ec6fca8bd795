//! Encodings as numbers and bytes: codes of events and actions, dense indices of actions, observation tensors,
//! serialized observations.

pub(crate) mod action_space;
pub(crate) mod code;
pub(crate) mod frozen;
pub(crate) mod tensor;
