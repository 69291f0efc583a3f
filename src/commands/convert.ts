import type { Code } from '@quire/engine/document/codes';
import type { Chunk } from '@quire/engine/document/chunks';
import type { TableRows } from '@quire/engine/document/tableRows';
import type { Block, TableCell } from '@quire/engine/document/document';
import type { PageContents, RenderForm, Rendition } from '@quire/engine/ports/documentParser';
import { LOCAL_MODEL } from '@quire/engine/ports/modelProvider';
import type { RangedWork } from '@quire/engine/ports/extractionEngine';
import type { ModelConversionResult } from '@quire/engine/ports/modelWork';
import type { JsonObject } from '../../domain/kernel/json.ts';
import { type DeliverDeps, deliverWork } from './deliverWork.ts';
import {
  isOfMissingPages,
  keptWork,
  type Delivered,
  type WorkAnswer,
  type WorkDone,
  type WorkRequest,
  type WorkTask,
  withDefaultTags,
} from './work.ts';
import {
  type ChannelPaths,
  type ChosenModels,
  type ModelChannel,
  type ModelDeps,
  modelsByFormat,
} from './models.ts';
import type { PlatformModels } from '../platformModels.ts';
import { unlessOverrun } from './countPages.ts';
import { pageAnswers } from './extract.ts';
import { modelProblem, parseProblem, type WorkProblem } from './workProblem.ts';

const cellAnswer = ({ text, box, row, column, rowSpan, columnSpan }: TableCell): JsonObject => ({
  text,
  row,
  column,
  row_span: rowSpan,
  column_span: columnSpan,
  bbox: box,
});

/** A block in the words of the interface. */
const blockAnswer = (block: Block): JsonObject => {
  const { kind: type, box: bbox, continues } = block;
  return { type, bbox, ...contentAnswer(block), ...(continues !== undefined && { continues }) };
};

const contentAnswer = (block: Block): JsonObject => {
  switch (block.kind) {
    case 'heading':
      return { text: block.text, level: block.level };
    case 'list_item':
      return { text: block.text, ordered: block.ordered, number: block.number, depth: block.depth };
    case 'table': {
      const { rows, columns, headerRows, cells } = block;
      return { rows, columns, header_rows: headerRows, cells: cells.map(cellAnswer) };
    }
    case 'code':
      return { text: block.text, language: block.language };
    case 'paragraph':
    case 'image':
      return { text: block.text };
  }
};

/** The member `pages` of a conversion: what was asked for of each page. */
const pageContentAnswers = (pages: readonly PageContents[]): readonly JsonObject[] =>
  pages.map(({ page, markdown, blocks }) => ({
    page,
    ...(markdown !== undefined && { markdown }),
    ...(blocks !== undefined && { blocks: blocks.map(blockAnswer) }),
  }));

const chunkAnswer = ({ id, text, headingPath, pages, boxes }: Chunk): JsonObject => ({
  id,
  text,
  heading_path: headingPath,
  pages,
  boxes: boxes.map(({ page, box }) => ({ page, bbox: box })),
});

const codeAnswer = ({ format, text, page, box, parsed }: Code): JsonObject => ({
  format,
  text,
  page,
  bbox: box,
  ...(parsed !== undefined && { parsed }),
});

const tableAnswer = ({ page, box, title, headerRows, rows }: TableRows): JsonObject => ({
  page,
  bbox: box,
  title,
  header_rows: headerRows,
  rows,
});

/** The members of a conversion's answer that its form asks for. */
export const askedContents = ({
  pageContents,
  proposedSchema,
  codes,
  chunks,
  tableRows,
}: Rendition): JsonObject => ({
  ...(pageContents && { pages: pageContentAnswers(pageContents) }),
  ...(proposedSchema && { proposed_schema: proposedSchema }),
  ...(codes && { codes: codes.map(codeAnswer) }),
  ...(chunks && { chunks: chunks.map(chunkAnswer) }),
  ...(tableRows && { tables: tableRows.map(tableAnswer) }),
});

export interface ConvertRequest extends WorkRequest {
  readonly mode: 'default' | 'fast';
  readonly form: RenderForm;
  readonly ocr: ModelChannel;
  /** Where the channel's members stand in the request; left out: in the form. */
  readonly channelPaths?: ChannelPaths | undefined;
}

export interface ConvertDeps extends DeliverDeps, ModelDeps {
  readonly platformModels: PlatformModels;
  readonly ranged: RangedWork;
  /** Of a conversion by a model. */
  readonly convertDeadlineMs: number;
  /** Of one without. */
  readonly localDeadlinesMs: Readonly<Record<'fast' | 'standard', number>>;
}

const effortOf = ({ mode }: ConvertRequest): 'fast' | 'standard' => (mode === 'fast' ? 'fast' : 'standard');

/** The local parser, unless a model reads the pages. */
const rendered = (
  deps: ConvertDeps,
  request: ConvertRequest,
  { models: { ocr }, kept, signal, onCall, long, keeping }: WorkTask,
): Promise<ModelConversionResult> => {
  const effort = effortOf(request);
  const work = {
    path: request.file.path,
    fileName: request.file.file_name,
    effort,
    pagesMax: long?.pagesMax ?? deps.pagesMax,
    form: request.form,
    pages: request.opening.pages,
    password: request.opening.password,
    deadlineMs: ocr === null ? deps.localDeadlinesMs[effort] : deps.convertDeadlineMs * (long?.times ?? 1),
    signal,
    share: request.tenant_id,
    kept,
  };
  const ranges = long?.ranges;
  if (ocr !== null)
    return deps.modelWork.convert(work, { llm: null, ocr, onCall }, keptWork({ long, keeping }));
  const named = { file: request.file, what: 'render', request: work } as const;
  return unlessOverrun(deps.overruns, named, () =>
    ranges == null
      ? deps.parser.render({ ...work, onPagesRead: keeping?.onPages })
      : deps.ranged.render({ ...work, ...ranges }),
  );
};

const run = async (
  deps: ConvertDeps,
  request: ConvertRequest,
  task: WorkTask,
): Promise<WorkDone | WorkProblem> => {
  const answer = await rendered(deps, request, task);
  if (answer.kind === 'model_failed') return modelProblem(answer.failure);
  if (answer.kind !== 'ok') return parseProblem(answer);
  const { rendition } = answer;
  const use = task.keyUse();
  const isCut = rendition.warnings.some(isOfMissingPages);
  return {
    kind: 'done',
    status: isCut ? 'partial' : 'success',
    body: {
      markdown: rendition.markdown,
      plain_text: rendition.plainText,
      ...askedContents(rendition),
      meta: {
        conversion_id: task.operation_id,
        document_id: task.document_id,
        file_name: request.file.file_name,
        mime_type: rendition.mimeType,
        page_count: rendition.pages.length,
        pages: pageAnswers(rendition.pages),
        mode: request.mode,
        model: task.models.model,
        billing_type: use.billing_type,
        duration_ms: task.elapsedMs(),
        warnings: [...rendition.warnings.map((warning) => ({ ...warning })), ...use.warnings],
      },
    },
  };
};

/** The answer as the interface has it: what was done, and what it cost. */
const conversionAnswer = (delivered: Delivered): Delivered => {
  const { meta } = conversionEnds(delivered);
  const { body } = delivered;
  return { ...delivered, body: { ...body, meta: { ...(body['meta'] as JsonObject), ...meta } } };
};

/** Members of an answer that are known only once it is billed. */
export const conversionEnds = ({ cost }: Pick<Delivered, 'cost'>) => ({
  body: {},
  meta: { cost: { ...cost } },
});

/** What reads the pages is what a conversion names; a file without pages is read here. */
const named = (chosen: ChosenModels): ChosenModels => ({ ...chosen, model: chosen.ocr_model ?? LOCAL_MODEL });

/** A document as markdown and plain text: held, done, stored, settled, answered. */
export const convertDocument =
  (deps: ConvertDeps) =>
  async (asked: ConvertRequest): Promise<WorkAnswer> => {
    const tagged = withDefaultTags(asked.tags, asked.caller);
    if (tagged.kind === 'problem') return tagged;
    const request = { ...asked, tags: tagged.tags };
    const { ocr, channelPaths: paths } = request;
    const channels = { llm: {}, ocr, paths, runs: { llm: false, ocr: true } };
    const models = await modelsByFormat(deps, channels, named);
    const answer = await deliverWork(deps, request, {
      operation: 'to_markdown',
      endpoint: 'to-markdown',
      mode: request.mode,
      effort: effortOf(request),
      models,
      idPrefix: 'cnv',
      lastsMs: Math.max(deps.convertDeadlineMs, deps.localDeadlinesMs[effortOf(request)]),
      brokenAs: 'conversion_failed',
      task: { kind: 'to_markdown', mode: request.mode, form: request.form, ocr },
      run: (task) => run(deps, request, task),
    });
    return answer.kind === 'delivered' ? conversionAnswer(answer) : answer;
  };
