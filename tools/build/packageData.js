// What the service needs of packages that hold nothing but data: it lies in dist/, so the packages themselves are
// needed by the build alone, with all that is not used of them.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { ROOT } from './workspaces.js';

/** Where the service looks for recognition data. */
const TESSDATA = join(ROOT, 'dist/tessdata');

/** Where the service looks for the files of its reference page, and which it serves. */
const SWAGGER = join(ROOT, 'dist/swagger-ui');
const SWAGGER_FILES = [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'favicon-32x32.png',
  'LICENSE',
  'NOTICE',
];

/** Where the service looks for the fonts that it prints with. */
const FONTS = join(ROOT, 'dist/fonts');
const FONT_FILES = ['LiberationSans-Regular.ttf', 'LiberationSans-Bold.ttf', 'LICENSE_LIBERATION'];

const { resolve } = createRequire(import.meta.url);

/** A file appears whole or not at all: two builds may run at the same time. */
const write = (target, bytes) => {
  const partial = `${target}.${String(process.pid)}`;
  writeFileSync(partial, bytes);
  renameSync(partial, target);
};

/** Smaller models first: they are nearly as exact and several times faster. */
const MODELS = ['4.0.0_best_int', '4.0.0'];

/**
 * Unpacks the data of every installed language package (`@tesseract.js-data/<language>`) that is not
 * there yet.
 */
const unpackTessdata = () => {
  const packages = join(resolve('@tesseract.js-data/eng/package.json'), '../..');
  mkdirSync(TESSDATA, { recursive: true });
  for (const language of readdirSync(packages)) {
    const target = join(TESSDATA, `${language}.traineddata`);
    if (existsSync(target)) continue;
    const sources = MODELS.map((model) => join(packages, language, model, `${language}.traineddata.gz`));
    const source = sources.find((path) => existsSync(path));
    if (source === undefined) continue;
    write(target, gunzipSync(readFileSync(source)));
  }
};

/** Copies files of a package's folder that are not there yet, or are others. */
const copy = (folder, names, into) => {
  mkdirSync(into, { recursive: true });
  for (const name of names) {
    const target = join(into, name);
    const bytes = readFileSync(join(folder, name));
    if (!existsSync(target) || !readFileSync(target).equals(bytes)) write(target, bytes);
  }
};

/** Puts into dist/ what of these packages is not there yet. */
export const unpackData = () => {
  unpackTessdata();
  copy(dirname(resolve('swagger-ui-dist/package.json')), SWAGGER_FILES, SWAGGER);
  copy(join(dirname(resolve('pdfjs-dist/package.json')), 'standard_fonts'), FONT_FILES, FONTS);
};
