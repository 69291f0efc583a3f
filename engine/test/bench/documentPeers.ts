import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { parseFile } from '../../recognition/liteparse.ts';
import { readFileAsDocument } from '../../formats/readDocument.ts';
import { markdownOf } from '../../document/markdown.ts';
import { plainTextOf } from '../../document/plainText.ts';
import type { Sample } from './documents.ts';
import { cpuSince } from './cpu.ts';
import { median } from './measure.ts';

const run = promisify(execFile);

/** A program that turns a document into text; what it gives is its output. */
export interface Peer {
  readonly name: string;
  readonly convert: (sample: Sample) => Promise<string>;
}

/** What a peer took: pages/s from the median of several documents, one after the other. */
export interface PeerRun {
  readonly name: string;
  readonly ms: number;
  readonly pagesPerSecond: number;
  /** Of this process and of those that it starts. */
  readonly cpuMsAPage: number;
  readonly characters: number;
}

const ours: Peer = {
  name: 'Quire, in process',
  convert: async ({ path }) => {
    const file = { fileName: null, effort: 'standard', pagesMax: 1000, languages: ['eng'] } as const;
    const parsed = await readFileAsDocument({ ...file, bytes: await readFile(path) });
    if (parsed.kind !== 'ok') throw new Error(JSON.stringify(parsed));
    plainTextOf(parsed.document);
    return markdownOf(parsed.document);
  },
};

const liteparse: Peer = {
  name: 'liteparse, own markdown, in process',
  convert: async ({ bytes, pages }) => {
    const options = { ocrEnabled: false, quiet: true, numWorkers: 1, maxPages: pages } as const;
    const { text } = await parseFile(bytes, { ...options, outputFormat: 'markdown' });
    return text;
  },
};

/**
 * Not among our dependencies, for its packages of other platforms are not all published:
 * `npm install --no-save @firecrawl/pdf-inspector@1.25.1`.
 */
const INSPECTOR = '@firecrawl/pdf-inspector';

const inspector: Peer = {
  name: '@firecrawl/pdf-inspector, in process',
  convert: async ({ bytes }) => {
    const { processPdf } = (await import(INSPECTOR)) as {
      readonly processPdf: (bytes: Buffer) => { readonly markdown?: string };
    };
    return processPdf(bytes).markdown ?? '';
  },
};

const command = (name: string, program: string, argumentsFor: (path: string) => readonly string[]): Peer => ({
  name,
  convert: async ({ path }) => (await run(program, argumentsFor(path), { maxBuffer: 1 << 28 })).stdout,
});

/** Those that read a PDF. */
export const PDF_PEERS: readonly Peer[] = [
  ours,
  liteparse,
  inspector,
  command('pdftotext -layout, a process each', 'pdftotext', (path) => ['-layout', path, '-']),
];

/** Those that read Word files: pandoc writes PDF but does not read it. */
export const OFFICE_PEERS: readonly Peer[] = [
  ours,
  command('pandoc, a process each', 'pandoc', (path) => ['-f', 'docx', '-t', 'gfm', path]),
];

/** Runs each peer in turn, so many rounds; undefined for one that is not installed. */
export async function takingTurns(
  peers: readonly Peer[],
  sample: Sample,
  { rounds, warmUps }: { readonly rounds: number; readonly warmUps: number },
): Promise<readonly (PeerRun | { readonly name: string; readonly missing: true })[]> {
  const runs = new Map(
    peers.map((peer) => [peer.name, { ms: [] as number[], cpuMs: 0, characters: 0, missing: false }]),
  );
  for (let round = -warmUps; round < rounds; round += 1) {
    for (const { name, convert } of peers) {
      const own = runs.get(name);
      if (own === undefined || own.missing) continue;
      const spent = cpuSince([process.pid]);
      const began = performance.now();
      const text = await convert(sample).catch((error: unknown) => {
        if (isNotInstalled(error)) return undefined;
        throw error;
      });
      if (text === undefined) own.missing = true;
      else if (round >= 0) {
        own.ms.push(performance.now() - began);
        own.cpuMs += spent();
      }
      own.characters = text?.length ?? 0;
    }
  }
  return [...runs].map(([name, { ms, cpuMs, characters, missing }]) => {
    if (missing) return { name, missing };
    const usual = median(ms);
    // The mean: a document takes few of the kernel's ticks.
    const cpuMsAPage = cpuMs / Math.max(1, ms.length) / sample.pages;
    return { name, ms: usual, pagesPerSecond: (sample.pages * 1000) / usual, cpuMsAPage, characters };
  });
}

const isNotInstalled = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'ENOENT' || error.code === 'ERR_MODULE_NOT_FOUND');
