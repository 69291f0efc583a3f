import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ValidationError } from '@quire/engine/ports/extractionEngine';
import { OperatorError } from '../../operator/protocol.ts';
import { bar } from '../progress.ts';
import type { DocumentFile } from './documentFiles.ts';
import type { Output } from '../output.ts';

/** Why a document was not read: a code of the interface and a sentence. */
export interface FailedDocument {
  readonly kind: 'failed';
  readonly code: string;
  readonly detail: string;
  readonly validationErrors?: readonly ValidationError[];
}

/** What became of one document. `notes` are sentences for who reads along; `about` says it in a few words. */
export type DocumentOutcome<Answer> =
  | {
      readonly kind: 'done';
      readonly answer: Answer;
      readonly about: string;
      readonly notes: readonly string[];
    }
  | FailedDocument;

/** The work on one file, and what is done with its outcome. `work` does not throw. */
interface DocumentWork<Answer> {
  readonly files: readonly DocumentFile[];
  readonly work: (file: DocumentFile) => Promise<DocumentOutcome<Answer>>;
  /** Called in the order of the files. */
  readonly deliver: (outcome: DocumentOutcome<Answer>, at: number) => Promise<void>;
}

/** A message of several lines would tear a report apart. */
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** `file: code: sentence`, and for a misfit where it does not fit. */
const failureText = (path: string, { code, detail, validationErrors }: FailedDocument): string => {
  const misfits = (validationErrors ?? []).map(
    (error) => `\n  ${error.path === '' ? '/' : error.path} ${oneLine(error.message)}`,
  );
  return `${path}: ${code}: ${oneLine(detail)}${misfits.join('')}\n`;
};

/** A bar on a terminal, cleared before anything else is written; elsewhere nothing. */
const filesBar = ({ note, isTerminal }: Output, total: number) => {
  let done = 0;
  let failed = 0;
  const show = (): void => {
    if (!isTerminal) return;
    const failures = failed === 0 ? '' : `, ${String(failed)} failed`;
    note(`\r${bar(done / total)} ${String(done)} of ${String(total)} documents${failures}\u001b[K`);
  };
  return {
    show,
    step: (hasFailed: boolean): void => {
      done += 1;
      if (hasFailed) failed += 1;
      show();
    },
    clear: (): void => {
      if (isTerminal) note('\r\u001b[K');
    },
  };
};

/** Items begun before the first of them is delivered: enough to keep all processes busy. */
const AHEAD = 16;

/** Runs `work` on several items at once and yields in their order. */
async function* inOrder<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const begun: Promise<Result>[] = [];
  let next = 0;
  while (next < items.length || begun.length > 0) {
    for (const item of items.slice(next, next + AHEAD - begun.length)) {
      begun.push(work(item));
      next += 1;
    }
    const first = begun.shift();
    if (first !== undefined) yield await first;
  }
}

interface Told {
  readonly file: DocumentFile;
  readonly at: number;
  readonly of: number;
}

/** One document is its own report; of several each gets a line where no bar shows them. */
const tell = (outcome: DocumentOutcome<unknown>, { file, at, of }: Told, output: Output): void => {
  if (outcome.kind === 'failed') {
    if (of > 1) output.note(failureText(file.path, outcome));
    return;
  }
  for (const text of outcome.notes) output.note(`${file.path}: ${oneLine(text)}\n`);
  if (of > 1 && !output.isTerminal)
    output.note(`[${String(at + 1)}/${String(of)}] ${file.path}: ${outcome.about}\n`);
};

/**
 * Reads documents side by side and delivers them in order; a document that fails stops no other. Throws
 * OperatorError at the end when any did; ends early, without one, when `signal` aborts.
 */
export const runDocuments = async <Answer>(
  { files, work, deliver }: DocumentWork<Answer>,
  output: Output,
): Promise<void> => {
  const { signal } = output;
  const progress = filesBar(output, files.length);
  const failures: string[] = [];
  let at = 0;
  progress.show();
  const worked = inOrder(files, async (file) => {
    const outcome = await work(file);
    if (!signal.aborted) progress.step(outcome.kind === 'failed');
    return outcome;
  });
  for await (const outcome of worked) {
    await nextTurn();
    const file = files[at];
    if (signal.aborted || file === undefined) break;
    progress.clear();
    tell(outcome, { file, at, of: files.length }, output);
    if (outcome.kind === 'failed') failures.push(failureText(file.path, outcome).trimEnd());
    await deliver(outcome, at);
    at += 1;
    if (at < files.length) progress.show();
  }
  progress.clear();
  if (signal.aborted) {
    output.note(`Stopped: ${String(at)} of ${String(files.length)} documents were read.\n`);
    return;
  }
  if (failures.length === 0) return;
  throw new OperatorError(
    files.length === 1
      ? failures.join('\n')
      : `${String(failures.length)} of ${String(files.length)} documents failed.`,
  );
};
