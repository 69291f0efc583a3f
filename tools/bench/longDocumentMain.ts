import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDocumentWorkers } from '@quire/engine/isolation/documentWorkers';
import type { PartShelf, RangeTurns } from '@quire/engine/ports/extractionEngine';
import { pagedPdf } from '../../engine/test/bench/pagedPdf.ts';
import { ledgerPages, reportPages } from '../../engine/test/bench/pdfPages.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { cpuSince } from '../../engine/test/bench/cpu.ts';
import { processTree } from './grownLog.ts';

/*
 * Seconds and memory, by hundred pages, of a made-up document that is read in ranges (ADR 38): of this process,
 * which joins nothing itself, and of the processes that read. Needs Linux's /proc.
 */
const PAGES = Number(process.env['BENCH_PAGES'] ?? 1_500);
const STEP = Number(process.env['BENCH_STEP'] ?? 100);
/** How often memory is looked at, ms: peaks between two looks are missed. */
const LOOK_MS = 100;

const folder = tempFolder();
const workers = openDocumentWorkers({ processes: 2 });

/** Parts on the disk, as the service has them in object storage. */
const shelfIn = (name: string): PartShelf => ({
  find: (part) => readFile(join(folder.path, `${name}-${part}`)).catch(() => undefined),
  put: (part, bytes) => writeFile(join(folder.path, `${name}-${part}`), bytes),
});

/** The most memory since it was asked last. */
const peaks = () => {
  let peak = { own: 0, children: 0 };
  const timer = setInterval(() => {
    const [own, ...children] = processTree(process.pid);
    const read = children.reduce((mb, { rssMb }) => mb + rssMb, 0);
    peak = { own: Math.max(peak.own, own?.rssMb ?? 0), children: Math.max(peak.children, read) };
  }, LOOK_MS);
  return {
    take: () => {
      const taken = peak;
      peak = { own: 0, children: 0 };
      return taken;
    },
    stop: () => clearInterval(timer),
  };
};

const measured = async (
  name: string,
  pages: readonly string[],
  work: (request: {
    readonly path: string;
    readonly shelf: PartShelf;
    readonly onPages: (done: number) => void;
  }) => Promise<{ readonly kind: string }>,
): Promise<void> => {
  const path = join(folder.path, `${name}.pdf`);
  const bytes = pagedPdf(pages);
  await writeFile(path, bytes);
  console.log(`\n${name}: ${pages.length} pages, ${(bytes.length / 1e6).toFixed(1)} MB\n`);
  console.log(
    '| pages | seconds | CPU ms a page | this process, MB | processes that read, MB |\n' +
      '| ---: | ---: | ---: | ---: | ---: |',
  );
  const began = performance.now();
  const memory = peaks();
  const spent = cpuSince([process.pid]);
  const row = (label: string, done: number): void => {
    const { own, children } = memory.take();
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const cpuMs = (spent() / done).toFixed(1);
    console.log(`| ${label} | ${seconds} | ${cpuMs} | ${own.toFixed(0)} | ${children.toFixed(0)} |`);
  };
  let next = STEP;
  const onPages = (done: number): void => {
    if (done < next) return;
    row(String(done), done);
    next = STEP * (Math.floor(done / STEP) + 1);
  };
  const answer = await work({ path, shelf: shelfIn(name), onPages });
  row('joined', pages.length);
  memory.stop();
  if (answer.kind !== 'ok') throw new Error(`${name}: ${answer.kind}`);
};

const numbers = Array.from({ length: PAGES }, (_, i) => i + 1);
const limits = {
  effort: 'standard',
  pagesMax: PAGES,
  deadlineMs: 120_000,
  share: 'bench',
  fileName: null,
} as const;
const schema = {
  type: 'object',
  properties: {
    account_number: { type: 'string' },
    entries: {
      type: 'array',
      items: {
        type: 'object',
        properties: { date: { type: 'string' }, voucher: { type: 'string' }, amount: { type: 'number' } },
      },
    },
  },
};

/** Turns in which a helper reads all ranges, and the owner the rest of the document. */
const apart = () => {
  const done = new Set<number>();
  let known: { readonly part: string; readonly ranges: number } | undefined;
  const owner: RangeTurns = {
    take: ({ part, ranges }) => {
      known ??= { part, ranges };
      return Promise.resolve({ mine: [], done });
    },
    leave: () => Promise.resolve(),
  };
  let next = 0;
  const mine = new Set<number>();
  const helper: RangeTurns = {
    take: ({ ranges, done: ended, most }) => {
      for (const at of ended) {
        done.add(at);
        mine.delete(at);
      }
      for (; next < ranges && mine.size < most; next += 1) mine.add(next);
      return Promise.resolve({ mine: [...mine], done });
    },
    leave: () => Promise.resolve(),
  };
  return { owner, helper, part: () => known?.part };
};

/** Workers of one core each that take part. */
const WORKERS = [1, 2, 3, 6];

interface Shared {
  readonly path: string;
  readonly shelf: PartShelf;
  readonly turns: RangeTurns;
  readonly onPages: () => void;
}

/**
 * CPU seconds of a document that others read ranges of: of reading them, which any worker does, and of what its owner
 * alone does. From these follows how much faster several workers are, if each has a core and ranges are taken as soon
 * as one is free: the owner's own work in order goes on while others read.
 */
const shared = async (
  name: string,
  pages: readonly string[],
  work: (request: Shared) => Promise<{ readonly kind: string }>,
): Promise<void> => {
  const path = join(folder.path, `${name}-shared.pdf`);
  await writeFile(path, pagedPdf(pages));
  const shelf = shelfIn(`${name}-shared`);
  const helpers = openDocumentWorkers({ processes: 1 });
  const spent = { before: 0, owner: 0, helper: 0 };
  const deafen = [
    workers.listen((_, ms) => void (spent.owner += ms)),
    helpers.listen((_, ms) => void (spent.helper += ms)),
  ];
  try {
    const { owner, helper, part } = apart();
    const answer = work({ path, shelf, turns: owner, onPages: () => undefined });
    while (part() === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
    spent.before = spent.owner;
    const { share } = limits;
    const { signal } = new AbortController();
    await helpers.ranged.help({ path, shelf, share, signal, turns: helper, part: part() ?? '' });
    const { kind } = await answer;
    if (kind !== 'ok') throw new Error(`${name}: ${kind}`);
  } finally {
    for (const end of deafen) end();
    await helpers.close();
  }
  const seconds = (ms: number): string => (ms / 1000).toFixed(1);
  const after = spent.owner - spent.before;
  console.log(
    `\n${name}, ${pages.length} pages, CPU s: the look of the whole ${seconds(spent.before)}, ranges ` +
      `${seconds(spent.helper)}, the owner's work in order and the join ${seconds(after)}`,
  );
  const timeOf = (count: number): number => spent.before + Math.max(after, (spent.helper + after) / count);
  const faster = WORKERS.map((count) => `${count}: ${(timeOf(1) / timeOf(count)).toFixed(2)}`);
  console.log(`as many times as fast with so many workers of a core (computed): ${faster.join(', ')}`);
};

try {
  await shared('report to markdown', reportPages(PAGES), (request) =>
    workers.ranged.render({ ...limits, ...request, numbers }),
  );
  await shared('ledger to data', ledgerPages(PAGES), (request) =>
    workers.ranged.extract({ ...limits, ...request, numbers, schema, settings: { citations: true } }),
  );
  await measured('report to markdown', reportPages(PAGES), (request) =>
    workers.ranged.render({ ...limits, ...request, numbers }),
  );
  await measured('ledger to data', ledgerPages(PAGES), (request) =>
    workers.ranged.extract({ ...limits, ...request, numbers, schema, settings: { citations: true } }),
  );
} finally {
  await workers.close();
  folder.remove();
}
