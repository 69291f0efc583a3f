import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Quire } from '../../../../sdk/src/index.ts';
import type { Browser, Page } from 'playwright-core';
import { ADMIN_KEY, startService, type ServiceProcess } from '../../../../test/support/serviceProcess.ts';
import { openBrowser, openPage, type PageOptions } from './browser.ts';

/** The real service with its own data, and a browser in front of it. */
export interface World {
  readonly url: string;
  readonly browser: Browser;
  /** The admin, as a client with its key: for what a spec needs to be there, and to compare with. */
  readonly admin: Quire;
  /** Makes a tenant with credits and a key, and gives the client that uses the key. */
  readonly tenant: (
    tenantId: string,
    credits?: number,
  ) => Promise<{ readonly key: string; readonly quire: Quire }>;
  /** A page of the console at `path` (`/playground`), signed in by the key; without one, signed out. */
  readonly open: (path: string, options?: OpenOptions) => Promise<Page>;
  /** Ends the service; `startAgain` puts it back at the same address, with the same data. */
  readonly stop: () => Promise<void>;
  readonly startAgain: (env?: Readonly<Record<string, string>>) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface OpenOptions extends PageOptions {
  /** Left out: the admin's. undefined: nobody is signed in. */
  readonly key?: string | undefined;
  /** Another name of this machine than the one that the service says. */
  readonly host?: string;
}

const signIn = async (page: Page, url: string, key: string): Promise<void> => {
  const answer = await page.request.post(`${url}/v1/session`, {
    data: { api_key: key },
    headers: { origin: url },
  });
  if (!answer.ok()) throw new Error(`signing in: ${String(answer.status())} ${await answer.text()}`);
};

/** Starts the service and the browser; `close` ends both and removes the data. */
export const startWorld = async (env: Readonly<Record<string, string>> = {}): Promise<World> => {
  const folder = await mkdtemp(join(tmpdir(), 'quire-web-'));
  let service: ServiceProcess = await startService(folder, env);
  const browser = await openBrowser();
  const { url } = service;
  const admin = new Quire({ url, key: ADMIN_KEY });
  return {
    url,
    browser,
    admin,
    tenant: async (tenant_id, credits = 1_000) => {
      await admin.api.addCredits({ body: { tenant_id, provider_txn_id: `web-${tenant_id}`, credits } });
      const { key } = await admin.api.createApiKey({ body: { tenant_id, name: 'web' } });
      return { key, quire: new Quire({ url, key, tenant: tenant_id }) };
    },
    open: async (path, options = {}) => {
      const page = await openPage(browser, options);
      const key = 'key' in options ? options.key : ADMIN_KEY;
      const { host } = options;
      const at = host === undefined ? url : `http://${host}:${new URL(url).port}`;
      if (key !== undefined) await signIn(page, at, key);
      await page.goto(`${at}/app${path}`);
      return page;
    },
    stop: async () => {
      await service.stop('SIGTERM');
    },
    startAgain: async (changed = {}) => {
      service = await startService(folder, { ...env, PORT: new URL(url).port, ...changed });
    },
    close: async () => {
      await browser.close();
      await service.stop('SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
  };
};
