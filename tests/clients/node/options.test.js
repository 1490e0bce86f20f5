// Session and run options, as JavaScript programs write them: known ones, odd ones, and those of other platforms.
const assert = require('node:assert');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const ort = require('onnxruntime-node');
const { best, digitsModel, model, picture } = require('./surroundings');

const feeds = () => ({ image: new ort.Tensor('float32', picture(6), [1, 1, 8, 8]) });

async function works(options, run = {}) {
  const session = await ort.InferenceSession.create(digitsModel, options);
  const { probabilities } = await session.run(feeds(), run);
  assert.strictEqual(best(probabilities.data), 6, JSON.stringify(options));
  await session.release();
}

function inFolder(action) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'clients-'));
  return action(folder).finally(() => fs.rmSync(folder, { recursive: true }));
}

test('every optimisation level and mode', async () => {
  for (const graphOptimizationLevel of ['disabled', 'basic', 'extended', 'layout', 'all']) {
    await works({ graphOptimizationLevel });
  }
  for (const executionMode of ['sequential', 'parallel']) await works({ executionMode, interOpNumThreads: 2 });
  for (const intraOpNumThreads of [0, 1, 3]) await works({ intraOpNumThreads });
  for (const on of [true, false]) await works({ enableCpuMemArena: on, enableMemPattern: on });
});

test('the CPU by every spelling', async () => {
  await works({ executionProviders: ['cpu'] });
  await works({ executionProviders: [{ name: 'cpu' }] });
  await works({ executionProviders: [{ name: 'cpu', useArena: false }] });
  await works({ executionProviders: ['cpu', 'cpu'] });
  assert(ort.listSupportedBackends().some(({ name }) => name === 'cpu'));
});

test('a provider that is not there', async () => {
  await assert.rejects(ort.InferenceSession.create(digitsModel, { executionProviders: ['nonsense'] }),
    /no available backend found|nonsense/);
});

test('identities, log levels and entries', async () => {
  await works({ logId: 'clients', logSeverityLevel: 4, logVerbosityLevel: 0 },
    { tag: 'first', logSeverityLevel: 4, logVerbosityLevel: 0, terminate: false });
  await works({ extra: { session: { intra_op: { allow_spinning: '0' }, 'disable_prepacking': '1' } } },
    { extra: { memory: { enable_memory_arena_shrinkage: 'cpu:0' } } });
  await works({ freeDimensionOverrides: { N: 1 } });
});

test('the optimised model is written and loads again', () => inFolder(async (folder) => {
  const optimizedModelFilePath = path.join(folder, 'optimised.onnx');
  await works({ optimizedModelFilePath, graphOptimizationLevel: 'basic' });
  const session = await ort.InferenceSession.create(optimizedModelFilePath);
  assert.strictEqual(best((await session.run(feeds())).probabilities.data), 6);
}));

test('profiles', () => inFolder(async (folder) => {
  const profileFilePrefix = path.join(folder, 'profile');
  const session = await ort.InferenceSession.create(digitsModel, { enableProfiling: true, profileFilePrefix });
  await session.run(feeds());
  session.endProfiling();
  const [name] = fs.readdirSync(folder);
  const events = JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8'));
  assert(events.some(({ cat, args }) => cat === 'Node' && args.op_name === 'Softmax'));
}));

test('a scalar, and a loop', async () => {
  const session = await ort.InferenceSession.create(model('endless'));
  const { sum } = await session.run({ rounds: new ort.Tensor('int64', [1000n], []) });
  assert.deepStrictEqual([sum.dims, ...sum.data], [[], 1000]);
});
