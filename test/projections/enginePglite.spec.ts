import { pgliteSql } from '../../adapters/embedded/pgliteSql.ts';
import { engineSuite } from './engine.suite.ts';

engineSuite('embedded Postgres', async () => (await pgliteSql(null)).sql);
