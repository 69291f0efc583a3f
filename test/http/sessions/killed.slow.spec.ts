import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { tempFolder } from '../../../engine/test/support/tempFolder.ts';
import { startService, type ServiceProcess } from '../../support/serviceProcess.ts';

/** The first start makes the admin key, and prints it with a link. */
const FIRST_START = { ADMIN_API_KEY: '' };

const printed = (service: ServiceProcess, what: RegExp): string => what.exec(service.output())?.[1] ?? '';
const keyOf = (service: ServiceProcess): string => printed(service, /admin key\s+(\S+)/);
const linkOf = (service: ServiceProcess): string => new URL(printed(service, /sign in\s+(\S+)/)).search;

const signIn = async ({ url }: ServiceProcess, api_key: string) => {
  const reply = await fetch(`${url}/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key }),
  });
  const { csrf_token } = (await reply.json()) as { readonly csrf_token: string };
  return { cookie: reply.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '', csrf_token };
};

type Signed = Awaited<ReturnType<typeof signIn>>;

const isSignedIn = async ({ url }: ServiceProcess, { cookie }: Signed): Promise<boolean> =>
  (await fetch(`${url}/v1/admin/tenants`, { headers: { cookie } })).status === 200;

const signOut = async ({ url }: ServiceProcess, { cookie, csrf_token }: Signed): Promise<number> => {
  const headers = { cookie, origin: url, 'x-csrf-token': csrf_token };
  return (await fetch(`${url}/v1/session`, { method: 'DELETE', headers })).status;
};

const follow = async ({ url }: ServiceProcess, link: string): Promise<string | null> =>
  (await fetch(`${url}/v1/session/link${link}`, { redirect: 'manual' })).headers.get('location');

describe('a service that is killed after it answered', () => {
  const folder = tempFolder();
  after(() => folder.remove());

  it('takes neither a session that was ended nor a link that was followed', async () => {
    const first = await startService(folder.path, FIRST_START);
    const link = linkOf(first);
    const [kept, ended] = [await signIn(first, keyOf(first)), await signIn(first, keyOf(first))];
    expect(await isSignedIn(first, ended)).to.equal(true);
    expect(await follow(first, link)).to.equal('/app/');
    expect(await signOut(first, ended)).to.equal(204);
    await first.stop('SIGKILL');

    const second = await startService(folder.path, FIRST_START);
    const found = {
      kept: await isSignedIn(second, kept),
      ended: await isSignedIn(second, ended),
      link: await follow(second, link),
    };
    await second.stop('SIGKILL');
    expect(found).to.deep.equal({ kept: true, ended: false, link: '/app/sign-in?problem=link_used' });
  });

  it('knows none of its sessions where it lost what had ended, whatever the secret', async () => {
    const own = { SESSION_SECRET: randomBytes(32).toString('base64') };
    const first = await startService(folder.path, own);
    const session = await signIn(first, 'an-admin-key-for-specs-only-0123456789');
    expect(await signOut(first, session)).to.equal(204);
    await first.stop('SIGKILL');
    await rm(join(folder.path, 'read-models'), { recursive: true });

    const second = await startService(folder.path, own);
    const isBack = await isSignedIn(second, session);
    await second.stop('SIGKILL');
    expect(isBack).to.equal(false);
  });
});
