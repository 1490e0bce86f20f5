// Every element type that the package knows, strings, shapes of all ranks, and models with other values than tensors.
const assert = require('node:assert');
const { test } = require('node:test');
const ort = require('onnxruntime-node');
const { model } = require('./surroundings');

const half = (values) => Uint16Array.from(values, (value) => ({ 0: 0, 1: 0x3c00, 3: 0x4200, 5: 0x4500 })[value]);
const words = ['Grüße, 日本語 🐦', ''];
const numbers = {
  float: ['float32', Float32Array], double: ['float64', Float64Array], int8: ['int8', Int8Array],
  int16: ['int16', Int16Array], int32: ['int32', Int32Array], uint8: ['uint8', Uint8Array],
  uint16: ['uint16', Uint16Array], uint32: ['uint32', Uint32Array], int64: ['int64', BigInt64Array],
  uint64: ['uint64', BigUint64Array],
};

function feeds() {
  const given = {
    x_float16: new ort.Tensor('float16', half([0, 1]), [2]),
    x_bool: new ort.Tensor('bool', [true, false]),
    x_string: new ort.Tensor('string', words, [2]),
  };
  for (const [name, [type, Data]] of Object.entries(numbers)) {
    const big = type.endsWith('64') && type !== 'float64';
    given['x_' + name] = new ort.Tensor(type, Data.from(big ? [0n, 7n] : [0, 7]), [2]);
  }
  return given;
}

test('numbers, bools and strings', async () => {
  const session = await ort.InferenceSession.create(model('types'));
  const results = await session.run(feeds());
  for (const [name, [type, Data]] of Object.entries(numbers)) {
    const result = results['y_' + name];
    assert.strictEqual(result.type, type);
    assert(result.data instanceof Data, name);
    assert.deepStrictEqual([...result.data].map(Number), [1, 15], name);
  }
  assert.deepStrictEqual([...new Uint16Array(results.y_float16.data.buffer.slice(0, 4))], [...half([1, 3])]);
  assert.deepStrictEqual([...results.y_bool.data], [0, 1]);
  assert.deepStrictEqual(results.y_string.data, words);
});

test('metadata of all types', async () => {
  const session = await ort.InferenceSession.create(model('types'));
  const types = Object.fromEntries(session.inputMetadata.map(({ name, type }) => [name, type]));
  for (const [name, [type]] of Object.entries(numbers)) assert.strictEqual(types['x_' + name], type);
  assert.strictEqual(types.x_float16, 'float16');
  assert.strictEqual(types.x_bool, 'bool');
  assert.strictEqual(types.x_string, 'string');
});

test('only the outputs that are asked for', async () => {
  const session = await ort.InferenceSession.create(model('types'));
  const results = await session.run(feeds(), ['y_int64', 'y_string']);
  assert.deepStrictEqual(Object.keys(results).sort(), ['y_int64', 'y_string']);
  assert.deepStrictEqual([...results.y_int64.data], [1n, 15n]);
});

test('strings', async () => {
  const session = await ort.InferenceSession.create(model('text'));
  const { upper } = await session.run({ text: new ort.Tensor(['one', 'Two', 'THREE!']) });
  assert.deepStrictEqual(upper.data, ['ONE', 'TWO', 'THREE!']);
  assert.deepStrictEqual(upper.dims, [3]);
});

test('values that are no tensors are in the metadata, and refused by the package when it meets one', async () => {
  const session = await ort.InferenceSession.create(model('scores'));
  assert.deepStrictEqual([...session.outputNames], ['label', 'scores']);
  assert.deepStrictEqual(session.outputMetadata.map(({ isTensor }) => isTensor), [true, false]);
  const features = new ort.Tensor('float32', [0, 5, 1, 1, 2, 9], [2, 3]);
  const { label } = await session.run({ features }, ['label']);
  assert.deepStrictEqual([...label.data], [20n, 30n]);
  await assert.rejects(session.run({ features }), /[Nn]on.?tensor|unsupported|not supported/);
});

test('an initializer that is an input may be given or left out', async () => {
  const session = await ort.InferenceSession.create(model('defaults'));
  assert.deepStrictEqual([...session.inputNames], ['x']);
  const x = new ort.Tensor('float32', [1, 2]);
  assert.deepStrictEqual([...(await session.run({ x })).y.data], [3, 6]);
});

test('external data beside the model', async () => {
  const x = new ort.Tensor('float32', [1, 0, 0, 0, 0, 0, 1, 0], [2, 4]);
  for (const name of ['external', 'inline']) {
    const session = await ort.InferenceSession.create(model(name));
    assert.deepStrictEqual([...(await session.run({ x })).y.data], [0, 1, 2, 3, 8, 9, 10, 11], name);
  }
});
