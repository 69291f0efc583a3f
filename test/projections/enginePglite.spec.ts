import { pgliteSql } from '../../adapters/embedded/pglite/pgliteSql.ts';
import { bulkSuite } from './bulk.suite.ts';
import { engineSuite } from './engine.suite.ts';

engineSuite('embedded Postgres', async () => (await pgliteSql(null)).sql);
bulkSuite('embedded Postgres', async () => (await pgliteSql(null)).sql);
