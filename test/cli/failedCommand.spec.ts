import { expect } from 'chai';
import { copyEventLog } from '../../adapters/sqlite/eventLog.ts';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataDirInUse, LogNotCopied } from '../../domain/ports/services.ts';
import { LogUnavailable } from '../../domain/ports/log.ts';
import { SqlUnavailable } from '../../projections/engine/ports.ts';
import { UnreadableSeal } from '../../src/audit/chains.ts';
import { failedCommand } from '../../src/cli/terminal.ts';
import { ServerAway } from '../../src/parts/stores.ts';
import { ConfigError } from '../../src/clientConfig.ts';
import { OperatorError } from '../../src/clientConfig.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';

const SENTENCE = 'Look there, and try again.';

describe('a command that failed', () => {
  for (const Known of [
    ConfigError,
    DataDirInUse,
    LogUnavailable,
    OperatorError,
    SqlUnavailable,
    UnreadableSeal,
  ])
    it(`says a sentence alone for a ${Known.name}, and for any kind of it`, () => {
      const Kind = class extends Known {};
      const renamed = Object.defineProperty(new Kind(SENTENCE), 'name', { value: 'Other' });
      for (const error of [new Known(SENTENCE), renamed])
        expect(failedCommand(error)).to.deep.equal({ exitCode: 1, text: `${SENTENCE}\n` });
    });

  it('says a sentence alone for a server that does not answer', () => {
    const away = new ServerAway({ name: 'Postgres', variable: 'DATABASE_URL' }, 1_000, 'refused');
    expect(failedCommand(away).text).to.match(/^Postgres did not answer/);
  });

  it('ends by the code of its error', () => {
    expect(failedCommand(new OperatorError(SENTENCE, 2)).exitCode).to.equal(2);
  });

  it('is a defect where the error only has the name of one that an operator can mend', () => {
    const stranger = Object.assign(new Error('x is undefined'), { name: 'OperatorError' });
    expect(failedCommand(stranger).text).to.match(/^Something broke: .*x is undefined/);
  });

  it('says that no log was copied, and why, by a class of its own', async () => {
    const folder = tempFolder();
    try {
      const from = join(folder.path, 'events.db');
      writeFileSync(from, 'x'.repeat(8192));
      const copied = copyEventLog(from, join(folder.path, 'copy.db'), new AbortController().signal);
      const error = await copied.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).to.be.instanceOf(LogNotCopied).and.to.include({ isFull: false });
      expect((error as LogNotCopied).message).to.match(
        /^the event log could not be copied: .*not a database$/,
      );
    } finally {
      folder.remove();
    }
  });

  it('says what broke once, without the names of errors before it', () => {
    const inner = new TypeError('x is undefined');
    for (const error of [inner, new Error(String(inner)), new Error(`Error: ${String(inner)}`)])
      expect(failedCommand(error).text).to.match(/^Something broke: x is undefined\n {4}at /);
    const passedOn = new Error(`the event cannot be read: ${String(new Error('no JSON'))}`);
    expect(failedCommand(passedOn).text).to.match(/^Something broke: the event cannot be read: no JSON\n/);
    expect(failedCommand('Error: a text').text).to.equal('Something broke: a text\n');
    expect(failedCommand(new RangeError()).text).to.match(/^Something broke: RangeError\n/);
  });
});
