import { replayStoreContract } from './replayStore.contract.ts';
import { replicasContract } from './replicas.contract.ts';
import { emptySql } from '../support/emptySql.ts';

replayStoreContract('embedded Postgres', emptySql);
replicasContract('embedded Postgres', emptySql);
