// Where the tests find models and pictures, and the library that they must run on.
const fs = require('node:fs');
const path = require('node:path');

const digits = process.env.CLIENTS_DIGITS;
const model = (name) => path.join(process.env.CLIENTS_MODELS, name + '.onnx');

// The pixels of digit_N.pgm, 8 x 8, ink from 0 to 1.
function picture(digit) {
  const text = fs.readFileSync(path.join(digits, `digit_${digit}.pgm`), 'utf8').replace(/#.*/g, '');
  const [, , , most, ...pixels] = text.trim().split(/\s+/);
  return Float32Array.from(pixels, (pixel) => Number(pixel) / Number(most));
}

const best = (scores) => scores.indexOf(Math.max(...scores));

module.exports = { best, digitsModel: path.join(digits, 'digits.onnx'), model, picture };
