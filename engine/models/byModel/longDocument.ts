import { deserialize, serialize } from 'node:v8';
import type { DocumentWarning, PackedDocument } from '../../document/document.ts';
import { pageRanges, spelledPages } from '../../document/pages.ts';
import type { ParseFailure, ParseRequest } from '../../ports/documentParser.ts';
import type { ModelAccess } from '../../ports/modelProvider.ts';
import type { Keeping, ModelCall, ModelFailed } from '../../ports/modelWork.ts';
import { inRounds, limitsOf, type Running } from './modelWorkDeps.ts';
import { readByModel } from './readByModel.ts';

/** What a process needs to go on with a long document: its pages, and where the ranges lie that were read. */
export type LongKeeping = Keeping & { readonly numbers: readonly number[] };

/** A document that was read in ranges. */
export interface LongDocument {
  readonly kind: 'ok';
  readonly document: PackedDocument;
  readonly ranges: readonly PackedDocument[];
}

/** Ranges that models read at the same time; each has pages that are read beside each other. */
const RANGES_AT_ONCE = 2;
const PDF = 'application/pdf';

/** A range as a model read it, and the calls that it took. */
interface KeptRange {
  readonly document: PackedDocument;
  readonly calls: readonly ModelCall[];
}

type RangeRead = { readonly kind: 'ok'; readonly document: PackedDocument } | ParseFailure | ModelFailed;

/** A range by the OCR channel, from the shelf where an earlier attempt read all of it. */
const readRange = async (
  running: Running,
  { ocr, request, keeping }: Ocr,
  range: readonly number[],
): Promise<RangeRead> => {
  const name = `ocr-v1-${range[0] ?? 0}-${range.at(-1) ?? 0}`;
  const known = await keeping.shelf.find(name);
  if (known !== undefined) {
    const { document, calls } = deserialize(known) as KeptRange;
    for (const call of calls) running.models.onCall({ ...call, again: true });
    return { kind: 'ok', document };
  }
  const calls: ModelCall[] = [];
  const onCall = (call: ModelCall): void => {
    calls.push(call);
    running.models.onCall(call);
  };
  const noted = { ...running, models: { ...running.models, onCall } };
  const read = await readByModel(noted, ocr, { ...request, kept: undefined, pages: spelledPages(range) });
  if (read.kind === 'unpaged') return { kind: 'unreadable', detail: 'The document has no pages to look at.' };
  if (read.kind !== 'ok') return read;
  const { document } = read;
  if (document.pages.every(({ status }) => status !== 'failed'))
    await keeping.shelf.put(name, serialize({ document, calls } satisfies KeptRange));
  return { kind: 'ok', document };
};

interface Ocr {
  readonly ocr: ModelAccess;
  readonly request: ParseRequest;
  readonly keeping: LongKeeping;
  readonly tell: (range: readonly number[]) => void;
}

/** Pages for which a model gave nothing, as pages of the document that failed. */
const failedRange = async (
  running: Running,
  range: readonly number[],
  detail: string,
): Promise<RangeRead> => {
  const pages = range.map((number) => ({ status: 'failed' as const, number, detail }));
  const read = await running.deps.tools.documentOf({ mimeType: PDF, pages }, limitsOf(running));
  if (read.kind !== 'ok') return read;
  const warning: DocumentWarning = {
    code: 'pages_not_answered',
    message: `No model read these pages: ${detail}`,
    pages: range,
  };
  return { kind: 'ok', document: { ...read.document, warnings: [warning] } };
};

/** Each range by the OCR channel's model; those that fail are tried again, and are then pages that failed. */
const rangesByModel = async (
  running: Running,
  asked: Ocr,
): Promise<readonly PackedDocument[] | ParseFailure | ModelFailed> => {
  const ranges = pageRanges(asked.keeping.numbers);
  const read = await inRounds(running, ranges, {
    atOnce: RANGES_AT_ONCE,
    work: async (range) => {
      const one = await readRange(running, asked, range);
      if (one.kind === 'ok') asked.tell(range);
      return one;
    },
  });
  const failures = read.filter((one) => one.kind !== 'ok');
  const [failure] = failures;
  if (failure !== undefined && failures.length === read.length) return failure;
  const documents: PackedDocument[] = [];
  for (const [at, one] of read.entries()) {
    const stands =
      one.kind === 'model_failed' && one.failure.kind !== 'aborted'
        ? await failedRange(running, ranges[at] ?? [], detailOf(one))
        : one;
    if (stands.kind !== 'ok') return stands;
    documents.push(stands.document);
  }
  return documents;
};

const detailOf = ({ failure }: ModelFailed): string =>
  'detail' in failure ? failure.detail : 'The work was given up.';

/**
 * Reads a document that is too long for one piece, in ranges of its pages: by the OCR channel's model where there is
 * one, else by the engine. What is on the shelf is not read again.
 */
export const readLong = async (
  running: Running,
  {
    request,
    keeping,
    onPages,
  }: Pick<Ocr, 'request' | 'keeping'> & { readonly onPages: (done: number) => void },
): Promise<LongDocument | ParseFailure | ModelFailed> => {
  const { deps, models } = running;
  const { kept: _, pages: __, ...rest } = request;
  const { numbers, shelf, turns } = keeping;
  let done = 0;
  const tell = (range: readonly number[]): void => {
    done += range.length;
    onPages(done);
  };
  const read =
    models.ocr === null
      ? await deps.ranged.read({ ...rest, ...limitsOf(running), numbers, shelf, turns, onPages })
      : await rangesByModel(running, { ocr: models.ocr, request, keeping, tell });
  if ('kind' in read && read.kind !== 'ok') return read;
  const ranges = 'kind' in read ? read.parts : read;
  const whole = await deps.tools.joined(
    ranges.map(({ packed }) => packed),
    limitsOf(running),
  );
  if (whole.kind !== 'ok') return whole;
  const warnings = ranges.flatMap((range) =>
    range.warnings.filter(({ code }) => code === 'pages_not_answered'),
  );
  return {
    kind: 'ok',
    document: { ...whole.document, warnings: [...warnings, ...whole.document.warnings] },
    ranges,
  };
};
