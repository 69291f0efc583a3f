import { pgliteSql } from '../../adapters/embedded/pglite/pgliteSql.ts';
import { readModelsSuite } from './readModels.suite.ts';

readModelsSuite('embedded Postgres', async () => (await pgliteSql(null)).sql);
