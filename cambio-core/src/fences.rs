//! What must not compile: each fence around hidden information with the program that it stops, and beside it the
//! same program as it is meant, so that the first fails for the reason that is given.

/// An agent takes sightings. A referee's event tells every face, and does not fit.
///
/// ```
/// use cambio_core::{Agent, Card, Event, Notice, Seat};
///
/// fn tell(agent: &mut dyn Agent, seat: Seat, event: &Event<Card>) {
///     agent.notice(Notice::Event(&event.seen_from(seat)));
/// }
/// ```
///
/// ```compile_fail,E0308
/// use cambio_core::{Agent, Card, Event, Notice, Seat};
///
/// fn tell(agent: &mut dyn Agent, seat: Seat, event: &Event<Card>) {
///     agent.notice(Notice::Event(event));
/// }
/// ```
///
/// Nor does it fit what a seat knows.
///
/// ```
/// use cambio_core::{Card, Event, Knowledge, Seat};
///
/// fn tell(knowledge: &mut Knowledge, event: &Event<Card>) {
///     knowledge.notice(&event.seen_from(knowledge.seat()));
/// }
/// ```
///
/// ```compile_fail,E0308
/// use cambio_core::{Card, Event, Knowledge, Seat};
///
/// fn tell(knowledge: &mut Knowledge, event: &Event<Card>) {
///     knowledge.notice(event);
/// }
/// ```
struct RefereesEvents;

/// A table has no faces to read: a face is read from an observation, which has those that its seat has seen.
///
/// ```
/// use cambio_core::{Card, Observation, Spot};
///
/// fn read(view: &Observation<'_>, spot: Spot) -> Option<Card> {
///     view.face(spot)
/// }
/// ```
///
/// ```compile_fail,E0599
/// use cambio_core::{Card, Observation, Spot};
///
/// fn read(view: &Observation<'_>, spot: Spot) -> Option<Card> {
///     view.table().face(spot)
/// }
/// ```
///
/// An observation does not lead to the state, its stock, or what others declared.
///
/// ```
/// use cambio_core::{Observation, State};
///
/// fn stock(state: &State, view: &Observation<'_>) -> usize {
///     state.stock().count()
/// }
/// ```
///
/// ```compile_fail,E0599
/// use cambio_core::{Observation, State};
///
/// fn stock(state: &State, view: &Observation<'_>) -> usize {
///     view.stock().count()
/// }
/// ```
///
/// ```compile_fail,E0599
/// use cambio_core::{Observation, State};
///
/// fn stock(state: &State, view: &Observation<'_>) -> usize {
///     view.state().stock().count()
/// }
/// ```
///
/// And what a state hides cannot be reached past its methods.
///
/// ```
/// use cambio_core::State;
///
/// fn peep(state: &State) {
///     let _ = state.table();
/// }
/// ```
///
/// ```compile_fail,E0616
/// use cambio_core::State;
///
/// fn peep(state: &State) {
///     let _ = state.hidden;
/// }
/// ```
struct HiddenFaces;

/// An observation comes from a state, for one seat, and from nowhere else.
///
/// ```
/// use cambio_core::{Observation, Seat, State};
///
/// fn see<'a>(state: &'a State) -> Observation<'a> {
///     state.observe(Seat::A)
/// }
/// ```
///
/// ```compile_fail,E0624
/// use cambio_core::{Observation, Seat, State};
///
/// fn see<'a>(state: &'a State) -> Observation<'a> {
///     Observation::new(state.table(), panic!())
/// }
/// ```
///
/// ```compile_fail,E0451
/// use cambio_core::{Observation, Seat, State};
///
/// fn see<'a>(state: &'a State) -> Observation<'a> {
///     Observation { table: state.table(), ..state.observe(Seat::A) }
/// }
/// ```
///
/// And its seat cannot be changed.
///
/// ```
/// use cambio_core::{Observation, Seat};
///
/// fn pose(view: &mut Observation<'_>) {
///     let _ = view.seat();
/// }
/// ```
///
/// ```compile_fail,E0616
/// use cambio_core::{Observation, Seat};
///
/// fn pose(view: &mut Observation<'_>) {
///     view.private.seat = Seat::B;
/// }
/// ```
struct Observations;

/// An agent is asked with an observation: one that wants the state is no agent.
///
/// ```
/// use cambio_core::{Action, Agent, AgentError, Observation};
///
/// struct Bot;
///
/// impl Agent for Bot {
///     fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
///         Ok(view.choices().nth(0).unwrap())
///     }
/// }
/// ```
///
/// ```compile_fail,E0053
/// use cambio_core::{Action, Agent, AgentError, State};
///
/// struct Bot;
///
/// impl Agent for Bot {
///     fn decide(&mut self, state: &State) -> Result<Action, AgentError> {
///         Ok(state.choices().nth(0).unwrap())
///     }
/// }
/// ```
///
/// And none is handed one.
///
/// ```
/// use cambio_core::{Action, Agent, AgentError, Seat, State};
///
/// fn ask(agent: &mut dyn Agent, state: &State) -> Result<Action, AgentError> {
///     agent.decide(&state.observe(Seat::A))
/// }
/// ```
///
/// ```compile_fail,E0308
/// use cambio_core::{Action, Agent, AgentError, Seat, State};
///
/// fn ask(agent: &mut dyn Agent, state: &State) -> Result<Action, AgentError> {
///     agent.decide(state)
/// }
/// ```
///
/// A sampled world is made from what a seat knows and sees, not from the truth.
///
/// ```
/// use cambio_core::{Knowledge, State};
/// use cambio_core::rng::Stream;
///
/// fn imagine(knowledge: &Knowledge, state: &State, stream: &mut Stream) -> State {
///     knowledge.sample(&state.observe(knowledge.seat()), stream)
/// }
/// ```
///
/// ```compile_fail,E0308
/// use cambio_core::{Knowledge, State};
/// use cambio_core::rng::Stream;
///
/// fn imagine(knowledge: &Knowledge, state: &State, stream: &mut Stream) -> State {
///     knowledge.sample(state, stream)
/// }
/// ```
struct Agents;
