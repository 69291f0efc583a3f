import type { Config } from '../../config.ts';
import type { Projecting } from './serviceRunner.ts';

/** What the configuration says of the projections. */
export const projectingAs = ({
  rebuildDiverged,
  tracing,
}: Pick<Config, 'rebuildDiverged' | 'tracing'>): Projecting => ({
  diverged: rebuildDiverged === 'auto' ? 'rebuild' : 'leave',
  isTraced: tracing !== undefined,
});
