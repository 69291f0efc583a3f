import { rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { PackedDocument, PageSummary, RecognitionEngine } from './document/document.ts';
import { openDocumentWorkers, type DocumentWorkers } from './isolation/documentWorkers.ts';
import type { JsonObject } from './kernel/json.ts';
import { newTempFolder } from './kernel/tempFolders.ts';
import type { ParseEffort, ParseFailure, Rendition } from './ports/documentParser.ts';
import type { Extraction } from './ports/extractionEngine.ts';

export type { PageSummary } from './document/document.ts';
export type { Json, JsonObject } from './kernel/json.ts';
export type { Rendition } from './ports/documentParser.ts';
export type { Citation, Extraction, ValidationError } from './ports/extractionEngine.ts';

const PAGES_MAX = 1_000;
const DEADLINE_MS = 120_000;

export interface OpenOptions {
  /** Tells kinds of text apart; taken from the path where one is given. */
  readonly fileName?: string;
  /** `standard` recognises pages without text; `robust` recognises all. Default: `standard`. */
  readonly effort?: ParseEffort;
  /** Default: 1,000. */
  readonly pagesMax?: number;
  /** Of each piece of work. Default: two minutes. */
  readonly deadlineMs?: number;
  /** Languages of recognition, by Tesseract's names, the most likely first. */
  readonly ocrLanguages?: readonly string[];
  /** What recognises pictures of text. Default: all that are installed. */
  readonly ocrEngines?: readonly RecognitionEngine[];
}

/** A document that was read. Its text is worked on in a process of its own, which `close` ends. */
export interface OpenDocument {
  readonly mimeType: string;
  readonly pages: readonly PageSummary[];
  readonly markdown: string;
  /** Markdown and plain text, and what became of each page. */
  render(): Promise<Rendition>;
  /** What the schema asks for, each value with the place where it stands. */
  extract(schema: JsonObject): Promise<Extraction>;
  close(): Promise<void>;
}

/** A document that cannot be read, or a schema that cannot be filled; the message is a sentence. */
export class NotOpened extends Error {
  readonly kind: ParseFailure['kind'] | 'invalid_schema';

  constructor({ kind, detail }: { readonly kind: NotOpened['kind']; readonly detail?: string }) {
    super(detail ?? 'The work was given up.');
    this.name = 'NotOpened';
    this.kind = kind;
  }
}

/** Every process of one document works for the same caller. */
const SHARE = 'openDocument';

/** Reads a file, by its path or its bytes, in an isolated process. Throws NotOpened. */
export async function openDocument(
  file: string | Uint8Array,
  options: OpenOptions = {},
): Promise<OpenDocument> {
  const workers = openDocumentWorkers({
    processes: 1,
    ...(options.ocrLanguages !== undefined && { ocrLanguages: options.ocrLanguages }),
    ...(options.ocrEngines !== undefined && { ocrEngines: options.ocrEngines }),
  });
  try {
    return await opened(workers, await readFrom(workers, file, options), options);
  } catch (error) {
    await workers.close();
    throw error;
  }
}

async function readFrom(
  workers: DocumentWorkers,
  file: string | Uint8Array,
  options: OpenOptions,
): Promise<PackedDocument> {
  if (typeof file === 'string') return readPath(workers, file, { fileName: basename(file), ...options });
  const folder = await newTempFolder('engine');
  try {
    const path = join(folder, 'document');
    await writeFile(path, file, { mode: 0o600 });
    return await readPath(workers, path, options);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readPath(
  workers: DocumentWorkers,
  path: string,
  { fileName, effort = 'standard', pagesMax = PAGES_MAX, deadlineMs = DEADLINE_MS }: OpenOptions,
): Promise<PackedDocument> {
  const request = { path, fileName: fileName ?? null, effort, pagesMax, deadlineMs, share: SHARE };
  const read = await workers.parser.read(request);
  if (read.kind !== 'ok') throw new NotOpened(read);
  return read.document;
}

async function opened(
  workers: DocumentWorkers,
  document: PackedDocument,
  options: OpenOptions,
): Promise<OpenDocument> {
  const limits = { deadlineMs: options.deadlineMs ?? DEADLINE_MS, share: SHARE };
  const render = async (): Promise<Rendition> => {
    const rendered = await workers.tools.render(document, limits);
    if (rendered.kind !== 'ok') throw new NotOpened(rendered);
    return rendered.rendition;
  };
  const { markdown } = await render();
  return {
    mimeType: document.mimeType,
    pages: document.pages,
    markdown,
    render,
    extract: async (schema) => {
      const checked = await workers.schemaValidator.check(schema, { share: SHARE });
      if (checked.kind === 'invalid_schema') throw new NotOpened(checked);
      const answer = await workers.tools.extractFrom(
        { document, schema, settings: { citations: true } },
        limits,
      );
      if (answer.kind !== 'ok') throw new NotOpened(answer);
      return answer.extraction;
    },
    close: () => workers.close(),
  };
}
