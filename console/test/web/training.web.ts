import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { Quire } from '../../../sdk/src/index.ts';
import { until } from '../../../engine/test/support/until.ts';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

const TENANT = 'trained';
const EXAMPLES = 6;

/** A form whose labels are in no dictionary, so that there is something to learn. */
const formText = (n: number): string =>
  [
    `Brodul paper of ${String(2030 + n)}`,
    `Zimtev: V-${String(7000 + n * 13)}-K`,
    `Wugmis: ${sum(n)}`,
    '',
  ].join('\n');
const sum = (n: number): string => (n * 37.5 + 11).toFixed(2);

const SCHEMA = { type: 'object', properties: { total: { type: 'number' } } };

const percent = (score: number | null): string => `${((score ?? -1) * 100).toFixed(1)} %`;

describe('the page of pipelines', () => {
  let world: World;
  let quire: Quire;
  let page: Page;
  let examples: readonly { readonly document_id: string; readonly expected: Record<string, unknown> }[];
  before(async () => {
    // what is started waits until there is a worker
    world = await startWorld({ ROLES: 'api,projector' });
    const tenant = await world.tenant(TENANT, 100_000);
    ({ quire } = tenant);
    examples = await Promise.all(
      Array.from({ length: EXAMPLES }, async (_, at) => {
        const file = new File([formText(at)], `form-${String(at)}.txt`, { type: 'text/plain' });
        const { document_id } = await quire.uploads.send(file);
        return { document_id, expected: { total: Number(sum(at)) } };
      }),
    );
    page = await world.open('/pipelines', { key: tenant.key });
  });
  after(() => world.close());
  afterEach(() => expect(faults(page)).to.deep.equal([]));

  const start = async (name: string): Promise<string> => {
    await page.getByRole('button', { name: 'Start a training' }).last().click();
    await page.getByLabel('Name').fill(name);
    const lines = examples.map((one) => JSON.stringify(one)).join('\n');
    await page.getByLabel('Examples (JSON or NDJSON)').fill(lines);
    await page.getByText(`${String(EXAMPLES)} examples.`).waitFor();
    const query = { tenant_id: TENANT, optimizer_tier: 'light', total_examples: EXAMPLES } as const;
    const { credits } = await quire.api.getTrainingQuote({ query });
    await page.getByText(`Costs ${credits.toLocaleString('en')} credits`).waitFor();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('progressbar', { name: 'Progress' }).waitFor();
    return new URL(page.url()).searchParams.get('job') ?? '';
  };
  const held = async (): Promise<number> =>
    (await quire.api.getBalance({ path: { tenant_id: TENANT } })).held_credits;
  const artifactOf = async (job_id: string): Promise<string> => {
    const job = await until(async () => {
      const { status, artifact_id } = await quire.api.getTrainingJob({ path: { job_id } });
      return ['queued', 'running'].includes(status) ? undefined : { status, artifact_id };
    }, 100);
    expect(job.status).to.equal('succeeded');
    return job.artifact_id ?? '';
  };

  it('starts a training for what was quoted, and cancels it while it waits', async () => {
    await start('to be cancelled');
    expect(await held()).to.be.greaterThan(0);
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Cancel the training' }).click();
    await page
      .getByRole('heading', { name: 'to be cancelled' })
      .locator('..')
      .getByText('Cancelled')
      .waitFor();
    await until(async () => (await held()) === 0, 50);
    const row = page.getByRole('row').filter({ hasText: 'to be cancelled' });
    await row.getByRole('gridcell', { name: '0', exact: true }).waitFor();
  });

  it('follows a training to its end, also past a restart, and shows what was learned', async () => {
    const job_id = await start('followed');
    await page.getByText(/^0 of \d+ measurements$/).waitFor();
    await world.stop();
    await page.getByRole('alert').getByText('The service was not reached').first().waitFor();
    await world.startAgain({ ROLES: '' });
    const scores = page.getByRole('table', { name: 'Scores by field' });
    // as long as it takes on a busy machine
    await scores.waitFor({ timeout: 60_000 });
    const job = await quire.api.getTrainingJob({ path: { job_id } });
    const { baseline_score, best_score } = job;
    expect(
      await scores.getByRole('row', { name: 'All fields' }).getByRole('cell').allInnerTexts(),
    ).to.deep.equal([percent(baseline_score), percent(best_score)]);
    expect(best_score).to.be.greaterThan(baseline_score ?? 1);
    await page.getByText('The service was not reached').waitFor({ state: 'detached' });
  });

  it('deploys an artifact, tries another on a share of the documents, and goes back', async () => {
    const body = { tenant_id: TENANT, schema: SCHEMA, examples: [...examples] };
    const { job_id } = await quire.api.createTrainingJob({ body });
    const followed = new URL(page.url()).searchParams.get('job') ?? '';
    const [first, second] = [await artifactOf(followed), await artifactOf(job_id)];
    await page.reload();
    const deploy = async (artifact: string, share: string): Promise<void> => {
      await page.getByRole('tab', { name: 'Artifacts' }).click();
      await page.getByRole('gridcell', { name: artifact.slice(-6) }).click();
      await page.getByRole('button', { name: 'Deploy' }).click();
      await page.getByLabel('Share of documents, in percent').fill(share);
      await page.getByRole('dialog').getByRole('button', { name: 'Deploy' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('tab', { name: 'Deployments' }).click();
    };
    const line = (artifact: string, share: string, status: string) =>
      page
        .getByRole('row')
        .filter({ hasText: artifact.slice(-6) })
        .filter({ hasText: share })
        .filter({ hasText: status });
    const press = async (row: ReturnType<typeof line>, button: string): Promise<void> => {
      await row.getByRole('button', { name: button }).click();
      await page.getByRole('button', { name: 'Use it' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    await deploy(first, '100');
    await line(first, '100 %', 'Active').waitFor();
    await deploy(second, '20');
    await line(second, '20 %', 'Active').waitFor();
    await press(line(first, '100 %', 'Active'), 'Go back to this');
    await line(second, '20 %', 'Retired').waitFor();
    await press(line(second, '20 %', 'Retired'), 'Go back to this');
    await line(second, '100 %', 'Active').waitFor();
    await press(line(first, '100 %', 'Retired').first(), 'Go back to this');
    await line(first, '100 %', 'Active').waitFor();
    const scope = { tenant_id: TENANT, project_id: 'default', task_id: 'default' };
    const deployment = await quire.api.getCurrentDeployment({ query: scope });
    expect(deployment).to.include({ artifact_id: first });
    expect(await axeFindings(page)).to.deep.equal([]);
  });

  it('deploys through a gate what was measured and reads enough, and shows F1 by the number of examples', async () => {
    const wrong = examples.slice(0, 1).map(({ document_id }) => ({ document_id, expected: { total: 1 } }));
    const { items: artifacts } = await quire.api.listArtifacts({ query: { tenant_id: TENANT } });
    const { artifact_id = '', best_score = 0 } = artifacts[0] ?? {};
    const set = { tenant_id: TENANT, name: 'Forms', examples: [...wrong, ...examples.slice(1)] };
    const { set_id } = await quire.api.createEvaluationSet({ body: set });
    const measured = async (by: { readonly schema: object } | { readonly artifact_id: string }) => {
      const { run_id } = await quire.api.createEvaluationRun({ body: { tenant_id: TENANT, set_id, ...by } });
      return until(async () => {
        const run = await quire.api.getEvaluationRun({ path: { run_id } });
        return run.status === 'succeeded' ? run.f1 : undefined;
      }, 100);
    };
    const before = await measured({ schema: SCHEMA });

    await page.reload();
    await page.getByRole('tab', { name: 'Artifacts' }).click();
    await page.getByRole('gridcell', { name: artifact_id.slice(-6) }).click();
    await page.getByRole('button', { name: 'Deploy' }).click();
    const dialog = page.getByRole('dialog');
    const press = (): Promise<void> => dialog.getByRole('button', { name: 'Deploy' }).click();
    await dialog.getByLabel('Set of examples').click();
    await page.getByRole('option', { name: 'Forms' }).click();
    await dialog.getByLabel('F1 of at least, in %').fill('99.5');
    await press();
    await dialog
      .getByRole('alert')
      .getByText(/^What you are about to publish was not measured/)
      .waitFor();
    const after = await measured({ artifact_id });
    expect(after).to.be.within(before ?? 0, 0.9);
    await press();
    const refusal = dialog.getByRole('alert');
    await refusal.getByText(`Its F1 is ${percent(after)}, and 99.5 % are needed.`).waitFor();
    await refusal.getByText(`total: ${percent(after)}, needs 99.5 %`).waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    const deployed = async (): Promise<number> =>
      (await quire.api.listDeployments({ query: { tenant_id: TENANT } })).total;
    const many = await deployed();
    await dialog.getByLabel('F1 of at least, in %').fill('50');
    await press();
    await dialog.waitFor({ state: 'detached' });
    expect(await deployed()).to.equal(many + 1);

    await page.getByRole('link', { name: 'Evaluations' }).click();
    const curve = page.getByRole('table', { name: 'F1 by examples that were learned from' });
    const of = (count: number) =>
      curve.getByRole('row', { name: `Examples ${String(count)}` }).getByRole('cell');
    await of(EXAMPLES).first().waitFor({ state: 'attached' });
    expect(await of(0).first().innerText()).to.equal(percent(before));
    expect(await of(EXAMPLES).allInnerTexts()).to.deep.equal([percent(after), percent(best_score)]);
    await page
      .getByRole('figure', { name: /by examples/ })
      .locator('.recharts-line')
      .first()
      .waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
  });
});
