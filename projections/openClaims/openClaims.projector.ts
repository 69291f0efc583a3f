import { paymentStream } from '../../domain/payment/identity.ts';
import type { BulkRow } from '../engine/apply/bulk.ts';
import { bulk } from '../engine/apply/bulk.ts';
import type { ProjectedEvent } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { openClaimsDdl, openClaimsTables } from './openClaims.schema.ts';

const claims = bulk({ stream: 'text', tenant_id: 'text', kind: 'text', claimed_at: 'text' });
type Claim = BulkRow<typeof claims> & { readonly stream: string };

/** What an event makes of a payment stream: a claim opens it (a row), all else closes it (null). */
const effectOf = (event: ProjectedEvent): readonly [string, Claim | null] | undefined => {
  switch (event.type) {
    case 'PaymentClaimed':
      return [event.stream, event.data.again === true ? null : { ...event.data, stream: event.stream }];
    case 'PaymentReleased':
      return [event.stream, null];
    case 'CreditsGranted':
    case 'CreditsRefunded':
      return [paymentStream(event.data), null];
    default:
      return undefined;
  }
};

/** Claims that a sweeper has to finish or release. */
export const openClaimsProjector: Projector = {
  name: 'open_claims',
  version: 2,
  eventTypes: ['PaymentClaimed', 'PaymentReleased', 'CreditsGranted', 'CreditsRefunded'],
  tables: openClaimsTables,
  ddl: openClaimsDdl,
  apply: async (tx, { schema, events }) => {
    const last = new Map(
      events.flatMap((event) => {
        const effect = effectOf(event);
        return effect === undefined ? [] : [effect];
      }),
    );
    const open = [...last.values()].filter((row): row is Claim => row !== null);
    const closed = [...last].filter(([, row]) => row === null).map(([stream]) => stream);
    if (closed.length > 0)
      await tx.query(`delete from ${schema}.open_claims where stream = any($1::text[])`, [closed]);
    if (open.length > 0)
      await tx.query(
        `insert into ${schema}.open_claims (${claims.names}) select ${claims.names} from ${claims.source()}
         on conflict (stream) do update
           set tenant_id = excluded.tenant_id, kind = excluded.kind, claimed_at = excluded.claimed_at`,
        claims.values(open),
      );
  },
};
