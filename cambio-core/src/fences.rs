//! Tests that programs that access hidden information do not compile. Each program that must fail to compile comes
//! after a similar one that compiles, which shows that only the forbidden access is the reason.

/// An agent receives sightings. A referee's event contains every face and has another type.
///
/// ```
/// use cambio_core::{Agent, Card, Event, Notice, Seat};
///
/// fn notify(agent: &mut dyn Agent, seat: Seat, event: &Event<Card>) {
///     agent.notice(Notice::Event(&event.seen_from(seat)));
/// }
/// ```
///
/// ```compile_fail,E0308
/// use cambio_core::{Agent, Card, Event, Notice, Seat};
///
/// fn notify(agent: &mut dyn Agent, seat: Seat, event: &Event<Card>) {
///     agent.notice(Notice::Event(event));
/// }
/// ```
///
/// `Knowledge` does not accept a referee's event either.
///
/// ```
/// use cambio_core::{Card, Event, Knowledge, Seat};
///
/// fn notify(knowledge: &mut Knowledge, event: &Event<Card>) {
///     knowledge.notice(&event.seen_from(knowledge.seat()));
/// }
/// ```
///
/// ```compile_fail,E0308
/// use cambio_core::{Card, Event, Knowledge, Seat};
///
/// fn notify(knowledge: &mut Knowledge, event: &Event<Card>) {
///     knowledge.notice(event);
/// }
/// ```
struct RefereesEvents;

/// A table contains no faces. An observation contains only the faces that its seat has seen.
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
/// An observation gives no access to the state, its stock, or the declarations of other seats.
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
/// The hidden part of a state is a private field.
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

/// A program cannot construct an observation, but gets the observation of a seat from a state.
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
/// The seat of an observation cannot be changed.
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

/// `Agent::decide` takes an observation. An implementation that takes the state does not match the trait.
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
/// A caller cannot pass a state to an agent.
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
/// `Knowledge::sample` takes an observation, not the true state.
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
