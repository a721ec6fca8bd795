// The sounds of the table, synthesised. They are off until the person turns them on.
import { remember, remembered } from "./common.js";

let context = null;

// A short noise through a filter: a card on felt.
function rustle({ length, frequency, volume }) {
  const samples = Math.floor(context.sampleRate * length);
  const noise = context.createBuffer(1, samples, context.sampleRate);
  const data = noise.getChannelData(0);
  for (let i = 0; i < samples; i++) data[i] = (Math.random() * 2 - 1) * (1 - i / samples) ** 2;
  const source = new AudioBufferSourceNode(context, { buffer: noise });
  source.connect(new BiquadFilterNode(context, { type: "bandpass", frequency, Q: 0.8 })).connect(new GainNode(context, { gain: volume })).connect(context.destination);
  source.start();
}

// A tone that fades out.
function tone(frequency, { after = 0, length = 0.25, volume = 0.08 } = {}) {
  const begin = context.currentTime + after;
  const gain = new GainNode(context, { gain: 0 });
  gain.gain.setValueAtTime(volume, begin);
  gain.gain.exponentialRampToValueAtTime(0.001, begin + length);
  const source = new OscillatorNode(context, { type: "triangle", frequency });
  source.connect(gain).connect(context.destination);
  source.start(begin);
  source.stop(begin + length);
}

const SOUNDS = {
  card: () => rustle({ length: 0.13, frequency: 1800, volume: 0.5 }),
  snap: () => { rustle({ length: 0.06, frequency: 900, volume: 1.6 }); rustle({ length: 0.03, frequency: 4000, volume: 0.8 }); },
  turn: () => { tone(660, { length: 0.15 }); tone(880, { after: 0.1 }); },
  call: () => [880, 660, 880].forEach((frequency, number) => tone(frequency, { after: number * 0.16, length: 0.4, volume: 0.12 })),
  win: () => [523, 659, 784, 1047].forEach((frequency, number) => tone(frequency, { after: number * 0.12, length: 0.4 })),
};

export const sounds = {
  get isOn() {
    return remembered("sounds");
  },
  set isOn(isOn) {
    remember("sounds", isOn);
    if (isOn) this.play("turn");
  },
  play(name) {
    if (!this.isOn || document.hidden) return;
    context ??= new AudioContext();
    context.resume().then(() => SOUNDS[name](), () => {});
  },
};
