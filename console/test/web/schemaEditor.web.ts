import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { until } from '../../../engine/test/support/until.ts';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

interface Part {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Part>>;
  readonly items?: Part;
}

const namesIn = ({ properties = {} }: Part): readonly string[] => Object.keys(properties);

describe('the editor of schemas', () => {
  let world: World;
  let key: string;
  before(async () => {
    world = await startWorld();
    ({ key } = await world.tenant('editor', 100_000));
  });
  after(() => world.close());

  const opened = async (look: { theme?: 'dark'; width?: number; height?: number } = {}): Promise<Page> => {
    const page = await world.open('/playground', { key, ...look });
    await page.getByRole('button', { name: 'Invoice', exact: true }).click();
    await page.locator('[data-cost]').waitFor();
    await page.waitForURL('**/playground?run=ext_*');
    return page;
  };

  /** The schema as it stands, as the page keeps it for a reload. */
  const schemaIn = async (page: Page): Promise<Part> => {
    const kept = await page.evaluate(() => sessionStorage.getItem('quire.playground.editor'));
    return JSON.parse((JSON.parse(kept ?? '{"schema":"{}"}') as { schema: string }).schema) as Part;
  };
  const becomes = (page: Page, is: (schema: Part) => boolean) =>
    until(async () => is(await schemaIn(page)), 50);
  const handle = (page: Page, path: string) =>
    page.getByRole('button', { name: `Drag ${path}, or move it by the arrow keys` });

  it('drags fields to another place, those of rows too, and moves them by the arrow keys', async () => {
    const page = await opened();
    const before = namesIn(await schemaIn(page));
    const [first = '', second = ''] = before;
    await handle(page, 'due_date').dragTo(page.getByLabel(`Name: ${first}`));
    await becomes(page, (schema) => namesIn(schema)[0] === 'due_date');
    await handle(page, 'due_date').focus();
    await page.keyboard.press('ArrowDown');
    await becomes(page, (schema) => namesIn(schema)[1] === 'due_date');
    await page.keyboard.press('ArrowDown');
    await becomes(page, (schema) => namesIn(schema)[2] === 'due_date');
    expect(namesIn(await schemaIn(page)).slice(0, 2)).to.deep.equal([first, second]);
    const rows = async () => namesIn((await schemaIn(page)).properties?.['line_items']?.items ?? {});
    const inside = await rows();
    const [top = '', last = ''] = [inside[0], inside.at(-1)];
    await handle(page, `line_items ${last}`).dragTo(page.getByLabel(`Name: line_items ${top}`));
    await until(async () => (await rows())[0] === last, 50);
    // a field is of its list: it is not dropped into another
    await handle(page, `line_items ${last}`).dragTo(page.getByLabel(`Name: ${first}`));
    expect(await rows()).to.have.members(inside);
    await page.getByRole('button', { name: 'Undo' }).click();
    await until(async () => (await rows())[0] === top, 50);
    expect(faults(page)).to.deep.equal([]);
    await page.context().close();
  });

  for (const look of [{}, { theme: 'dark' as const, width: 390, height: 844 }])
    it(`says what is required, of which form and value, and goes back and forth ${JSON.stringify(look)}`, async () => {
      const page = await opened(look);
      const seller = async () => (await schemaIn(page)).properties?.['seller_name'] ?? {};
      await page.getByRole('button', { name: 'Details of seller_name' }).click();
      await page.getByLabel('Required: seller_name').check();
      await becomes(page, ({ required = [] }) => required.includes('seller_name'));
      await page.getByLabel('Form: seller_name').selectOption('E-mail');
      await until(async () => (await seller()).format === 'email', 50);
      await page.getByLabel('Allowed values: seller_name').fill('North Ltd, South Ltd,');
      await until(async () => (await seller()).enum?.length === 2, 50);
      expect((await seller()).enum).to.deep.equal(['North Ltd', 'South Ltd']);
      const description = page.getByLabel('Description: seller_name');
      await description.filter({ visible: true }).fill('Who sends the invoice');
      await until(async () => (await seller()).description === 'Who sends the invoice', 50);
      expect(await axeFindings(page)).to.deep.equal([]);
      const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(width).to.be.at.most(0);
      const undo = page.getByRole('button', { name: 'Undo' });
      await undo.click();
      await until(async () => (await seller()).description !== 'Who sends the invoice', 50);
      await undo.click();
      await until(async () => (await seller()).enum === undefined, 50);
      await page.getByRole('button', { name: 'Redo' }).click();
      await until(async () => (await seller()).enum?.length === 2, 50);
      await page.getByLabel('Required: seller_name').focus();
      await page.keyboard.press('Control+z');
      await until(async () => (await seller()).enum === undefined, 50);
      expect(faults(page)).to.deep.equal([]);
      await page.context().close();
    });

  it('has rows within rows, and is JSON both ways', async () => {
    const page = await opened();
    await page.getByRole('button', { name: 'Add to line_items' }).click();
    const name = page.getByLabel(/^Name: line_items field_\d+$/);
    await name.fill('parts');
    await page.getByLabel('Type: line_items parts').selectOption('List of rows');
    await page.getByLabel('Name: line_items parts field_1').fill('serial');
    await page.getByRole('tab', { name: 'JSON Schema' }).click();
    const editor = page.locator('.cm-content');
    await editor.waitFor();
    const { items } = (await schemaIn(page)).properties?.['line_items']?.items?.properties?.['parts'] ?? {};
    expect(items).to.deep.equal({ type: 'object', properties: { serial: { type: 'string' } } });
    await editor.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('{"type": "object", "properties": {"only": {"type": "integer"');
    await page.getByRole('alert').first().waitFor();
    expect(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled()).to.equal(true);
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(
      JSON.stringify({ type: 'object', properties: { only: { type: 'integer', description: 'One' } } }),
    );
    await becomes(page, (schema) => namesIn(schema).join() === 'only');
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.getByRole('tab', { name: 'Fields' }).click();
    expect(await page.getByLabel('Name: only').inputValue()).to.equal('only');
    expect(await page.getByLabel('Type: only').inputValue()).to.equal('integer');
    await page.getByLabel('Type: only').selectOption('Number');
    await becomes(page, ({ properties = {} }) => properties['only']?.type === 'number');
    expect((await schemaIn(page)).properties?.['only']?.description).to.equal('One');
    expect(faults(page)).to.deep.equal([]);
    await page.context().close();
  });

  for (const look of [{ width: 1440 }, { theme: 'dark' as const, width: 390, height: 844 }])
    it(`stands beside what was read, field by field, and scrolls with it ${JSON.stringify(look)}`, async () => {
      const page = await opened(look);
      const boxes = async (name: string, value: string) => {
        const [field, read] = [
          page.getByLabel(`Name: ${name}`, { exact: true }),
          page.locator(`[data-value="${value}"]`),
        ];
        const [one, other] = [await field.boundingBox(), await read.first().boundingBox()];
        if (one === null || other === null) throw new Error(`${name} is not shown`);
        return { one, other };
      };
      for (const [name, value] of [
        ['grand_total', '/grand_total'],
        ['line_items', '/line_items/0/description'],
      ] as const) {
        const { one, other } = await boxes(name, value);
        if (look.width === 390) expect(other.y, name).to.be.at.least(one.y + one.height);
        else expect(other.x, name).to.be.at.least(one.x + one.width);
      }
      const { one, other } = await boxes('grand_total', '/grand_total');
      expect(Math.abs(one.y + one.height / 2 - other.y - other.height / 2)).to.be.below(
        look.width === 390 ? 60 : 8,
      );
      // the page alone scrolls: neither the fields nor the values have a scroller of their own
      const scrollers = await page.getByRole('group', { name: 'Values' }).evaluate((place) => {
        const found: Element[] = [];
        for (let at: Element | null = place; at !== null && at !== document.body; at = at.parentElement)
          if (/auto|scroll/.test(getComputedStyle(at).overflowY)) found.push(at);
        return found.length;
      });
      expect(scrollers).to.equal(0);
      const values = page.getByRole('group', { name: 'Values' });
      await page.getByLabel('Name: due_date', { exact: true }).fill('pay_by');
      await values.getByText('not read yet').waitFor();
      const gone = values.getByRole('region', { name: 'No longer in the schema' });
      expect(await gone.locator('[data-value="/due_date"]').count()).to.equal(1);
      const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(width).to.be.at.most(0);
      expect(await axeFindings(page)).to.deep.equal([]);
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await gone.waitFor({ state: 'detached' });
      await values.locator('[data-value="/pay_by"]').waitFor();
      expect(faults(page)).to.deep.equal([]);
      await page.context().close();
    });

  it('suggests the labels of the document, which are accepted one by one, all, or not', async () => {
    const page = await opened({ theme: 'dark' });
    const before = namesIn(await schemaIn(page));
    await page.getByRole('button', { name: 'Propose from the document' }).click();
    const suggested = page.getByRole('region', { name: 'Suggested from the document' });
    const accept = suggested.getByRole('button', { name: /^Accept (?!all)/ });
    await accept.first().waitFor();
    expect(namesIn(await schemaIn(page)), 'nothing changes by itself').to.deep.equal(before);
    const count = await accept.count();
    const name = ((await accept.first().getAttribute('aria-label')) ?? '').replace('Accept ', '');
    expect(await axeFindings(page)).to.deep.equal([]);
    await accept.first().click();
    await becomes(page, (schema) => namesIn(schema).at(-1) === name);
    expect(await accept.count()).to.equal(count - 1);
    await suggested.getByRole('button', { name: 'Accept all' }).click();
    await becomes(page, (schema) => namesIn(schema).length === before.length + count);
    await suggested.getByText('The document has no labels that your schema lacks.').waitFor();
    await suggested.getByRole('button', { name: 'Dismiss' }).click();
    await suggested.waitFor({ state: 'detached' });
    const undo = page.getByRole('button', { name: 'Undo' });
    await undo.click();
    await undo.click();
    await becomes(page, (schema) => namesIn(schema).length === before.length);
    expect(faults(page)).to.deep.equal([]);
    await page.context().close();
  });
});
