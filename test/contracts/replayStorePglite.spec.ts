import { replayStoreContract } from './replayStore.contract.ts';
import { emptySql } from '../support/emptySql.ts';

replayStoreContract('embedded Postgres', emptySql);
