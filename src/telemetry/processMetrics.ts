import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { PageSummary } from '@quire/engine/document/document';
import type { DocumentParser, ParseResult, ReadResult } from '@quire/engine/ports/documentParser';
import type { ExtractionEngine } from '@quire/engine/ports/extractionEngine';
import type { Tracer } from '../../domain/ports/log.ts';

/** Makes counters and histograms of a registry. */
export const metersOn = (register: Registry) => {
  const registers = [register];
  return {
    counter: <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter({ name, help, labelNames, registers }),
    /** `buckets` in the unit of the name. */
    histogram: <Label extends string = never>(
      name: string,
      help: string,
      { buckets, labelNames = [] }: { readonly buckets: number[]; readonly labelNames?: readonly Label[] },
    ) => new Histogram({ name, help, buckets, labelNames, registers }),
  };
};

/** Ports of work on documents that are watched. */
interface WatchedWork {
  readonly parser: DocumentParser;
  readonly localEngine: ExtractionEngine;
}

/** One piece of work that has ended; `pages` is empty where it failed or only counted. */
interface Ended {
  readonly work: 'inspect' | 'parse' | 'render' | 'extract';
  readonly outcome: string;
  readonly seconds: number;
  readonly pages: readonly PageSummary[];
}

const SOURCES = ['text_layer', 'ocr', 'model', 'markup'] as const;
const BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

const measures = (register: Registry): ((ended: Ended) => void) => {
  const { counter, histogram } = metersOn(register);
  const seconds = histogram(
    'quire_document_seconds',
    'Time of work on a document, including the wait for a free process.',
    { buckets: BUCKETS, labelNames: ['work', 'outcome'] },
  );
  const pages = counter(
    'quire_document_pages_total',
    'Pages read, by where their text came from; ocr: recognised here.',
    'source',
  );
  const ocr = histogram(
    'quire_ocr_seconds',
    'Time to read documents with at least one recognised page, including the wait for a process.',
    { buckets: BUCKETS },
  );
  for (const source of SOURCES) pages.inc({ source }, 0);
  return (ended) => {
    seconds.observe({ work: ended.work, outcome: ended.outcome }, ended.seconds);
    for (const { source } of ended.pages) pages.inc({ source });
    if (ended.pages.some(({ source }) => source === 'ocr')) ocr.observe(ended.seconds);
  };
};

type Answer = { readonly kind: string };

const noPages = (): readonly PageSummary[] => [];
const pagesOfDocument = (answer: ParseResult | ReadResult): readonly PageSummary[] =>
  answer.kind === 'ok' ? answer.document.pages : [];

/** Measures and traces work on documents: how long it took, and where its pages' text came from. */
export const watchedDocuments = (
  { parser, localEngine }: WatchedWork,
  { register, tracer }: { readonly register: Registry; readonly tracer: Tracer },
): WatchedWork => {
  const measure = measures(register);
  const watched = async <A extends Answer>(
    work: Ended['work'],
    run: () => Promise<A>,
    pagesOf: (answer: A) => readonly PageSummary[],
  ): Promise<A> => {
    const span = tracer.begin(`document ${work}`);
    const began = performance.now();
    const ended = (outcome: string, pages: readonly PageSummary[]) => {
      measure({ work, outcome, pages, seconds: (performance.now() - began) / 1000 });
      const ocr_pages = pages.filter(({ source }) => source === 'ocr').length;
      span.end({ 'quire.outcome': outcome, 'quire.pages': pages.length, 'quire.ocr_pages': ocr_pages });
    };
    try {
      const answer = await run();
      ended(answer.kind, pagesOf(answer));
      return answer;
    } catch (error) {
      ended('error', []);
      throw error;
    }
  };
  return {
    parser: {
      inspect: (request) => watched('inspect', () => parser.inspect(request), noPages),
      parse: (request) => watched('parse', () => parser.parse(request), pagesOfDocument),
      read: (request) => watched('parse', () => parser.read(request), pagesOfDocument),
      render: (request) =>
        watched(
          'render',
          () => parser.render(request),
          (a) => (a.kind === 'ok' ? a.rendition.pages : []),
        ),
      close: () => parser.close(),
    },
    localEngine: {
      name: localEngine.name,
      extract: (request) =>
        watched(
          'extract',
          () => localEngine.extract(request),
          (a) => (a.kind === 'ok' ? a.extraction.pages : []),
        ),
    },
  };
};

/** Figures that may not be there now: then their gauges vanish from the page. */
type Ask<Figures> = () => Promise<Figures | undefined> | Figures | undefined;

/**
 * Gauges that show figures as they are when a page of metrics is asked for. One whose value is undefined is not
 * shown.
 */
export const pulledGauges =
  <Figures>(register: Registry, figures: Ask<Figures>) =>
  (name: string, help: string, value: (figures: Figures) => number | undefined): void => {
    new Gauge({
      name,
      help,
      registers: [register],
      async collect() {
        const known = await figures();
        this.reset();
        this.remove();
        const shown = known === undefined ? undefined : value(known);
        if (shown !== undefined) this.set(shown);
      },
    });
  };

/** As `pulledGauges`, each with values by one label; a value that is left out is not shown. */
export const pulledGaugesBy =
  <Figures>(register: Registry, label: string, figures: Ask<Figures>) =>
  (name: string, help: string, values: (figures: Figures) => Iterable<readonly [string, number]>): void => {
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [register],
      async collect() {
        const known = await figures();
        this.reset();
        if (known === undefined) return;
        for (const [at, value] of values(known)) this.set({ [label]: at }, value);
      },
    });
  };

const LOOP_EVERY_MS = 50;

/**
 * How late the main thread comes to a timer: what every caller waits beyond their own work. Held it is by our
 * code, by a collection of garbage, or by a machine that is busy with others. Gives the way to stop it.
 */
export const watchLoopDelay = (register: Registry): (() => void) => {
  const delay = metersOn(register).histogram(
    'quire_event_loop_delay_seconds',
    'How late the main thread runs a timer of 50 ms. Above 0.2 s something blocks the thread.',
    { buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 5, 30] },
  );
  let due = performance.now() + LOOP_EVERY_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    delay.observe(Math.max(0, now - due) / 1000);
    due = now + LOOP_EVERY_MS;
  }, LOOP_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
};

/** Files that processes opened, jobs that found theirs open, and files that are kept open now. */
type OpeningsOf = () => { readonly opened: number; readonly wentOn: number; readonly kept: number };

/** How often documents are opened: once for a request, unless its process was needed for others meanwhile. */
export const openingMetrics = (register: Registry, openings: OpeningsOf): void => {
  const registers = [register];
  new Counter({
    name: 'quire_document_openings_total',
    help: 'Jobs on a file by how they came to it: opened, or kept open by an earlier job of the request.',
    labelNames: ['how'] as const,
    registers,
    collect() {
      const { opened, wentOn } = openings();
      this.reset();
      this.inc({ how: 'opened' }, opened);
      this.inc({ how: 'kept' }, wentOn);
    },
  });
  new Gauge({
    name: 'quire_documents_kept_open',
    help: 'Files that are kept open now for the next job of their request.',
    registers,
    collect() {
      this.set(openings().kept);
    },
  });
};

export interface PullOptions {
  /** How old figures may be before they are read again, ms. */
  readonly everyMs?: number;
  /** How long a page of metrics waits for them, ms; what comes later is for the next page. */
  readonly patienceMs?: number;
  readonly nowMs?: () => number;
}

const PULL_EVERY_MS = 15_000;
const PATIENCE_MS = 2_000;

interface Reading<Figures> {
  readonly figures: Figures | undefined;
  readonly at: number;
}

const waitFor = async (work: Promise<unknown>, ms: number): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
};

/**
 * Reads figures when a page of metrics asks for them: at most every `everyMs`, never twice at once.
 * Gives undefined when they cannot be had now, so that a gauge vanishes instead of failing the page.
 */
export const pulled = <Figures>(
  read: () => Promise<Figures>,
  { everyMs = PULL_EVERY_MS, patienceMs = PATIENCE_MS, nowMs = () => performance.now() }: PullOptions = {},
): (() => Promise<Figures | undefined>) => {
  let last: Reading<Figures> | undefined;
  let reading: Promise<void> | undefined;
  const readOnce = async () => {
    const figures = await read().catch(() => undefined);
    last = { figures, at: nowMs() };
  };
  return async () => {
    if (last === undefined || nowMs() - last.at >= everyMs) {
      reading ??= readOnce().finally(() => (reading = undefined));
      await waitFor(reading, patienceMs);
    }
    const isStale = last === undefined || nowMs() - last.at >= everyMs;
    return isStale ? undefined : last?.figures;
  };
};

/** What parts of the service say of themselves, by name. */
interface PartsReport {
  readonly parts: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Which parts answer, as `/health` has it; the version that runs. */
export const partMetrics = (
  register: Registry,
  { health, version }: { readonly health: () => Promise<PartsReport>; readonly version: string },
  options: PullOptions = {},
): void => {
  const report = pulled(health, { patienceMs: 3_000, ...options });
  pulledGaugesBy(register, 'part', report)(
    'quire_part_up',
    '1 while a part of the service answers: event_log, read_models, objects, limits, projections.',
    ({ parts }) =>
      Object.entries(parts).map(([name, { status }]) => [name, status === 'down' ? 0 : 1] as const),
  );
  pulledGaugesBy(register, 'version', () => version)(
    'quire_build',
    'Always 1; the version that runs.',
    (running) => [[running, 1]],
  );
  pulledGauges(register, () => process.uptime())(
    'quire_uptime_seconds',
    'Seconds since this process started.',
    (seconds) => seconds,
  );
};

/** Jobs of one kind of children that gave way to those of other tenants. */
interface Pauses {
  readonly jobs: number;
  readonly totalMs: number;
}

/** Of the children that read documents, and of those that learn. */
type PausesOf = () => Readonly<Record<'documents' | 'lessons', Pauses>>;

/** Children that are stopped so that other tenants get their turn: how many are, and for how long they were. */
export const pauseMetrics = (register: Registry, pauses: PausesOf): void => {
  const registers = [register];
  const labelNames = ['pool'] as const;
  new Gauge({
    name: 'quire_children_paused',
    help: 'Processes that are paused now, so that the work of other tenants gets its turn.',
    labelNames,
    registers,
    collect() {
      for (const [pool, { jobs }] of Object.entries(pauses())) this.set({ pool }, jobs);
    },
  });
  new Counter({
    name: 'quire_children_paused_seconds_total',
    help: 'Time that processes were paused for the work of other tenants.',
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const [pool, { totalMs }] of Object.entries(pauses())) this.inc({ pool }, totalMs / 1000);
    },
  });
};
