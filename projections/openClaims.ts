import { type Projector, type Row, rowReader, table, textOf } from './engine/table.ts';
import { paymentStream } from '../domain/account/messages.ts';
import { inserting, upserting } from './engine/bulk.ts';
import { type ProjectedEvent, tenantOf } from './engine/ports.ts';
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

/** Credits that left one tenant and did not arrive at the other yet. */
export const openTransfers = table({
  name: 'open_transfers',
  rowsOf: 'from_tenant_id = $1',
  key: ['transfer_id'],
  columns: {
    transfer_id: 'sorted',
    from_tenant_id: 'sorted',
    to_tenant_id: 'sorted',
    credits: 'int8',
    created_at: 'sorted',
  },
  indexes: ['(created_at)'],
});

type Transfer = Row<typeof openTransfers>;
type Claim = Row<typeof openClaims>;

const put = upserting(openClaims);
const send = inserting(openTransfers);

/** Transfers that a batch leaves open, and those that it ends. */
const transfersOf = (events: readonly ProjectedEvent[]) => {
  const open = new Map<string, Transfer>();
  const ended: string[] = [];
  for (const event of events)
    if (event.type === 'CreditsTransferredOut')
      open.set(event.data.transfer_id, { ...event.data, from_tenant_id: tenantOf(event) });
    else if (event.type === 'CreditsTransferredIn' && !open.delete(event.data.transfer_id))
      ended.push(event.data.transfer_id);
  return { open: [...open.values()], ended };
};

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

/** Claims that a sweeper has to finish or release, and transfers that it has to finish. */
export const openClaimsProjector: Projector = {
  name: 'open_claims',
  version: 4,
  eventTypes: [
    'PaymentClaimed',
    'PaymentReleased',
    'CreditsGranted',
    'CreditsRefunded',
    'RefundReversed',
    'CreditsTransferredOut',
    'CreditsTransferredIn',
  ],
  tables: [openClaims, openTransfers],
  // What arrives ends the transfer of the tenant that sent it.
  ownerOf: ({ type, data }) => (type === 'CreditsTransferredIn' ? data.from_tenant_id : undefined),
  apply: async (tx, { schema, events }) => {
    const last = new Map(events.flatMap(effectsOf));
    const open = [...last.values()].filter((row) => row !== null);
    const closed = [...last].filter(([, row]) => row === null).map(([stream]) => stream);
    if (closed.length > 0)
      await tx.query(`delete from ${schema}.open_claims where stream = any($1::text[])`, [closed]);
    await put(tx, schema, open);
    const transfers = transfersOf(events);
    await send(tx, schema, transfers.open);
    if (transfers.ended.length > 0)
      await tx.query(`delete from ${schema}.open_transfers where transfer_id = any($1::text[])`, [
        transfers.ended,
      ]);
  },
};

/** Payment streams claimed before an instant and still open, oldest first. */
export const openClaimsBefore = listing(
  'select stream from read.open_claims where claimed_at < $1 order by claimed_at, stream limit $2',
  (before: string, limit: number) => [before, limit],
  (row) => textOf(row, 'stream'),
);

/** Transfers sent before an instant that did not arrive yet, oldest first. */
export const openTransfersBefore = listing(
  'select * from read.open_transfers where created_at < $1 order by created_at, transfer_id limit $2',
  (before: string, limit: number) => [before, limit],
  rowReader(openTransfers.columns),
);

/** All claims that are open: how many, and when the oldest was made (null: there is none). */
export const openClaimsSummary = telling(
  'select count(*) as count, min(claimed_at) as oldest_at from read.open_claims',
  () => [],
  rowReader({ count: 'int8', oldest_at: 'text?' }),
);
