import { paymentStream } from '../../domain/payment/identity.ts';
import { upserting } from '../engine/apply/bulk.ts';
import type { ProjectedEvent } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import type { Row } from '../engine/table.ts';
import { openClaims } from './openClaims.schema.ts';

type Claim = Row<typeof openClaims>;

const put = upserting(openClaims);

/** What an event makes of a payment stream: a claim opens it (a row), all else closes it (null). */
const effectsOf = (event: ProjectedEvent): readonly (readonly [string, Claim | null])[] => {
  switch (event.type) {
    case 'PaymentClaimed':
      return [[event.stream, event.data.again === true ? null : { ...event.data, stream: event.stream }]];
    case 'PaymentReleased':
      return [[event.stream, null]];
    case 'CreditsGranted':
    case 'CreditsRefunded':
      return [[paymentStream(event.data), null]];
    default:
      return [];
  }
};

/** Claims that a sweeper has to finish or release. */
export const openClaimsProjector: Projector = {
  name: 'open_claims',
  version: 2,
  eventTypes: ['PaymentClaimed', 'PaymentReleased', 'CreditsGranted', 'CreditsRefunded'],
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
