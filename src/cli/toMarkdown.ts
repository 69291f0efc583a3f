import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ChunkWish } from '@quire/engine/document/chunks';
import type { RenderForm, Rendition } from '@quire/engine/ports/documentParser';
import type { DocumentParts } from '../parts/documents.ts';
import { askedContents } from '../commands/convert.ts';
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
  notRead,
  pagesText,
  requestOf,
  runDocuments,
  withDocumentParts,
} from './documentRun.ts';
import { command, json, type Output } from './terminal.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';

interface ToMarkdownOptions {
  readonly out?: string;
  readonly text?: boolean;
  readonly json?: boolean;
  readonly mode: 'default' | 'fast';
  readonly jobs?: number;
  readonly chunks?: ChunkWish['by'];
  readonly maxCharacters?: number;
}

const formOf = ({ chunks: by, maxCharacters }: ToMarkdownOptions): RenderForm =>
  by === undefined ? {} : { chunks: { by, maxCharacters } };

const convert =
  (parts: DocumentParts, options: ToMarkdownOptions, { signal }: Output) =>
  async (file: DocumentFile): Promise<DocumentOutcome<Rendition>> => {
    const effort = options.mode === 'fast' ? 'fast' : 'standard';
    const deadlineMs = parts.limits.convertMs;
    const request = requestOf(file, parts, { effort, deadlineMs, signal });
    const answer = await parts.parser.render({ ...request, form: formOf(options) });
    if (answer.kind !== 'ok') return notRead(answer);
    const { rendition } = answer;
    return {
      kind: 'done',
      answer: rendition,
      about: pagesText(rendition.pages.length),
      notes: documentNotes(rendition.pages, rendition.warnings),
    };
  };

/** The members of the API's answer that do not come from a bill, a clock or a dice. */
const bodyOf = (
  { path }: DocumentFile,
  rendition: Rendition,
  meta: { readonly mode: string; readonly model: string },
) => {
  const { markdown, plainText, mimeType, pages, warnings } = rendition;
  return {
    markdown,
    plain_text: plainText,
    ...askedContents(rendition),
    meta: {
      file_name: path.split(/[\\/]/).at(-1),
      mime_type: mimeType,
      page_count: pages.length,
      pages: pageAnswers(pages),
      warnings,
      ...meta,
    },
  };
};

/** A line of JSON for each chunk, as loaders read them. */
const chunkLines = ({ path }: DocumentFile, rendition: Rendition): string => {
  const { chunks = [] } = askedContents(rendition) as { readonly chunks?: readonly JsonObject[] };
  return chunks.map((chunk) => `${JSON.stringify({ file: path, ...chunk })}\n`).join('');
};

/** A comment that no file name can end early. */
const heading = (path: string): string =>
  `<!-- file: ${path.replace(/[\r\n]+/g, ' ').replaceAll('--', '- -')} -->\n\n`;

interface Delivering {
  readonly files: readonly DocumentFile[];
  readonly options: ToMarkdownOptions;
  readonly model: string;
}

const extensionOf = ({ json: asJson, text, chunks }: ToMarkdownOptions): string => {
  if (asJson === true) return '.json';
  if (chunks !== undefined) return '.ndjson';
  return text === true ? '.txt' : '.md';
};

const delivery = (
  { files, options, model }: Delivering,
  { out }: Output,
): ((outcome: DocumentOutcome<Rendition>, at: number) => Promise<void>) => {
  const several = files.length > 1;
  const write = answerWriter(options.out, files, extensionOf(options));
  const textOf = (file: DocumentFile, rendition: Rendition): string => {
    if (options.json !== true && options.chunks !== undefined) return chunkLines(file, rendition);
    if (options.json !== true) return options.text === true ? rendition.plainText : rendition.markdown;
    const body = bodyOf(file, rendition, { mode: options.mode, model });
    return json(several && write === undefined ? { file: file.path, ...body } : body);
  };
  const isOneOfLines = several && options.json === true && write === undefined;
  const isHeaded = several && options.json !== true && options.chunks === undefined;
  let written = 0;
  return async (outcome, at) => {
    const file = files[at];
    if (file === undefined) return;
    if (outcome.kind === 'failed') {
      if (isOneOfLines) await out(failedLine(file.path, outcome));
      return;
    }
    const text = textOf(file, outcome.answer);
    if (write !== undefined) return write(text, at);
    await out(isHeaded ? `${written === 0 ? '' : '\n'}${heading(file.path)}${text}` : text);
    written += 1;
  };
};

const toMarkdown = async (
  output: Output,
  paths: readonly string[],
  options: ToMarkdownOptions,
): Promise<void> => {
  const files = await documentFiles(paths);
  await withDocumentParts(options.jobs, (parts) => {
    const work = guarded(parts.limits.bytesMax, 'conversion_failed', convert(parts, options, output));
    const deliver = delivery({ files, options, model: parts.model }, output);
    return runDocuments({ files, work, deliver }, output);
  });
};

const CHUNK_CHARACTERS_MIN = 100;
const CHUNK_CHARACTERS_MAX = 1_000_000;

const chunkSize = (text: string): number => {
  const size = Number(text);
  if (!Number.isInteger(size) || size < CHUNK_CHARACTERS_MIN || size > CHUNK_CHARACTERS_MAX)
    throw new InvalidArgumentError('Use a whole number from 100 to 1000000.');
  return size;
};

const EXAMPLES = `
A folder is searched with the folders in it, in order of names; hidden files are skipped.
Formats: PDF, pictures, Word, Excel, OpenDocument, RTF, CSV, mail, HTML, Markdown and plain text.
Pages without text are recognised (languages: OCR_LANGUAGES). Nothing leaves this machine, and no
service has to run.

Examples:
  quire to-markdown letter.pdf                    print one document
  quire to-markdown letter.pdf --text | wc -w     its words without markup
  quire to-markdown letters/ --out converted      write converted/….md for each document
  quire to-markdown letters/ --json > all.ndjson  one line of JSON for each document
  quire to-markdown book.pdf --chunks heading     one line of JSON for each part, for retrieval

Exit codes: 0 all were converted, 1 some were not (stderr says which and why), 2 wrong usage,
130 ended by Ctrl-C.`;

/** `quire to-markdown`. */
export const addToMarkdown = (program: Command): void => {
  program
    .command('to-markdown')
    .argument('<path...>', 'documents, or folders of them')
    .description('convert documents to markdown, without a service')
    .option('--out <folder>', 'write a file for each document into this folder; - prints (default)')
    .option('--text', 'plain text instead of markdown')
    .option('--json', 'JSON with markdown, plain text and metadata of the document')
    .addOption(
      new Option('--mode <mode>', 'fast does not recognise pages without text')
        .choices(['default', 'fast'])
        .default('default'),
    )
    .addOption(
      new Option('--chunks <by>', 'lines of JSON with parts for retrieval instead of markdown').choices([
        'heading',
        'page',
        'size',
      ]),
    )
    .option(
      '--max-characters <number>',
      'of the text of a chunk (default: 2000; by page, no limit)',
      chunkSize,
    )
    .option('--jobs <number>', 'documents at the same time (default: one a core)', jobsOption)
    .addHelpText('after', EXAMPLES)
    .action(command(toMarkdown));
};
