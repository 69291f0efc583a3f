import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Document } from '@quire/engine/document/document';
import { type JsonObject, messageOf } from '../../../domain/kernel/json.ts';
import { readArtifact, type LocalArtifact } from '@quire/engine/learning/artifact';
import type { TrainingExample } from '@quire/engine/learning/train';
import type { DocumentParts } from '../../composition/parts/documentParts.ts';
import { OperatorError } from '../../operator/protocol.ts';
import { documentFiles, type DocumentFile } from './documentFiles.ts';
import { runDocuments, type DocumentOutcome } from './documentRun.ts';
import { guarded, notRead, requestOf } from './documentWork.ts';
import { type Output } from '../output.ts';

const jsonAt = async (path: string): Promise<unknown> => {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new OperatorError(`${path}: it is not JSON: ${messageOf(error)}.`, 2);
  }
};

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What is right for a document: `invoice.pdf.expected.json` or `invoice.expected.json` beside it. */
const expectedFor = async ({ path }: DocumentFile): Promise<JsonObject | undefined> => {
  for (const name of [path, path.slice(0, path.length - extname(path).length)]) {
    const value = await jsonAt(`${name}.expected.json`);
    if (value === undefined) continue;
    if (!isObject(value)) throw new OperatorError(`${name}.expected.json: it is not a JSON object.`, 2);
    return value;
  }
  return undefined;
};

interface Asked {
  readonly file: DocumentFile;
  readonly expected: JsonObject;
}

const askedIn = async (folder: string, { note }: Output): Promise<readonly Asked[]> => {
  const asked: Asked[] = [];
  for (const file of await documentFiles([folder])) {
    const expected = await expectedFor(file);
    if (expected === undefined)
      note(`${file.path}: left out, it has no ${file.below}.expected.json beside it.\n`);
    else asked.push({ file, expected });
  }
  return asked;
};

const parsed =
  (parts: DocumentParts, signal: AbortSignal) =>
  async (file: DocumentFile): Promise<DocumentOutcome<Document>> => {
    const request = requestOf(file, parts, {
      effort: 'standard',
      deadlineMs: parts.limits.extractMs.standard,
      signal,
    });
    const answer = await parts.parser.parse(request);
    if (answer.kind !== 'ok') return notRead(answer, 'extraction_failed');
    return { kind: 'done', answer: answer.document, about: 'read', notes: [] };
  };

/**
 * The documents of a folder with what is right for them, in order of names. Throws OperatorError when one
 * cannot be read, or when there are fewer than `least`.
 */
export const trainingExamples = async (
  {
    folder,
    least,
    parts,
  }: { readonly folder: string; readonly least: number; readonly parts: DocumentParts },
  output: Output,
): Promise<readonly TrainingExample[]> => {
  const asked = await askedIn(folder, output);
  if (asked.length < least)
    throw new OperatorError(
      `${folder}: ${String(asked.length)} documents have a file <name>.expected.json beside ` +
        `them; at least ${String(least)} are needed.`,
      2,
    );
  const examples: TrainingExample[] = [];
  const files = asked.map(({ file }) => file);
  const work = guarded(parts.limits.bytesMax, 'extraction_failed', parsed(parts, output.signal));
  const deliver = (outcome: DocumentOutcome<Document>, at: number): Promise<void> => {
    const expected = asked[at]?.expected;
    if (outcome.kind === 'done' && expected !== undefined)
      examples.push({ document: outcome.answer, expected });
    return Promise.resolve();
  };
  await runDocuments({ files, work, deliver }, output);
  return examples;
};

/** The artifact in a file. Throws OperatorError when it is none that this version reads. */
export const artifactAt = async (path: string): Promise<LocalArtifact> => {
  const value = await jsonAt(path);
  if (value === undefined) throw new OperatorError(`${path}: there is no such artifact file.`, 2);
  try {
    return readArtifact(value);
  } catch {
    throw new OperatorError(
      `${path}: it is no artifact that this version reads. Make it again with quire train.`,
      2,
    );
  }
};
