import { resolve, basename } from 'node:path';
import { InvalidArgumentError } from 'commander';
import type { ParseRequest } from '@quire/engine/ports/documentParser';
import { messageOf } from '../../../domain/kernel/json.ts';
import { parseProblem } from '../../commands/work/workProblem.ts';
import { openDocumentParts, type DocumentParts } from '../../composition/parts/documentParts.ts';
import { configFrom, forgetSecrets } from '../../config.ts';
import type { DocumentFile } from './documentFiles.ts';
import type { DocumentOutcome, FailedDocument } from './documentRun.ts';

const JOBS_MAX = 64;

/** The value of `--jobs`. */
export const jobsOption = (text: string): number => {
  const jobs = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (jobs < 1 || jobs > JOBS_MAX)
    throw new InvalidArgumentError(`Give a whole number from 1 to ${String(JOBS_MAX)}.`);
  return jobs;
};

/** Opens what reads documents for as long as `use` takes. */
export const withDocumentParts = async (
  jobs: number | undefined,
  use: (parts: DocumentParts) => Promise<void>,
): Promise<void> => {
  const config = configFrom();
  forgetSecrets();
  const parts = openDocumentParts(config, jobs);
  try {
    await use(parts);
  } finally {
    await parts.close();
  }
};

/** All work of a command is one share: it has the processes to itself. */
export const COMMAND_LINE = 'command line';

/** A file as a parser is asked for it. */
export const requestOf = (
  { path }: DocumentFile,
  parts: DocumentParts,
  rest: Pick<ParseRequest, 'effort' | 'deadlineMs'> & { readonly signal: AbortSignal },
): ParseRequest => ({
  path: resolve(path),
  fileName: basename(path),
  pagesMax: parts.limits.pagesMax,
  share: COMMAND_LINE,
  ...rest,
});

export const failed = (
  code: string,
  detail: string,
  more: Pick<FailedDocument, 'validationErrors'> = {},
): FailedDocument => ({ kind: 'failed', code, detail, ...more });

/** A document that could not be read. */
export const notRead = (...why: Parameters<typeof parseProblem>): FailedDocument => {
  const { code, detail } = parseProblem(...why);
  return failed(code, detail);
};

/** What is checked before a file is read, and a defect of our own as this document's failure alone. */
export const guarded =
  <Answer>(
    bytesMax: number,
    code: 'extraction_failed' | 'conversion_failed',
    work: (file: DocumentFile) => Promise<DocumentOutcome<Answer>>,
  ) =>
  async (file: DocumentFile): Promise<DocumentOutcome<Answer>> => {
    if (file.bytes > bytesMax)
      return failed(
        'file_too_large',
        `The file has ${String(file.bytes)} bytes; at most ${String(bytesMax)} are read (MAX_UPLOAD_BYTES).`,
      );
    try {
      return await work(file);
    } catch (error) {
      return failed(code, `Something broke inside: ${messageOf(error)}`);
    }
  };
