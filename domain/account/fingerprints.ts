import { fingerprint } from '../kernel/fingerprint.ts';

/** A refund as the caller states it. */
export interface RefundRequest {
  readonly tenant_id: string;
  readonly provider: string;
  readonly provider_txn_id: string;
  readonly original_provider: string;
  readonly original_provider_txn_id: string;
  readonly credits: number | null;
  readonly currency: string | null;
  readonly gross_amount_minor: number | null;
  readonly vat_amount_minor: number | null;
  readonly provider_fee_minor: number;
  readonly occurred_at: string | null;
  readonly reason: string | null;
}

/** Digest of what the caller sent: it binds the payment's identity to this refund. */
export const refundFingerprint = (request: RefundRequest): string =>
  fingerprint({
    kind: 'refund',
    ...request,
    provider: request.provider.toLowerCase(),
    original_provider: request.original_provider.toLowerCase(),
  });

/** Digest of an adjustment as a person asked for it. */
export const adjustmentFingerprint = (request: {
  readonly credits: number;
  readonly reason: string;
  readonly allow_negative: boolean;
}): string => fingerprint({ kind: 'adjustment', ...request });

/** Digest of a keyed charge: what the caller named, not what it costs, which may change meanwhile. */
export const chargeFingerprint = (request: {
  readonly operation: string;
  readonly job_id: string | null;
  readonly artifact_id: string | null;
  readonly examples_count: number | null;
}): string => fingerprint({ kind: 'charge', ...request });
