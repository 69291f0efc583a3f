import { pgliteSql } from '../../../adapters/embedded/pglite/pgliteSql.ts';
import { rebuildSuite } from './rebuild.suite.ts';

rebuildSuite('embedded Postgres', async () => (await pgliteSql(null)).sql);
