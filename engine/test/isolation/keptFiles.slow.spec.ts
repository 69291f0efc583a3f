import { expect } from 'chai';
import { openDocumentWorkers, type DocumentWorkers } from '../../isolation/documentWorkers.ts';
import { familyOf } from '../../isolation/children/childProcess.ts';
import { keptFile } from '../../ports/documentParser.ts';
import { seededRandom } from '../support/random.ts';
import { tempFolder, type TempFolder } from '../support/tempFolder.ts';

const SCHEMA = { type: 'object', properties: { total: { type: 'number' } } };

describe('files that are kept open for requests, whatever becomes of these', () => {
  let workers: DocumentWorkers;
  let folder: TempFolder;
  let earlier: readonly number[];
  const requestFor = (name: string, text: string, share: string) => {
    const path = folder.file(name, text);
    const rest = { effort: 'fast', pagesMax: 100, deadlineMs: 30_000 } as const;
    return { path, fileName: name, share, kept: keptFile(), ...rest };
  };
  const killChildren = () => {
    for (const pid of familyOf(process.pid)) if (!earlier.includes(pid)) process.kill(pid, 'SIGKILL');
  };
  beforeEach(() => {
    folder = tempFolder();
    earlier = familyOf(process.pid);
    workers = openDocumentWorkers({ processes: 2 });
  });
  afterEach(async () => {
    await workers.close();
    folder.remove();
  });

  const other = async (n: number): Promise<void> => {
    const request = requestFor(`${n}-other.txt`, 'x', 'dune');
    await workers.parser.inspect(request);
    request.kept.close();
  };

  /**
   * Counts, waits for others, then works, gives up, closes, or loses its process. Its answer is right, or says why
   * there is none: the process had the file (`unreadable`), or was lost before it was loaded (`starved`).
   */
  const live = async (n: number, seed: number): Promise<void> => {
    const { between, pick } = seededRandom(seed);
    const total = between(1, 9_999);
    const request = requestFor(`${n}.txt`, `Total: ${total}.00 EUR\n`, pick(['acme', 'bolt', 'crux']));
    const giveUp = new AbortController();
    const asked = { ...request, signal: giveUp.signal };
    try {
      const counted = await workers.parser.inspect(asked);
      if (between(0, 19) === 0) killChildren();
      if (between(0, 3) === 0) await other(n);
      if (between(0, 5) === 0) return;
      const working = workers.localEngine.extract({
        ...asked,
        schema: SCHEMA,
        settings: { citations: true },
      });
      if (between(0, 9) === 0) giveUp.abort();
      const answer = await working;
      if (answer.kind === 'ok') expect(answer.extraction.value['total']).to.equal(total);
      else expect([counted.kind, answer.kind]).to.include.oneOf(['aborted', 'unreadable', 'starved']);
    } finally {
      request.kept.close();
    }
  };

  for (const seed of [1, 2, 3])
    it(`are put away, and every answer is right (seed ${seed})`, async () => {
      await Promise.all(Array.from({ length: 40 }, (_, n) => live(n, 1_000 * seed + n)));
      expect(workers.openings().kept).to.equal(0);
    });
});
