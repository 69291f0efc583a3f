import type { RouteRequest } from '../defineRoute.ts';
import type { ReadYourWrites } from '../../queries/readYourWrites.ts';
import { ALL_TENANTS } from '../../queries/readYourWrites.ts';

/** As `settleReads`, for reads of all tenants. */
export const settleAllReads = async (
  reads: ReadYourWrites,
  { answer }: Pick<RouteRequest<unknown, unknown, unknown>, 'answer'>,
): Promise<void> => {
  const missing = await reads.settleAll();
  if (missing !== undefined) answer.header('X-Projection-Lag', String(missing));
};

/** Waits for what this process wrote; a late read model answers with what it has, and says so. */
export const settleReads = async (
  reads: ReadYourWrites,
  { answer }: Pick<RouteRequest<unknown, unknown, unknown>, 'answer'>,
  tenantId: string,
): Promise<void> => {
  const missing = [await reads.settle(tenantId), await reads.settle(ALL_TENANTS)].filter(
    (position) => position !== undefined,
  );
  const [first, ...others] = missing;
  if (first === undefined) return;
  const last = others.reduce((a, b) => (a > b ? a : b), first);
  answer.header('X-Projection-Lag', String(last));
};
