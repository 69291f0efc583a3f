import { setTimeout as pause } from 'node:timers/promises';
import { openDocumentWorkers } from '@quire/engine/isolation/documentWorkers';
import { cpuMsOf } from '@quire/engine/isolation/children/processFamily';
import { keptFile } from '@quire/engine/ports/keptFile';
import { readFileAsDocument } from '@quire/engine/formats/readDocument';
import { pagedPdf } from '../../engine/test/bench/pagedPdf.ts';
import { reportPages } from '../../engine/test/bench/pdfPages.ts';
import { wordFileOf } from '../../engine/test/bench/wordFile.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';

/*
 * CPU time of a count, a hold of some milliseconds and a rendering, with the file kept open in between and
 * without, in turn (ADR 32). Needs Linux's /proc.
 */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
/** Of the usual number of requests. */
const SHARE = Number(process.env['BENCH_SHARE'] ?? 1);
/** Part of the names of the files that are read. */
const ONLY = process.env['BENCH_ONLY'] ?? '';
const HOLD_MS = Number(process.env['BENCH_HOLD_MS'] ?? 5);
/** Requests in flight, and of how many tenants. */
const LOADS = [
  [1, 1],
  [4, 1],
  [8, 4],
] as const;

interface Sample {
  readonly name: string;
  readonly bytes: Buffer;
  /** In a round. */
  readonly requests: number;
}

const report = pagedPdf(reportPages(40));
const wholeReport = { bytes: report, fileName: null, effort: 'fast', pagesMax: 40, languages: [] } as const;
const parsed = await readFileAsDocument(wholeReport);
if (parsed.kind !== 'ok') throw new Error(parsed.kind);
const rows = Array.from({ length: 11_000 }, (_, n) => `row ${n},${n},${n * 3}.50`);
const SAMPLES: readonly Sample[] = [
  { name: 'two.pdf', bytes: pagedPdf(reportPages(2)), requests: 40 },
  { name: 'report.pdf', bytes: report, requests: 8 },
  { name: 'report.docx', bytes: wordFileOf(parsed.document), requests: 24 },
  { name: 'rows.csv', bytes: Buffer.from(['name,number,total', ...rows].join('\n')), requests: 8 },
];

const folder = tempFolder();
const workers = openDocumentWorkers({ processes: 2 });

const request = async ({ name }: Sample, share: string, keeps: boolean): Promise<void> => {
  const kept = keeps ? keptFile() : undefined;
  const path = `${folder.path}/${name}`;
  const limits = { pagesMax: 1_000, deadlineMs: 60_000 };
  const asked = { path, fileName: name, effort: 'fast', share, kept, ...limits } as const;
  const counted = await workers.parser.inspect(asked);
  await pause(HOLD_MS);
  const rendered = await workers.parser.render(asked);
  kept?.close();
  if (counted.kind !== 'ok' || rendered.kind !== 'ok') throw new Error(`${counted.kind}, ${rendered.kind}`);
};

const cpuMs = (): number => cpuMsOf(process.pid) ?? Number.NaN;

/** CPU time of a request, ms, and which part of the requests found their file open. */
const round = async (sample: Sample, [inFlight, tenants]: readonly [number, number], keeps: boolean) => {
  const requests = Math.ceil(sample.requests * SHARE);
  const [cpu, { wentOn }] = [cpuMs(), workers.openings()];
  let left = requests;
  const caller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await request(sample, `tenant-${left % tenants}`, keeps);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return { ms: (cpuMs() - cpu) / requests, open: (workers.openings().wentOn - wentOn) / requests };
};

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

const shown = [];
for (const sample of SAMPLES.filter(({ name }) => name.includes(ONLY))) {
  folder.file(sample.name, sample.bytes);
  for (const load of LOADS) {
    const twice: number[] = [];
    const once: number[] = [];
    let open = 0;
    // Processes are started and code is compiled in the first round.
    await round(sample, load, true);
    for (let n = 0; n < ROUNDS; n += 1) {
      twice.push((await round(sample, load, false)).ms);
      const kept = await round(sample, load, true);
      once.push(kept.ms);
      open += kept.open / ROUNDS;
    }
    shown.push({
      file: sample.name,
      'in flight': `${load[0]} of ${load[1]} tenants`,
      'opened twice, ms': median(twice).toFixed(1),
      'kept open, ms': median(once).toFixed(1),
      'found open': `${Math.round(open * 100)} %`,
    });
  }
}
await workers.close();
folder.remove();
console.log('CPU time of a request: its count and its rendering, medians');
console.table(shown);
