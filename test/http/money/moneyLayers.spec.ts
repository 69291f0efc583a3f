import { expect } from 'chai';
import type { Reply } from '../support/client.ts';
import { MONEY_ENDPOINTS, moneyCase } from '../support/moneyEndpoints.ts';
import { testApi, type TestApi } from '../support/testApi.ts';

const isReplay = ({ headers }: Reply) => headers.get('idempotent-replayed') === 'true';

for (const endpoint of MONEY_ENDPOINTS.filter(({ takesHeader }) => takesHeader))
  describe(`the replay layer of ${endpoint.name}`, () => {
    let api: TestApi;
    before(async () => {
      api = await testApi();
    });
    afterEach(() => {
      api.faults.replaysAway = false;
      api.faults.beforeKept = () => Promise.resolve();
    });

    it('answers 409 while the first is running, and then what the first was answered', async () => {
      const { send, movedTimes } = await moneyCase(api, endpoint);
      let keep: () => void = () => undefined;
      const kept = new Promise<void>((resolve) => (keep = resolve));
      api.faults.beforeKept = () => kept;
      // Whichever of the two begins stays open until it may be kept: the other answers before it.
      const both = [send(), send()];
      const early = await Promise.race(both);
      expect([early.status, early.code]).to.deep.equal([409, 'request_in_progress']);
      expect(Number(early.headers.get('retry-after'))).to.be.within(1, 10);
      keep();
      const done = (await Promise.all(both)).find(({ status }) => status === 200)!;
      const replay = await send();
      expect([replay.text, isReplay(done), isReplay(replay)]).to.deep.equal([done.text, false, true]);
      await movedTimes(1);
    });

    it('refuses each changed member under the same key, and then still replays', async () => {
      const { send, movedTimes } = await moneyCase(api, endpoint);
      const first = await send();
      expect(first.body[endpoint.flag], first.text).to.equal(true);
      for (const change of endpoint.changes) {
        const reply = await send(change);
        expect([reply.status, reply.code], JSON.stringify(change)).to.deep.equal([
          422,
          'idempotency_key_reused',
        ]);
      }
      expect((await send()).text).to.equal(first.text);
      await movedTimes(1);
    });

    it('does nothing while the replay store is away, and does it once when it is back', async () => {
      const { send, movedTimes } = await moneyCase(api, endpoint);
      api.faults.replaysAway = true;
      const closed = await Promise.all([send(), send(), send()]);
      expect(closed.map(({ status, code }) => `${status} ${String(code)}`)).to.deep.equal(
        Array.from({ length: 3 }, () => '503 not_ready'),
      );
      await movedTimes(0);
      api.faults.replaysAway = false;
      expect((await send()).body[endpoint.flag]).to.equal(true);
      await movedTimes(1);
    });

    it('does the work once when its answer could not be kept', async () => {
      const { send, movedTimes } = await moneyCase(api, endpoint);
      api.faults.beforeKept = () => Promise.reject(new Error('the replay store went away'));
      const first = await send();
      expect(first.body[endpoint.flag]).to.equal(true);
      await api.forgetReplays();
      const again = await send();
      expect([again.body[endpoint.flag], isReplay(again)]).to.deep.equal([false, false]);
      expect(again.body[endpoint.id]).to.equal(first.body[endpoint.id]);
      await movedTimes(1);
    });

    it('keeps the keys of tenants apart, and shows none the answer of another', async () => {
      const one = await moneyCase(api, endpoint);
      const other = await moneyCase(api, endpoint);
      const first = await one.send();
      const second = await other.send({}, one.key);
      expect([second.body[endpoint.flag], isReplay(second)]).to.deep.equal([true, false]);
      expect(second.text).to.not.contain(one.tenant);
      expect(second.body[endpoint.id]).to.not.equal(first.body[endpoint.id]);
      await one.movedTimes(1);
      await other.movedTimes(1);
    });

    it('replays nothing to a caller that may not ask', async () => {
      const { tenant, json, key, send, movedTimes } = await moneyCase(api, endpoint);
      expect((await send()).status).to.equal(200);
      const headers = { 'idempotency-key': key };
      for (const owner of [tenant, `${tenant}-other`]) {
        const caller = await api.newKey(owner);
        const reply = await api.call('post', endpoint.path(tenant), { key: caller, json, headers });
        expect([reply.status, isReplay(reply)]).to.deep.equal([403, false]);
      }
      await movedTimes(1);
    });
  });
