import { readFileSync } from 'node:fs';
import pg from 'pg';
import { ifThere, runningTrees } from '../../engine/test/bench/cpu.ts';

/**
 * The processes of the PostgreSQL that a URL names: the first of them, which started the others. Undefined if it runs
 * elsewhere, where nobody here can tell what it takes.
 */
export const postmasterOf = async (url: string): Promise<number | undefined> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const backend = rows[0]?.pid ?? 0;
    const [times] = runningTrees([backend]);
    // On another machine the number may be that of any process here.
    return times !== undefined && runsAs(backend, 'postgres') ? times.parent : undefined;
  } finally {
    await client.end();
  }
};

const runsAs = (pid: number, name: string): boolean =>
  ifThere(() => readFileSync(`/proc/${pid}/comm`, 'utf8')).some((comm) => comm.startsWith(name));

/** The process of a Redis, of which `INFO server` tells; undefined if it runs elsewhere. */
export const redisProcess = (info: string): number | undefined => {
  const pid = Number(/^process_id:(\d+)/m.exec(info)?.[1]);
  return runsAs(pid, 'redis') ? pid : undefined;
};

/** Processes of a side, without the client's: undefined if one of them cannot be seen from here. */
export const sideProcesses = async (
  own: number,
  databaseUrl: string | undefined,
): Promise<readonly number[] | undefined> => {
  if (databaseUrl === undefined) return [own];
  const postmaster = await postmasterOf(databaseUrl);
  return postmaster === undefined ? undefined : [own, postmaster];
};
