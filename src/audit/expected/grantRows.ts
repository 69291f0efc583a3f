import { paymentStream } from '../../../domain/account/messages.ts';
import { accountOf, byType, type AuditedEventOf } from '../log/auditedEvent.ts';
import { grants } from '../../../projections/grants.ts';
import { openClaims } from '../../../projections/openClaims.ts';
import { keptRows, noneOf, type ExpectedModel, type ExpectedRow } from './expectedRows.ts';

type Moved = AuditedEventOf<'CreditsGranted' | 'CreditsRefunded'>;

const moneyOf = ({ stream, position, data }: Moved) => ({
  ...noneOf(grants.columns),
  tenant_id: accountOf(stream) ?? '',
  position,
  net_amount_minor: data.gross_amount_minor === null ? null : data.gross_amount_minor - data.vat_amount_minor,
  refunded_credits: 0n,
  refunded_amount_minor: 0n,
});

const soldGrant = (event: AuditedEventOf<'CreditsGranted'>) => ({
  ...moneyOf(event),
  ...event.data,
  kind: 'sale',
});

/** Price list and rate are those of the sale. */
const refundedGrant = (
  event: AuditedEventOf<'CreditsRefunded'>,
  sale: Pick<ReturnType<typeof soldGrant>, 'price_list_version' | 'fx_rate_to_usd'> | undefined,
): ExpectedRow<typeof grants> => ({
  ...moneyOf(event),
  ...event.data,
  grant_id: event.data.refund_id,
  kind: 'refund',
  credits: 0 - event.data.credits,
  original_grant_id: event.data.grant_id,
  price_list_version: sale?.price_list_version ?? null,
  fx_rate_to_usd: sale?.fx_rate_to_usd ?? null,
});

/** Sales with what of them was refunded, and refunds. */
export const grantRows: ExpectedModel = {
  name: 'grants',
  tables: [grants],
  start: (emit) => {
    const sales = keptRows<typeof grants, ReturnType<typeof soldGrant>>(grants, emit);
    const apply = byType({
      CreditsGranted: (event) => sales.set(`${event.stream} ${event.data.grant_id}`, soldGrant(event)),
      CreditsRefunded: (event) => {
        const sale = sales.get(`${event.stream} ${event.data.grant_id}`);
        if (sale !== undefined) {
          sale.refunded_credits += BigInt(event.data.credits);
          sale.refunded_amount_minor += BigInt(event.data.gross_amount_minor);
        }
        emit(grants, refundedGrant(event, sale));
      },
    });
    return { apply, finish: sales.emitAll };
  },
};

/** Claims without an effect or a release. */
export const openClaimRows: ExpectedModel = {
  name: 'open_claims',
  tables: [openClaims],
  start: (emit) => {
    const claims = keptRows(openClaims, emit);
    const end = ({ data }: AuditedEventOf<'CreditsGranted' | 'CreditsRefunded'>) =>
      void claims.take(paymentStream(data));
    const apply = byType({
      PaymentClaimed: ({ stream, data: { tenant_id, kind, claimed_at } }) =>
        claims.set(stream, { stream, tenant_id, kind, claimed_at }),
      PaymentReleased: ({ stream }) => void claims.take(stream),
      CreditsGranted: end,
      CreditsRefunded: end,
    });
    return { apply, finish: claims.emitAll };
  },
};
