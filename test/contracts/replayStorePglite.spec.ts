import { pgliteSql } from '../../adapters/embedded/pglite/pgliteSql.ts';
import { replayStoreContract } from './replayStore.contract.ts';

replayStoreContract('embedded Postgres', async () => (await pgliteSql(null)).sql);
