import type { JsonObject } from '../../domain/kernel/json.ts';
import type { Snapshot, SnapshotStore } from '../../domain/ports/snapshotStore.ts';
import type { Sql } from '../../projections/engine/ports.ts';

/** The table of snapshots; a cache that may be emptied at any time. Run once at start. */
export const SNAPSHOTS_DDL = `
create table if not exists snapshots (
  stream text not null,
  reducer_version integer not null,
  revision bigint not null,
  hash text not null,
  state text not null,
  state_hash text not null,
  primary key (stream, reducer_version)
)`;

/** A slow save must not replace what a faster one wrote for a later revision. */
const SAVE = `
insert into snapshots (stream, reducer_version, revision, hash, state, state_hash)
values ($1, $2, $3, $4, $5, $6)
on conflict (stream, reducer_version) do update
  set revision = excluded.revision, hash = excluded.hash, state = excluded.state,
      state_hash = excluded.state_hash
  where snapshots.revision < excluded.revision`;

const LOAD = `
select revision, hash, state, state_hash from snapshots where stream = $1 and reducer_version = $2`;

/** Snapshots on Postgres, real or embedded. */
export const sqlSnapshots = (sql: Sql): SnapshotStore => ({
  load: async (stream, reducerVersion) => {
    const [row] = await sql.query(LOAD, [stream, reducerVersion]);
    if (row === undefined) return undefined;
    const { revision, hash, state, state_hash } = row;
    return {
      stream,
      revision: BigInt(revision as bigint | string | number),
      hash: hash as string,
      reducer_version: reducerVersion,
      state: JSON.parse(state as string) as JsonObject,
      state_hash: state_hash as string,
    };
  },
  save: async ({ stream, reducer_version, revision, hash, state, state_hash }: Snapshot) => {
    const values = [stream, reducer_version, revision, hash, JSON.stringify(state), state_hash];
    await sql.query(SAVE, values);
  },
});
