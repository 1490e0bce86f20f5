// A worker thread that says which digit a picture shows.
const { parentPort, workerData } = require('node:worker_threads');
const ort = require('onnxruntime-node');
const { best, digitsModel, picture } = require('./surroundings');

ort.InferenceSession.create(digitsModel).then(async (session) => {
  const image = new ort.Tensor('float32', picture(workerData.digit), [1, 1, 8, 8]);
  parentPort.postMessage(best((await session.run({ image })).probabilities.data));
});
