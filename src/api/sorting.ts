import type { z } from 'zod';
import type { sortByFields } from '../commands/sortDocument.ts';
import type { WorkRequest } from '../commands/work.ts';
import { type AnyRequest, KEPT_A_DAY, routesOver } from '../server/routes.ts';
import { workFailure } from '../server/problems.ts';
import { acceptedOrDone, doneSoon } from './operations.ts';
import { operationBody } from './schemas/operationSchemas.ts';
import { classifyForm, classifyResponse, splitForm, splitResponse } from './schemas/sortingSchemas.ts';
import { FIELD_PROBLEMS, onFormFile, workOf, WORK_PROBLEMS, type WorkDeps } from './work.ts';

/** What these routes need. */
export type SortingDeps = WorkDeps & { readonly sort: ReturnType<typeof sortByFields> };

const { post } = routesOver<SortingDeps>();

type Asked = Parameters<SortingDeps['sort']>[0];
type Answer = z.input<typeof classifyResponse> | z.input<typeof splitResponse>;

/** Sorts, now or as an operation, and gives the answer's body. Throws the problem that answers why there is none. */
const runSorting = async (
  deps: SortingDeps,
  request: AnyRequest,
  { asked, work }: { readonly asked: Asked; readonly work: WorkRequest },
): Promise<Answer> => {
  const later = { work, endpoint: asked.what, begin: (one: WorkRequest) => deps.sort(asked, one) };
  // Another status has another schema: that of an operation.
  if (request.respondAsync) return (await acceptedOrDone(deps, request, later)) as Answer;
  const answer = await deps.sort(asked, work);
  if (answer.kind === 'problem') throw workFailure(answer);
  if (answer.kind === 'to_queue')
    return (await doneSoon(deps, request, { ...later, isFull: answer.isFull })) as Answer;
  if (answer.kind === 'handed_over') throw new Error('nobody was there to take the work');
  // The work is billed by now: its shape is held by specs, never by a refusal here.
  return answer.body as unknown as Answer;
};

const SORTING_PROBLEMS = [...WORK_PROBLEMS, 'config_not_found', 'sorting_failed'] as const;

export const classify = post(
  '/v1/classify',
  {
    summary: 'What a document is',
    description:
      'The class of a document, by its words and their places; no model is asked, and the same document always has ' +
      'the same answer. `class` is null if none fits.',
    access: 'any',
    tenant: 'body',
    serviceActsForAll: true,
    bucket: 'heavy',
    idempotency: KEPT_A_DAY,
    respondsAsync: operationBody,
    body: classifyForm,
    upload: true,
    reply: { status: 200, schema: classifyResponse },
    problems: SORTING_PROBLEMS,
  },
  async (request, deps) => {
    const { project_id, task_id, classes, ...fields } = request.body;
    return onFormFile(deps, request, (file) =>
      runSorting(deps, request, {
        asked: { what: 'classify', classes },
        work: workOf(request, fields, { file, project_id, task_id }),
      }),
    ) as Promise<z.input<typeof classifyResponse>>;
  },
);

export const split = post(
  '/v1/split',
  {
    summary: 'Where the documents of a stack begin',
    description:
      'Parts a file of several documents, such as a stack that was scanned at once, by what adjacent pages say and ' +
      'how they look: page numbers, letterheads, titles, words in common, paper. No model is asked. With `then` the ' +
      'parts become a batch; with `review` a person decides about those that are in doubt first.',
    access: 'any',
    tenant: 'body',
    serviceActsForAll: true,
    bucket: 'heavy',
    idempotency: KEPT_A_DAY,
    respondsAsync: operationBody,
    body: splitForm,
    upload: true,
    reply: { status: 200, schema: splitResponse },
    problems: [...SORTING_PROBLEMS, ...FIELD_PROBLEMS, 'review_rejected'],
  },
  async (request, deps) => {
    const { project_id, task_id, classes, review, then, ...fields } = request.body;
    return onFormFile(deps, request, (file) =>
      runSorting(deps, request, {
        asked: { what: 'split', classes, review, then },
        work: workOf(request, fields, { file, project_id, task_id }),
      }),
    ) as Promise<z.input<typeof splitResponse>>;
  },
);
