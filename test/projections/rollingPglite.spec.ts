import { pgliteSql } from '../../adapters/embedded/pgliteSql.ts';
import { rollingSuite } from './rolling.suite.ts';

rollingSuite('embedded Postgres', async () => {
  const { sql } = await pgliteSql(null);
  return [sql, sql];
});
