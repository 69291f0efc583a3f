import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { DocumentWarning, PageSummary } from '@quire/engine/document/document';
import { messageOf } from '../../../domain/kernel/json.ts';
import { OperatorError } from '../../operator/protocol.ts';
import { answerNames, type DocumentFile } from './documentFiles.ts';
import type { FailedDocument } from './documentRun.ts';
import { json } from '../output.ts';

/** The answer of a document that failed, as a line among others. */
export const failedLine = (file: string, { code, detail, validationErrors }: FailedDocument): string =>
  json({ file, error: { code, detail, ...(validationErrors && { validation_errors: validationErrors }) } });

/** `1 page`, `12 pages`. */
export const pagesText = (pages: number): string => (pages === 1 ? '1 page' : `${String(pages)} pages`);

/** What whoever reads along should know of a document that was read: pages that failed, text left out. */
export const documentNotes = (
  pages: readonly PageSummary[],
  warnings: readonly DocumentWarning[],
): readonly string[] => [
  ...warnings.filter(({ code }) => code !== 'page_failed').map(({ message }) => message),
  ...pages
    .filter(({ status }) => status === 'failed')
    .map(({ page, detail }) => `page ${String(page)} was not read: ${detail ?? 'no reason is known'}`),
];

/** Whole or not at all: a reader beside it never sees half an answer. */
const writeWhole = async (path: string, text: string): Promise<void> => {
  const partial = `${path}.partial`;
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(partial, text);
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
};

/**
 * Writes one file for each document into `folder`; undefined where answers are printed. Throws OperatorError
 * when an answer would take the place of a document, and when the folder cannot be written.
 */
export const answerWriter = (
  folder: string | undefined,
  files: readonly DocumentFile[],
  extension: string,
): ((text: string, at: number) => Promise<void>) | undefined => {
  if (folder === undefined || folder === '-') return undefined;
  const documents = new Set(files.map(({ path }) => resolve(path)));
  const targets = answerNames(files, extension).map((name) => join(folder, name));
  const taken = targets.find((target) => documents.has(resolve(target)));
  if (taken !== undefined)
    throw new OperatorError(
      `${taken}: this document would be replaced by an answer. Give another folder to --out.`,
      2,
    );
  return async (text, at) => {
    const target = targets[at];
    if (target === undefined) throw new Error('there is no such document');
    await writeWhole(target, text).catch((error: unknown) => {
      throw new OperatorError(`${target}: it cannot be written: ${messageOf(error)}.`);
    });
  };
};
