import { rebuildSuite } from './rebuild.suite.ts';
import { emptySql } from '../../support/emptySql.ts';

rebuildSuite('embedded Postgres', emptySql);
