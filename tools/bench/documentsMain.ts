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
import { tellFigures } from './figures.ts';

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

const pdfOf = (name: string, pages: number): Sample => sampleOf(name, pagedPdf(reportPages(pages)), pages);

type Converted = Awaited<ReturnType<typeof convertingOver>>;

const overHttp = (what: string, pages: number, run: Converted) => ({
  what,
  'pages/s': Number((run.perSecond * pages).toFixed(1)),
  's a page, of one document': (run.p50Ms / 1000 / pages).toFixed(3),
  'p50/p99 ms': `${Math.round(run.p50Ms)} / ${Math.round(run.p99Ms)}`,
  'processor ms a page': (run.processorMs / pages).toFixed(1),
  documents: run.done,
});

/** The whole service under load; gives the pages a second of the report. Without scans it takes half the time. */
const benchService = async (report: Sample, scans: Sample | undefined): Promise<number> => {
  const { inFlight, seconds, warmUps } = wanted;
  const service = await startService(`${folder.path}/data`);
  try {
    const caller = await openCaller(service);
    const digital = await convertingOver(caller, report, { inFlight, seconds, warmUps });
    const alone = await convertingOver(caller, report, { inFlight: 1, seconds, warmUps: 1 });
    const rows = [
      overHttp(`PDF of ${report.pages} pages, ${inFlight} in flight`, report.pages, digital),
      overHttp(`PDF of ${report.pages} pages, one at a time`, report.pages, alone),
    ];
    if (scans !== undefined) {
      const scanned = await convertingOver(caller, scans, { inFlight: 2, seconds: 2 * seconds, warmUps: 1 });
      rows.push(overHttp(`scan of ${scans.pages} pages with OCR, 2 in flight`, scans.pages, scanned));
    }
    console.log(`POST /v1/to-markdown, keep-alive, client and service on ${availableParallelism()} cores`);
    console.table(rows);
    return digital.perSecond * report.pages;
  } finally {
    await service.stop('SIGTERM');
  }
};

const benchWorkers = async (samples: readonly Sample[]): Promise<void> => {
  const costs = [];
  for (const sample of samples) {
    const { ms, peakMb, rendition } = await inOneWorker(sample);
    costs.push({
      what: `${sample.pages} pages, ${rendition.pages[0]?.source ?? ''}`,
      'pages/s': ((sample.pages * 1000) / ms).toFixed(1),
      'peak MB': Math.round(peakMb),
    });
  }
  console.log('a fresh worker: its start included, and the most memory that it ever held');
  console.table(costs);
};

const benchWordFile = async (report: Sample): Promise<void> => {
  const file = { fileName: null, effort: 'standard', pagesMax: report.pages, languages: [] } as const;
  const parsed = await readFileAsDocument({ ...file, bytes: await readFile(report.path) });
  if (parsed.kind !== 'ok') throw new Error(JSON.stringify(parsed));
  const word = sampleOf('report.docx', wordFileOf(parsed.document), report.pages);
  console.log('the same text as a Word file: pandoc does not read PDF');
  console.table((await takingTurns(OFFICE_PEERS, word, wanted)).map(shown));
};

/** `BENCH_ONLY=digital` leaves out scans, fresh workers and Word files. */
const isWhole = env['BENCH_ONLY'] !== 'digital';
const report = pdfOf('report.pdf', wanted.pages);
const scans = isWhole
  ? sampleOf('scans.pdf', await scannedReport(wanted.scannedPages), wanted.scannedPages)
  : undefined;

const pagesPerSecond = await benchService(report, scans);
if (scans !== undefined) await benchWorkers([report, pdfOf('large.pdf', wanted.largePages), scans]);

console.log(`one document at a time, medians of ${wanted.rounds} rounds, in turn`);
const peers = await takingTurns(PDF_PEERS, report, wanted);
console.table(peers.map(shown));
const [own, parser] = peers.filter(isRun);
if (own !== undefined && parser !== undefined)
  tellFigures({
    "digital pages/s over HTTP ÷ the parser's own markdown": pagesPerSecond / parser.pagesPerSecond,
    "the parser's CPU ÷ ours, a digital page in process": parser.cpuMsAPage / own.cpuMsAPage,
  });
if (isWhole) await benchWordFile(report);
folder.remove();
