//! The functions that the worker calls. Texts are UTF-8 in two buffers of this module: the worker writes the input and reads the
//! output, so no function takes a pointer.

#![expect(unsafe_code, reason = "exported names and an imported function are unsafe attributes and declarations")]

use std::cell::RefCell;
use std::sync::Arc;

use cambio_view::{Answer, Catalogue, Desk};

thread_local! {
    static DESK: RefCell<Option<Desk>> = const { RefCell::new(None) };
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

#[link(wasm_import_module = "worker")]
unsafe extern "C" {
    /// Receives a text: the progress of a review, or the message of a panic.
    fn tell(text: *const u8, length: usize);
}

fn told(message: &str) {
    // SAFETY: the worker only reads these bytes, and only during the call.
    unsafe { tell(message.as_ptr(), message.len()) }
}

/// Makes the desk, with 128 random bits. Must be called first.
// SAFETY: no other function of the program has this name. The same holds for the functions below.
#[unsafe(no_mangle)]
extern "C" fn start(low: u64, high: u64) {
    std::panic::set_hook(Box::new(|panic| told(&serde_json::json!({ "panic": panic.to_string() }).to_string())));
    let entropy = u128::from(high) << 64 | u128::from(low);
    let catalogue = Arc::new(Catalogue::of_browser(cambio_agents::roster()));
    DESK.set(Some(Desk::new(catalogue, entropy).reporting(told)));
}

/// The address of the input buffer, which has this length from now on.
#[unsafe(no_mangle)]
extern "C" fn input(length: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(length, 0);
        input.as_mut_ptr()
    })
}

/// The address of the output buffer.
#[unsafe(no_mangle)]
extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(Vec::as_ptr)
}

/// The length of the output.
#[unsafe(no_mangle)]
extern "C" fn output_length() -> usize {
    OUTPUT.with_borrow(Vec::len)
}

/// Answers a request and returns its status; the body is the output. The input is the path, and for a POST a line break and
/// the body. The status is 204 if the table has no new steps.
#[unsafe(no_mangle)]
extern "C" fn request() -> u32 {
    let input = INPUT.take();
    let answer = match std::str::from_utf8(&input) {
        Ok(text) => {
            let (path, body) = text.split_once('\n').map_or((text, None), |(path, body)| (path, Some(body)));
            let answer = DESK.with_borrow_mut(|desk| desk.as_mut().expect("the desk was started").answer(path, body));
            answer.unwrap_or(Answer { status: 204, body: String::new() })
        }
        Err(_) => Answer { status: 400, body: r#"{"error":"the request is not UTF-8"}"#.to_owned() },
    };
    OUTPUT.set(answer.body.into_bytes());
    answer.status.into()
}

/// Does the next piece of work, and returns 0 if there is none.
#[unsafe(no_mangle)]
extern "C" fn work() -> u32 {
    let work = DESK.with_borrow_mut(|desk| desk.as_mut().expect("the desk was started").work());
    work.map(|work| (work.task)(&|| true)).is_some().into()
}

/// Provides a network. The input is the name of its file, a line break, and its bytes. Returns 0 and a sentence as output if
/// they are not a network.
#[unsafe(no_mangle)]
extern "C" fn provide() -> u32 {
    let input = INPUT.take();
    let end = input.iter().position(|&byte| byte == b'\n').unwrap_or(input.len());
    let file = String::from_utf8_lossy(&input[..end]);
    let provided = cambio_agents::provide_network(&file, input.get(end + 1..).unwrap_or_default().to_vec());
    let is_provided = provided.is_ok();
    OUTPUT.set(provided.err().unwrap_or_default().into_bytes());
    is_provided.into()
}
