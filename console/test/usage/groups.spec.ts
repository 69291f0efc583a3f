import { expect } from 'chai';
import {
  chartOf,
  groupName,
  groupsIn,
  groupText,
  offeredGroups,
  toggled,
  type PivotRow,
} from '../../src/pages/usage/groups.ts';

const row = (over: Partial<PivotRow>): PivotRow => ({
  day: null,
  operation: null,
  project_id: null,
  task_id: null,
  api_key_id: null,
  tags: {},
  rest_of: [],
  operations: 1,
  pages: 1,
  free_pages: 0,
  credits: 10,
  list_value_usd: '0.01',
  ...over,
});

describe('the groups of usage', () => {
  it('are those of the address, in its order, without what is none or comes twice', () => {
    expect(groupsIn('tag:team,day,nonsense,tag:Team,day')).to.deep.equal(['tag:team', 'day']);
    expect([undefined, '', 'tag:'].map(groupsIn)).to.deep.equal([
      ['operation'],
      ['operation'],
      ['operation'],
    ]);
    expect(groupsIn('day,operation,project,task,key,tag:a,tag:b')).to.have.length(6);
  });

  it('are pressed and released, and one of them stays', () => {
    expect(toggled(['day'], 'key')).to.deep.equal(['day', 'key']);
    expect(toggled(['day', 'key'], 'day')).to.deep.equal(['key']);
    expect(toggled(['key'], 'key')).to.deep.equal(['key']);
    const six = ['day', 'operation', 'project', 'task', 'key', 'tag:a'];
    expect(toggled(six, 'tag:b')).to.deep.equal(six);
  });

  it('have names, those of tags after the others and each once', () => {
    expect(offeredGroups(['team', 'app'], ['tag:team', 'tag:own']).map(groupName)).to.deep.equal([
      'Day',
      'Operation',
      'Project',
      'Task',
      'Key',
      'Tag \u2068app\u2069',
      'Tag \u2068team\u2069',
      'Tag \u2068own\u2069',
    ]);
  });

  it('say names of keys, and tell work without a tag from the values beyond the limit', () => {
    const keys = new Map([['key_1', 'web']]);
    expect(groupText(row({ api_key_id: 'key_1' }), 'key', keys)).to.equal('web');
    expect(groupText(row({ api_key_id: 'key_2' }), 'key', keys)).to.equal('key_2');
    expect(groupText(row({ tags: { team: 'claims' } }), 'tag:team', keys)).to.equal('claims');
    expect(groupText(row({ tags: { team: null } }), 'tag:team', keys)).to.equal('None');
    expect(groupText(row({ tags: { team: null }, rest_of: ['team'] }), 'tag:team', keys)).to.equal(
      'Further values',
    );
  });

  it('are drawn by day, days without work too, the five largest apart and the others as one', () => {
    const items = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((project_id, at) =>
      row({ day: '2026-01-31', project_id, credits: 10 * (at + 1) }),
    );
    const before = row({ day: '2026-01-29', project_id: 'g', credits: 5 });
    const free = row({ day: '2026-01-30', project_id: 'free', credits: 0 });
    const span = { from_date: '2026-01-29', to_date: '2026-01-31' };
    const { days, series } = chartOf({ ...span, items: [...items, before, free] }, 'project', new Map());
    expect(series.map(({ name }) => name)).to.deep.equal(['g', 'f', 'e', 'd', 'c', 'Others']);
    const idOf = new Map(series.map(({ id, name }) => [name, id]));
    const figures = (values: Readonly<Record<string, number>>) =>
      [...idOf].flatMap(([name, id]) => (values[id] === undefined ? [] : [[name, values[id]]]));
    expect(days.map(({ day, values }) => [day, figures(values)])).to.deep.equal([
      ['2026-01-29', [['g', 5]]],
      ['2026-01-30', []],
      [
        '2026-01-31',
        [
          ['g', 70],
          ['f', 60],
          ['e', 50],
          ['d', 40],
          ['c', 30],
          ['Others', 30],
        ],
      ],
    ]);
  });

  it('keep two keys of one name apart, also where their IDs have dots', () => {
    const items = ['key.1', 'key.2'].map((api_key_id) => row({ day: '2026-01-31', api_key_id }));
    const span = { from_date: '2026-01-31', to_date: '2026-01-31' };
    const keys = new Map([
      ['key.1', 'web'],
      ['key.2', 'web'],
    ]);
    const { series } = chartOf({ ...span, items }, 'key', keys);
    expect(series.map(({ name }) => name)).to.deep.equal(['web', 'web']);
    // a dot in an ID would be taken for a member of a member
    expect(series.map(({ id }) => /^\w+$/.test(id))).to.deep.equal([true, true]);
    expect(new Set(series.map(({ id }) => id)).size).to.equal(2);
  });
});
