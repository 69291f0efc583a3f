import type { Command } from 'commander';
import { z } from 'zod';
import type { PackedDocument } from '@quire/engine/document/document';
import { extractionSettings } from '@quire/engine/ports/extractionEngine';
import type { JsonObject } from '../../domain/kernel/json.ts';
import { LONG_PAGES_MAX, type DocumentParts } from '../parts/documents.ts';
import { pageAnswers } from '../commands/extract.ts';
import {
  answerWriter,
  type DocumentFile,
  documentFiles,
  documentNotes,
  type DocumentOutcome,
  failedLine,
  guarded,
  jobsOption,
  jsonAt,
  notRead,
  pagesText,
  requestOf,
  runDocuments,
  withDocumentParts,
} from './documentRun.ts';
import { OperatorError } from '../clientConfig.ts';
import { command, json, type Output } from './terminal.ts';

interface SortingOptions {
  readonly classes?: string;
  /** Extracts the parts whose class has a schema. */
  readonly then?: boolean;
  readonly out?: string;
  readonly jobs?: number;
}

type What = 'classify' | 'split';

const classList = z
  .array(
    z.strictObject({
      name: z.string().min(1).max(200),
      description: z.string().optional(),
      schema: z
        .record(z.string(), z.unknown())
        .transform((schema) => schema as JsonObject)
        .optional(),
      examples: z.array(z.string()).optional(),
    }),
  )
  .min(1)
  .max(1_000);

type Classes = z.output<typeof classList>;

/** The classes in a file. Throws OperatorError if there are none. */
const classesAt = async (path: string): Promise<Classes> => {
  const found = classList.safeParse(await jsonAt(path));
  if (found.success) return found.data;
  const [issue] = found.error.issues;
  const place = issue === undefined || issue.path.length === 0 ? '' : ` (${issue.path.join('.')})`;
  throw new OperatorError(
    `${path}: it is no JSON list of classes, each with a name${place}: ${issue?.message ?? ''}`,
    2,
  );
};

interface Sorting {
  readonly what: What;
  readonly classes: Classes;
  readonly then: boolean;
  readonly parts: DocumentParts;
  readonly signal: AbortSignal;
}

/** What a part of a stack says, by the schema of its class; nothing where it has none. */
const partResult = async (
  file: DocumentFile,
  { pages, schema }: { readonly pages: readonly number[]; readonly schema: JsonObject | undefined },
  { parts, signal }: Sorting,
): Promise<object> => {
  if (schema === undefined) return {};
  const asked = requestOf(file, parts, {
    effort: 'standard',
    deadlineMs: parts.limits.extractMs.standard,
    signal,
  });
  const settings = extractionSettings.parse({ citations: true });
  const answer = await parts.engine.extract({
    ...asked,
    pagesMax: LONG_PAGES_MAX,
    pages: pages.join(','),
    schema,
    settings,
  });
  if (answer.kind !== 'ok') return { status: 'failed', detail: 'detail' in answer ? answer.detail : null };
  const { value: result, validationErrors, citations } = answer.extraction;
  const status = validationErrors.length === 0 ? 'success' : 'partial';
  return { status, result, validation_errors: validationErrors, citations };
};

/** The parts of a stack, each with what it says. */
const withResults = async (
  file: DocumentFile,
  documents: readonly { readonly pages: readonly number[]; readonly class: string | null }[],
  sorting: Sorting,
): Promise<readonly object[]> => {
  const found: object[] = [];
  for (const part of documents) {
    const schema = sorting.classes.find(({ name }) => name === part.class)?.schema;
    found.push({ ...part, ...(await partResult(file, { pages: part.pages, schema }, sorting)) });
  }
  return found;
};

const sorted =
  (sorting: Sorting) =>
  async (file: DocumentFile): Promise<DocumentOutcome<JsonObject>> => {
    const { what, classes, then, parts, signal } = sorting;
    const deadlineMs = parts.limits.convertMs;
    const asked = requestOf(file, parts, { effort: 'standard', deadlineMs, signal });
    const read = await parts.parser.read({ ...asked, pagesMax: LONG_PAGES_MAX });
    if (read.kind !== 'ok') return notRead(read);
    const { document } = read;
    const work = { document, classes };
    const limits = { deadlineMs, signal, share: asked.share };
    const told =
      what === 'classify'
        ? await parts.sorter.classify(work, limits)
        : await parts.sorter.split(work, limits);
    if (told.kind !== 'ok') return notRead(told);
    const members =
      'classified' in told
        ? { ...told.classified }
        : { documents: then ? await withResults(file, told.documents, sorting) : told.documents };
    return {
      kind: 'done',
      answer: bodyOf(file, members, document),
      about: pagesText(document.pages.length),
      notes: documentNotes(document.pages, document.warnings),
    };
  };

/** The members of the API's answer that do not come from a bill, a clock or a dice. */
const bodyOf = (
  { path }: DocumentFile,
  members: object,
  { mimeType, pages, warnings }: PackedDocument,
): JsonObject =>
  ({
    ...members,
    meta: {
      file_name: path.split(/[\\/]/).at(-1),
      mime_type: mimeType,
      page_count: pages.length,
      pages: pageAnswers(pages),
      warnings,
    },
  }) as unknown as JsonObject;

const sort =
  (what: What) =>
  async (output: Output, paths: readonly string[], options: SortingOptions): Promise<void> => {
    const classes = options.classes === undefined ? [] : await classesAt(options.classes);
    const then = options.then === true;
    if (then && classes.every(({ schema }) => schema === undefined))
      throw new OperatorError('--then extracts by the schemas of --classes, and no class has one.', 2);
    const files = await documentFiles(paths);
    const write = answerWriter(options.out, files, '.json');
    const several = files.length > 1 && write === undefined;
    await withDocumentParts(options.jobs, (parts) => {
      const work = guarded(
        parts.limits.bytesMax,
        'sorting_failed',
        sorted({ what, classes, then, parts, signal: output.signal }),
      );
      const deliver = async (outcome: DocumentOutcome<JsonObject>, at: number): Promise<void> => {
        const file = files[at];
        if (file === undefined) return;
        if (outcome.kind === 'failed') {
          if (several) await output.out(failedLine(file.path, outcome));
          return;
        }
        const text = json(several ? { file: file.path, ...outcome.answer } : outcome.answer);
        await (write === undefined ? output.out(text) : write(text, at));
      };
      return runDocuments({ files, work, deliver }, output);
    });
  };

const END = `
The classes are a JSON list: [{"name": "Invoice", "description": "…", "schema": {…}, "examples": ["…"]}].
Only the name is needed; what such documents are called is known in nine languages.
Nothing leaves this machine, no service has to run, and no model is asked.

Exit codes: 0 all were read, 1 some were not (stderr says which and why), 2 wrong usage,
130 ended by Ctrl-C.`;

/** `quire classify` and `quire split`. */
export const addSorting = (program: Command): void => {
  program
    .command('classify')
    .argument('<path...>', 'documents, or folders of them')
    .description('tell what documents are, without a service')
    .requiredOption('--classes <file>', 'JSON list of the classes')
    .option('--out <folder>', 'write a file for each document into this folder; - prints (default)')
    .option('--jobs <number>', 'documents at the same time (default: one a core)', jobsOption)
    .addHelpText('after', END)
    .action(command(sort('classify')));
  program
    .command('split')
    .argument('<path...>', 'stacks of documents, or folders of them')
    .description('tell where the documents of a stack begin, without a service')
    .option('--classes <file>', 'JSON list of the classes; without it parts have no class')
    .option('--then', 'extract the parts whose class has a schema, each by itself')
    .option('--out <folder>', 'write a file for each stack into this folder; - prints (default)')
    .option('--jobs <number>', 'stacks at the same time (default: one a core)', jobsOption)
    .addHelpText('after', END)
    .action(command(sort('split')));
};
