import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { commitGroup, lastPosition, openLogFile } from '../../adapters/sqlite/eventLogFile.ts';
import { SqlUnavailable } from '../../projections/engine/ports.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { emptySql } from '../support/emptySql.ts';

const appendOf = (stream: string, bytes: number) => ({
  stream,
  expected: 'no_stream' as const,
  events: [
    {
      id: stream,
      type: 'Happened',
      data: JSON.stringify({ x: 'x'.repeat(bytes) }),
      metadata: '{}',
      hash: '',
    },
  ],
});

describe('a full disk', () => {
  it('lets no part of a group into the event log, which goes on when there is room', () => {
    const folder = tempFolder();
    const file = openLogFile(join(folder.path, 'events.db'), false);
    try {
      commitGroup(file, [appendOf('a-1', 10)]);
      // SQLite answers as it does when the disk is full: the file may not grow.
      const pages = Number(file.rows('PRAGMA page_count')[0]?.[0]);
      file.rows(`PRAGMA max_page_count = ${String(pages + 2)}`);
      const results = commitGroup(file, [appendOf('a-2', 10), appendOf('a-3', 100_000)]);
      expect(results.map(({ kind }) => kind)).to.deep.equal(['unknown', 'unknown']);
      expect(results[0]).to.include({ reason: 'database or disk is full' });
      expect(lastPosition(file)).to.equal(1);
      file.rows('PRAGMA max_page_count = 100000');
      const again = commitGroup(file, [appendOf('a-2', 10), appendOf('a-3', 100_000)]);
      expect(again.map(({ kind }) => kind)).to.deep.equal(['appended', 'appended']);
      expect(lastPosition(file)).to.equal(3);
    } finally {
      file.close();
      folder.remove();
    }
  });

  it('is told while it lasts, and when it is over', async () => {
    const folder = tempFolder();
    const path = join(folder.path, 'events.db');
    const told: (string | null)[] = [];
    const log = openSqliteEventLog({ path, onTrouble: (reason) => told.push(reason) });
    const other = openLogFile(path, false);
    const event = { id: randomUUID(), type: 'Happened', data: {}, metadata: {} };
    try {
      // Another writer stands for the disk: SQLite refuses the commit either way.
      other.exec('BEGIN IMMEDIATE');
      for (let tries = 0; tries < 2; tries += 1)
        expect((await log.append('a-1', 'no_stream', [event])).kind).to.equal('unknown');
      expect(told).to.deep.equal(['database is locked']);
      other.exec('ROLLBACK');
      expect((await log.append('a-1', 'no_stream', [event])).kind).to.equal('appended');
      expect(told).to.deep.equal(['database is locked', null]);
    } finally {
      other.close();
      await log.close();
      folder.remove();
    }
  });

  it('is no fault of an event: the read models wait for room', async () => {
    const sql = await emptySql();
    try {
      const full = `do $$ begin raise exception 'no space left on device' using errcode = '53100'; end $$`;
      const refused: unknown = await sql.script(full).catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(SqlUnavailable);
      expect((refused as Error).message).to.contain('no space left on device');
      const wrong: unknown = await sql.script('select nothing').catch((error: unknown) => error);
      expect(wrong).not.to.be.instanceOf(SqlUnavailable);
    } finally {
      await sql.close();
    }
  });
});
