import { expect } from 'chai';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { runOperation } from '../../src/operator/runOperation.ts';
import { configFrom } from '../../src/config.ts';
import { itemsOf, listenForOperators } from '../../src/operator/socket.ts';
import { OperatorError } from '../../src/clientConfig.ts';

const ASKED = { name: 'session.link', input: {} };
const { signal } = new AbortController();

describe('quire sign-in-link', () => {
  const folder = tempFolder();
  after(() => folder.remove());
  const SERVERS = { EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false' };

  for (const [where, env] of [
    ['parts of its own', {}],
    ['servers', SERVERS],
  ] as const) {
    const asked = () =>
      itemsOf((send) => runOperation(configFrom({ DATA_DIR: folder.path, ...env }), ASKED, { send, signal }));

    it(`says that no service runs, on ${where}`, async () => {
      const error = await asked().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).to.be.instanceOf(OperatorError);
      expect((error as Error).message).to.match(/^No service runs with the data folder .*DATA_DIR/);
    });

    it(`asks the service that runs, on ${where}`, async () => {
      const heard = await listenForOperators(folder.path, {
        'session.link': (_, { send }) => send({ url: 'https://quire.example/v1/session/link?token=x' }),
      });
      try {
        expect(await asked()).to.deep.equal([{ url: 'https://quire.example/v1/session/link?token=x' }]);
      } finally {
        await heard.close();
      }
    });
  }
});
