import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { chainHash } from '../../domain/kernel/chain.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { NewEvent } from '../../domain/kernel/recorded.ts';

const GOLDEN = 'test/golden/claims/sale.v1.json';

/**
 * Leaves a log in a folder as an earlier release left it: a sale of `acme` at Stripe, `pi_sale_v1`, claimed for a time
 * that no event may have, so that no service can finish it.
 */
export const leaveStrandedClaim = async (folder: string): Promise<void> => {
  const golden = JSON.parse(readFileSync(GOLDEN, 'utf8')) as NewEvent & { readonly stream: string };
  const { id, type, metadata, stream } = golden;
  const intent = golden.data['intent'] as { readonly data: JsonObject } & JsonObject;
  const stranded = { ...intent.data, occurred_at: '-000001-12-31T10:00:00.000Z' };
  const data = { ...golden.data, intent: { ...intent, data: stranded } };
  // The log went on for some minutes: what was open for so long is a finding whenever a service runs again.
  const { hash: _, ...rest } = metadata;
  const unsigned = { ...rest, recorded_at: '2026-01-31T08:06:00.000Z' };
  const hash = chainHash({ stream, revision: 0n, type, data, metadata: unsigned });
  const log = openSqliteEventLog({ path: join(folder, 'events.db') });
  const result = await log.append(stream, 'no_stream', [{ id, type, data, metadata: { ...unsigned, hash } }]);
  await log.close();
  if (result.kind !== 'appended') throw new Error(`the claim was not appended: ${result.kind}`);
};
