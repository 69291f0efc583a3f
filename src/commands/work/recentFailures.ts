import { extname } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { ParseFailure, ParseRequest } from '@quire/engine/ports/documentParser';
import { sha256 } from '../../../domain/kernel/chain.ts';
import type { ReceivedFile } from './work.ts';

/** Failures of work that would fail again, by name, for a while. */
export interface RecentFailures<Failure> {
  readonly find: (name: string) => Failure | undefined;
  readonly note: (name: string, failure: Failure) => void;
  /** What it was about has changed. */
  readonly forget: (name: string) => void;
}

const KEEP_MS = 60_000;
const ENTRIES_MAX = 10_000;

/** Remembers each for a minute, or as long as is said (ms); evicts the least used beyond ten thousand. */
export const recentFailures = <Failure>(nowMs: () => number, keepMs = KEEP_MS): RecentFailures<Failure> => {
  const failures = new LRUCache<string, { readonly failure: Failure; readonly untilMs: number }>({
    max: ENTRIES_MAX,
  });
  return {
    find: (name) => {
      const found = failures.get(name);
      if (found === undefined || found.untilMs > nowMs()) return found?.failure;
      failures.delete(name);
      return undefined;
    },
    note: (name, failure) => {
      failures.set(name, { failure, untilMs: nowMs() + keepMs });
    },
    forget: (name) => {
      failures.delete(name);
    },
  };
};

type TimedOut = Extract<ParseFailure, { readonly kind: 'timed_out' }>;

/** Work that its deadline ended, by the file's digest and what was asked of it: it would take the time again. */
export type Overruns = RecentFailures<TimedOut>;

/** How long it is remembered, ms: some multiple of the longest deadline, so that asking again gains nothing. */
export const OVERRUN_KEPT_MS = 30 * 60_000;

/** What work does with a file; whatever may change how long it takes is named. */
export interface FileWork {
  readonly file: Pick<ReceivedFile, 'sha256' | 'file_name'>;
  readonly what: 'inspect' | 'render' | 'extract';
  readonly request: Pick<ParseRequest, 'effort' | 'pages' | 'deadlineMs'>;
  /** Of an extraction. */
  readonly schema?: object;
}

const nameOf = ({ file, what, request: { effort, pages, deadlineMs }, schema }: FileWork): string => {
  const ending = extname(file.file_name ?? '').toLowerCase();
  const asked = [
    what,
    effort,
    pages ?? '',
    String(deadlineMs),
    schema === undefined ? '' : JSON.stringify(schema),
  ];
  return sha256([file.sha256, ending, ...asked].join('\u001f'));
};

/** Does the work, unless its deadline ended the same a while ago. */
export const unlessOverrun = async <Answer extends { readonly kind: string }>(
  overruns: Overruns | undefined,
  named: FileWork,
  work: () => Promise<Answer | TimedOut>,
): Promise<Answer | TimedOut> => {
  const name = nameOf(named);
  const before = overruns?.find(name);
  if (before !== undefined) return before;
  const answer = await work();
  if (isTimedOut(answer)) overruns?.note(name, answer);
  return answer;
};

const isTimedOut = (answer: { readonly kind: string }): answer is TimedOut => answer.kind === 'timed_out';
