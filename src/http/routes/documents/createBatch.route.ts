import { KEPT_A_DAY, post } from '../../defineRoute.ts';
import { acceptBatchOf } from '../../documents/batches.ts';
import { looseChannel } from '../../documents/workFields.ts';
import { BATCH_PROBLEMS } from '../../documents/workProblems.ts';
import type { ChannelName } from '../../../commands/models.ts';
import { batchBody, batchRequest } from '../../wire/batches.ts';
import { CHANNEL_MEMBERS } from '../../wire/channels.ts';

const placeOf = (channel: ChannelName, member: string) => ['body', channel, member];

const channelIn = (name: ChannelName, given: object | null | undefined) =>
  looseChannel((given ?? {}) as Record<string, unknown>, {
    members: CHANNEL_MEMBERS,
    at: (member) => placeOf(name, member),
  });

export const createBatch = post('/v1/batches', {
  summary: 'Data from up to 1,000 uploaded documents, by one JSON Schema or saved config',
  description:
    'Each document is an operation of its own, with its own hold, outcome and cost. Files are opened by the ' +
    'workers, so one that cannot be used, or paid for, fails by itself and leaves the others alone. ' +
    '`Location` says where the batch is.',
  access: 'any',
  tenant: 'body',
  serviceActsForAll: true,
  bucket: 'heavy',
  idempotency: KEPT_A_DAY,
  body: batchRequest,
  reply: { status: 202, schema: batchBody },
  problems: BATCH_PROBLEMS,
  handle: async (request, deps) => {
    const { project_id, task_id, file_uris, schema, ...fields } = request.body;
    const { key_id, role } = request.caller;
    const { idempotency_key, fingerprint } = request;
    return acceptBatchOf(deps, request, {
      file_uris,
      fields: {
        schema,
        mode: fields.mode,
        artifact_id: fields.artifact_id,
        config_id: fields.config_id,
        allow_partial: fields.allow_partial,
        citations: fields.citations,
        min_confidence: fields.min_confidence,
        llm: channelIn('llm', fields.llm),
        ocr: channelIn('ocr', fields.ocr),
        channelPaths: placeOf,
      },
      work: {
        ...{ tenant_id: request.tenant_id, project_id, task_id, caller: { key_id, role } },
        correlation_id: request.meta.correlation_id,
        idempotency: idempotency_key === null ? null : { idempotency_key, fingerprint },
        opening: { pages: fields.pages, password: fields.password, at: ['body'] },
        signal: request.signal,
      },
    });
  },
});
