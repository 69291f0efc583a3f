import type { JsonObject } from '../../domain/kernel/json.ts';
import {
  deliverWork,
  type Delivered,
  type DeliverDeps,
  type WorkDone,
  type WorkRequest,
} from './deliverWork.ts';
import { chooseModels, type ChosenModels, type ModelChannel } from './models.ts';
import { parseProblem, type WorkProblem } from './workProblem.ts';

export interface ConvertRequest extends WorkRequest {
  readonly mode: 'default' | 'fast';
  readonly ocr: ModelChannel;
}

export interface ConvertDeps extends DeliverDeps {
  readonly platformModels: { readonly extraction: string; readonly ocr: string };
  readonly convertDeadlineMs: number;
}

const run = async (
  deps: ConvertDeps,
  request: ConvertRequest,
  {
    models,
    ids,
    signal,
  }: { models: ChosenModels; ids: { operation_id: string; document_id: string }; signal: AbortSignal },
): Promise<WorkDone | WorkProblem> => {
  const began = performance.now();
  const answer = await deps.parser.render({
    path: request.file.path,
    fileName: request.file.file_name,
    effort: request.mode === 'fast' ? 'fast' : 'standard',
    pagesMax: deps.pagesMax,
    deadlineMs: deps.convertDeadlineMs,
    signal,
  });
  if (answer.kind !== 'ok') return parseProblem(answer, 'conversion_failed');
  const { rendition } = answer;
  return {
    kind: 'done',
    status: 'success',
    body: {
      markdown: rendition.markdown,
      plain_text: rendition.plainText,
      meta: {
        conversion_id: ids.operation_id,
        document_id: ids.document_id,
        file_name: request.file.file_name,
        mime_type: rendition.mimeType,
        pages: rendition.pages.length,
        mode: request.mode,
        model: models.model,
        billing_type: models.billing_type,
        duration_ms: Math.round(performance.now() - began),
      },
    },
  };
};

/** The answer as the interface has it: what was done, and what it cost. */
const withBill = ({ body, cost, free_pages }: Delivered): Delivered => ({
  kind: 'delivered',
  cost,
  free_pages,
  body: { ...body, meta: { ...(body['meta'] as JsonObject), cost: { ...cost } } },
});

/** A document as markdown and plain text: held, done, stored, settled, answered. */
export const convertDocument =
  (deps: ConvertDeps) =>
  async (request: ConvertRequest): Promise<Delivered | WorkProblem> => {
    const channels = { llm: {}, ocr: request.ocr, runs: { llm: false, ocr: true } };
    const chosen = chooseModels(channels, deps.platformModels);
    if (chosen.kind === 'problem') return chosen;
    const models: ChosenModels = { ...chosen, model: chosen.ocr_model ?? chosen.model };
    const answer = await deliverWork(deps, request, {
      operation: 'to_markdown',
      endpoint: 'to-markdown',
      mode: request.mode,
      models,
      idPrefix: 'cnv',
      timedOut: 'conversion_failed',
      run: (ids, signal) => run(deps, request, { models, ids, signal }),
    });
    return answer.kind === 'delivered' ? withBill(answer) : answer;
  };
