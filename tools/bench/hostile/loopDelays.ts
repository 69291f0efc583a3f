import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  attacksBySchema,
  attacksByText,
  SCHEMA_ROUTES,
  TEXT_ROUTES,
  type Attack,
} from '../../../test/hostile/attacks.ts';
import { startTarget } from '../../../test/hostile/target.ts';

/** By route: the longest that the main thread was held by one attack of the corpus, ms of its CPU, and which. */
export const loopDelays = async (): Promise<Readonly<Record<string, object>>> => {
  const { service, target, stop } = await startTarget(await mkdtemp(join(tmpdir(), 'quire-delays-')));
  const worstOf = async (attacks: readonly Attack[]) => {
    let worst = { 'held ms': 0, by: '' };
    for (const { what, send } of attacks) {
      const ms = Math.round(await service.heldDuring(() => send(target)));
      if (ms > worst['held ms']) worst = { 'held ms': ms, by: what };
    }
    return { attacks: attacks.length, ...worst };
  };
  try {
    const rows: Record<string, object> = {};
    for (const [name, route] of Object.entries(SCHEMA_ROUTES))
      rows[`schemas: ${name}`] = await worstOf(attacksBySchema(route));
    for (const [name, route] of Object.entries(TEXT_ROUTES))
      rows[`texts: ${name}`] = await worstOf(attacksByText(route, true));
    return rows;
  } finally {
    await stop();
  }
};
