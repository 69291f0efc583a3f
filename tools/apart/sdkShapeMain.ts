import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { build } from 'esbuild';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { packClient } from '../sdk/built.ts';

/*
 * npm run lint:sdk: the client as it would be published. Every resolver finds code and types that agree, the package
 * is not larger than it was meant to be, and its core runs without Node.
 */

/** An eighth more than it has: types grow with every route. */
const TARBALL_MAX_BYTES = 128_000;
/** What a page loads that uses all of it, minified. */
const BROWSER_MAX_BYTES = 22_000;

/** It is an ES module: `require` of Node 20.19 and later takes those, and older resolvers read no `exports`. */
const OTHER_RESOLVERS: readonly string[] = ['node10', 'node16-cjs'];

const typeFindings = async (tarball: Uint8Array): Promise<readonly string[]> => {
  const checked = await checkPackage(createPackageFromTarballData(tarball));
  if (checked.types === false) return ['the package has no types'];
  return checked.problems
    .filter((problem) => !('resolutionKind' in problem && OTHER_RESOLVERS.includes(problem.resolutionKind)))
    .map((problem) => JSON.stringify(problem));
};

const shapeFindings = async (tarball: Uint8Array): Promise<readonly string[]> => {
  const { messages, pkg } = await publint({
    pack: { tarball: Uint8Array.from(tarball).buffer },
    strict: true,
  });
  return messages.map((message) => formatMessage(message, pkg) ?? message.code);
};

/** Bytes of the core as a page would load it; fails where it imports what only Node has. */
const browserBytes = async (folder: string): Promise<number> => {
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'dist/index.js')],
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    write: false,
    logLevel: 'warning',
  });
  return outputFiles.reduce((sum, { contents }) => sum + contents.byteLength, 0);
};

const tooLarge = (what: string, bytes: number, most: number): readonly string[] =>
  bytes > most ? [`${what} has ${String(bytes)} bytes, more than ${String(most)}`] : [];

const folder = mkdtempSync(join(tmpdir(), 'quire-pack-'));
try {
  const { path, bytes } = packClient(folder);
  const tarball = new Uint8Array(readFileSync(path));
  const inBrowser = await browserBytes(folder);
  const findings = [
    ...(await typeFindings(tarball)),
    ...(await shapeFindings(tarball)),
    ...tooLarge('the tarball', bytes, TARBALL_MAX_BYTES),
    ...tooLarge('the core in a browser', inBrowser, BROWSER_MAX_BYTES),
  ];
  for (const finding of findings) process.stderr.write(`${finding}\n`);
  const sizes = `tarball ${String(bytes)} bytes, in a browser ${String(inBrowser)} bytes`;
  process.stdout.write(`sdk: ${String(findings.length)} findings; ${sizes}.\n`);
  process.exitCode = findings.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
