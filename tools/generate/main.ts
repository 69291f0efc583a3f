import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { EXAMPLES_FILE, examplesNow } from '../../test/http/examples/walk.ts';
import { referenceDocuments } from '../../src/reference/documents.ts';
import type { Examples } from '../../src/server/openapi.ts';
import { typescriptFiles, typescriptModules } from '../apart/typescriptClient.ts';
import { DESCRIPTION, describedIn } from '../sdk/description.ts';
import { generatedModules, pythonFiles } from '../sdk/python.ts';
import { architectureDrawings } from './drawings.ts';

/*
 * npm run generate: writes every file that follows from the code. With --check it writes nothing, and fails if a file
 * is not as the code makes it.
 */

/** Every generated file by its path. The clients are made of the description, and that shows the examples. */
const generatedFiles = async (): Promise<ReadonlyMap<string, string>> => {
  const examples = JSON.parse(JSON.stringify(await examplesNow())) as Examples;
  const reference = referenceDocuments(examples);
  const described = describedIn(reference[DESCRIPTION] ?? '');
  return new Map([
    [EXAMPLES_FILE, `${JSON.stringify(examples, null, 2)}\n`],
    ...Object.entries(reference),
    ...(await typescriptFiles(described)),
    ...pythonFiles(described),
    ...architectureDrawings(),
  ]);
};

/** A name: what is there differs from what the code makes; undefined: it should not be there. */
type Stale = readonly [path: string, text: string | undefined];

const staleAmong = (files: ReadonlyMap<string, string>): readonly Stale[] => [
  ...[...files].filter(([path, text]) => !existsSync(path) || readFileSync(path, 'utf8') !== text),
  ...[...typescriptModules(), ...generatedModules()]
    .filter((path) => !files.has(path))
    .map((path): Stale => [path, undefined]),
];

const write = ([path, text]: Stale): void => {
  if (text === undefined) {
    rmSync(path);
    return;
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

const files = await generatedFiles();
const stale = staleAmong(files);
if (process.argv.includes('--check')) {
  for (const [path] of stale)
    process.stderr.write(`${path} is not what the code makes: run npm run generate\n`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const one of stale) {
    write(one);
    process.stdout.write(`${one[0]}\n`);
  }
}
const said = process.argv.includes('--check') ? 'stale' : 'changed';
process.stdout.write(`${String(stale.length)} of ${String(files.size)} generated files ${said}.\n`);
