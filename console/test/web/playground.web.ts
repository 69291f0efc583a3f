import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

/** Where a word of the page is drawn by pdf.js, and where the box of a value is, both as seen. */
const boxOf = async (page: Page, path: string) => {
  const box = await page.locator(`[data-box="${path}"]`).boundingBox();
  if (box === null) throw new Error(`${path} has no box`);
  return box;
};

describe('the playground', () => {
  let world: World;
  let key: string;
  before(async () => {
    world = await startWorld();
    ({ key } = await world.tenant('player'));
  });
  after(() => world.close());

  const run = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('[data-cost]').waitFor();
  };

  it('reads a sample, and a value chosen shows its box over the words of the page', async () => {
    const page = await world.open('/playground', { key });
    await page.getByRole('button', { name: 'Invoice', exact: true }).click();
    await page.getByText(/^Charged 0 credits for 1 page/).waitFor();
    await run(page);
    const value = page.locator('button[data-value="/grand_total"]');
    await value.click();
    expect(await value.getAttribute('aria-pressed')).to.equal('true');
    const box = await boxOf(page, '/grand_total');
    const frame = await page.locator('[data-page="1"]').boundingBox();
    if (frame === null) throw new Error('the page is not drawn');
    // inside of the page, of the size of a word
    expect(box.x).to.be.greaterThan(frame.x);
    expect(box.y).to.be.greaterThan(frame.y);
    expect(box.x + box.width).to.be.lessThan(frame.x + frame.width);
    expect(box.height).to.be.within(4, frame.height / 20);
    await page.locator('[data-box="/invoice_number"]').click();
    const number = page.locator('button[data-value="/invoice_number"]');
    expect(await number.getAttribute('aria-pressed')).to.equal('true');
    expect(faults(page)).to.deep.equal([]);
  });

  it('scrolls the document to the box of a value on a later page', async () => {
    const page = await world.open('/playground', { key });
    await page.getByRole('button', { name: 'Invoice of two pages' }).click();
    await run(page);
    await page.locator('[data-box="/grand_total"]').waitFor({ state: 'attached' });
    await page.locator('button[data-value="/grand_total"]').click();
    await page.waitForFunction(() => {
      const box = document.querySelector('[data-box="/grand_total"]')?.getBoundingClientRect();
      const seen = document.querySelector('[data-page]')?.closest('[role=region]')?.getBoundingClientRect();
      return box !== undefined && seen !== undefined && box.top > seen.top && box.bottom < seen.bottom;
    });
  });

  it('takes the words of a box that is drawn as the right value: those of the box that was cited', async () => {
    const page = await world.open('/playground', { key });
    await page.getByRole('button', { name: 'Invoice', exact: true }).click();
    await run(page);
    const value = page.locator('button[data-value="/invoice_number"]');
    await value.click();
    const said = await value.innerText();
    await page.getByRole('button', { name: 'Correct invoice_number' }).click();
    const input = page.getByRole('textbox', { name: 'Correct invoice_number' });
    await input.fill('');
    // what is above moved while the field opened
    const box = await boxOf(page, '/invoice_number');
    await page.mouse.move(box.x - 3, box.y - 3);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width + 3, box.y + box.height + 3);
    await page.mouse.up();
    await page.waitForFunction(
      (name) => document.querySelector<HTMLInputElement>(`input[aria-label="${name}"]`)?.value !== '',
      'Correct invoice_number',
    );
    // pdf.js reads the same words at this place as the service cites there
    expect(said).to.include(await input.inputValue());
    await page.getByRole('button', { name: 'Keep' }).click();
    await page.getByRole('button', { name: 'Add to examples' }).click();
    await page.getByRole('button', { name: 'Download 1 example' }).waitFor();
    // the file was uploaded, and a training begins with it
    await page.goto(`${world.url}/app/pipelines`);
    await page.getByRole('button', { name: 'Start a training' }).last().click();
    await page.getByText('1 example.').waitFor();
    const [example] = await page
      .getByLabel('Examples (JSON or NDJSON)')
      .inputValue()
      .then((text) => text.split('\n'));
    const { document_id, expected } = JSON.parse(example ?? '') as { document_id: string; expected: object };
    expect(expected).to.include({ invoice_number: 'LF-2031-0417' });
    await world.admin.api.removeUpload({ path: { document_id } });
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL('**/app/sign-in');
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.to.include(document_id);
  });

  it('opens lists, the editor and the code without a fault of the policy', async () => {
    const page = await world.open('/playground', { key });
    await page.getByRole('button', { name: 'Invoice', exact: true }).click();
    // Its result comes above the lists.
    await page.locator('[data-cost]').waitFor();
    await page.getByRole('combobox', { name: 'Template' }).click();
    await page.getByRole('option', { name: 'Receipt' }).click();
    await page.getByRole('tab', { name: 'JSON Schema' }).click();
    await page.locator('.cm-editor').getByText('merchant_name').waitFor();
    await page.getByRole('tab', { name: 'Code' }).click();
    await page.getByRole('region', { name: 'curl' }).getByText('/v1/extract').waitFor();
    expect(faults(page)).to.deep.equal([]);
  });

  it('reads by a schema that is edited as rows: renamed, typed and moved, inside of lists too', async () => {
    const page = await world.open('/playground', { key });
    await page.getByRole('button', { name: 'Invoice', exact: true }).click();
    await page.getByLabel('Name: line_items description').fill('position');
    // as a name of another field it is not taken, and it goes on from there
    await page.getByLabel('Name: line_items quantity').fill('amount');
    expect(await page.getByLabel('Name: line_items quantity').getAttribute('aria-invalid')).to.equal('true');
    await page.getByLabel('Name: line_items quantity').fill('amount_of_pieces');
    await page.getByLabel('Type: line_items amount_of_pieces').selectOption('Text');
    await page.getByRole('button', { name: 'Details of line_items unit_price' }).click();
    await page.getByRole('button', { name: 'Move line_items unit_price up' }).click();
    await page.getByRole('button', { name: 'Remove due_date' }).click();
    await run(page);
    const table = page.getByRole('table', { name: 'line_items' });
    await table.getByRole('columnheader', { name: 'position' }).waitFor();
    const heads = await table.getByRole('columnheader').allInnerTexts();
    expect(heads.indexOf('unit_price')).to.be.below(heads.indexOf('amount_of_pieces'));
    expect(await page.locator('button[data-value="/due_date"]').count()).to.equal(0);
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
  });

  it('leaves who types where they are when a result arrives', async () => {
    const page = await world.open('/playground', { key });
    let haveTyped = (): void => undefined;
    const typed = new Promise<void>((resolve) => (haveTyped = resolve));
    await page.route(/\/v1\/(?:extract|canonical)$/, async (route) => {
      await typed;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Invoice', exact: true }).click();
    await page.getByRole('button', { name: 'Details of line_items unit_price' }).click();
    const name = page.getByLabel('Name: line_items quantity');
    await name.press('End');
    haveTyped();
    await page.locator('[data-cost]').waitFor();
    await page.keyboard.type('_of_pieces');
    await page.getByLabel('Name: line_items quantity_of_pieces').waitFor();
    await page.getByRole('button', { name: 'Move line_items unit_price up' }).waitFor();
    expect(faults(page)).to.deep.equal([]);
  });

  it('is walked by the keyboard alone', async () => {
    const page = await world.open('/playground', { key });
    await page.getByRole('button', { name: 'Invoice', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Run', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.locator('[data-cost]').waitFor();
    const values = page.locator('button[data-value]');
    await values.first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await values.nth(1).getAttribute('aria-pressed')).to.equal('true');
  });

  it('shows line items as a table: each cell says how certain it is, and goes to its box', async () => {
    const page = await world.open('/playground', { key, width: 390, height: 844 });
    await page.getByRole('button', { name: 'Invoice', exact: true }).click();
    await run(page);
    const table = page.getByRole('table', { name: 'line_items' });
    await table.getByRole('columnheader', { name: 'unit_price' }).waitFor();
    const first = table.locator('button[data-value="/line_items/0/description"]');
    const certainty = page.getByRole('tooltip').getByText(/^Confidence \d+ %, found [a-z ]+, p\. 1$/);
    // Whatever scrolls closes a hint, and the page scrolls to what takes the focus.
    const isShown = async (): Promise<boolean> => {
      await first.blur();
      await first.focus();
      return certainty.waitFor({ timeout: 1_000 }).then(
        () => true,
        () => false,
      );
    };
    let tries = 1;
    while (!(await isShown())) expect((tries += 1)).to.be.below(10);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-value'));
    expect(await focused()).to.equal('/line_items/1/quantity');
    await page.keyboard.press('Enter');
    await page.locator('[data-box="/line_items/1/quantity"].outline-2').waitFor();
    expect(await table.locator('button[aria-pressed=true]').count()).to.equal(1);
    await page.locator('[data-box="/line_items/0/amount"]').click();
    expect(
      await table.locator('button[data-value="/line_items/0/amount"]').getAttribute('aria-pressed'),
    ).to.equal('true');
    // wide tables scroll within themselves
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.be.at.most(390);
    await page.getByRole('button', { name: 'Correct line_items 1 amount' }).click();
    await page.getByRole('textbox', { name: 'Correct line_items 1 amount' }).fill('12.5');
    await page.getByRole('button', { name: 'Keep' }).click();
    await table.locator('button[data-value="/line_items/0/amount"]').getByText('12.5').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
  });

  it('keeps document and schema when the connection is lost, and runs again', async () => {
    const page = await world.open('/playground', { key });
    await page.getByRole('button', { name: 'Invoice', exact: true }).click();
    await page.locator('[data-page="1"] canvas').waitFor();
    // a document that was sent before its run is read by its ID
    const work = /\/v1\/(?:extract|canonical)$/;
    await page.route(work, (route) => route.abort());
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('alert').getByText('The service was not reached').waitFor();
    await page.unroute(work);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('[data-cost]').waitFor();
  });

  for (const theme of ['light', 'dark'] as const)
    it(`has no serious finding with values shown in the ${theme} theme`, async () => {
      const page = await world.open('/playground', { key, theme });
      await page.getByRole('button', { name: 'Invoice', exact: true }).click();
      await run(page);
      expect(await axeFindings(page)).to.deep.equal([]);
    });
});
