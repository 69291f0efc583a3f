import { expect } from 'chai';
import { newEnds } from '../../src/parts/parts.ts';

describe('the ends of what a process has opened', () => {
  it('come last first, each once', async () => {
    const done: string[] = [];
    const ends = newEnds();
    for (const name of ['database', 'projections', 'server']) ends.add(() => done.push(name));
    await ends.close();
    await ends.close();
    expect(done).to.deep.equal(['server', 'projections', 'database']);
  });

  it('all come, whatever becomes of one, and the first error is told', async () => {
    const done: string[] = [];
    const ends = newEnds();
    ends.add(() => done.push('database'));
    ends.add(() => Promise.reject(new Error('the second')));
    ends.add(() => {
      throw new Error('the first');
    });
    const error = await ends.close().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).to.have.property('message', 'the first');
    expect(done).to.deep.equal(['database']);
  });
});
