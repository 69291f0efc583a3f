import { replicasContract } from './replicas.contract.ts';
import { emptySql } from '../support/emptySql.ts';

replicasContract('embedded Postgres', emptySql);
