import { postgresSql } from '../../adapters/postgres.ts';
import { replayStoreContract } from './replayStore.contract.ts';
import { replicasContract } from './replicas.contract.ts';

const { DATABASE_URL } = process.env;

if (DATABASE_URL !== undefined) {
  const open = () => Promise.resolve(postgresSql({ url: DATABASE_URL }));
  replayStoreContract('PostgreSQL', open);
  replicasContract('PostgreSQL', open);
}
