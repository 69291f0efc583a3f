import { systemTimers } from '../../adapters/local/local.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import { rebuildReadModels } from '../../projections/engine/rebuild.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { configFrom } from '../../src/config.ts';
import { openParts, type Parts } from '../../src/parts/parts.ts';
import { startQuire } from '../../src/service/quire.ts';
import { isOfRebuild, KILL_POINTS, killableParts, killerAt } from './killPoints.ts';

const point = KILL_POINTS.find((name) => name === process.env['KILL_POINT']);
const nth = Number(process.env['KILL_NTH'] ?? 1);
if (point === undefined) throw new Error('KILL_POINT names no kill point');

/** Between two rebuilds, ms. */
const PAUSE_MS = 400;

/** Rebuilds all read models again and again, beside the load. */
const rebuildForEver = async ({ sql, log }: Parts): Promise<void> => {
  const deps = { sql, feed: log, projectors: READ_MODELS, decode: decodeAny, timers: systemTimers };
  for (;;) {
    await rebuildReadModels(deps, { batchMax: 200 });
    await systemTimers.sleep(PAUSE_MS);
  }
};

let opened: Parts | undefined;
await startQuire(configFrom(), async (config, on) => {
  opened = killableParts(await openParts(config, on), killerAt(point, nth), point);
  return opened;
});
if (opened !== undefined && (isOfRebuild(point) || process.env['REBUILD'] === '1'))
  await rebuildForEver(opened);
