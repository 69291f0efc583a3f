import { postgresSql } from '../../adapters/postgres/postgresSql.ts';
import { replicasContract } from './replicas.contract.ts';

const { DATABASE_URL } = process.env;

if (DATABASE_URL !== undefined)
  replicasContract('PostgreSQL', () => Promise.resolve(postgresSql({ url: DATABASE_URL })));
