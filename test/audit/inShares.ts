import { logShare, openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { PUBLISHED } from '../../src/audit/margin.ts';
import { NotClean, shareAudit, type StartedShare, type StartShares } from '../../src/audit/shares.ts';

const endOf = async (path: string): Promise<bigint> => {
  const feed = openSqliteEventLog({ path, readOnly: true });
  const upTo = (await feed.end()) ?? 0n;
  await feed.close();
  return upTo;
};

const orNull = <T>(work: () => T): Promise<T | null> => {
  try {
    return Promise.resolve(work());
  } catch (error) {
    return error instanceof NotClean
      ? Promise.resolve(null)
      : Promise.reject(new Error('a share failed', { cause: error }));
  }
};

const shareOf = (path: string, part: { readonly share: number; readonly of: number }) => {
  return (work: { readonly upTo: bigint; readonly wanted: readonly string[] }): StartedShare => {
    const audit = shareAudit(work);
    const read = orNull(() => {
      for (const row of logShare({ path, ...part, upTo: work.upTo, published: PUBLISHED })) audit.look(row);
      return audit.latest() ?? '';
    });
    return { read, finish: (latest) => orNull(() => structuredClone(audit.finish(latest))) };
  };
};

/** Shares of a log one after the other in this thread; what goes between threads is copied as it is there. */
export const inShares =
  (path: string, of = 3): StartShares =>
  async (wanted) => {
    const upTo = await endOf(path);
    const work = { upTo, wanted: [...wanted, upTo.toString()] };
    const shares = Array.from({ length: of }, (_, share) => shareOf(path, { share, of })(work));
    return { upTo, shares, stop: () => Promise.resolve() };
  };
