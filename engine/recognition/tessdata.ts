import { createRequire } from 'node:module';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

/** The recognition data lie beside the compiled code, unpacked by the build. */
export const TESSDATA = fileURLToPath(new URL('../../tessdata', import.meta.url));

/** Smaller models first: they are nearly as exact and several times faster. */
const MODELS = ['4.0.0_best_int', '4.0.0'];

/** Languages whose data are there, of those asked for, in their order. */
export const available = (languages: readonly string[]): readonly string[] =>
  languages.filter((language) => existsSync(join(TESSDATA, `${language}.traineddata`)));

/**
 * Unpacks the data of every installed language package (`@tesseract.js-data/<language>`) that is not
 * there yet. A file appears whole or not at all.
 */
export function unpackTessdata(): void {
  const packages = dirname(
    dirname(createRequire(import.meta.url).resolve('@tesseract.js-data/eng/package.json')),
  );
  mkdirSync(TESSDATA, { recursive: true });
  for (const language of readdirSync(packages)) {
    const target = join(TESSDATA, `${language}.traineddata`);
    const source = MODELS.map((model) => join(packages, language, model, `${language}.traineddata.gz`)).find(
      (path) => existsSync(path),
    );
    if (source === undefined || existsSync(target)) continue;
    const partial = `${target}.${process.pid}`;
    writeFileSync(partial, gunzipSync(readFileSync(source)));
    renameSync(partial, target);
  }
}
