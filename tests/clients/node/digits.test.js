// The digits network as web services use it: sessions from files and bytes, batches, many requests at once.
const assert = require('node:assert');
const fs = require('node:fs');
const { test } = require('node:test');
const { Worker } = require('node:worker_threads');
const ort = require('onnxruntime-node');
const { best, digitsModel, picture } = require('./surroundings');

const every = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
const image = (digit) => new ort.Tensor('float32', picture(digit), [1, 1, 8, 8]);

test('the library is Ortolan', { skip: process.env.CLIENTS_LIBRARY ? false : 'on the package\'s own library' }, () => {
  const maps = fs.readFileSync('/proc/self/maps', 'utf8');
  assert(maps.includes(fs.realpathSync(process.env.CLIENTS_FILE)));
  assert.doesNotMatch(maps, /onnxruntime-node\/.*libonnxruntime/);
});

test('names and metadata', async () => {
  const session = await ort.InferenceSession.create(digitsModel);
  assert.deepStrictEqual([...session.inputNames], ['image']);
  assert.deepStrictEqual([...session.outputNames], ['probabilities']);
  assert.deepStrictEqual(session.inputMetadata,
    [{ name: 'image', isTensor: true, type: 'float32', shape: ['N', 1, 8, 8] }]);
  assert.deepStrictEqual(session.outputMetadata,
    [{ name: 'probabilities', isTensor: true, type: 'float32', shape: ['N', 10] }]);
});

test('one picture at a time', async () => {
  const session = await ort.InferenceSession.create(digitsModel);
  for (const digit of every) {
    const { probabilities } = await session.run({ image: image(digit) });
    assert.deepStrictEqual(probabilities.dims, [1, 10]);
    assert.strictEqual(probabilities.type, 'float32');
    assert.strictEqual(best(probabilities.data), digit);
    assert(Math.abs(probabilities.data.reduce((a, b) => a + b) - 1) < 1e-5);
  }
  await session.release();
});

test('a batch gives the rows that single pictures give', async () => {
  const session = await ort.InferenceSession.create(digitsModel);
  const pixels = Float32Array.from(every.flatMap((digit) => [...picture(digit)]));
  const { probabilities } = await session.run({ image: new ort.Tensor(pixels, [10, 1, 8, 8]) });
  assert.deepStrictEqual(probabilities.dims, [10, 10]);
  for (const digit of every) {
    const alone = (await session.run({ image: image(digit) })).probabilities.data;
    const row = probabilities.data.subarray(10 * digit, 10 * digit + 10);
    row.forEach((score, i) => assert(Math.abs(score - alone[i]) < 1e-6));
  }
});

test('an empty batch', async () => {
  const session = await ort.InferenceSession.create(digitsModel);
  const { probabilities } = await session.run({ image: new ort.Tensor('float32', [], [0, 1, 8, 8]) });
  assert.deepStrictEqual(probabilities.dims, [0, 10]);
  assert.strictEqual(probabilities.data.length, 0);
});

test('sessions from bytes: a Buffer, an ArrayBuffer, a part of one', async () => {
  const buffer = fs.readFileSync(digitsModel);
  const longer = new Uint8Array(buffer.length + 24).fill(255);
  longer.set(buffer, 8);
  const sessions = await Promise.all([
    ort.InferenceSession.create(buffer),
    ort.InferenceSession.create(Uint8Array.from(buffer).buffer),
    ort.InferenceSession.create(longer.buffer, 8, buffer.length),
  ]);
  longer.fill(0);
  for (const session of sessions) {
    assert.strictEqual(best((await session.run({ image: image(4) })).probabilities.data), 4);
  }
});

test('outputs by name, and into tensors of the caller', async () => {
  const session = await ort.InferenceSession.create(digitsModel);
  const named = await session.run({ image: image(2) }, ['probabilities']);
  assert.strictEqual(best(named.probabilities.data), 2);
  const unnamed = await session.run({ image: image(3) }, { probabilities: null });
  assert.strictEqual(best(unnamed.probabilities.data), 3);
  const own = new ort.Tensor('float32', new Float32Array(10), [1, 10]);
  await session.run({ image: image(7) }, { probabilities: own });
  assert.strictEqual(best(own.data), 7);
});

test('many sessions, many runs at once', async () => {
  const options = { intraOpNumThreads: 1 };
  const sessions = await Promise.all(every.map(() => ort.InferenceSession.create(digitsModel, options)));
  const runs = Array.from({ length: 400 }, (_, i) =>
    sessions[i % 7].run({ image: image(i % 10) }).then(({ probabilities }) => best(probabilities.data)));
  assert.deepStrictEqual(await Promise.all(runs), Array.from({ length: 400 }, (_, i) => i % 10));
  await Promise.all(sessions.map((session) => session.release()));
});

test('worker threads with sessions of their own', async () => {
  const worker = (digit) => new Promise((resolve, reject) => {
    new Worker(require.resolve('./worker.js'), { workerData: { digit } }).on('message', resolve).on('error', reject);
  });
  assert.deepStrictEqual(await Promise.all([5, 6, 8].map(worker)), [5, 6, 8]);
  assert.deepStrictEqual(await Promise.all([0, 1].map(worker)), [0, 1]);
});
