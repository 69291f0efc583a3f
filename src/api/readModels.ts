import { z } from 'zod';
import type { PauseOutcome } from '../../projections/engine/parking.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { routesOver } from '../server/routes.ts';
import { problem } from '../server/problems.ts';
import { tenantIdText } from './schemas/basics.ts';

/** What these routes need. */
export interface ReadModelDeps {
  readonly readModels: {
    readonly pause: (name: string) => Promise<PauseOutcome>;
    readonly resume: (name: string) => Promise<PauseOutcome>;
    /** Gives how many tenants are tried again. */
    readonly retry: (asked: {
      readonly name: string;
      readonly tenant?: string | undefined;
    }) => Promise<number>;
  };
}

const { post } = routesOver<ReadModelDeps>();

const params = z.object({
  name: z
    .enum(READ_MODELS.map(({ name }) => name))
    .meta({ description: 'A read model, as `GET /v1/admin/service-state` names it.' }),
});

const pausedResponse = z
  .strictObject({
    name: z.string(),
    is_paused: z.boolean().meta({ description: 'An operator keeps it where it is.' }),
    changed: z.boolean().meta({ description: 'False if it was so before.' }),
  })
  .meta({ id: 'ReadModelPausedResponse' });

const retryRequest = z
  .strictObject({
    tenant_id: tenantIdText
      .optional()
      .meta({ description: 'Only this tenant; all that are parked by default.' }),
  })
  .meta({ id: 'RetryReadModelRequest' });

const retryResponse = z
  .strictObject({
    name: z.string(),
    retrying: z.int().meta({ description: 'Parked tenants whose rows are made anew, in the background.' }),
  })
  .meta({ id: 'RetryReadModelResponse' });

/** SQLSTATE of a statement that the role of this process may not make. */
const NOT_ALLOWED = '42501';

/** Where roles of the database are apart, only a process that projects may change what it projects. */
const allowed = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== NOT_ALLOWED) throw error;
    throw problem(
      'not_ready',
      'The database role of this process may not change read models: run `quire projections` on a machine whose ' +
        'process has the role projector.',
    );
  }
};

/** A read model without tables yet has nothing to pause. */
const answerOf = (name: string, is_paused: boolean, outcome: PauseOutcome) => {
  if (outcome === 'unknown_model')
    throw problem('not_ready', 'The read model has no tables yet: ask again once a process projects.');
  return { name, is_paused, changed: outcome === 'done' };
};

export const pauseReadModel = post(
  '/v1/admin/read-models/{name}/pause',
  {
    summary: 'Pause a read model',
    description:
      'It stays where it is, through restarts, until it is resumed; the others go on. Its answers grow older ' +
      'meanwhile.',
    access: 'admin',
    params,
    reply: { status: 200, schema: pausedResponse },
    problems: ['not_ready'],
  },
  async ({ params: { name } }, { readModels }) => answerOf(name, true, await allowed(readModels.pause(name))),
);

export const resumeReadModel = post(
  '/v1/admin/read-models/{name}/resume',
  {
    summary: 'Let a paused read model go on',
    description: 'It applies the events since its position, a second or so from now.',
    access: 'admin',
    params,
    reply: { status: 200, schema: pausedResponse },
    problems: ['not_ready'],
  },
  async ({ params: { name } }, { readModels }) =>
    answerOf(name, false, await allowed(readModels.resume(name))),
);

export const retryReadModel = post(
  '/v1/admin/read-models/{name}/retry',
  {
    summary: 'Try parked tenants of a read model again',
    description:
      'A process with the role `projector` makes the rows of each anew from the log, beside those in use; other ' +
      'tenants are not held up. `GET /v1/admin/service-state` shows who is parked still, and why.',
    access: 'admin',
    params,
    body: retryRequest,
    reply: { status: 200, schema: retryResponse },
    problems: ['not_ready'],
  },
  async ({ params: { name }, body }, { readModels }) => ({
    name,
    retrying: await allowed(readModels.retry({ name, tenant: body.tenant_id })),
  }),
);
