import { randomUUID } from 'node:crypto';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { until } from '../../../engine/test/support/until.ts';
import { seededRandom } from '../../../engine/test/support/random.ts';
import { tempFolder, type TempFolder } from '../../../engine/test/support/tempFolder.ts';
import { openObjectFolder } from '../../../adapters/local/objectFolder.ts';
import { openSqliteEventLog } from '../../../adapters/sqlite/eventLog.ts';
import { account } from '../../../domain/account/account.ts';
import { accountEvent, accountStream } from '../../../domain/account/messages.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import { accountSnapshots } from '../../../src/writer/accountWriter.ts';
import { coldLoad, snapshotOf } from '../../../src/writer/streamFold.ts';
import { writeOldLog } from '../../support/logs/oldLog.ts';
import { runCommand, startCommand } from '../../support/quireCommand.ts';
import { startService, type ServiceProcess } from '../../support/serviceProcess.ts';
import { signedInBy } from '../sessions/browser.ts';
import { CLIENT, startProvider } from '../sessions/provider.ts';
import { client, formOf, INVOICE, type Client } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';
import { namedIn, okOver, plantIn } from './planted.ts';
import { foundIn, foundInTables } from './searched.ts';

const SEED = Number(process.env['SEED'] ?? 20_261_127);
const KILLS = Number(process.env['KILLS'] ?? 8);
const PUBLIC_URL = 'http://quire.test';
const ENV = { WEBHOOKS_ALLOW_PRIVATE_NETWORK: 'true' };
const LEAVES = 'leaves';
const STAYS = 'stays';
/** A tenant that was erased before its texts are moved. */
const GONE = 'gone';

type Planted = Awaited<ReturnType<typeof plantIn>> & { readonly review_id: string };

describe('texts of old events', function () {
  this.timeout(1_800_000);
  let folder: TempFolder;
  const planted = new Map<string, Planted>();
  let service: ServiceProcess | undefined;
  let api: Client;

  const at = (name: string) => join(folder.path, name);

  /** A review, held and decided by somebody who signed in. */
  const plantReview = async (old: TestApi, tenant_id: string, known: Awaited<ReturnType<typeof plantIn>>) => {
    const schema = { type: 'object', properties: { iban: { type: 'string' } }, required: ['iban'] };
    const fields = { schema: JSON.stringify(schema), mode: 'fast', review: '{"missing_required":true}' };
    let review_id: string | undefined;
    const form = formOf({ tenant_id, ...fields }, INVOICE);
    const sent = okOver(old)('post', '/v1/extract', { key: known.key, form }).then(
      ({ body }) => (review_id = String(body['review_id'])),
    );
    await until(async () => {
      await old.operations.drain();
      return review_id !== undefined;
    });
    return sent;
  };

  /** The history of three tenants as a release from before the vault has written it. */
  const makeOld = async (): Promise<void> => {
    const provider = await startProvider(`${PUBLIC_URL}/v1/session/oidc/callback`);
    const old = await startApi({
      ...ENV,
      PUBLIC_URL,
      TRUST_PROXY: '1',
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT.client_id,
      OIDC_CLIENT_SECRET: CLIENT.client_secret,
    });
    try {
      for (const tenant of [LEAVES, STAYS, GONE]) {
        const made = await plantIn(old, tenant);
        const review_id = await plantReview(old, tenant, made);
        const sub = `Mina-${randomUUID()}`;
        made.planted.set(sub, 'who decides');
        const member = await signedInBy(
          old,
          { provider, publicUrl: PUBLIC_URL },
          { sub, tenant, role: 'member' },
        );
        const headers = { 'Idempotency-Key': randomUUID() };
        await member.call('post', `/v1/reviews/${review_id}/lease`, { headers });
        const json = { result: { iban: 'DE02120300000000202051' }, generation: 1 };
        const decided = await member.call('post', `/v1/reviews/${review_id}/decision`, { headers, json });
        expect(decided.status, decided.text).to.be.below(300);
        planted.set(tenant, { ...made, review_id });
      }
      await mkdir(at('data'));
      await writeOldLog({ feed: old.log, vault: old.deps.log.vault }, at('data/events.db'));
      for (const name of ['encryption-secret', 'upload-secret', 'session-secret'])
        await cp(join(old.dataDir, name), at(`data/${name}`));
      const objects = await openObjectFolder(at('data/objects'));
      for await (const { key } of old.objects.list('')) {
        const bytes = key.startsWith('vault/') ? undefined : await old.objects.get(key);
        if (bytes !== undefined) await objects.put(key, bytes);
      }
    } finally {
      await old.stop();
      await provider.stop();
    }
    await saveSnapshot(LEAVES);
  };

  /** An account of enough events has a snapshot, with what they say. */
  const saveSnapshot = async (tenant: string): Promise<void> => {
    const log = openSqliteEventLog({ path: at('data/events.db') });
    const [stream, rules] = [accountStream(tenant), accountSnapshots(log.snapshots)];
    const source = { store: log, stream, rules: { ...account, codec: eventCodec(accountEvent) } };
    const { folded } = await coldLoad(source, undefined);
    const snapshot = snapshotOf(stream, folded, rules);
    expect(snapshot !== undefined && (await rules.store.save(snapshot))).to.equal('saved');
    await log.close();
  };

  const start = async (): Promise<void> => {
    service = await startService(at('data'), ENV);
    api = client(service.url);
  };
  const stop = async (): Promise<void> => {
    await service?.stop('SIGTERM');
  };
  const env = () => ({ DATA_DIR: at('data'), ...ENV });
  const done = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await runCommand(env(), ...args);
    expect(code, `${args.join(' ')}: ${out}${err}`).to.equal(0);
    return out;
  };
  const ok = async (method: string, path: string) => {
    const reply = await api.call(method, path);
    expect(reply.status, `${method} ${path}: ${reply.text}`).to.be.below(300);
    return reply;
  };
  const wordsOf = (tenant: string) => planted.get(tenant)?.planted ?? new Map<string, string>();

  /** All that is shown of a tenant; what changes with time is left out. */
  const shownOf = async (tenant: string): Promise<readonly string[]> => {
    const lists = [
      `api-keys/${tenant}`,
      `billing/grants/${tenant}`,
      `admin/tenants/${tenant}/ledger?limit=100`,
      ...['documents', 'configs', 'webhooks', 'training/jobs', 'operations', 'batches', 'reviews'].map(
        (list) => `${list}?tenant_id=${tenant}`,
      ),
      `inference/deployments?tenant_id=${tenant}`,
      `reviews/${planted.get(tenant)?.review_id ?? ''}`,
    ];
    const shown: string[] = [];
    for (const list of lists) shown.push((await api.call('get', `/v1/${list}`)).text);
    return shown.map((text) =>
      text.replaceAll(/"(?:as_of|last_used_at|expires_at|seconds_left)":(?:"[^"]*"|null|\d+)/g, ''),
    );
  };
  const moneyOf = async (tenant: string) => ({
    balance: { ...(await ok('get', `/v1/billing/balance/${tenant}`)).body, as_of: null },
    usage: (await ok('get', `/v1/billing/usage/${tenant}?limit=100`)).body['items'],
  });
  /** Where words are in rows, but for the events that nobody can change. */
  const inRows = async (tenant: string) =>
    (await foundInTables(at('data'), wordsOf(tenant))).filter((found) => !found.startsWith('events: '));
  /** What is asked of the log itself. */
  const logShown = async (tenant: string) => [
    (await ok('get', `/v1/admin/events?limit=100000&texts=true&tenant_id=${tenant}`)).text,
    await done('events', 'export', '--tenant', tenant),
    await done('events', 'replay', accountStream(tenant), '--json'),
  ];
  const eventsInLog = async (): Promise<bigint | undefined> => {
    const log = openSqliteEventLog({ path: at('data/events.db'), readOnly: true });
    const end = await log.end();
    await log.close();
    return end;
  };
  const move = async () =>
    JSON.parse(await done('vault', 'move', '--json')) as Readonly<Record<string, number | string>>;

  /** Moves, and is killed at any moment of it; gives whether it was killed before its end. */
  const killedMoving = async (afterMs: number): Promise<boolean> => {
    const { child, done: ended } = startCommand(env(), ['vault', 'move']);
    const began = performance.now();
    let isOver = false;
    void ended.then(() => (isOver = true));
    await until(() => isOver || performance.now() - began >= afterMs);
    child.kill('SIGKILL');
    return (await ended).code !== 0;
  };

  before(async () => {
    folder = tempFolder();
    await makeOld();
  });
  after(async () => {
    await service?.stop('SIGKILL');
    folder.remove();
  });

  it(`can be erased once they are moved, also by a move that was killed ${KILLS} times (SEED=${SEED})`, async () => {
    await start();
    // Work that waited in the old log is done now: what is compared stands still.
    const isOpen = async () =>
      /"status":"(?:queued|running|cancelling)"/.test((await shownOf(LEAVES)).join(''));
    await until(async () => !(await isOpen()), 500, 300_000);
    const said = namedIn(wordsOf(LEAVES), await shownOf(LEAVES));
    expect(said.length).to.be.greaterThan(15);
    await ok('delete', `/v1/admin/tenants/${GONE}/data`);
    expect(namedIn(wordsOf(GONE), await shownOf(GONE)).length, 'old events are shown').to.be.greaterThan(3);
    const before = { money: await moneyOf(LEAVES) };
    const refused = await runCommand(env(), 'vault', 'move');
    expect(refused.code, refused.out).to.equal(1);
    expect(refused.err).to.include('in use');
    await stop();
    expect((await inRows(LEAVES)).length).to.be.greaterThan(10);

    const random = seededRandom(SEED);
    let wasCut = 0;
    for (let kill = 0; kill < KILLS; kill += 1)
      if (await killedMoving(random.between(500, 9_000))) wasCut += 1;
    console.log(`        ${String(wasCut)} of ${String(KILLS)} moves were killed before their end`);
    const moved = await move();
    expect(Number(moved['texts'])).to.be.greaterThan(30);
    expect(Number(moved['erased'])).to.be.greaterThan(15);
    const end = await eventsInLog();
    expect(await move()).to.deep.equal({ ...moved, kept: 0, rebuilt: 0 });
    expect(await eventsInLog(), 'a second run writes nothing').to.equal(end);
    for (const tenant of [LEAVES, STAYS, GONE]) expect(await inRows(tenant), tenant).to.deep.equal([]);
    await done('audit');
    await done('doctor', '--deep');

    await start();
    const after = await shownOf(LEAVES);
    expect(namedIn(wordsOf(LEAVES), after)).to.have.members(said);
    expect(after.join('')).not.to.include('quire:text:');
    expect(await moneyOf(LEAVES)).to.deep.equal(before.money);
    expect(namedIn(wordsOf(LEAVES), (await logShown(LEAVES))[0] ?? '').length).to.be.greaterThan(15);
    for (const shown of [await shownOf(GONE), await logShown(GONE)])
      expect(namedIn(wordsOf(GONE), shown)).to.deep.equal([]);
    await until(
      async () => (await ok('delete', `/v1/admin/tenants/${LEAVES}/data`)).body['status'] === 'erased',
      1_000,
      300_000,
    );
    await done('tenants', 'export', LEAVES, '--to', at('export'));
    const leaves = [...(await shownOf(LEAVES)), ...(await logShown(LEAVES))];
    expect(namedIn(wordsOf(LEAVES), leaves)).to.deep.equal([]);
    expect(await moneyOf(LEAVES)).to.deep.equal(before.money);
    expect(namedIn(wordsOf(STAYS), await shownOf(STAYS)).length).to.be.greaterThan(15);
    await stop();
    expect(await foundIn(at('export'), wordsOf(LEAVES))).to.deep.equal([]);
    expect(await foundIn(at('data/objects'), wordsOf(LEAVES))).to.deep.equal([]);

    await done('projections', 'rebuild', '--fresh');
    expect(await inRows(LEAVES), 'after a rebuild').to.deep.equal([]);
    await done('audit');
    await done('doctor', '--deep');
    await start();
    expect(namedIn(wordsOf(LEAVES), await shownOf(LEAVES))).to.deep.equal([]);
    expect(await moneyOf(LEAVES)).to.deep.equal(before.money);
    await stop();
  });
});
