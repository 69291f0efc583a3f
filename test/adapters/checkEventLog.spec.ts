import { join } from 'node:path';
import { expect } from 'chai';
import { checkEventLog } from '../../adapters/sqlite/eventLog.ts';
import { history } from '../audit/auditedHistory.ts';

describe('a look at the embedded event log', () => {
  let path: string;
  before(async () => {
    path = join(await history(), 'events.db');
  });

  it('tells its facts, its file and its chains', async () => {
    const { parts, error } = await checkEventLog(path, { deep: true, signal: new AbortController().signal });
    expect(error).to.equal(null);
    expect(parts.map(({ kind }) => kind)).to.deep.equal(['facts', 'file', 'chains']);
    const [facts] = parts;
    expect(facts?.kind === 'facts' && facts.log_id.header).to.be.a('string');
    expect(facts?.kind === 'facts' && facts.log_id.opened).to.equal(
      facts?.kind === 'facts' && facts.log_id.header,
    );
  });

  it('gives what it found until it was ended', async () => {
    const ended = await checkEventLog(path, { deep: true, signal: AbortSignal.abort() });
    expect(ended).to.deep.equal({ parts: [], error: 'it was ended' });
  });
});
