// The program in WebAssembly. Texts go through two buffers of the program: the input and the output.
const decoder = new TextDecoder();
const encoder = new TextEncoder();

export class Program {
  #exports = null;

  // The imports for the module. `notify` receives the messages of the program.
  imports(notify) {
    return { worker: { tell: (address, length) => notify(JSON.parse(decoder.decode(new Uint8Array(this.#exports.memory.buffer, address, length)))) } };
  }

  // Starts the program. `entropy` has two random numbers of 64 bits.
  start(instance, entropy) {
    this.#exports = instance.exports;
    this.#exports.start(...entropy);
  }

  // Answers a request. If the status is 424, the error names networks that must be provided first.
  request(path, body) {
    this.#write(...(body === undefined ? [path] : [path, "\n", body]));
    return { status: this.#exports.request(), content: this.#output() };
  }

  // Does the next piece of work. Returns false if there is nothing to do.
  work() {
    return Boolean(this.#exports.work());
  }

  // Provides a network as bytes.
  provide(file, network) {
    this.#write(file, "\n", network);
    if (!this.#exports.provide()) throw new Error(this.#output());
  }

  #write(...parts) {
    const content = parts.map((part) => (typeof part === "string" ? encoder.encode(part) : part));
    let at = this.#exports.input(content.reduce((sum, part) => sum + part.length, 0));
    for (const part of content) {
      new Uint8Array(this.#exports.memory.buffer, at, part.length).set(part);
      at += part.length;
    }
  }

  #output() {
    return decoder.decode(new Uint8Array(this.#exports.memory.buffer, this.#exports.output(), this.#exports.output_length()));
  }
}
