import type { OpenClaim } from '../commands/payments/openClaims.ts';
import { ok, problem, warning, type Verdict } from './check.ts';

/** A sweeper settles a claim that a crash left open within a minute or two. */
const SETTLED_WITHIN_MS = 5 * 60_000;

const NAMED = 5;

const named = (claims: readonly OpenClaim[]): string => {
  const shown = claims
    .slice(0, NAMED)
    .map(
      ({ provider, provider_txn_id, tenant_id, kind }) =>
        `${provider} ${provider_txn_id} (${kind} of ${tenant_id})`,
    );
  const more = claims.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
};

/** Payments that are claimed and neither done nor released. */
export const openPaymentsVerdict = (claims: readonly OpenClaim[], nowMs: number): Verdict => {
  const stranded = claims.filter(({ stuck }) => stuck !== null);
  if (stranded.length > 0)
    return problem(
      `${String(stranded.length)} payments are claimed and cannot be finished by rule: ` +
        `${named(stranded)}. Have them sent again, or give them up: \`quire payments list-open\`,` +
        ` \`quire payments release\`.`,
    );
  const old = claims.filter(({ claimed_at }) => nowMs - Date.parse(claimed_at) > SETTLED_WITHIN_MS);
  if (old.length > 0)
    return warning(
      `${String(old.length)} payments have been claimed for long and are not done: ` +
        `${named(old)}. The service finishes or releases them when it runs; if it runs, look for ` +
        '"sweep failed" in its log.',
    );
  return ok('No payment is claimed and left undone.');
};
