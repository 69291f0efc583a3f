import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { replicas, REPLICAS_DDL } from '../../adapters/sqlTables.ts';
import type { Sql } from '../../projections/engine/ports.ts';

/** What the processes of one database tell of themselves. `open` gives the database under test. */
export const replicasContract = (name: string, open: () => Promise<Sql>) => {
  describe(`the processes of a service on ${name}`, () => {
    let sql: Sql;
    let id: string;
    before(async () => {
      sql = await open();
      await sql.script(REPLICAS_DDL);
    });
    after(() => sql.close());
    beforeEach(() => {
      id = randomUUID();
    });

    const own = async () => {
      const found = await replicas(sql).alive();
      return found.filter(({ replica_id }) => replica_id.startsWith(id));
    };
    const beat = (word: string, version = '1.0.0') =>
      replicas(sql).beat({ replica_id: `${id}-${word}`, version, roles: ['api', 'worker'] });
    const age = (word: string, interval: string) =>
      sql.query(`update http_cache.replicas set seen_at = seen_at - $2::interval where replica_id = $1`, [
        `${id}-${word}`,
        interval,
      ]);

    it('are seen by all, the oldest first, each with its version and roles', async () => {
      await beat('one');
      await beat('two', '1.1.0');
      const found = await own();
      expect(found.map(({ replica_id, version }) => [replica_id, version])).to.deep.equal([
        [`${id}-one`, '1.0.0'],
        [`${id}-two`, '1.1.0'],
      ]);
      expect(found[0]?.roles).to.deep.equal(['api', 'worker']);
      expect(found[0]?.started_at).to.match(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
    });

    it('keep the time of their start however often they are seen', async () => {
      await beat('one');
      const [first] = await own();
      await beat('one', '1.0.1');
      const [again] = await own();
      expect(again).to.deep.include({ started_at: first?.started_at, version: '1.0.1' });
      expect(String(again?.seen_at) >= String(first?.seen_at)).to.equal(true);
    });

    it('are not alive when they have said nothing for a minute, nor when they left', async () => {
      for (const word of ['silent', 'gone', 'there']) await beat(word);
      await age('silent', '61 seconds');
      await replicas(sql).leave(`${id}-gone`);
      expect((await own()).map(({ replica_id }) => replica_id)).to.deep.equal([`${id}-there`]);
    });

    it('are forgotten after an hour', async () => {
      await beat('old');
      await age('old', '61 minutes');
      await beat('new');
      const rows = await sql.query('select 1 as one from http_cache.replicas where replica_id = $1', [
        `${id}-old`,
      ]);
      expect(rows).to.deep.equal([]);
    });
  });
};
