import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import {
  startScriptedProvider,
  type ScriptedProvider,
} from '../../../engine/test/support/scriptedProvider.ts';
import { until } from '../../../engine/test/support/until.ts';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

const TENANT = 'stopped';
const OWN_KEY = 'sk-running-training-0123456789abcdef';

describe('a training that runs', () => {
  let world: World;
  let provider: ScriptedProvider;
  before(async () => {
    provider = await startScriptedProvider();
    // a model that never answers: the training runs until somebody ends it
    provider.script(OWN_KEY, () => ({ do: 'hang' }));
    world = await startWorld({
      LLM_ALLOW_PRIVATE_NETWORK: 'true',
      FIELD_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    });
  });
  after(async () => {
    await world.close();
    await provider.stop();
  });

  it('is cancelled on its page, and costs nothing', async () => {
    const { key, quire } = await world.tenant(TENANT, 100_000);
    const examples = await Promise.all(
      [1, 2, 3].map(async (n) => {
        const file = new File([`Total: ${String(n)}.00 EUR\n`], `bill-${String(n)}.txt`, {
          type: 'text/plain',
        });
        return { document_id: (await quire.uploads.send(file)).document_id, expected: { total: n } };
      }),
    );
    const { job_id } = await quire.api.createTrainingJob({
      body: {
        tenant_id: TENANT,
        name: 'runs',
        examples,
        billing_type: 'byok',
        max_metric_calls: 20,
        schema: { type: 'object', properties: { total: { type: 'number' } } },
        llm_provider_model: 'openai_compatible/reader',
        llm_api_key: OWN_KEY,
        llm_api_base: provider.url,
      },
    });
    const page = await world.open(`/pipelines?job=${job_id}`, { key });
    const panel = page.locator('section').filter({ has: page.getByRole('heading', { name: 'runs' }) });
    await panel.getByText('Running').waitFor();
    await until(() => Promise.resolve(provider.requests.length > 0), 50);
    const row = page.getByRole('row').filter({ hasText: 'runs' });
    const held = (await quire.api.getBalance({ path: { tenant_id: TENANT } })).held_credits;
    await row.getByRole('gridcell', { name: held.toLocaleString('en'), exact: true }).waitFor();
    await panel.getByRole('button', { name: 'Cancel the training' }).click();
    await panel.getByText('Cancelled').waitFor();
    await row.getByRole('gridcell', { name: '0', exact: true }).waitFor();
    expect(await panel.getByRole('button', { name: 'Cancel the training' }).count()).to.equal(0);
    await until(async () => {
      const { held_credits, balance_credits } = await quire.api.getBalance({ path: { tenant_id: TENANT } });
      return held_credits === 0 && balance_credits === 100_000;
    }, 50);
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
  });
});
