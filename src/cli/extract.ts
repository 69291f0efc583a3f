import { type Command, InvalidArgumentError, Option } from 'commander';
import { MIN_CONFIDENCE } from '@quire/engine/extraction/confidenceFloor';
import type { Extraction } from '@quire/engine/ports/extractionEngine';
import type { LocalArtifact } from '@quire/engine/ports/artifacts';
import { GENERATORS, OUTCOMES, type FieldWhy, type ToldOffer } from '@quire/engine/ports/why';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { DocumentParts } from '../parts/documents.ts';
import { pageAnswers } from '../commands/extract.ts';
import {
  answerWriter,
  artifactAt,
  type DocumentFile,
  documentFiles,
  documentNotes,
  type DocumentOutcome,
  extractSchema,
  failed,
  failedLine,
  guarded,
  jobsOption,
  notRead,
  pagesText,
  requestOf,
  runDocuments,
  withDocumentParts,
} from './documentRun.ts';
import { command, json, table, type Output } from './terminal.ts';

interface ExtractOptions {
  readonly schema: string;
  readonly mode: 'fast' | 'standard' | 'robust';
  readonly citations: boolean;
  readonly minConfidence: number;
  readonly out?: string;
  readonly ndjson?: boolean;
  readonly pretty?: boolean;
  readonly allowPartial?: boolean;
  readonly artifact?: string;
  readonly jobs?: number;
  /** true: of all fields; else the JSON Pointer of one, or of a list. */
  readonly why?: true | string;
}

interface Extracting {
  readonly parts: DocumentParts;
  readonly schema: JsonObject;
  readonly options: ExtractOptions;
  readonly artifact: LocalArtifact | undefined;
  readonly signal: AbortSignal;
}

/** The members of the API's answer that do not come from a bill, a clock or a dice. */
const bodyOf = (
  { path }: DocumentFile,
  { value, validationErrors, mimeType, warnings, pages, citations }: Extraction,
  { parts, options }: Extracting,
) => ({
  status: validationErrors.length === 0 ? 'success' : 'partial',
  result: value,
  validation_errors: validationErrors.length === 0 ? null : validationErrors,
  meta: {
    file_name: path.split(/[\\/]/).at(-1),
    mime_type: mimeType,
    mode: options.mode,
    model: parts.model,
    warnings,
    pages: pageAnswers(pages),
    citations,
  },
});
type Body = ReturnType<typeof bodyOf>;

/** The answer about a document; `why`: what is printed instead. */
interface Answered {
  readonly body: Body;
  readonly why: string | undefined;
}

/** Characters of a value that a table shows. */
const VALUE_CHARACTERS = 60;

const shown = (value: ToldOffer['value']): string => {
  const text = (typeof value === 'string' ? value : JSON.stringify(value)).replace(/\s+/g, ' ');
  return text.length <= VALUE_CHARACTERS ? text : `${text.slice(0, VALUE_CHARACTERS - 1)}…`;
};

const share = (one: number | null): string => (one === null ? '' : one.toFixed(2));

const becameOf = ({ outcome, other }: ToldOffer): string =>
  other === undefined ? OUTCOMES[outcome] : `${OUTCOMES[outcome].slice(0, -1)}: ${other}.`;

/** What a way found for a list stands on no page: its text is a count. */
const offerRow = (offer: ToldOffer): readonly string[] => {
  const { value, text, by, page, score, confidence } = offer;
  const place = page === null ? [text, by, ''] : [shown(value), by, String(page)];
  return [...place, share(score), share(confidence), becameOf(offer)];
};

const HEADER = ['value', 'by', 'page', 'score', 'confidence', 'what became of it'];

const fieldTable = ({ path, offers }: FieldWhy): string =>
  offers.length === 0 ? `${path}\nNothing was offered.\n` : `${path}\n${table(HEADER, offers.map(offerRow))}`;

const isIn = (path: string, outer: string): boolean => path === outer || path.startsWith(`${outer}/`);

/** Of a list, what each way found is told without a page. */
const isListOf = ({ offers }: FieldWhy): boolean =>
  offers.length > 0 && offers.every(({ page }) => page === null);

/** The fields that are asked about: those of a path, or all, without the values inside of lists. */
const chosenFields = (why: readonly FieldWhy[], asked: true | string): readonly FieldWhy[] => {
  if (asked !== true)
    return why.filter(({ path }) => isIn(path, asked.startsWith('/') ? asked : `/${asked}`));
  const lists = why.filter(isListOf).map(({ path }) => path);
  return why.filter(({ path }) => !lists.some((list) => path !== list && isIn(path, list)));
};

/** A table for each field: its offers, and what became of them; then what each way is. */
const whyText = (fields: readonly FieldWhy[]): string => {
  const names = new Set(fields.flatMap(({ offers }) => offers.map(({ by }) => by)));
  const ways = [...names].sort().map((name) => [name, GENERATORS[name]]);
  return [
    ...fields.map(fieldTable),
    ...(ways.length > 0 ? [table(['by', 'how it found the value'], ways)] : []),
  ].join('\n');
};

const confidenceOption = (text: string): number => {
  const number = /^\d(\.\d{1,9})?$/.test(text) ? Number(text) : 2;
  if (number > 1) throw new InvalidArgumentError('Give a number from 0 to 1, such as 0.8.');
  return number;
};

const MISFIT = 'The values in the document do not fit the schema. Use --allow-partial to get those that fit.';

const extract =
  (extracting: Extracting) =>
  async (file: DocumentFile): Promise<DocumentOutcome<Answered>> => {
    const { parts, schema, options, artifact, signal } = extracting;
    const { mode: effort, citations, minConfidence } = options;
    const request = requestOf(file, parts, { effort, deadlineMs: parts.limits.extractMs[effort], signal });
    const why = options.why !== undefined;
    const settings = { citations, min_confidence: minConfidence };
    const asked = { ...request, schema, settings, learned: artifact, why };
    const answer = await parts.engine.extract(asked);
    if (answer.kind === 'invalid_schema') return failed('invalid_schema', answer.detail);
    if (answer.kind !== 'ok') return notRead(answer);
    const { validationErrors, pages, warnings } = answer.extraction;
    if (options.why !== undefined) return whyOutcome(answer.extraction, extracting, file);
    if (validationErrors.length > 0 && options.allowPartial !== true)
      return failed('output_schema_mismatch', MISFIT, { validationErrors });
    const body = bodyOf(file, answer.extraction, extracting);
    const notes = documentNotes(pages, warnings);
    const about = `${pagesText(pages.length)}, ${body.status}`;
    return { kind: 'done', answer: { body, why: undefined }, about, notes };
  };

/** Why is told whether the data fits the schema or not. */
const whyOutcome = (
  extraction: Extraction,
  extracting: Extracting,
  file: DocumentFile,
): DocumentOutcome<Answered> => {
  const { why: told = [], pages, warnings } = extraction;
  const asked = extracting.options.why ?? true;
  const fields = chosenFields(told, asked);
  if (fields.length === 0 && asked !== true)
    return failed(
      'no_such_field',
      `Nothing was looked for at ${asked}: give a JSON Pointer such as ${told[0]?.path ?? '/total'}.`,
    );
  return {
    kind: 'done',
    answer: { body: bodyOf(file, extraction, extracting), why: whyText(fields) },
    about: pagesText(pages.length),
    notes: documentNotes(pages, warnings),
  };
};

const delivery = (
  files: readonly DocumentFile[],
  options: ExtractOptions,
  { out }: Output,
): ((outcome: DocumentOutcome<Answered>, at: number) => Promise<void>) => {
  const asLines = options.ndjson === true || files.length > 1;
  const { out: folder, pretty } = options;
  const alone = (body: Body): string =>
    pretty === true ? `${JSON.stringify(body, undefined, 2)}\n` : json(body);
  const write = answerWriter(folder, files, '.json');
  return async (outcome, at) => {
    const file = files[at];
    if (file === undefined) return;
    if (outcome.kind === 'failed') {
      if (asLines && write === undefined) await out(failedLine(file.path, outcome));
      return;
    }
    const { body, why } = outcome.answer;
    if (why !== undefined) await out(files.length > 1 ? `# ${file.path}\n\n${why}\n` : why);
    else if (write !== undefined) await write(alone(body), at);
    else await out(asLines ? json({ file: file.path, ...body }) : alone(body));
  };
};

const extractAll = async (
  output: Output,
  paths: readonly string[],
  options: ExtractOptions,
): Promise<void> => {
  const { signal } = output;
  const files = await documentFiles(paths);
  await withDocumentParts(options.jobs, async (parts) => {
    const schema = await extractSchema(options.schema, parts.schemas, signal);
    const deliver = delivery(files, options, output);
    const artifact = options.artifact === undefined ? undefined : await artifactAt(options.artifact);
    const extracting = extract({ parts, schema, options, artifact, signal });
    const work = guarded(parts.limits.bytesMax, 'extraction_failed', extracting);
    await runDocuments({ files, work, deliver }, output);
  });
};

const EXAMPLES = `
The schema is a JSON Schema with "type": "object" and "properties"; names and descriptions of the
properties say what to look for. Values are copied from the document: what is not in it is left out.
Each value has a citation: its words, page, box in points from the top left, and a confidence.
A value that is less sure than --min-confidence is left out; meta.warnings has it.
--why prints, instead of the data, all values that were offered for each field, which way found them,
and why all but one were passed over; with a path only for that field, or for each value of that list.
Nothing leaves this machine, and no service has to run.

Examples:
  quire extract invoice.pdf --schema invoice.json --pretty
  quire extract invoices/ --schema invoice.json > invoices.ndjson
  quire extract invoices/ --schema invoice.json --out answers --allow-partial
  echo '{"type":"object","properties":{"total":{"type":"number"}}}' |
    quire extract receipt.jpg --schema - --no-citations
  quire extract invoice.pdf --schema invoice.json --why /grand_total

Exit codes: 0 all were extracted, 1 some were not (stderr says which and why), 2 wrong usage,
130 ended by Ctrl-C.`;

/** `quire extract`. */
export const addExtract = (program: Command): void => {
  program
    .command('extract')
    .argument('<path...>', 'documents, or folders of them')
    .description('extract data from documents by a JSON Schema, without a service')
    .requiredOption('--schema <file>', 'the JSON Schema of the data; - reads it from stdin')
    .addOption(
      new Option(
        '--mode <mode>',
        'how much work to put in: fast reads text only, robust recognises all pages',
      )
        .choices(['fast', 'standard', 'robust'])
        .default('standard'),
    )
    .option('--no-citations', 'leave out where the values were found')
    .option(
      '--min-confidence <number>',
      'leave out values that are less sure, 0 to 1',
      confidenceOption,
      MIN_CONFIDENCE,
    )
    .option('--out <folder>', 'write a JSON file for each document into this folder; - prints (default)')
    .option('--ndjson', 'a line of JSON with the file name, also for one document')
    .option('--pretty', 'indent the JSON of a single document and of files')
    .option('--allow-partial', 'accept data that does not fit the schema, with a list of errors')
    .option('--artifact <file>', 'an artifact of quire train')
    .option('--jobs <number>', 'documents at the same time (default: one a core)', jobsOption)
    .addOption(
      new Option(
        '--why [path]',
        'print why each value came: what was offered, and why the rest was passed over',
      ).conflicts(['out', 'ndjson', 'pretty']),
    )
    .addHelpText('after', EXAMPLES)
    .action(command(extractAll));
};
