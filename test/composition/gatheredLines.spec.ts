import { execFile } from 'node:child_process';
import { setImmediate as turnEnds } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { gatheredLines } from '../../src/telemetry/output.ts';

describe('lines that are gathered', () => {
  const written = () => {
    const texts: string[] = [];
    return { texts, ...gatheredLines((text) => texts.push(text)) };
  };

  it('are written at once when the turn of the event loop ends, in their order', async () => {
    const { texts, add } = written();
    for (const line of ['a\n', 'b\n']) add(line);
    expect(texts).to.deep.equal([]);
    await turnEnds();
    expect(texts).to.deep.equal(['a\nb\n']);
    add('c\n');
    await turnEnds();
    expect(texts).to.deep.equal(['a\nb\n', 'c\n']);
  });

  it('are written earlier when asked for, and not again', async () => {
    const { texts, add, flush } = written();
    add('a\n');
    flush();
    flush();
    expect(texts).to.deep.equal(['a\n']);
    await turnEnds();
    expect(texts).to.deep.equal(['a\n']);
  });

  it('do not wait for the end of the turn when they are many', () => {
    const { texts, add } = written();
    const line = `${'x'.repeat(1_000)}\n`;
    for (let n = 0; n < 100; n += 1) add(line);
    expect(texts).to.have.lengthOf(1);
  });

  const LOGGER = new URL('../../src/telemetry/output.js', import.meta.url).href;
  const run = promisify(execFile);

  it('of the log are written by a process that ends in the same turn, and without secrets', async () => {
    const script = `import { openLogger } from ${JSON.stringify(LOGGER)};
      const logger = openLogger({ logLevel: 'info' });
      logger.info({ msg: 'a', key: 'k', url: process.env.ADMIN_API_KEY });
      logger.error('b');
      logger.info('c');
      process.exit(0);`;
    const env = { ...process.env, ADMIN_API_KEY: 'an-admin-key-that-nobody-reads' };
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], { env });
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map(({ msg }) => msg)).to.deep.equal(['a', 'b', 'c']);
    expect(lines[0]).to.include({ key: '[secret]', url: '[secret]' });
  });
});
