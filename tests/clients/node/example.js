// example: node.js
const ort = require('onnxruntime-node');

async function main() {
  const session = await ort.InferenceSession.create('tests/models/digits.onnx');
  const image = new ort.Tensor('float32', new Float32Array(64), [1, 1, 8, 8]);
  const { probabilities } = await session.run({ image });
  probabilities.data.forEach((p, digit) => console.log(`${digit}: ${p.toFixed(3)}`));
}

main();
