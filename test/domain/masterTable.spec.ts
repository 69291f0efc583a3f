import { masterTable, type MasterTableKind } from '../../domain/rules/masterTable.ts';
import { meta, NOW } from '../support/money/moneyCommands.ts';
import { specFor } from '../support/specFor.ts';

const { given } = specFor(masterTable);

type Wanted = Extract<MasterTableKind['command'], { type: 'PublishTable' }>['data'];
const publish = (over: Partial<Wanted> = {}): MasterTableKind['command'] => ({
  type: 'PublishTable',
  data: {
    table_id: 'tbl_1',
    tenant_id: 'acme',
    table_name: 'vendors',
    header: { columns: ['name'] },
    columns: 1,
    rows: 2,
    bytes: 30,
    sha256: 'a',
    update: false,
    ...over,
  },
  meta,
});
const update = (over: Partial<Wanted> = {}) => publish({ update: true, ...over });
const remove: MasterTableKind['command'] = { type: 'RemoveTable', meta };
const NOT_FOUND = { code: 'table_not_found' } as const;

describe('tables of master data', () => {
  it('count their versions, each complete in itself', () => {
    given()
      .when(publish())
      .then(['TablePublished', { version: 1, sha256: 'a', created_at: NOW, published_at: NOW }]);
    given(publish())
      .when(update({ sha256: 'b', rows: 3 }))
      .then(['TablePublished', { version: 2, sha256: 'b', rows: 3, created_at: NOW }]);
    given(publish())
      .when(update({ table_name: 'others' }))
      .then(['TablePublished', { version: 2, table_name: 'others' }]);
  });

  it('make no version of the same content and name, and none twice for one request', () => {
    given(publish()).when(update()).thenNothing();
    given(publish()).when(publish()).thenNothing();
    given(publish(), update({ sha256: 'b' }))
      .when(update())
      .then(['TablePublished', { version: 3, sha256: 'a' }]);
  });

  it('are refused where their ID is of other content, of another tenant, or gone', () => {
    given(publish())
      .when(publish({ sha256: 'b' }))
      .thenRejected({ code: 'idempotency_key_reused' });
    given().when(update()).thenRejected(NOT_FOUND);
    given(publish())
      .when(update({ tenant_id: 'other', sha256: 'b' }))
      .thenRejected(NOT_FOUND);
    given(publish(), remove).when(update()).thenRejected(NOT_FOUND);
    given(publish(), remove).when(publish()).thenRejected({ code: 'idempotency_key_reused' });
  });

  it('are removed once', () => {
    given().when(remove).thenRejected(NOT_FOUND);
    given(publish())
      .when(remove)
      .then(['TableRemoved', { table_id: 'tbl_1', tenant_id: 'acme', removed_at: NOW }]);
    given(publish(), remove).when(remove).thenNothing();
  });
});
