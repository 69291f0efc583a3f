import { type Projector, type Row, rowReader, table, textOf } from './engine/table.ts';
import { paymentStream } from '../domain/account/messages.ts';
import { upserting } from './engine/bulk.ts';
import type { ProjectedEvent } from './engine/ports.ts';
import { listing, telling } from './engine/query.ts';

/** Payment identities that were claimed and have neither an effect nor a release yet. */
export const openClaims = table({
  name: 'open_claims',
  key: ['stream'],
  columns: {
    stream: 'sorted',
    tenant_id: 'sorted replace',
    kind: 'text replace',
    claimed_at: 'sorted replace',
  },
  indexes: ['(claimed_at)'],
});

type Claim = Row<typeof openClaims>;

const put = upserting(openClaims);

/** The effect of an event on a payment stream: a claim opens it (a row), any other closes it (null). */
const effectsOf = (event: ProjectedEvent): readonly (readonly [string, Claim | null])[] => {
  switch (event.type) {
    case 'PaymentClaimed':
      return [[event.stream, event.data.again === true ? null : { ...event.data, stream: event.stream }]];
    case 'PaymentReleased':
      return [[event.stream, null]];
    case 'CreditsGranted':
    case 'CreditsRefunded':
    case 'RefundReversed':
      return [[paymentStream(event.data), null]];
    default:
      return [];
  }
};

/** Claims that a sweeper has to finish or release. */
export const openClaimsProjector: Projector = {
  name: 'open_claims',
  version: 3,
  eventTypes: ['PaymentClaimed', 'PaymentReleased', 'CreditsGranted', 'CreditsRefunded', 'RefundReversed'],
  tables: [openClaims],
  apply: async (tx, { schema, events }) => {
    const last = new Map(events.flatMap(effectsOf));
    const open = [...last.values()].filter((row) => row !== null);
    const closed = [...last].filter(([, row]) => row === null).map(([stream]) => stream);
    if (closed.length > 0)
      await tx.query(`delete from ${schema}.open_claims where stream = any($1::text[])`, [closed]);
    await put(tx, schema, open);
  },
};

/** Payment streams claimed before an instant and still open, oldest first. */
export const openClaimsBefore = listing(
  'select stream from read.open_claims where claimed_at < $1 order by claimed_at, stream limit $2',
  (before: string, limit: number) => [before, limit],
  (row) => textOf(row, 'stream'),
);

/** All claims that are open: how many, and when the oldest was made (null: there is none). */
export const openClaimsSummary = telling(
  'select count(*) as count, min(claimed_at) as oldest_at from read.open_claims',
  () => [],
  rowReader({ count: 'int8', oldest_at: 'text?' }),
);
