import { readModelsSuite } from './readModels.suite.ts';
import { emptySql } from '../support/emptySql.ts';

readModelsSuite('embedded Postgres', emptySql);
