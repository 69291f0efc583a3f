import { expect } from 'chai';
import {
  addressVerdict,
  type Check,
  clockVerdict,
  freeSpaceVerdict,
  nodeVerdict,
  ok,
  openFilesVerdict,
  ownerVerdict,
  runChecks,
  type Verdict,
} from '../../src/doctor/doctor.ts';
import {
  embeddedLogVerdict,
  encryptionVerdict,
  postgresVerdict,
  readModelsVerdict,
  redisVerdict,
  serverLogVerdict,
  type PostgresFacts,
} from '../../src/doctor/parts.ts';
import type { FolderOwner } from '../../domain/ports/services.ts';

const is = ({ level, text }: Verdict, due: Verdict['level'], ...words: readonly string[]) => {
  expect(level, text).to.equal(due);
  for (const word of words) expect(text).to.contain(word);
};

const NEVER = new AbortController().signal;
const MIB = 1024 * 1024;

describe('what doctor makes of what it finds', () => {
  it('goes on when a check hangs or breaks, and keeps the order', async () => {
    const checks: readonly Check[] = [
      { name: 'hangs', limitMs: 20, look: () => new Promise(() => undefined) },
      { name: 'breaks', limitMs: 1_000, look: () => Promise.reject(new Error('no\nluck')) },
      { name: 'fine', limitMs: 1_000, look: () => ok('yes') },
    ];
    const [hangs, breaks, fine] = await runChecks(checks, NEVER);
    expect(hangs).to.include({ check: 'hangs', level: 'problem' });
    expect(hangs?.text).to.contain('within 0.02 s');
    expect(breaks).to.deep.equal({ check: 'breaks', level: 'problem', text: 'no luck' });
    expect(fine).to.deep.equal({ check: 'fine', level: 'ok', text: 'yes' });
  });

  it('tells a check that was too slow to end', async () => {
    let ended = false;
    const look = (signal: AbortSignal) => {
      signal.addEventListener('abort', () => (ended = true));
      return new Promise<Verdict>(() => undefined);
    };
    await runChecks([{ name: 'slow', limitMs: 5, look }], NEVER);
    expect(ended).to.equal(true);
  });

  it('knows old Node versions, few open files, lost clocks and full disks', () => {
    is(nodeVerdict('v18.20.0'), 'problem', '20.19');
    is(nodeVerdict('v20.18.3'), 'problem');
    is(nodeVerdict('v20.19.0'), 'ok');
    is(nodeVerdict('v22.1.0'), 'ok');
    is(openFilesVerdict('1024'), 'warning', 'ulimit -n');
    is(openFilesVerdict('65536'), 'ok');
    is(openFilesVerdict('unlimited'), 'ok');
    is(openFilesVerdict(''), 'ok');
    is(clockVerdict(0), 'problem', '1970');
    is(freeSpaceVerdict('/data', 99 * MIB), 'problem', '99 MiB', 'now');
    is(freeSpaceVerdict('/data', 500 * MIB), 'warning');
    is(freeSpaceVerdict('/data', 5_000 * MIB), 'ok');
  });

  it('says who has the data folder', () => {
    const nobody: FolderOwner = {
      owner: undefined,
      isLocked: false,
      isRunning: false,
      isHere: false,
      command: '',
      isRestoring: false,
    };
    const unsaid = { started: undefined, realm: undefined };
    const other = { ...nobody, owner: { ...unsaid, pid: 77, host: 'here' }, isLocked: true, isHere: true };
    const facts = { pid: 77, version: '1.0.0', url: null, roles: ['api', 'worker'], up_seconds: 7_300 };
    is(ownerVerdict(nobody, undefined, '1.0.0'), 'ok', 'no service');
    is(ownerVerdict(other, facts, '1.0.0'), 'ok', 'process 77', 'api, worker', 'up 2 h');
    is(ownerVerdict(other, facts, '2.0.0'), 'warning', '2.0.0');
    is(ownerVerdict(other, undefined, '1.0.0'), 'warning', 'process 77', 'which no longer runs');
    const alive = { ...other, isRunning: true, command: 'node quire' };
    is(ownerVerdict(alive, undefined, '1.0.0'), 'warning', 'process 77 (node quire)', 'no service answers');
    const far = { ...other, isHere: false, owner: { ...unsaid, pid: 1, host: 'box-2' } };
    is(ownerVerdict(far, undefined, '1.0.0'), 'warning', 'process 1 on box-2');
    is(ownerVerdict({ ...nobody, isRestoring: true }, undefined, '1.0.0'), 'problem', 'quire restore');
  });

  it('says who has the address', () => {
    const at = 'http://127.0.0.1:8080';
    const quire = { kind: 'quire', version: '1.0.0', status: 'ok' } as const;
    is(addressVerdict(at, quire, true), 'ok', 'Our own service');
    is(addressVerdict(at, { ...quire, status: 'degraded' }, true), 'warning', 'degraded');
    is(addressVerdict(at, quire, false), 'warning', 'not the service of this data folder');
    is(addressVerdict(at, { kind: 'stranger', what: 'x' }, false), 'problem', 'set PORT');
    is(addressVerdict(at, { kind: 'free' }, false), 'ok', 'free');
    is(addressVerdict(at, { kind: 'unusable', code: 'EACCES' }, false), 'problem', '1023');
  });

  it('judges the embedded log', () => {
    const chains = { streams: 2, events: 9, broken: [], breaks: 0 };
    const log_id = { header: 'log-a', opened: 'log-a' };
    const log = { position: 9, newest_at: '2026-01-31T00:00:00.000Z', log_id, fileComplaints: [], chains };
    const nowMs = Date.parse('2026-02-01T00:00:00Z');
    const judged = (more: object, deep = false) =>
      embeddedLogVerdict('/d/events.db', { ...log, ...more }, { deep, nowMs });
    is(judged({}), 'ok', 'position 9', '--deep');
    expect(judged({}, true).text).not.to.contain('--deep');
    is(judged({ fileComplaints: ['page 3 is bad'] }), 'problem', 'page 3', 'restore');
    is(
      judged({ chains: { ...chains, broken: ['a revision 1'], breaks: 4 } }),
      'problem',
      'a revision 1',
      '4',
    );
    is(judged({ newest_at: '2026-02-01T00:02:00.000Z' }), 'problem', 'future');
    is(judged({ chains: undefined }), 'warning', '--deep');
    is(judged({ newest_at: null }), 'ok');
    is(judged({ log_id: { header: 'log-b', opened: 'log-a' } }), 'problem', 'log-b', 'log-a');
    is(judged({ log_id: { header: 'log-b', opened: null } }), 'problem', 'log-b');
    is(judged({ log_id: { header: null, opened: 'log-a' } }), 'ok');
  });

  it('judges EventStoreDB by its answer and its clock', () => {
    const judged = (skewMs: number | undefined) =>
      serverLogVerdict('es:2113', { position: 7n, answerMs: 3, skewMs });
    is(judged(undefined), 'ok', 'it does not tell');
    is(judged(-900), 'ok', 'clocks agree');
    is(judged(-9_000), 'warning', '9 s behind', 'NTP');
    is(judged(90_000), 'problem', '90 s ahead');
  });

  it('judges Postgres by version, rights and room', () => {
    const fine: PostgresFacts = {
      answerMs: 1,
      version: 150_004,
      encoding: 'UTF8',
      standby: false,
      mayCreate: true,
      foreign: [],
      connectionsFree: 90,
    };
    const judged = (more: Partial<PostgresFacts>) => postgresVerdict('db', { ...fine, ...more }, true);
    is(judged({}), 'ok', 'PostgreSQL 15 at db');
    is(judged({ version: 120_022 }), 'problem', '13 or newer');
    is(judged({ standby: true }), 'problem', 'primary');
    is(judged({ encoding: 'LATIN1' }), 'problem', 'UTF8');
    is(judged({ mayCreate: false }), 'problem', 'GRANT CREATE');
    is(postgresVerdict('db', { ...fine, mayCreate: false, foreign: ['read'] }, false), 'ok');
    is(judged({ foreign: ['read'] }), 'problem', 'read');
    is(judged({ connectionsFree: 3 }), 'warning', 'max_connections');
  });

  it('judges read models by what has stopped and what is late', () => {
    const fine = {
      name: 'balances',
      version: 1,
      state: 'live',
      position: '9',
      lag_events: 0,
      waiting_since: null,
      lag_seconds: 0,
      still_seconds: 0,
      is_paused: false,
      parked: [],
      reason: null,
      next: null,
    };
    is(readModelsVerdict([]), 'ok', 'first start');
    is(readModelsVerdict([fine]), 'ok', '1 read models, at most 0 events');
    is(
      readModelsVerdict([fine, { ...fine, name: 'ledger', state: 'stopped', reason: 'no such column' }]),
      'problem',
      'ledger has stopped at 9 (no such column)',
      'rebuild',
    );
    const next = { version: 2, state: 'stopped' as const, position: null };
    is(
      readModelsVerdict([{ ...fine, reason: 'no such column', next }]),
      'problem',
      'version 2 of balances could not be built (no such column)',
    );
    is(
      readModelsVerdict([{ ...fine, next: { ...next, state: 'building' } }]),
      'ok',
      '1 of them with a new version being built',
    );
    is(
      readModelsVerdict([{ ...fine, lag_events: 20_000 }]),
      'warning',
      'balances 20,000 events',
      'projector',
    );
    is(readModelsVerdict([{ ...fine, lag_events: null }]), 'warning', 'more than 100,000');
    const parked = {
      tenant_id: 'acme',
      position: '7',
      event_id: 'e',
      reason: 'no such rate',
      waiting_since: null,
      parked_at: '',
      retrying: false,
    };
    is(
      readModelsVerdict([{ ...fine, parked: [parked] }]),
      'problem',
      'acme in balances (no such rate)',
      'retry',
    );
    is(readModelsVerdict([{ ...fine, is_paused: true, state: 'paused' }]), 'warning', 'resume balances');
    const late = { ...fine, lag_events: 1, lag_seconds: 400 };
    is(readModelsVerdict([{ ...late, still_seconds: 119 }]), 'ok');
    is(
      readModelsVerdict([fine, { ...late, name: 'usage', still_seconds: 120 }]),
      'problem',
      'usage',
      '120 s',
    );
  });

  it('judges Redis and the encryption key', () => {
    is(redisVerdict('r', 2, '7.0.15'), 'ok');
    is(redisVerdict('r', 80, '7.0.15'), 'warning', 'closer');
    const none = { opened: 0, old: 0, lost: [] };
    is(encryptionVerdict('none', none), 'ok', 'refused');
    is(encryptionVerdict('none', { ...none, lost: ['cfg_1'] }), 'problem', 'hold 1 keys');
    is(encryptionVerdict('given', { ...none, opened: 2 }), 'ok', 'opens the 2 keys');
    is(encryptionVerdict('given', { ...none, opened: 2, old: 1 }), 'warning', 'secrets rotate');
    is(encryptionVerdict('given', { opened: 2, old: 0, lost: ['cfg_1'] }), 'problem', 'cfg_1', 'KEYS_OLD');
    is(encryptionVerdict('folder', none), 'ok', 'encryption-secret', 'lost');
    is(encryptionVerdict('folder', { ...none, opened: 2 }), 'ok', 'opens the 2 keys', 'encryption-secret');
    is(encryptionVerdict('folder', { ...none, lost: ['cfg_1'] }), 'problem', 'cfg_1', 'encryption-secret');
  });
});
