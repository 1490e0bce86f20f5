// What goes wrong in JavaScript programs: messages say what and where, and the session works afterwards.
const assert = require('node:assert');
const fs = require('node:fs');
const { test } = require('node:test');
const ort = require('onnxruntime-node');
const { best, digitsModel, model, picture } = require('./surroundings');

const image = (digit) => new ort.Tensor('float32', picture(digit), [1, 1, 8, 8]);

test('files that are no models', async () => {
  await assert.rejects(ort.InferenceSession.create('/nowhere/model.onnx'), /\/nowhere\/model\.onnx/);
  await assert.rejects(ort.InferenceSession.create(__filename), /errors\.test\.js/);
  await assert.rejects(ort.InferenceSession.create(fs.mkdtempSync('/tmp/clients-')), Error);
  await assert.rejects(ort.InferenceSession.create(Buffer.from('no model at all')), Error);
  await assert.rejects(ort.InferenceSession.create(new Uint8Array(0)), Error);
  await assert.rejects(ort.InferenceSession.create(fs.readFileSync(digitsModel).subarray(0, 5000)), Error);
});

test('wrong feeds, then a right one', async () => {
  const session = await ort.InferenceSession.create(digitsModel);
  await assert.rejects(session.run({}), /'image' is missing/);
  await assert.rejects(session.run({ picture: image(1) }), /'image' is missing/);
  await assert.rejects(session.run({ image: new ort.Tensor('float32', new Float32Array(49), [1, 1, 7, 7]) }),
    /image[\s\S]*(\[N,1,8,8\]|Expected: 8)/);
  await assert.rejects(session.run({ image: new ort.Tensor('float32', new Float32Array(64), [64]) }),
    /image/);
  await assert.rejects(session.run({ image: new ort.Tensor('float64', new Float64Array(64), [1, 1, 8, 8]) }),
    /double[\s\S]*float|float[\s\S]*double/);
  await assert.rejects(session.run({ image: image(1) }, ['logits']), /logits/);
  assert.strictEqual(best((await session.run({ image: image(1) })).probabilities.data), 1);
});

test('shapes that do not fit each other', async () => {
  const session = await ort.InferenceSession.create(model('adder'));
  const of = (...dims) => new ort.Tensor('float32', new Float32Array(dims[0] * dims[1]), dims);
  await assert.rejects(session.run({ left: of(2, 3), right: of(2, 4) }), /add_sides[\s\S]*\b3\b[\s\S]*\b4\b/);
  assert.deepStrictEqual((await session.run({ left: of(2, 3), right: of(2, 3) })).sum.dims, [2, 3]);
});

test('released sessions', async () => {
  const session = await ort.InferenceSession.create(digitsModel);
  await session.release();
  await assert.rejects(async () => session.run({ image: image(1) }), Error);
});

test('external data without its file', async () => {
  const bytes = fs.readFileSync(model('external'));
  await assert.rejects(ort.InferenceSession.create(bytes), /external/i);
});
