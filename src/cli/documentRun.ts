import { access, constants, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join, posix, relative, resolve, sep } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Document, DocumentWarning, PageSummary } from '@quire/engine/document/document';
import type { ValidationError, SchemaValidator } from '@quire/engine/ports/extractionEngine';
import { InvalidArgumentError } from 'commander';
import type { ParseFailure, ParseRequest } from '@quire/engine/ports/documentParser';
import { readArtifact } from '@quire/engine/learning/artifact';
import type { LocalArtifact } from '@quire/engine/ports/artifacts';
import type { TrainingExample } from '@quire/engine/learning/train';
import { OperatorError } from '../clientConfig.ts';
import { type JsonObject, messageOf } from '../../domain/kernel/json.ts';
import { bar, json, type Output } from './terminal.ts';
import { parseProblem } from '../commands/workProblem.ts';
import { type DocumentParts, openDocumentParts } from '../parts/documents.ts';
import { configFrom, forgetSecrets } from '../config.ts';

/** A document that was asked for. */
export interface DocumentFile {
  /** As it is opened, and as answers and messages name it. */
  readonly path: string;
  /** Where it lies below the folder that was given, with `/`; its own name when it was given itself. */
  readonly below: string;
  readonly bytes: number;
}

/** Which files of a folder are documents. A file that is named itself is read whatever it is called. */
const EXTENSIONS = new Set(
  'pdf png jpg jpeg webp gif bmp tif tiff docx doc odt rtf xlsx xls ods csv tsv eml html htm md markdown txt'
    .split(' ')
    .map((extension) => `.${extension}`),
);

const byCode = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Hidden files and the lock files of office programs are no documents. */
const isDocument = (name: string): boolean =>
  !name.startsWith('.') && !name.startsWith('~$') && EXTENSIONS.has(extname(name).toLowerCase());

const readable = async (path: string): Promise<void> => {
  await access(path, constants.R_OK).catch(() => {
    throw new OperatorError(`${path}: it may not be read.`, 2);
  });
};

/** Linked files are followed, linked folders are not: they may lead back. */
const filesIn = async (folder: string, top: string): Promise<readonly DocumentFile[]> => {
  await readable(folder);
  const found: DocumentFile[] = [];
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => byCode(a.name, b.name))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !entry.name.startsWith('.')) found.push(...(await filesIn(path, top)));
    if (entry.isDirectory() || !isDocument(entry.name)) continue;
    const target = await stat(path).catch(() => undefined);
    if (target?.isFile() !== true) continue;
    found.push({ path, below: relative(top, path).split(sep).join('/'), bytes: target.size });
  }
  return found;
};

const documentsAt = async (path: string): Promise<readonly DocumentFile[]> => {
  const target = await stat(path).catch(() => undefined);
  if (target === undefined) throw new OperatorError(`${path}: there is no such file or folder.`, 2);
  if (target.isDirectory()) {
    const files = await filesIn(path, path);
    if (files.length === 0)
      throw new OperatorError(`${path}: no document is in this folder. Name a file to read it anyway.`, 2);
    return files;
  }
  if (!target.isFile()) throw new OperatorError(`${path}: it is neither a file nor a folder.`, 2);
  await readable(path);
  return [{ path, below: basename(path), bytes: target.size }];
};

/**
 * The documents at the given paths, each once: in the order given, those of a folder and of the folders
 * in it by name. Throws OperatorError for a path that leads nowhere.
 */
export const documentFiles = async (paths: readonly string[]): Promise<readonly DocumentFile[]> => {
  const files = new Map<string, DocumentFile>();
  for (const path of paths)
    for (const file of await documentsAt(path)) {
      const place = resolve(file.path);
      if (!files.has(place)) files.set(place, file);
    }
  return [...files.values()];
};

const withoutExtension = (name: string): string => name.slice(0, name.length - posix.extname(name).length);

/** Some file systems see no difference between `A` and `a`. */
const clashes = (names: readonly string[]): ReadonlySet<string> => {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const name of names.map((one) => one.toLowerCase())) (seen.has(name) ? twice : seen).add(name);
  return twice;
};

/**
 * A name for the answer to each document, below the folder for answers: `a/x.pdf` gives `a/x.md`. Where
 * two would be the same they keep their extension (`a/x.pdf.md`), and then they are numbered.
 */
export const answerNames = (files: readonly DocumentFile[], extension: string): readonly string[] => {
  const short = files.map(({ below }) => `${withoutExtension(below)}${extension}`);
  const twice = clashes(short);
  const full = files.map(({ below }, at) => {
    const name = short[at] ?? below;
    return twice.has(name.toLowerCase()) ? `${below}${extension}` : name;
  });
  const taken = new Set<string>();
  return full.map((name) => {
    let free = name;
    for (let n = 2; taken.has(free.toLowerCase()); n += 1)
      free = `${withoutExtension(name)}-${String(n)}${extension}`;
    taken.add(free.toLowerCase());
    return free;
  });
};

/** The answer of a document that failed, as a line among others. */
export const failedLine = (file: string, { code, detail, validationErrors }: FailedDocument): string =>
  json({ file, error: { code, detail, ...(validationErrors && { validation_errors: validationErrors }) } });

/** `1 page`, `12 pages`. */
export const pagesText = (pages: number): string => (pages === 1 ? '1 page' : `${String(pages)} pages`);

/** Notes for the user about a document that was read: pages that failed, text left out. */
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

/** Why a document was not read: a code of the interface and a sentence. */
interface FailedDocument {
  readonly kind: 'failed';
  readonly code: string;
  readonly detail: string;
  readonly validationErrors?: readonly ValidationError[];
}

/** The outcome of one document. `notes` are sentences for the user; `about` says it in a few words. */
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

interface ShownFile {
  readonly file: DocumentFile;
  readonly at: number;
  readonly of: number;
}

/** One document is its own report; of several each gets a line where no bar shows them. */
const tell = (outcome: DocumentOutcome<unknown>, { file, at, of }: ShownFile, output: Output): void => {
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
const COMMAND_LINE = 'command line';

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
export const notRead = (why: ParseFailure): FailedDocument => {
  const { code, detail } = parseProblem(why);
  return failed(code, detail);
};

/** What is checked before a file is read, and a defect of our own as this document's failure alone. */
export const guarded =
  <Answer>(
    bytesMax: number,
    code: 'extraction_failed' | 'conversion_failed' | 'sorting_failed',
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

const BYTES_MAX = 4 * 1024 * 1024;

const fromStdin = async (): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    chunks.push(Buffer.from(chunk as Uint8Array));
    bytes += (chunk as Uint8Array).length;
    if (bytes > BYTES_MAX) throw new OperatorError('The schema on stdin is larger than 4 MiB.', 2);
  }
  return Buffer.concat(chunks).toString('utf8');
};

const textAt = (path: string): Promise<string> =>
  path === '-'
    ? fromStdin()
    : readFile(path, 'utf8').catch(() => {
        throw new OperatorError(`${path}: there is no such schema file.`, 2);
      });

/** The JSON Schema in a file, or on stdin if `path` is `-`. Throws OperatorError if it is not one. */
export const extractSchema = async (
  path: string,
  schemas: SchemaValidator,
  signal: AbortSignal,
): Promise<JsonObject> => {
  const name = path === '-' ? 'The schema on stdin' : path;
  const text = await textAt(path);
  const schema = ((): unknown => {
    try {
      return JSON.parse(text.replace(/^\ufeff/, ''));
    } catch (error) {
      throw new OperatorError(`${name}: it is not JSON: ${messageOf(error)}.`, 2);
    }
  })();
  const checked = await schemas.check(schema, { signal, share: COMMAND_LINE });
  if (checked.kind !== 'ok')
    throw new OperatorError(`${name}: ${checked.detail}`, checked.kind === 'invalid_schema' ? 2 : 1);
  return schema as JsonObject;
};

/** What a JSON file says; undefined where there is none. */
export const jsonAt = async (path: string): Promise<unknown> => {
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

/** The correct values of a document: `invoice.pdf.expected.json` or `invoice.expected.json` beside it. */
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
    if (answer.kind !== 'ok') return notRead(answer);
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

/** The artifact in a file. Throws OperatorError if this version cannot read it. */
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
