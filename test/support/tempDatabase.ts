import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** A database of a spec's own, on the server that DATABASE_URL names. */
export interface TempDatabase {
  readonly url: string;
  /** Runs statements in it as the server's own user. */
  readonly run: (text: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
  readonly drop: () => Promise<void>;
}

const once = async (url: string, text: string) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const result = await client.query<Record<string, unknown>>(text);
    return result.rows;
  } finally {
    await client.end();
  }
};

export const tempDatabase = async (server: string): Promise<TempDatabase> => {
  const name = `quire_${randomUUID().replaceAll('-', '')}`;
  await once(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    run: (text) => once(url.href, text),
    drop: async () => {
      await once(server, `drop database ${name} with (force)`);
    },
  };
};
