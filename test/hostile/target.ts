import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { startScriptedProvider, type ScriptedProvider } from '../../engine/test/support/scriptedProvider.ts';
import { answers } from '../../engine/test/support/scriptedProvider/steps.ts';
import { post, SCHEMA_ROUTES, TEXT_ROUTES, upload, type Reply, type Target } from './attacks.ts';
import { startWatched, type WatchedService } from './watchedService.ts';

const ROWS = Array.from({ length: 2_000 }, (_, at) => ({ name: `row ${String(at)}` }));

/** The watched service, a model that answers it, and what attacks need there. */
export interface HostileTarget {
  readonly service: WatchedService;
  readonly provider: ScriptedProvider;
  readonly target: Target;
  readonly stop: () => Promise<void>;
}

const WARM_UPS = 5;

/** A reader that has just started may need longer than the deadline. */
const answeredWell = async (name: string, send: () => Promise<Reply>): Promise<void> => {
  let last: Reply | undefined;
  for (let attempt = 0; attempt < WARM_UPS; attempt += 1) {
    last = await send();
    if (last.status <= 202) return;
  }
  throw new Error(`${name} does not work: ${JSON.stringify(last)}`);
};

/** What is loaded at the first use of a route is not the attack's; and each route works. */
const warmedUp = async (target: Target): Promise<void> => {
  const plain = { type: 'object', properties: { name: { type: 'string' } } };
  for (const [name, route] of Object.entries(SCHEMA_ROUTES))
    await answeredWell(name, () => route(target, plain));
  for (const [name, route] of Object.entries(TEXT_ROUTES))
    await answeredWell(name, () => route(target, 'Total: 1'));
};

/** Starts it over a folder that is its own, with embedded parts and local deadlines of two seconds. */
export const startTarget = async (folder: string): Promise<HostileTarget> => {
  const provider = await startScriptedProvider();
  provider.script('*', answers({ name: `${'a'.repeat(40)}!`, rows: ROWS }));
  const service = await startWatched(join(folder, 'data'), {
    LLM_ALLOW_PRIVATE_NETWORK: 'true',
    LOCAL_DEADLINE_FAST_SECONDS: '2',
    ROLES: 'api,projector',
  });
  const { url } = service;
  const tenant_id = 'hostile';
  const sale = { tenant_id, provider_txn_id: 'one', credits: 10_000_000 };
  await post({ url }, '/v1/billing/credits', { ...sale, gross_amount_minor: 1_000_000 });
  const { document_id } = await upload({ url, tenant_id });
  const target = { url, modelBase: provider.url, tenant_id, document_id };
  await warmedUp(target);
  const stop = async () => {
    await service.stop('SIGTERM');
    await provider.stop();
    await rm(dirname(join(folder, 'data')), { recursive: true, force: true });
  };
  return { service, provider, target, stop };
};
