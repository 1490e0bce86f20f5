// sherpa-onnx: voice activity and punctuation, with models that give known answers.
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const sherpa = require('sherpa-onnx-node');

const RATE = 16000;
const model = (name) => path.join(process.env.CLIENTS_MODELS, name + '.onnx');

// Seconds of a tone of 440 Hz, as loud as is said.
function tone(seconds, loudness) {
  return Float32Array.from({ length: seconds * RATE }, (_, i) => loudness * Math.sin((2 * Math.PI * 440 * i) / RATE));
}

// What the detector takes for speech: pairs of the first sample and the number of samples.
function segments(vad, samples) {
  const found = [];
  const collect = () => {
    for (; !vad.isEmpty(); vad.pop()) found.push([vad.front().start, vad.front().samples.length]);
  };
  for (let i = 0; i + 512 <= samples.length; i += 512) {
    vad.acceptWaveform(samples.subarray(i, i + 512));
    collect();
  }
  vad.flush();
  collect();
  return found;
}

function detector(numThreads) {
  const sileroVad = {
    model: model('vad'), threshold: 0.5, minSpeechDuration: 0.25, minSilenceDuration: 0.25, windowSize: 512,
  };
  return new sherpa.Vad({ sileroVad, sampleRate: RATE, debug: false, numThreads, provider: 'cpu' }, 30);
}

test('the library is Ortolan', { skip: process.env.CLIENTS_LIBRARY ? false : 'on the package\'s own library' }, () => {
  const maps = fs.readFileSync('/proc/self/maps', 'utf8');
  assert(maps.includes(fs.realpathSync(process.env.CLIENTS_FILE)));
  assert.match(maps, /libsherpa-onnx-c-api\.so/);
  assert.doesNotMatch(maps, /sherpa-onnx-linux-x64\/libonnxruntime/);
});

test('two tones in silence', () => {
  const parts = [tone(1, 0), tone(2, 0.5), tone(1, 0), tone(1, 0.3), tone(1, 0.001)];
  const samples = Float32Array.from(parts.flatMap((part) => [...part]));
  for (const threads of [1, 2]) {
    const found = segments(detector(threads), samples);
    assert.strictEqual(found.length, 2, JSON.stringify(found));
    for (const [i, [start, length]] of [[1, 2], [4, 1]].entries()) {
      assert(Math.abs(found[i][0] - start * RATE) < 0.3 * RATE, `starts at ${found[i][0]}`);
      assert(Math.abs(found[i][1] - length * RATE) < 0.5 * RATE, `lasts ${found[i][1]}`);
    }
  }
});

test('silence only, after a reset too', () => {
  const vad = detector(1);
  assert.deepStrictEqual(segments(vad, tone(2, 0.001)), []);
  vad.reset();
  assert.strictEqual(segments(vad, tone(1, 0.5)).length, 1);
});

test('punctuation', () => {
  const punctuation = new sherpa.OfflinePunctuation({
    model: { ctTransformer: model('punctuation'), debug: false, numThreads: 1, provider: 'cpu' },
  });
  assert.strictEqual(punctuation.addPunct('hello how are you fine thanks'), 'hello，how are you？fine，thanks。');
  assert.strictEqual(punctuation.addPunct('how are you'), 'how are you？');
});
