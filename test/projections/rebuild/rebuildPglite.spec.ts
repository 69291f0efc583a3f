import { rebuildSuite } from './rebuild.suite.ts';
import { sharesSuite } from './shares.suite.ts';
import { emptySql } from '../../support/emptySql.ts';

rebuildSuite('embedded Postgres', emptySql);
sharesSuite('embedded Postgres', emptySql);
