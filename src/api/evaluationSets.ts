import { z } from 'zod';
import type { EvaluationSetVersion } from '../../domain/evaluation.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { TrainingExample } from '../../domain/ports/trainer.ts';
import { type findSet, type PublishedSet, type SetRequest, setNotFound } from '../commands/evaluations.ts';
import type { WorkProblem } from '../commands/workProblem.ts';
import type { Queries, ReadYourWrites } from '../queries/queries.ts';
import { type AnyRequest, KEPT_A_DAY, routesOver } from '../server/routes.ts';
import { workerOf } from '../server/keys.ts';
import { settleReads } from '../server/answers.ts';
import { invalid, workFailure } from '../server/problems.ts';
import {
  checkKnown,
  instantIn,
  instantOut,
  orAbsent,
  pageFacts,
  pageOf,
  listQuery,
  plainText,
  tenantIdText,
} from './schemas/basics.ts';
import { example, scopeName } from './schemas/pipelineSchemas.ts';
import { setsOfTenant } from '../../projections/evaluations.ts';

/** What routes call for sets of examples. */
export interface SetCommands {
  readonly publish: (request: SetRequest, meta: CommandMeta) => Promise<PublishedSet | WorkProblem>;
  readonly remove: (setId: string, tenantId: string, meta: CommandMeta) => Promise<WorkProblem | undefined>;
  /** null: of any tenant. */
  readonly find: (tenantId: string | null, setId: string) => ReturnType<typeof findSet>;
  /** Whose set it is or was. */
  readonly ownerOf: (setId: string) => Promise<string | undefined>;
  readonly examplesOf: (set: EvaluationSetVersion) => Promise<readonly TrainingExample[]>;
}

/** What these routes need. */
export interface EvaluationSetsDeps {
  readonly sets: SetCommands;
  readonly queries: Pick<Queries, 'balanceOfTenant' | 'evaluationSetsOfTenant'>;
  readonly reads: ReadYourWrites;
}

const { get, post, remove } = routesOver<EvaluationSetsDeps>();

/** Whose sets and runs a request may see: of one tenant, or `null` of all. */
export const ownSight = ({ caller }: Pick<AnyRequest, 'caller'>): string | null =>
  caller.role === 'tenant' ? caller.tenant_id : null;

/** A set that is there. 404 for another tenant's: it does not say that there is one. */
const setOf = async (
  { sets }: EvaluationSetsDeps,
  request: Pick<AnyRequest, 'caller'>,
  setId: string,
): Promise<EvaluationSetVersion> => {
  const set = await sets.find(ownSight(request), setId);
  if (set === undefined) throw workFailure(setNotFound());
  return set;
};

const fromDecisions = z
  .strictObject({
    config_id: plainText(1, 200).optional().meta({
      description:
        'ID of the saved config that the documents were read with; left out: with any config, or with none.',
    }),
    decided_from: instantIn.optional().meta({ description: 'Inclusive.' }),
    decided_until: instantIn.optional().meta({ description: 'Exclusive.' }),
  })
  .meta({ id: 'EvaluationSetDecisions' });

const setRequest = z
  .strictObject({
    tenant_id: tenantIdText
      .optional()
      .meta({ description: 'For service and admin keys; default: their own.' }),
    set_id: orAbsent(plainText(1, 128)).meta({
      description: 'ID of the set that gets a new version; left out: a new set.',
    }),
    name: plainText(1, 200).optional().meta({
      description: 'It stays in the log for ever, so put no names of people into it. A new version keeps it.',
    }),
    project_id: scopeName().optional().meta({
      description: 'Project to which its runs are booked; default `default`. A new version keeps it.',
    }),
    task_id: scopeName().optional().meta({ description: 'As `project_id`.' }),
    from_decisions: fromDecisions.nullish().meta({
      description: 'Instead of `examples`: use what people decided in reviews; `{}`: in all of them.',
    }),
    examples: z.array(example).max(1_000).nullish().meta({
      description:
        'All examples: at least one, each document once. Or send a `dataset_id` or `from_decisions`.',
    }),
    dataset_id: plainText(1, 100)
      .nullish()
      .meta({ description: 'An upload of kind `dataset`: NDJSON of `{document_id, expected}`.' }),
  })
  .meta({ id: 'EvaluationSetRequest' });

const setMembers = {
  set_id: z.string(),
  version: z.int().meta({ description: 'Starts at 1; each change makes the next.' }),
  tenant_id: z.string(),
  project_id: z.string(),
  task_id: z.string(),
  name: z.string().nullable(),
  documents: z.int().meta({ description: 'Documents of this version.' }),
  created_at: instantOut,
  published_at: instantOut.meta({ description: 'When this version was published.' }),
};
const setItem = z.strictObject(setMembers).meta({ id: 'EvaluationSetItem' });
const wholeSet = {
  ...setMembers,
  document_ids: z.array(z.string()).meta({ description: 'IDs of the documents of this version.' }),
};
const setBody = z.strictObject(wholeSet).meta({ id: 'EvaluationSet' });

const createdSet = z
  .strictObject({
    ...wholeSet,
    left_out: z.int().meta({
      description:
        'Number of decided documents that cannot be examples, because their files are no longer kept, or because ' +
        'there are more than 1,000. 0 without `from_decisions`.',
    }),
  })
  .meta({ id: 'CreatedEvaluationSet' });

const setBodyOf = ({
  set_name: name,
  examples,
  fingerprint: _,
  ...set
}: EvaluationSetVersion): z.input<typeof setBody> => ({
  ...set,
  name,
  documents: examples.length,
  document_ids: examples.map(({ document_id }) => document_id),
});

const setParams = z.object({ set_id: plainText(1, 128) });

const referenceOf = ({
  examples,
  dataset_id,
  from_decisions,
}: z.output<typeof setRequest>): SetRequest['examples'] => {
  if ([examples, dataset_id, from_decisions].filter((one) => one != null).length !== 1)
    throw invalid({
      loc: ['body', 'examples'],
      msg: 'Send examples, a dataset_id or from_decisions, one of the three.',
      type: 'missing',
    });
  if (dataset_id != null) return { dataset_id };
  if (from_decisions != null) return { from_decisions };
  return {
    examples: (examples ?? []).map(({ expected, ...reference }) => ({
      ...reference,
      expected: expected as JsonObject,
    })),
  };
};

export const createEvaluationSet = post(
  '/v1/evaluations/sets',
  {
    summary: 'Publish a set of examples, or a new version of one',
    description:
      'Documents and their correct values, to measure configs and artifacts. A version is complete, not a patch; if ' +
      'nothing changes, no version is made. Documents are uploads; one that is erased or removed is taken out of ' +
      'every set. With `from_decisions` the set has the last 1,000 documents that people have decided. A file that ' +
      'came with its request becomes an upload of the same `document_id`.',
    access: 'any',
    tenant: 'body',
    serviceActsForAll: true,
    bucket: 'heavy',
    idempotency: KEPT_A_DAY,
    body: setRequest,
    reply: { status: 201, schema: createdSet },
    problems: [
      'set_not_found',
      'document_not_found',
      'missing_file',
      'unsupported_file_type',
      'file_too_large',
      'storage_error',
      'busy',
    ],
  },
  async (request, { sets, reads }) => {
    const { idempotency_key, fingerprint, caller, meta, signal, body } = request;
    if (body.from_decisions != null) await settleReads(reads, request, request.tenant_id);
    const published = await sets.publish(
      {
        tenant_id: request.tenant_id,
        caller: workerOf(caller),
        signal,
        correlation_id: meta.correlation_id,
        set_id: body.set_id ?? null,
        set_name: body.name,
        project_id: body.project_id,
        task_id: body.task_id,
        examples: referenceOf(body),
        identity: idempotency_key === null ? null : { idempotency_key, fingerprint },
      },
      meta,
    );
    if (published.kind === 'problem') throw workFailure(published);
    const { version, unchanged, left_out } = published;
    if (unchanged && body.set_id === undefined) request.answer.header('Idempotent-Replayed', 'true');
    request.answer.header('Location', `/v1/evaluations/sets/${version.set_id}`);
    return { ...setBodyOf(version), left_out };
  },
);

export const listEvaluationSets = get(
  '/v1/evaluations/sets',
  {
    summary: 'The sets of examples of a tenant, last changed first',
    description: 'The latest version of each set.',
    access: 'any',
    tenant: 'query',
    serviceActsForAll: true,
    query: z.object({ tenant_id: tenantIdText, ...listQuery(setsOfTenant) }),
    reply: { status: 200, schema: pageOf(setItem, 'EvaluationSetList') },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async ({ query }, { queries }) => {
    const { tenant_id } = query;
    const found = await queries.evaluationSetsOfTenant(query);
    await checkKnown({ queries }, tenant_id, { isEmpty: found.total === 0 });
    const shown = found.items.map(({ set_name: name, position: _, ...set }) => ({ ...set, name }));
    return { items: shown, ...pageFacts(query, found) };
  },
);

export const getEvaluationSet = get(
  '/v1/evaluations/sets/{set_id}',
  {
    summary: 'The latest version of a set of examples',
    description: 'The correct values of its documents are in `GET /v1/evaluations/sets/{set_id}/examples`.',
    access: 'any',
    params: setParams,
    reply: { status: 200, schema: setBody },
    problems: ['set_not_found'],
  },
  async (request, deps) => setBodyOf(await setOf(deps, request, request.params.set_id)),
);

export const getEvaluationSetExamples = get(
  '/v1/evaluations/sets/{set_id}/examples',
  {
    summary: 'The examples of a set',
    description:
      'NDJSON, a line `{document_id, expected}` for each example. You can send it back as a dataset.',
    access: 'any',
    bucket: 'heavy',
    params: setParams,
    reply: { status: 200, contentType: 'application/x-ndjson' },
    problems: ['set_not_found', 'storage_error'],
  },
  async (request, deps) => {
    const examples = await deps.sets.examplesOf(await setOf(deps, request, request.params.set_id));
    const body = examples.map((one) => `${JSON.stringify(one)}\n`).join('');
    return { contentType: 'application/x-ndjson', body };
  },
);

export const removeEvaluationSet = remove(
  '/v1/evaluations/sets/{set_id}',
  {
    summary: 'Remove a set of examples with all its versions',
    description:
      'This is final and also removes the correct values of its documents. The documents and the figures of its runs ' +
      'stay.',
    access: 'any',
    params: setParams,
    reply: { status: 204 },
    problems: ['set_not_found', 'storage_error', 'busy'],
  },
  async (request, { sets }) => {
    const { set_id } = request.params;
    const [owner, sight] = [await sets.ownerOf(set_id), ownSight(request)];
    if (owner === undefined || (sight !== null && sight !== owner)) throw workFailure(setNotFound());
    const refused = await sets.remove(set_id, owner, request.meta);
    if (refused !== undefined) throw workFailure(refused);
    return undefined;
  },
);
