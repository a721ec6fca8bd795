//! Encodings as numbers: codes of events and actions, dense indices of actions, observation tensors.

pub(crate) mod action_space;
pub(crate) mod code;
pub(crate) mod tensor;

pub use action_space::ActionSpace;
pub use code::EventParts;
pub use tensor::{TensorBlock, TensorBlockValues, TensorNumber, TensorSpace};
