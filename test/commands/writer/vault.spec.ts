import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { aesSecretBox } from '../../../adapters/local/local.ts';
import type { ObjectStore } from '../../../domain/ports/services.ts';
import {
  tokensIn,
  withQuotedTokens,
  withWritten,
  withoutTokens,
} from '../../../domain/eventLog/writtenText.ts';
import { rotateVaultKeys, signedInAs, textVault } from '../../../src/writer/vault.ts';

type Kept = Pick<ObjectStore, 'get' | 'put' | 'remove' | 'list'> & {
  readonly bytes: Map<string, Uint8Array>;
};

const kept = (): Kept => {
  const bytes = new Map<string, Uint8Array>();
  return {
    bytes,
    get: (key) => Promise.resolve(bytes.get(key)),
    put: (key, value) => Promise.resolve(void bytes.set(key, value)),
    remove: (key) => Promise.resolve(void bytes.delete(key)),
    list: async function* (prefix) {
      await Promise.resolve();
      for (const [key, value] of [...bytes])
        if (key.startsWith(prefix))
          yield { key, modified_at: '2026-01-01T00:00:00.000Z', bytes: value.length };
    },
  };
};

const secret = () => randomBytes(32).toString('base64');

describe('texts beside the log', () => {
  let objects: Kept;
  let nowMs: number;
  const vaultWith = (current: string, old: readonly string[] = []) =>
    textVault({
      objects,
      box: aesSecretBox({ current, old }),
      boxOf: aesSecretBox,
      nowMs: () => nowMs,
      random: (bytes) => randomBytes(bytes),
    });
  beforeEach(() => {
    objects = kept();
    nowMs = 1_000_000;
  });

  const put = async (
    vault: ReturnType<typeof vaultWith>,
    [tenant, stream]: readonly [string, string],
    text: string,
  ) => {
    const sealer = await vault.sealer(tenant);
    const token = sealer.token(stream, text);
    await sealer.keep();
    return token;
  };

  it('gives the same token for the same text, another to each tenant and document', async () => {
    const vault = vaultWith(secret());
    const token = await put(vault, ['acme', 'account-acme'], 'Zebrowski');
    expect(await put(vault, ['acme', 'apiKey-1'], 'Zebrowski')).to.equal(token);
    expect(await put(vault, ['acme', 'apiKey-1'], token)).to.equal(token);
    const others = [
      await put(vault, ['globex', 'account-acme'], 'Zebrowski'),
      await put(vault, ['acme', 'document-1'], 'Zebrowski'),
      await put(vault, ['acme', 'document-2'], 'Zebrowski'),
    ];
    expect(new Set([token, ...others]).size).to.equal(4);
    expect(await vault.texts([token])).to.deep.equal(new Map([[token, 'Zebrowski']]));
    expect((await vault.texts([token, ...others], 'globex')).size).to.equal(1);
    for (const bytes of objects.bytes.values())
      expect(Buffer.from(bytes).toString('latin1')).not.to.include('Zebrowski');
  });

  it('forgets the texts of one document, or all of a tenant with its key', async () => {
    const vault = vaultWith(secret());
    const [one, two, note] = [
      await put(vault, ['acme', 'document-1'], 'a.pdf'),
      await put(vault, ['acme', 'document-2'], 'a.pdf'),
      await put(vault, ['acme', 'account-acme'], 'thanks'),
    ];
    const other = await put(vault, ['globex', 'account-globex'], 'thanks');
    await vault.forget({ tenant_id: 'acme', stream: 'document-1' });
    expect([...(await vault.texts([one, two, note, other])).keys()]).to.have.members([two, note, other]);
    const sealed = await vault.seal('acme', '{"total":1}');
    expect(await vault.open('acme', sealed)).to.equal('{"total":1}');
    const copied = new Map(objects.bytes);
    await vault.forget({ tenant_id: 'acme', until: '2025-12-31T23:59:59.999Z' });
    expect((await vault.texts([two])).size).to.equal(1);
    await vault.forget({ tenant_id: 'acme' });
    expect([...(await vault.texts([two, note, other])).keys()]).to.deep.equal([other]);
    expect(await vault.open('acme', sealed)).to.equal(null);
    // What a crash left of the texts opens with no key that is made later.
    for (const [key, bytes] of copied) if (!key.includes('/keys/')) objects.bytes.set(key, bytes);
    await put(vault, ['acme', 'account-acme'], 'new');
    expect((await vault.texts([two, note])).size).to.equal(0);
  });

  it('names who signs in alike in every process, and operators to any tenant', async () => {
    const key = secret();
    const vaults = Array.from({ length: 4 }, () => vaultWith(key));
    const member = { subject: 'oidc:mina', tenant_id: 'acme', role: 'tenant' };
    const operator = { subject: 'oidc:olga', tenant_id: 'acme', role: 'admin' };
    const first = await signedInAs({ vault: vaults[0] }, member);
    const names = await Promise.all(vaults.map((vault) => signedInAs({ vault }, member)));
    expect(new Set([first, ...names]).size).to.equal(1);
    const olga = await signedInAs({ vault: vaults[1] }, operator);
    const [vault] = vaults;
    const shown = async (of: string) => [...(await vault!.texts([first, olga], of)).values()];
    expect(await shown('acme')).to.have.members(['oidc:mina', 'oidc:olga']);
    expect(await shown('globex')).to.deep.equal(['oidc:olga']);
    await vault!.forget({ tenant_id: 'acme' });
    expect(await shown('acme')).to.deep.equal(['oidc:olga']);
    expect(await signedInAs({ vault }, member)).not.to.equal(first);
    expect(await signedInAs({ vault: undefined }, member)).to.equal('oidc:mina');
  });

  it('is forgotten by another process within a minute', async () => {
    const key = secret();
    const [a, b] = [vaultWith(key), vaultWith(key)];
    const token = await put(a, ['acme', 'account-acme'], 'thanks');
    expect((await b.texts([token])).size).to.equal(1);
    await a.forget({ tenant_id: 'acme' });
    nowMs += 60_000;
    expect((await b.texts([token])).size).to.equal(0);
  });

  it('opens after its keys were sealed anew, and not with a secret that is not known', async () => {
    const [before, after] = [secret(), secret()];
    const token = await put(vaultWith(before), ['acme', 'account-acme'], 'thanks');
    expect((await vaultWith(after).texts([token])).size).to.equal(0);
    const counts = await rotateVaultKeys(objects, aesSecretBox({ current: after, old: [before] }));
    expect(counts).to.deep.equal({ rotated: 1, current: 0, lost: 0 });
    expect((await vaultWith(after).texts([token])).size).to.equal(1);
    const again = await rotateVaultKeys(objects, aesSecretBox({ current: after, old: [] }));
    expect(again).to.deep.equal({ rotated: 0, current: 1, lost: 0 });
  });

  it('gives back any text and any JSON as it was, in values and in answers', async () => {
    const vault = vaultWith(secret());
    const seed = Date.now();
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1, unit: 'binary' }), fc.json(), async (name, json) => {
        const schema = { properties: JSON.parse(json) as null };
        const data = { config_id: 'cfg-1', name, schema };
        const sealer = await vault.sealer('acme');
        const stored = withWritten('ConfigPublished', data, (text) => sealer.token('config-1', text));
        await sealer.keep();
        const answer = JSON.stringify({ items: [stored] });
        const texts = await vault.texts(tokensIn(answer));
        expect(withoutTokens(stored, (token) => texts.get(token))).to.deep.equal(data);
        expect(withQuotedTokens(answer, (token) => texts.get(token))).to.equal(
          JSON.stringify({ items: [data] }),
        );
      }),
      { seed, numRuns: 200 },
    );
  });
});
