import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { DocumentTools } from '../ports/documentTools.ts';
import {
  openChildPool,
  type ChildPool,
  type Charged,
  type Openings,
  type Pauses,
  type PoolLimits,
} from './children/childPool.ts';
import { fileOf, readWhole, runDocumentJob, type RecognitionMeans, type AnswerTo } from './documentJobs.ts';
import { spelledPages } from '../document/pages.ts';
import { rangedWork } from './rangedWork.ts';
import { checkSchemaRules } from '../extraction/schema/schemaRules.ts';
import type { RecognitionEngine } from '../document/document.ts';
import type { JsonObject } from '../kernel/json.ts';
import { type DocumentParser, type ParseRequest, ProcessNotStarted } from '../ports/documentParser.ts';
import type {
  ExtractionEngine,
  RangedWork,
  SchemaCheck,
  SchemaValidator,
} from '../ports/extractionEngine.ts';
import type { DocumentSorter } from '../ports/sorting.ts';
import type { LocalLearner, LearningLimits, LearningResult, TrainingProgress } from '../ports/training.ts';
import { confinementHere, type Confinement, type Protection } from './confinement/confinement.ts';
import type { Job, JobFile, JobOutcome } from './children/jobs.ts';

/** What a child that is killed for its time or its memory is called to the caller. */
const FAILURES: Readonly<Record<'timed_out' | 'starved' | 'out_of_memory' | 'died', string>> = {
  timed_out: 'The training did not end in time: give fewer or shorter examples.',
  starved: 'The server had too much to do to train.',
  out_of_memory: 'The training needs more memory than one job may use: give fewer or shorter examples.',
  died: 'The training ended before its time.',
};

const resultOf = (outcome: JobOutcome): LearningResult => {
  switch (outcome.kind) {
    case 'answered':
      return outcome.answer as LearningResult;
    case 'aborted':
      return { kind: 'aborted' };
    case 'failed':
      throw new Error(`a learning job failed: ${outcome.message}`);
    case 'not_started':
      throw new ProcessNotStarted(outcome.message);
    default:
      return { kind: 'failed', detail: FAILURES[outcome.kind] };
  }
};

/** Learning in the children of a pool, one job at a time each. */
const localLearner = (pool: ChildPool): LocalLearner => ({
  learn: async (task, { onProgress, ...limits }: LearningLimits) => {
    const told = (progress: unknown): void => onProgress(progress as TrainingProgress);
    return resultOf(await pool.run({ kind: 'learn', ...task }, { ...limits, onProgress: told }));
  },
});

const NOTHING = new Uint8Array();

/** Sorting in the children of a pool. */
const documentSorter = (pool: ChildPool): DocumentSorter => ({
  classify: ({ document: { packed }, classes }, limits) =>
    runDocumentJob(pool, { kind: 'classify', packed, classes }, limits),
  split: ({ document: { packed }, classes }, limits) =>
    runDocumentJob(pool, { kind: 'split', packed, classes }, limits),
});

/** What model work needs of documents, done by the processes that parse. */
const documentTools = (pool: ChildPool, means: RecognitionMeans): DocumentTools => ({
  pictures: (request) =>
    runDocumentJob(pool, { kind: 'pictures', file: fileOf(request, { ...means, isLast: false }) }, request),
  documentOf: (read, limits) => runDocumentJob(pool, { kind: 'documentOf', ...read }, limits),
  render: ({ packed }, { form, ...limits }) =>
    runDocumentJob(pool, { kind: 'renderDocument', packed, form }, limits),
  extractFrom: ({ document: { packed }, ...work }, limits) =>
    runDocumentJob(pool, { kind: 'extractFrom', packed, ...work }, limits),
  ground: ({ document: { packed }, ...work }, limits) =>
    runDocumentJob(
      pool,
      { kind: 'ground', packed: work.cited === undefined ? packed : NOTHING, ...work },
      limits,
    ),
  joined: (parts, limits) =>
    runDocumentJob(pool, { kind: 'joinRead', parts, late: [], failed: [], isHurried: false }, limits),
  layoutText: ({ packed }, limits) => runDocumentJob(pool, { kind: 'layoutText', packed }, limits),
  rankPages: (work, limits) => runDocumentJob(pool, { kind: 'rankPages', ...work }, limits),
  tableFile: ({ limits, ...request }) =>
    runDocumentJob(
      pool,
      { kind: 'tableFile', file: fileOf(request, { ...means, isLast: true }), limits },
      request,
    ),
  score: (work, limits) => runDocumentJob(pool, { kind: 'score', ...work }, limits),
});

interface DocumentWorkersOptions {
  /** Jobs at the same time. Default: the number of cores. */
  readonly processes?: number;
  /** Of one child, native memory included. Default: 1,024. */
  readonly memoryMb?: number;
  /** How long a child may rest before it ends. Default: 30 s. */
  readonly idleMs?: number;
  /** For checking a schema or validating against it. Default: 5 s. */
  readonly schemaDeadlineMs?: number;
  /** Languages of recognition, by Tesseract's names, the most likely first. */
  readonly ocrLanguages?: readonly string[];
  /** What recognises pictures of text. Default: all that are installed. */
  readonly ocrEngines?: readonly RecognitionEngine[];
  /** The module that children run; tests give their own. */
  readonly entry?: string;
  /** How long a request's file is kept open for its next job. Default: 10 s. */
  readonly keptMs?: number;
  /** How long a job may take at the least on a machine that has no time for it. Default: 10 s. */
  readonly patienceMs?: number;
  /** How children are confined. Default: as well as this machine can. */
  readonly confinement?: () => Promise<Confinement>;
}

/** Pools of isolated processes, and the ports that they serve. `close` ends them all. */
export interface DocumentWorkers {
  readonly parser: DocumentParser;
  readonly localEngine: ExtractionEngine;
  readonly schemaValidator: SchemaValidator;
  readonly tools: DocumentTools;
  /** Long documents, in ranges of their pages. */
  readonly ranged: RangedWork;
  /** Tells what documents are, and where one ends in a stack. */
  readonly sorter: DocumentSorter;
  /** Teaches the local engine, in one process of its own. */
  readonly learner: LocalLearner;
  /** What keeps the processes from everything but their work, as this machine has it. */
  protection(): Promise<Protection>;
  /** A share will have work soon: a process is started for it, unless one is there. It ends when it was idle. */
  expect(share: string): void;
  /** Jobs that gave way to those of others. */
  pauses(): Readonly<Record<'documents' | 'lessons', Pauses>>;
  /** Files that were opened for jobs, and that are kept open for the next. */
  openings(): Openings;
  /** Tells of CPU time that documents cost a share, as it is charged, ms; gives what ends that. */
  listen(charged: Charged): () => void;
  close(): Promise<void>;
}

export const LOCAL_ENGINE_NAME = 'local/default';
/** Shipped with the service. */
const OCR_LANGUAGES: readonly string[] = ['eng', 'deu', 'fra', 'spa', 'ita'];
const SCHEMA_DEADLINE_MS = 5000;
const LEARNING_MB = 2048;
/** One core learns, when documents leave it time; lessons of several tenants take turns on it. */
const LESSONS = { processes: 1, pausedMax: 2, sliceMs: 2_000, niceness: 10 };

/** Nothing is started before the first job; at rest no child is left. */
export function openDocumentWorkers(options: DocumentWorkersOptions = {}): DocumentWorkers {
  const { idleMs = 30_000, confinement = confinementHere } = options;
  const { entry = fileURLToPath(new URL('./child.js', import.meta.url)) } = options;
  const pool = openChildPool({
    processes: options.processes ?? availableParallelism(),
    memoryMb: options.memoryMb ?? 1024,
    idleMs,
    keptMs: options.keptMs,
    patienceMs: options.patienceMs,
    entry,
    confinement,
  });
  const means = { languages: options.ocrLanguages ?? OCR_LANGUAGES, engines: options.ocrEngines };
  // Teaching takes minutes and much memory: it neither waits for documents nor keeps them waiting.
  const lessons = openChildPool({ ...LESSONS, memoryMb: LEARNING_MB, idleMs, entry, confinement });
  const close = async (): Promise<void> => {
    await Promise.all([pool.close(), lessons.close()]);
  };
  const schemas = schemaValidator(pool, options.schemaDeadlineMs ?? SCHEMA_DEADLINE_MS);
  return {
    parser: documentParser(pool, means),
    localEngine: localEngine(pool, means),
    schemaValidator: schemas,
    expect: expecting(schemas),
    tools: documentTools(pool, means),
    ranged: rangedWork(pool, means),
    sorter: documentSorter(pool),
    learner: localLearner(lessons),
    protection: confinement,
    pauses: () => ({ documents: pool.pauses(), lessons: lessons.pauses() }),
    openings: () => pool.openings(),
    listen: (charged) => pool.listen(charged),
    close,
  };
}

const ANY_SCHEMA: JsonObject = { type: 'object', properties: { name: { type: 'string' } } };

/** The smallest job loads what a process needs; one at a time, for callers may expect as often as they like. */
function expecting(schemas: SchemaValidator): (share: string) => void {
  let isBegun = false;
  return (share) => {
    if (isBegun) return;
    isBegun = true;
    const { signal } = new AbortController();
    void schemas
      .check(ANY_SCHEMA, { share, signal })
      .catch(() => undefined)
      .finally(() => {
        isBegun = false;
      });
  };
}

/** The file of a request for jobs on some of its pages. */
const partsOf =
  (request: ParseRequest, means: RecognitionMeans) =>
  (numbers: readonly number[]): JobFile =>
    fileOf({ ...request, pages: spelledPages(numbers) }, { ...means, isLast: true });

function documentParser(pool: ChildPool, means: RecognitionMeans): DocumentParser {
  const opening = (request: ParseRequest): JobFile => fileOf(request, { ...means, isLast: false });
  const closing = (request: ParseRequest): JobFile => fileOf(request, { ...means, isLast: true });
  return {
    inspect: (request) => runDocumentJob(pool, { kind: 'inspect', file: opening(request) }, request),
    parse: (request) => runDocumentJob(pool, { kind: 'parse', file: closing(request) }, request),
    read: (request) =>
      readWhole(pool, {
        job: { kind: 'read', file: opening(request) },
        limits: request,
        fileFor: partsOf(request, means),
        goOn: (document) => Promise.resolve({ kind: 'ok', document }),
      }),
    render: (request) =>
      readWhole(pool, {
        job: { kind: 'render', file: closing(request), form: request.form },
        limits: request,
        fileFor: partsOf(request, means),
        goOn: ({ packed }, limits) =>
          runDocumentJob(pool, { kind: 'renderDocument', packed, form: request.form }, limits),
      }),
    close: () => pool.close(),
  };
}

function localEngine(pool: ChildPool, means: RecognitionMeans): ExtractionEngine {
  return {
    name: LOCAL_ENGINE_NAME,
    extract: (request) => {
      const { schema, settings, learned, why } = request;
      const work = { schema, settings, learned, why };
      return readWhole(pool, {
        job: { kind: 'extract', file: fileOf(request, { ...means, isLast: true }), ...work },
        limits: request,
        fileFor: partsOf(request, means),
        goOn: ({ packed }, limits) => runDocumentJob(pool, { kind: 'extractFrom', packed, ...work }, limits),
      });
    },
  };
}

type SchemaJob = Extract<Job, { readonly kind: 'checkSchema' | 'validate' }>;

function schemaValidator(pool: ChildPool, deadlineMs: number): SchemaValidator {
  const run = async <J extends SchemaJob>(
    job: J,
    limits: Pick<PoolLimits, 'signal' | 'share' | 'kept'>,
  ): Promise<AnswerTo<J> | Unavailable> => {
    const outcome = await pool.run(job, { deadlineMs, ...limits });
    if (outcome.kind === 'answered') return outcome.answer as AnswerTo<J>;
    if (outcome.kind === 'failed') throw new Error(`a schema job failed: ${outcome.message}`);
    if (outcome.kind === 'not_started') throw new ProcessNotStarted(outcome.message);
    return unavailable(outcome.kind);
  };
  return {
    check: async (schema, { signal, share, kept }) => {
      const verdict = checkSchemaRules(schema);
      if (verdict.kind !== 'ok') return { kind: 'invalid_schema', detail: verdict.detail };
      return run({ kind: 'checkSchema', schema: verdict.schema } as const, { signal, share, kept });
    },
    validate: (schema: JsonObject, value: JsonObject, { signal, share }) =>
      run({ kind: 'validate', schema, value } as const, { signal, share }),
  };
}

type Unavailable = Extract<SchemaCheck, { readonly kind: 'unavailable' }>;

function unavailable(
  became: Exclude<JobOutcome['kind'], 'answered' | 'failed' | 'not_started'>,
): Unavailable {
  const as = (why: Unavailable['why'], detail: string): Unavailable => ({ kind: 'unavailable', why, detail });
  switch (became) {
    case 'timed_out':
      return as('too_costly', 'The schema takes too long to check: simplify its patterns.');
    case 'starved':
      return as('starved', 'The server has too much to do to check the schema now.');
    case 'aborted':
      return as('aborted', 'The check of the schema was given up.');
    case 'out_of_memory':
    case 'died':
      return as('too_costly', 'The schema could not be checked: it needs more memory than one may use.');
  }
}
