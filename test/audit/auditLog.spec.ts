import { expect } from 'chai';
import { parseSeal, sealOf, UnreadableSeal } from '../../src/audit/chains.ts';
import { reportText } from '../../src/audit/runAudit.ts';
import { history, POOR, RICH } from './auditedHistory.ts';
import { about, dataOf, expectFound, placeOf } from './found.ts';
import { auditAfter, nothing, type StoredEvent } from './tampering.ts';

const ACCOUNT = `account-${RICH}`;
const MADE_AT = '2026-02-01T00:00:00.000Z';

describe('the audit of an event log', () => {
  before(async () => {
    await history();
  });

  it('finds nothing in what a real service wrote, with a hold open and a claim under way', async () => {
    const { report } = await auditAfter(nothing);
    expect(report.findings).to.deep.equal([]);
    expect(report.total).to.equal(0);
    expect(report.facts.events).to.be.greaterThan(50);
    expect(report.facts.tenants).to.be.greaterThan(2);
    expect(report.notes.join('\n')).to.contain(`sale that ${POOR} claimed`);
    for (const { check, checked } of report.checks) expect(checked, check).to.be.greaterThan(0);
    expect(reportText(report)).to.contain('Nothing is wrong.').and.to.contain('✔').and.not.to.contain('✘');
  });

  for (const column of ['data', 'metadata'] as const)
    it(`finds one changed byte in the ${column} of an event`, async () => {
      let hit: StoredEvent | undefined;
      const { report } = await auditAfter(({ first, run }) => {
        hit = first('CreditsAdjusted');
        const text =
          column === 'data'
            ? hit[column].replace('"adjustment_id":"adj_', '"adjustment_id":"adk_')
            : hit[column].replace('"role":"admin"', '"role":"tdmin"');
        expect(text).not.to.equal(hit[column]);
        run(`update events set ${column} = ? where position = ?`, text, hit.position);
      });
      expectFound(report, 'chain', placeOf(hit!));
      expect(reportText(report)).to.contain('✘').and.to.contain(ACCOUNT);
    });

  it('finds an event that is no JSON any more, and goes on', async () => {
    let hit: StoredEvent | undefined;
    const { report } = await auditAfter(({ first, run }) => {
      hit = first('CreditsAdjusted');
      run('update events set data = ? where position = ?', hit.data.replace('{', '['), hit.position);
    });
    expectFound(report, 'chain', placeOf(hit!));
  });

  it('finds an event that does not fit its schema, and goes on', async () => {
    const { report } = await auditAfter(({ forge, first }) => {
      forge(ACCOUNT, 'CreditsAdjusted', { ...dataOf(first('CreditsAdjusted')), colour: 'red' });
    });
    expectFound(report, 'schema', { stream: ACCOUNT });
    expect(about(report, 'chain', {})).to.be.empty;
  });

  it('finds an event that was taken out of the middle', async () => {
    let gone: StoredEvent | undefined;
    const { report } = await auditAfter(({ first, run }) => {
      gone = first('CreditsRefunded');
      run('delete from events where position = ?', gone.position);
    });
    expectFound(report, 'chain', { stream: ACCOUNT, revision: String(gone!.revision + 1) });
    expectFound(report, 'order', { position: String(gone!.position + 1) });
    expectFound(report, 'balance', { stream: ACCOUNT });
  });

  it('finds two events that changed places', async () => {
    let moved: readonly StoredEvent[] = [];
    const { report } = await auditAfter(({ all, run }) => {
      moved = all(`stream = '${ACCOUNT}' and type = 'CreditsAdjusted' order by revision`);
      const put = 'update events set type = ?, data = ?, metadata = ? where position = ?';
      const [a, b] = [moved[0]!, moved[1]!];
      run(put, a.type, a.data, a.metadata, b.position);
      run(put, b.type, b.data, b.metadata, a.position);
    });
    for (const event of moved) expectFound(report, 'chain', placeOf(event));
  });

  it('finds an appended event whose hash is not that of the chain', async () => {
    const { report } = await auditAfter(({ forge, last, run }) => {
      forge(ACCOUNT, 'CreditsAdjusted', { ...dataOf(last(ACCOUNT)) });
      const forged = last(ACCOUNT);
      run('update events set metadata = ? where position = ?', last('priceList').metadata, forged.position);
    });
    expectFound(report, 'chain', { stream: ACCOUNT });
  });

  it('finds an event ID that occurs twice', async () => {
    const { report } = await auditAfter(({ first, last, run }) => {
      run('update events set id = ? where position = ?', first('AccountOpened').id, last(ACCOUNT).position);
    });
    expectFound(report, 'order', { stream: ACCOUNT });
  });

  describe('with a seal', () => {
    const sealed = async () => {
      const { log } = await auditAfter(nothing);
      return parseSeal(JSON.stringify(sealOf(log, MADE_AT)));
    };

    it('finds a tail that was cut off, and names the streams that lost events', async () => {
      const seal = await sealed();
      let gone: readonly StoredEvent[] = [];
      const cut = await auditAfter(
        ({ all, run, last }) => {
          const from = last(ACCOUNT).position;
          gone = all(`position >= ${String(from)}`);
          run('delete from events where position >= ?', from);
        },
        { seals: [{ seal, from: 'a file' }], keep: 10_000 },
      );
      for (const { stream } of gone) expectFound(cut.report, 'seal', { stream });
      expect(gone.map(({ stream }) => stream)).to.contain(ACCOUNT);
      const untouched = about(cut.report, 'seal', { stream: 'priceList' });
      expect(untouched).to.be.empty;
    });

    it('finds a stream that was written anew with a chain that holds', async () => {
      const seal = await sealed();
      const { report } = await auditAfter(
        ({ last, run, forge }) => {
          const end = last('fxRates');
          run('delete from events where position = ?', end.position);
          forge('fxRates', end.type, { ...dataOf(end), source: 'me' });
          run(
            'update events set position = ? where stream = ? and revision = ?',
            end.position,
            'fxRates',
            end.revision,
          );
        },
        { seals: [{ seal, from: 'a file' }] },
      );
      expect(about(report, 'chain', {})).to.be.empty;
      expectFound(report, 'seal', { stream: 'fxRates' });
    });

    it('finds nothing in a log that has grown since', async () => {
      const seal = await sealed();
      const { report } = await auditAfter(
        ({ forge, last }) =>
          forge('fxRates', 'FxRatesPublished', { ...dataOf(last('fxRates')), date: '2026-01-06' }),
        { seals: [{ seal, from: 'a file' }] },
      );
      expect(report.findings).to.deep.equal([]);
    });

    it('says since when it was not sealed, and that nothing is wrong', async () => {
      const seal = await sealed();
      const given = [{ seal, from: 'a file' }];
      const whole = (await auditAfter(nothing, { seals: given })).report;
      expect(whole.unsealed).to.equal(null);
      const grown = (
        await auditAfter(
          ({ forge, last }) =>
            forge('fxRates', 'FxRatesPublished', { ...dataOf(last('fxRates')), date: '2026-01-06' }),
          { seals: given },
        )
      ).report;
      expect(grown.unsealed).to.include({ since: seal.made_at, position: seal.position, events: 1 });
      expect(grown.total).to.equal(0);
      expect(reportText(grown))
        .to.contain(`not sealed since ${seal.made_at}: 1 event after position ${String(seal.position)}`)
        .and.to.contain('Nothing is wrong.');
      const never = (await auditAfter(nothing)).report;
      expect(never.unsealed).to.include({ since: null, position: null, events: never.facts.events });
      expect(reportText(never)).to.contain('never sealed').and.to.contain('Nothing is wrong.');
    });

    it('refuses a file that is no seal, and one that was changed', async () => {
      const seal = await sealed();
      expect(() => parseSeal('{}')).to.throw(UnreadableSeal);
      const heads = seal.heads.slice(1);
      expect(() => parseSeal(JSON.stringify({ ...seal, heads }))).to.throw(UnreadableSeal, 'digest');
    });
  });

  it('shows as many findings of a kind as asked for, and counts all', async () => {
    const { report } = await auditAfter(({ run }) => run(`update events set id = 'a' where position > 1`), {
      keep: 2,
    });
    expect(report.findings.filter(({ check }) => check === 'order')).to.have.length(2);
    expect(report.total).to.be.greaterThan(20);
    expect(reportText(report)).to.contain('--all shows them');
  });
});
