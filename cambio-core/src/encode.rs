//! Encodings as numbers and bytes: codes of events and actions, dense indices of actions, observation tensors,
//! serialized observations.

pub(crate) mod action_space;
pub(crate) mod code;
pub(crate) mod serialized;
pub(crate) mod tensor;

pub use action_space::ActionSpace;
pub use code::EventParts;
pub use serialized::DeserializeError;
pub use tensor::{TensorBlock, TensorBlockValues, TensorNumber, TensorSpace};
