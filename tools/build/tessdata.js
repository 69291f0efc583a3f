import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { ROOT } from './workspaces.js';

/** Where the service looks for recognition data. */
const TESSDATA = join(ROOT, 'dist/tessdata');

/** Smaller models first: they are nearly as exact and several times faster. */
const MODELS = ['4.0.0_best_int', '4.0.0'];

/**
 * Unpacks the data of every installed language package (`@tesseract.js-data/<language>`) that is not
 * there yet. A file appears whole or not at all.
 */
export const unpackTessdata = () => {
  const packages = join(
    createRequire(import.meta.url).resolve('@tesseract.js-data/eng/package.json'),
    '../..',
  );
  mkdirSync(TESSDATA, { recursive: true });
  for (const language of readdirSync(packages)) {
    const target = join(TESSDATA, `${language}.traineddata`);
    if (existsSync(target)) continue;
    const sources = MODELS.map((model) => join(packages, language, model, `${language}.traineddata.gz`));
    const source = sources.find((path) => existsSync(path));
    if (source === undefined) continue;
    const partial = `${target}.${String(process.pid)}`;
    writeFileSync(partial, gunzipSync(readFileSync(source)));
    renameSync(partial, target);
  }
};
