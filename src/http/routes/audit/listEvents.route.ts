import { z } from 'zod';
import { eventLine, logEvents, type EventsAsked, type LogToRead } from '../../../queries/log/logEvents.ts';
import { get } from '../../defineRoute.ts';
import { checkKnown } from '../../reads/knownTenant.ts';
import { placeIn } from '../../wire/audit.ts';
import { plainText, tenantIdText, wholeNumberText } from '../../wire/basics.ts';

async function* lines(log: LogToRead, asked: EventsAsked): AsyncGenerator<string> {
  for await (const event of logEvents(log, asked)) yield `${JSON.stringify(eventLine(event))}\n`;
}

export const listEvents = get('/v1/admin/events', {
  summary: 'The event log as it is stored',
  description:
    'NDJSON, one event a line: `position`, `stream`, `revision` (as text), `event_id`, `type`, `recorded_at`, ' +
    '`hash_version`, `prev_hash`, `hash`, `data`, `metadata`, and `covered`: the text whose SHA-256 the hash is. ' +
    'What was changed until it is no JSON any more has null there. Of one `stream`, of one `tenant_id` ' +
    '(the whole log is looked through), or all. To go on, send the last `revision` (of a stream) or ' +
    '`position` as `after`. Lines are sent as fast as they are read.',
  access: 'admin',
  bucket: 'heavy',
  query: z.object({
    stream: plainText(1, 400).optional(),
    tenant_id: tenantIdText.optional(),
    after: placeIn.optional(),
    direction: z.enum(['forwards', 'backwards']).default('forwards'),
    limit: wholeNumberText(1, 1_000_000).default(1_000),
  }),
  reply: { status: 200, contentType: 'application/x-ndjson' },
  problems: ['tenant_not_found'],
  reads: 'all',
  handle: async ({ query, signal }, deps) => {
    const { tenant_id } = query;
    if (tenant_id !== undefined) await checkKnown(deps, tenant_id, { isEmpty: true });
    return { contentType: 'application/x-ndjson', body: lines(deps.log, { ...query, signal }) };
  },
});
