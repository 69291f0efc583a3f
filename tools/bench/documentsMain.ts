import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { readFileAsDocument } from '@quire/engine/formats/readDocument';
import { ADMIN_KEY, startService, type ServiceProcess } from '../../test/support/serviceProcess.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { OFFICE_PEERS, PDF_PEERS, takingTurns, type PeerRun } from '../../engine/test/bench/documentPeers.ts';
import { convertingOver, inOneWorker, type Sample } from '../../engine/test/bench/documents.ts';
import { pagedPdf } from '../../engine/test/bench/pagedPdf.ts';
import { reportPages } from '../../engine/test/bench/pdfPages.ts';
import { scannedReport } from '../../engine/test/bench/scans.ts';
import { wordFileOf } from '../../engine/test/bench/wordFile.ts';

const { env } = process;
const wanted = {
  seconds: Number(env['BENCH_SECONDS'] ?? 10),
  inFlight: Number(env['BENCH_IN_FLIGHT'] ?? 4),
  warmUps: Number(env['BENCH_WARM_UPS'] ?? 10),
  pages: Number(env['BENCH_PAGES'] ?? 40),
  largePages: Number(env['BENCH_LARGE_PAGES'] ?? 400),
  scannedPages: Number(env['BENCH_SCANNED_PAGES'] ?? 6),
  rounds: Number(env['BENCH_ROUNDS'] ?? 7),
};

const folder = tempFolder();
const sampleOf = (name: string, bytes: Buffer, pages: number): Sample => ({
  path: folder.file(name, bytes),
  bytes,
  pages,
});

const openCaller = async ({ url, pid }: Pick<ServiceProcess, 'url' | 'pid'>) => {
  const admin = async (method: string, path: string, body: unknown): Promise<unknown> => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const bucket = { rate_per_second: 10_000, burst: 10_000 };
  const openTenant = async (tenant: string): Promise<string> => {
    const { key } = (await admin('POST', '/v1/api-keys', { tenant_id: tenant })) as { key: string };
    await admin('PUT', `/v1/admin/tenants/${tenant}/rate-limits`, { general: bucket, heavy: bucket });
    const gift = { credits: 1_000_000_000, reason: 'bench' };
    await admin('POST', `/v1/admin/tenants/${tenant}/adjust-credits`, gift);
    return key;
  };
  const keys: string[] = [];
  for (let n = 0; n < wanted.inFlight; n += 1) keys.push(await openTenant(`bench-${n}`));
  return { url, keys, pid };
};

/** Seconds a page beside pages a second, whichever is easier to read. */
const shown = (run: Awaited<ReturnType<typeof takingTurns>>[number]) => {
  if (!isRun(run)) return { what: run.name, 'pages/s': 'not installed' };
  const { name, ms, pagesPerSecond, cpuMsAPage, characters } = run;
  const rate = { 'pages/s': Math.round(pagesPerSecond), 'CPU ms a page': cpuMsAPage.toFixed(2) };
  return { what: name, ...rate, 'ms a document': Math.round(ms), characters };
};
const isRun = (run: PeerRun | { readonly missing: true }): run is PeerRun => !('missing' in run);

const report = sampleOf('report.pdf', pagedPdf(reportPages(wanted.pages)), wanted.pages);
const large = sampleOf('large.pdf', pagedPdf(reportPages(wanted.largePages)), wanted.largePages);
const scans = sampleOf('scans.pdf', await scannedReport(wanted.scannedPages), wanted.scannedPages);

const service = await startService(`${folder.path}/data`);
try {
  const caller = await openCaller(service);
  const load = { inFlight: wanted.inFlight, seconds: wanted.seconds, warmUps: wanted.warmUps };
  const digital = await convertingOver(caller, report, load);
  const alone = await convertingOver(caller, report, { inFlight: 1, seconds: wanted.seconds, warmUps: 1 });
  const scanned = await convertingOver(caller, scans, {
    inFlight: 2,
    seconds: 2 * wanted.seconds,
    warmUps: 1,
  });
  const overHttp = ([what, pages, run]: readonly [string, number, typeof digital]) => ({
    what,
    'pages/s': Number((run.perSecond * pages).toFixed(1)),
    's a page, of one document': (run.p50Ms / 1000 / pages).toFixed(3),
    'p50/p99 ms': `${Math.round(run.p50Ms)} / ${Math.round(run.p99Ms)}`,
    'processor ms a page': (run.processorMs / pages).toFixed(1),
    documents: run.done,
  });
  console.log(`POST /v1/to-markdown, keep-alive, client and service on ${availableParallelism()} cores`);
  console.table([
    overHttp([`PDF of ${report.pages} pages, ${wanted.inFlight} in flight`, report.pages, digital]),
    overHttp([`PDF of ${report.pages} pages, one at a time`, report.pages, alone]),
    overHttp([`scan of ${scans.pages} pages with OCR, 2 in flight`, scans.pages, scanned]),
  ]);
} finally {
  await service.stop('SIGTERM');
}

const costs = [];
for (const sample of [report, large, scans]) {
  const { ms, peakMb, rendition } = await inOneWorker(sample);
  costs.push({
    what: `${sample.pages} pages, ${rendition.pages[0]?.source ?? ''}`,
    'pages/s': ((sample.pages * 1000) / ms).toFixed(1),
    'peak MB': Math.round(peakMb),
  });
}
console.log('a fresh worker: its start included, and the most memory that it ever held');
console.table(costs);

console.log(`one document at a time, medians of ${wanted.rounds} rounds, in turn`);
console.table((await takingTurns(PDF_PEERS, report, wanted)).map(shown));
const parsed = await readFileAsDocument({
  bytes: await readFile(report.path),
  fileName: null,
  effort: 'standard',
  pagesMax: report.pages,
  languages: [],
});
if (parsed.kind !== 'ok') throw new Error(JSON.stringify(parsed));
const word = sampleOf('report.docx', wordFileOf(parsed.document), report.pages);
console.log('the same text as a Word file: pandoc does not read PDF');
console.table((await takingTurns(OFFICE_PEERS, word, wanted)).map(shown));
folder.remove();
