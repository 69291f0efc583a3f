import { postgresSql } from '../../adapters/postgres/postgresSql.ts';
import { replayStoreContract } from './replayStore.contract.ts';

const { DATABASE_URL } = process.env;

if (DATABASE_URL !== undefined)
  replayStoreContract('PostgreSQL', () => Promise.resolve(postgresSql({ url: DATABASE_URL })));
