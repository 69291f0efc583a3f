import { bulkSuite } from './bulk.suite.ts';
import { engineSuite } from './engine.suite.ts';
import { emptySql } from '../support/emptySql.ts';

engineSuite('embedded Postgres', emptySql);
bulkSuite('embedded Postgres', emptySql);
