import { z } from 'zod';
import { paymentStream } from '../../../domain/account/messages.ts';
import type { OpenClaim, Payments } from '../../commands/money/payments.ts';
import { problem } from '../../server/problems.ts';
import { routesOver } from '../../server/routes.ts';
import { creditsOut, instantOut, plainText } from '../schemas/basics.ts';

/** What these routes need. */
export interface OpenPaymentsDeps {
  /** Payments that are claimed and neither booked nor released, the oldest, at most so many. */
  readonly openPayments: (limit: number, signal: AbortSignal) => Promise<readonly OpenClaim[]>;
  /** Claims of payments, which are freed by them. */
  readonly payments: Pick<Payments, 'releaseClaim'>;
}

const { get, post } = routesOver<OpenPaymentsDeps>();

/** More claims than a person looks through; each is looked up in the log. */
const OPEN_PAYMENTS_MAX = 500;

const openPayment = z
  .strictObject({
    provider: z.string(),
    provider_txn_id: z.string(),
    tenant_id: z.string(),
    kind: z.enum(['sale', 'refund', 'reversal']),
    credits: creditsOut
      .nullable()
      .meta({ description: 'Of the request; null: it does not say, or cannot be read.' }),
    claimed_at: instantOut,
    stuck: z.enum(['unreadable', 'may_have_been_refused']).nullable().meta({
      description: 'Why the service does not finish it by itself; null: it does, within 2 minutes.',
    }),
  })
  .meta({ id: 'OpenPayment' });

export const listOpenPayments = get(
  '/v1/admin/payments/open',
  {
    summary: 'Payments that are claimed and neither booked nor released, oldest first',
    description:
      'A payment whose process died is finished by the service; what is `stuck` has to be sent again or released ' +
      '(`quire payments release`). What is finished after a month was closed is booked in the open one. The oldest ' +
      '500 are listed.',
    access: 'admin',
    bucket: 'heavy',
    reply: {
      status: 200,
      schema: z.strictObject({ items: z.array(openPayment) }).meta({ id: 'OpenPaymentList' }),
    },
    reads: 'all',
  },
  async ({ signal }, { openPayments }) => {
    const claims = await openPayments(OPEN_PAYMENTS_MAX, signal);
    return { items: claims.map(({ stream: _, ...claim }) => claim) };
  },
);

const releaseRequest = z
  .strictObject({
    provider: plainText(1, 64),
    provider_txn_id: plainText(1, 255),
    reason: plainText(1, 500).meta({ description: 'Why the payment is given up; kept in the log.' }),
  })
  .meta({ id: 'OpenPaymentReleaseRequest' });

const releasedPayment = z
  .strictObject({
    provider: z.string(),
    provider_txn_id: z.string(),
    tenant_id: z.string(),
    kind: z.enum(['sale', 'refund', 'reversal']),
    reason: z.string(),
  })
  .meta({ id: 'ReleasedPayment' });

export const releaseOpenPayment = post(
  '/v1/admin/payments/open/release',
  {
    summary: 'Give up a payment that is claimed and was never booked',
    description:
      'Does the same as `quire payments release`: the name of the payment is free again, with the reason in the ' +
      'log, and whoever sends it later is a new payment. Nothing that moved credits can be released.',
    access: 'admin',
    body: releaseRequest,
    reply: { status: 200, schema: releasedPayment },
    problems: ['payment_not_found', 'payment_not_releasable', 'busy'],
  },
  async ({ body, meta }, { payments: claims }) => {
    const { reason, ...identity } = body;
    const released = await claims.releaseClaim(paymentStream(identity), { reason, meta });
    switch (released.kind) {
      case 'released': {
        const { provider, provider_txn_id, tenant_id, kind } = released.claim;
        return { provider, provider_txn_id, tenant_id, kind, reason };
      }
      case 'none':
        throw problem('payment_not_found', 'No payment of this name is claimed and open.');
      case 'took_effect':
        throw problem(
          'payment_not_releasable',
          'The payment took effect: its credits were moved. Record a refund to take them back.',
        );
      case 'young':
        throw problem(
          'payment_not_releasable',
          'The claim is less than a minute old: its request may still be at work. Try again in a minute.',
        );
      case 'busy':
        throw problem(
          'busy',
          'The event log did not answer in time. Look at the open payments, then try again.',
        );
    }
  },
);
