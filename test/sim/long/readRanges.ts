import type { ChildPool } from '@quire/engine/isolation/children/childPool';
import type { Job, JobFile } from '@quire/engine/isolation/children/jobs';
import { rangedWork } from '@quire/engine/isolation/rangedWork';
import type { ProcessEnv } from '../env.ts';

/** A document of more pages is read in ranges. */
export const LONG_PAGES = 40;

export const PDF = 'application/pdf';

/** What the processes that read make of pages. */
interface ReadPages {
  readonly tag: string;
  /** As they are spelled: `1-20`. */
  readonly pages: string;
}

const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const valueIn = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes));

/** Pages in what `ReadPages` spells. */
const countOf = ({ pages }: ReadPages): number => {
  const [from = 0, to = from] = pages.split('-').map(Number);
  return to - from + 1;
};

/** Time that a range takes, ms. */
const RANGE_MS = 3_000;

/** The real work on ranges, and processes that read each as it is in the file. */
export const rangesOn = (env: ProcessEnv) => {
  const { fileAt, work, clock, die } = env;
  const read = async ({ path, pages = '' }: JobFile) => {
    const file = fileAt(path);
    env.reads(file, pages);
    // Long enough that other workers come to it.
    await new Promise((resolve) => setTimeout(resolve, RANGE_MS));
    await work(`range ${pages}`);
    if (file.ends === 'deadly') await die();
    if (file.ends === 'badly') return { kind: 'unreadable', detail: 'it is broken' };
    const plain = { markdown: '', pages: [], warnings: [], hasText: true };
    const packed = bytesOf({ tag: file.tag, pages } satisfies ReadPages);
    return { kind: 'ok', document: { mimeType: PDF, ...plain, packed } };
  };
  const joined = (parts: readonly Uint8Array[]) => {
    const ranges = parts.map((part) => valueIn(part) as ReadPages);
    const pages = ranges.reduce((sum, one) => sum + countOf(one), 0);
    const value = { tag: ranges[0]?.tag ?? '', pages, run: clock.uuid(), ranges };
    const plain = { validationErrors: [], citations: [], pages: [], warnings: [] };
    return { kind: 'ok', extraction: { mimeType: PDF, value, ...plain } };
  };
  const answerOf = async (job: Job): Promise<unknown> => {
    if (job.kind === 'read') return read(job.file);
    await work(job.kind);
    if (job.kind === 'survey') return { kind: 'surveyed', traits: undefined };
    if (job.kind === 'joinExtracted') return joined(job.parts);
    if (job.kind !== 'extractPart') throw new Error(`nobody does ${job.kind} here`);
    const lead = job.lead === undefined ? null : (valueIn(job.lead) as ReadPages).pages;
    const part = { ...(valueIn(job.packed) as ReadPages), lead };
    return { kind: 'part', part: bytesOf(part), lead: job.packed };
  };
  const pool: Pick<ChildPool, 'run'> = {
    run: async (job, { signal }) => {
      const answer = await answerOf(job as Job);
      return signal?.aborted === true
        ? { kind: 'aborted' }
        : { kind: 'answered', answer, keeps: false, openings: 0 };
    },
  };
  return rangedWork(pool as ChildPool, { languages: [], engines: undefined });
};
