import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { until } from '../../../engine/test/support/until.ts';
import { REVIEW_LEASE_MS } from '../../../domain/review.ts';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { ADMIN_KEY } from '../../../test/support/serviceProcess.ts';
import { DOUBTFUL, fixture, invoiceSchema, reviewed } from './support/seeded.ts';
import { startWorld, type World } from './support/world.ts';

/** Set: pictures of a decision, one after the other. */
const shots = process.env['SHOTS_DIR'];

/** Moves the clock of a service on, and of what it starts. */
const clockAhead = (ms: number): Readonly<Record<string, string>> => {
  const code =
    'const Real = Date; globalThis.Date = class extends Real { ' +
    `constructor(...all) { super(...(all.length === 0 ? [Real.now() + ${String(ms)}] : all)); } ` +
    `static now() { return Real.now() + ${String(ms)}; } };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
};

const field = (page: Page, path: string) => page.locator(`[data-field="${path}"]`);
const chosenIn = (page: Page) => page.locator('[data-field][aria-pressed=true]');
const leftIn = (page: Page) => page.locator('[data-doubtful]').count();

const boxOf = async (page: Page, path: string) => {
  const box = await page.locator(`[data-box="${path}"]`).boundingBox();
  if (box === null) throw new Error(`${path} has no box`);
  return box;
};

/** Waits until a value is chosen and hears keys. */
const focusAt = (page: Page, path: string): Promise<void> =>
  page.locator(`[data-field="${path}"][aria-pressed=true]:focus`).waitFor();

/** Clicks on the words that were cited for a value. */
const clickWords = async (page: Page, path: string): Promise<void> => {
  const { x, y, width, height } = await boxOf(page, path);
  await page.mouse.click(x + width / 2, y + height / 2);
};

describe('the page of a review', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.close());

  /** A tenant with one review that waits, and its page. */
  const opened = async (tenantId: string, { isLong = false } = {}) => {
    const { key, quire } = await world.tenant(tenantId);
    const asked = isLong
      ? { file: await fixture('invoice-2-pages.pdf'), schema: await invoiceSchema(), review: { below: 0.9 } }
      : { file: await fixture('invoice.pdf'), schema: DOUBTFUL, review: { missing_required: true } };
    const review_id = await reviewed(quire, asked);
    const path = `/reviews/${review_id}`;
    const show = async (by = key): Promise<Page> => {
      const page = await world.open(path, { key: by });
      await chosenIn(page).waitFor();
      await page.locator('[data-page] canvas').first().waitFor();
      return page;
    };
    const review = () => quire.api.getReview({ path: { review_id } });
    return { key, tenantId, show, review, page: await show() };
  };

  /** `isAsked`: not all values in doubt were looked at. */
  const decided = async (page: Page, { isAsked = false } = {}): Promise<void> => {
    await page.keyboard.press('Control+Enter');
    if (isAsked) await page.getByRole('button', { name: 'Submit as they stand' }).click();
    // what is decided does not stand among what waits
    await page.getByText('Nothing waits for you').waitFor();
    await page.getByRole('combobox', { name: 'Show' }).click();
    await page.getByRole('option', { name: 'Decided' }).click();
    await page.getByRole('link', { name: '.pdf' }).first().waitFor();
    await page.getByRole('gridcell', { name: 'Decided' }).first().waitFor();
    await page
      .getByRole('gridcell', { name: /^(web|Bea)$/ })
      .first()
      .waitFor();
    expect(faults(page)).to.deep.equal([]);
    await page.context().close();
  };

  it('is done by the keyboard alone: three values in doubt in so many seconds, with a person’s pauses', async () => {
    const { page, review } = await opened('by-keys');
    expect(await axeFindings(page)).to.deep.equal([]);
    let taken = 0;
    const shoot = async (): Promise<void> => {
      if (shots === undefined) return;
      await mkdir(shots, { recursive: true });
      await page.screenshot({ path: join(shots, `deciding-${String((taken += 1))}.png`) });
    };
    /** As long as a person looks from a name to the page and back. */
    const look = async (): Promise<void> => {
      await shoot();
      await page.waitForTimeout(1_500);
    };
    const write = async (text: string): Promise<void> => {
      await page.keyboard.type(text, { delay: 180 });
      await shoot();
      await page.keyboard.press('Enter');
    };
    expect(await leftIn(page)).to.equal(3);
    const began = performance.now();
    await look();
    await write('M. Finch');
    await look();
    await write('4711');
    await look();
    await write('P-12');
    await page.getByText('Nothing left in doubt').waitFor();
    await look();
    await decided(page);
    const took = (performance.now() - began) / 1_000;
    console.log(`      decided in ${took.toFixed(1)} s`);
    expect(took).to.be.lessThan(60);
    const { status, result, decision } = await review();
    expect(status).to.equal('decided');
    expect(result).to.include({ approved_by: 'M. Finch', cost_centre: '4711', project_code: 'P-12' });
    expect(decision?.counts).to.deep.equal({ read: 4, confirmed: 0, corrected: 3 });
  });

  it('goes on from one to the next by the keyboard alone: five in less than a minute', async () => {
    const { key, quire } = await world.tenant('five');
    const asked = {
      file: await fixture('invoice.pdf'),
      schema: DOUBTFUL,
      review: { missing_required: true },
    };
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.push(await reviewed(quire, asked));
    const page = await world.open('/reviews', { key });
    const grid = page.getByRole('grid', { name: 'Reviews' });
    await page.getByRole('gridcell', { name: 'Open' }).nth(4).waitFor();
    await grid.focus();
    const began = performance.now();
    await page.keyboard.press('Enter');
    for (const [at, id] of ids.toReversed().entries()) {
      await page.waitForURL(`**/reviews/${id}`);
      await focusAt(page, '/approved_by');
      await page.getByText(at === 4 ? '1 to decide' : `${String(5 - at)} to decide`).waitFor();
      for (const text of ['M. Finch', '4711', 'P-12']) {
        await page.waitForTimeout(500);
        await page.keyboard.type(text, { delay: 60 });
        await page.keyboard.press('Enter');
      }
      await page.getByText('Nothing left in doubt').waitFor();
      await page.keyboard.press('Control+Enter');
    }
    await page.getByText('Nothing waits for you').waitFor();
    const took = (performance.now() - began) / 1_000;
    console.log(`      five decided in ${took.toFixed(1)} s`);
    for (const review_id of ids)
      expect((await quire.api.getReview({ path: { review_id } })).status).to.equal('decided');
    // one step back: it shows how it was decided, and complains of nothing
    await page.goBack();
    await page.getByRole('status').filter({ hasText: 'Decided:' }).waitFor();
    await page
      .getByText(/^corrected by .*web/)
      .first()
      .waitFor();
    await page.getByText('3 corrected, 0 confirmed, 4 as read').first().waitFor();
    expect(await page.getByRole('alert').count()).to.equal(0);
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(faults(page)).to.deep.equal([]);
    await page.context().close();
  });

  it('goes to others without deciding, and back to its row in the list', async () => {
    const { key, quire } = await world.tenant('looking');
    const bytes = await fixture('invoice.pdf');
    const make = (name: string) =>
      reviewed(quire, {
        file: new File([bytes], `${name}.pdf`),
        schema: DOUBTFUL,
        review: { missing_required: true },
      });
    for (const name of ['last', 'middle', 'first']) await make(name);
    const page = await world.open('/reviews', { key });
    const grid = page.getByRole('grid', { name: 'Reviews' });
    await page.getByRole('gridcell', { name: 'Open' }).nth(2).waitFor();
    await grid.focus();
    await page.keyboard.press('Enter');
    for (const [name, press] of [
      ['first', 'PageDown'],
      ['middle', 'PageDown'],
      ['last', 'PageDown'],
      ['first', 'PageUp'],
      ['last', 'PageUp'],
    ] as const) {
      await page.getByRole('heading', { name: `${name}.pdf` }).waitFor();
      await focusAt(page, '/approved_by');
      await page.keyboard.press(press);
    }
    await page.getByRole('heading', { name: 'middle.pdf' }).waitFor();
    await focusAt(page, '/approved_by');
    await page.keyboard.press('Escape');
    await page.locator('[role=grid]:focus').waitFor();
    expect(await grid.getAttribute('aria-activedescendant')).to.equal('Reviews-1');
    expect(faults(page)).to.deep.equal([]);
    await page.context().close();
  });

  it('asks before values in doubt are submitted, and shows confidences', async () => {
    const { page, review } = await opened('doubts-left');
    await page.keyboard.type('M. Finch');
    await page.keyboard.press('Control+Enter');
    await focusAt(page, '/cost_centre');
    await field(page, '/approved_by').getByText('corrected').waitFor();
    await field(page, '/invoice_number')
      .getByText(/^confidence \d+ %$/)
      .waitFor();
    expect(await field(page, '/approved_by').getByText('%').count(), 'no machine read it').to.equal(0);
    expect((await review()).status).to.equal('leased');
    await page.keyboard.press('Control+Enter');
    const dialog = page.getByRole('dialog', { name: '2 values are still in doubt' });
    await dialog.getByText('project code').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.keyboard.press('Enter');
    await focusAt(page, '/cost_centre');
    expect((await review()).status).to.equal('leased');
    await page.keyboard.press('Delete');
    await field(page, '/cost_centre').getByText('not in document').waitFor();
    await page.getByText('without it the result counts as partial').waitFor();
    await focusAt(page, '/project_code');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: 'Submit as they stand' }).click();
    await page.getByRole('alert').waitFor();
    expect((await review()).status, 'a required value is missing').to.equal('leased');
    await page.context().close();
  });

  it('tells a tenant that an operator has it, without the ID of the key', async () => {
    const { page, show, review } = await opened('operators');
    await until(async () => (await review()).lease !== null);
    const operator = await show(ADMIN_KEY);
    await operator.getByText(/web\u2069 has this document/).waitFor();
    await page.getByRole('link', { name: 'All reviews' }).click();
    await until(async () => (await review()).lease === null);
    await operator.reload();
    await until(async () => (await review()).lease !== null);
    await page.goBack();
    await page.getByText(/An operator\u2069 has this document/).waitFor();
    await page.context().close();
    await operator.context().close();
  });

  it('can be done on a phone', async () => {
    const { key, quire } = await world.tenant('phone');
    const asked = {
      file: await fixture('invoice.pdf'),
      schema: DOUBTFUL,
      review: { missing_required: true },
    };
    const review_id = await reviewed(quire, asked);
    const page = await world.open(`/reviews/${review_id}`, { key, width: 390, height: 844 });
    await chosenIn(page).waitFor();
    for (const path of ['/approved_by', '/cost_centre', '/project_code']) {
      await field(page, path).click();
      await page.getByRole('button', { name: /^Not in document/ }).click();
    }
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide).to.be.at.most(390);
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.getByText('Nothing waits for you').waitFor();
    expect((await quire.api.getReview({ path: { review_id } })).status).to.equal('decided');
    await page.context().close();
  });

  it('goes to the next in doubt, accepts, writes, says that there is nothing, and goes back', async () => {
    const { page, review } = await opened('every-key');
    const at = (path: string) => focusAt(page, path);
    await at('/approved_by');
    await page.keyboard.press('Tab');
    await at('/cost_centre');
    await page.keyboard.press('Shift+Tab');
    await at('/approved_by');
    await page.keyboard.press('ArrowUp');
    await at('/seller_name');
    // what begins as a word does is written, not done
    await page.keyboard.type('delmar');
    await page.keyboard.press('Escape');
    await at('/seller_name');
    expect(await field(page, '/seller_name').innerText()).to.include('Larkspur');
    await page.keyboard.press('Delete');
    await at('/approved_by');
    expect(await field(page, '/seller_name').innerText()).to.include('not in document');
    await page.keyboard.press('Enter');
    await at('/cost_centre');
    expect(await leftIn(page)).to.equal(2);
    await page.keyboard.press('Control+z');
    await at('/approved_by');
    expect(await leftIn(page)).to.equal(3);
    await page.keyboard.press('Control+z');
    await at('/seller_name');
    expect(await field(page, '/seller_name').innerText()).to.include('Larkspur');
    expect(await page.getByRole('button', { name: 'Undo' }).isDisabled()).to.equal(true);
    await page.keyboard.press('Tab');
    for (const value of ['A', 'B', 'C']) {
      await page.keyboard.press('F2');
      await page.keyboard.type(value);
      await page.keyboard.press('Enter');
    }
    await page.keyboard.press('ArrowUp');
    await decided(page);
    expect((await review()).result).to.include({ approved_by: 'A', cost_centre: 'B', project_code: 'C' });
  });

  it('takes words from the page: a click on them, a box around them, as the schema wants them', async () => {
    const { page, review } = await opened('by-mouse');
    await clickWords(page, '/invoice_number');
    // words are looked up in the page: what is chosen goes on a moment later
    await focusAt(page, '/cost_centre');
    await page.keyboard.press('Tab');
    const { x, y, width, height } = await boxOf(page, '/seller_name');
    await page.mouse.move(x - 4, y - 4);
    await page.mouse.down();
    await page.mouse.move(x + width + 4, y + height + 2);
    await page.mouse.up();
    await field(page, '/project_code').getByText('Larkspur & Finch Ltd').waitFor();
    const sheet = page
      .locator('.cursor-crosshair')
      .filter({ has: page.locator('[data-box="/invoice_number"]') });
    const [total, from] = [await boxOf(page, '/grand_total'), (await sheet.boundingBox())!];
    const position = { x: total.x + total.width / 2 - from.x, y: total.y + total.height / 2 - from.y };
    await field(page, '/grand_total').click();
    await page.keyboard.press('Delete');
    await page.locator('[data-box="/grand_total"]').waitFor({ state: 'detached' });
    await field(page, '/grand_total').click();
    // the page has moved to what was chosen in between
    await sheet.click({ position });
    await field(page, '/grand_total').getByText('757.2').waitFor();
    await field(page, '/invoice_date').click();
    await clickWords(page, '/invoice_date');
    await field(page, '/cost_centre').click();
    await page.keyboard.type('1');
    await page.keyboard.press('Enter');
    await decided(page);
    expect((await review()).result).to.deep.include({
      approved_by: 'LF-2031-0417',
      project_code: 'Larkspur & Finch Ltd',
      grand_total: 757.2,
      invoice_date: '2031-03-17',
      cost_centre: '1',
    });
  });

  it('puts rows between others, takes them out, joins them, and goes back', async () => {
    const { page, review } = await opened('rows', { isLong: true });
    const before = (await review()).result?.['line_items'] as readonly Readonly<Record<string, unknown>>[];
    await field(page, '/line_items/1/description').click();
    await page.keyboard.press('Shift+Enter');
    await page.locator('[data-field="/line_items/2/description"]:focus').waitFor();
    await page.keyboard.type('Postage');
    await page.keyboard.press('Enter');
    await field(page, '/line_items/2/amount').click();
    await page.keyboard.type('4,50');
    await page.keyboard.press('Enter');
    await field(page, '/line_items/4/amount').click();
    await page.keyboard.press('Shift+Delete');
    await page.locator('[data-field="/line_items/4/description"]:focus').waitFor();
    await page.keyboard.press('Shift+ArrowUp');
    await page.locator('[data-field="/line_items/3/description"]:focus').waitFor();
    await page.getByRole('button', { name: 'Remove the row' }).click();
    await page.keyboard.press('Control+z');
    await decided(page, { isAsked: true });
    const [one, two, three, , five, ...rest] = before;
    const description = [three, five].map((row) => String(row?.['description'])).join(' ');
    const joined = { ...three, description };
    const wanted = [one, two, { description: 'Postage', amount: 4.5 }, joined, ...rest];
    expect((await review()).result?.['line_items']).to.deep.equal(wanted);
  });

  it('says that needed values are not in the document: the answer is partial', async () => {
    const { page, review } = await opened('absent');
    await focusAt(page, '/approved_by');
    await page.keyboard.press('Delete');
    await focusAt(page, '/cost_centre');
    await page.keyboard.type('4711');
    await page.keyboard.press('Enter');
    await focusAt(page, '/project_code');
    await page.keyboard.press('Delete');
    await page.getByText('Nothing left in doubt').waitFor();
    await decided(page);
    const { result, decision } = await review();
    expect(result)
      .to.include({ cost_centre: '4711' })
      .and.not.to.have.any.keys('approved_by', 'project_code');
    expect(decision?.absent).to.have.members(['/approved_by', '/project_code']);
  });

  it('is rejected with a reason and a note, and opened again', async () => {
    const { page, review } = await opened('refusing');
    await page.getByRole('button', { name: /^Reject/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Note').fill('Coffee on it.');
    expect(await axeFindings(page)).to.deep.equal([]);
    await dialog.getByRole('button', { name: 'Reject the result' }).click();
    await page.getByText('Nothing waits for you').waitFor();
    await page.getByRole('combobox', { name: 'Show' }).click();
    await page.getByRole('option', { name: 'All' }).click();
    await page.getByText('Rejected').first().waitFor();
    const { status, rejection } = await review();
    expect([status, rejection?.reason, rejection?.note]).to.deep.equal([
      'rejected',
      'illegible',
      'Coffee on it.',
    ]);
    await page.getByRole('link', { name: '.pdf' }).first().click();
    await page.getByText('rejected it: The document cannot be read').first().waitFor();
    await page.getByText('Coffee on it.').waitFor();
    await page.getByRole('button', { name: 'Reopen' }).click();
    await until(async () => (await review()).generation === 2);
    expect(faults(page)).to.deep.equal([]);
    await page.context().close();
  });

  it('shows what does not fit at its value, and goes there', async () => {
    const { page, review } = await opened('misfit');
    await field(page, '/grand_total').click();
    await page.keyboard.type('a lot');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: 'Submit as they stand' }).click();
    await page.getByRole('alert').waitFor();
    const wrong = page.locator('[data-field="/grand_total"][aria-pressed=true]');
    await wrong.waitFor();
    expect(await wrong.locator('..').locator('p').count()).to.equal(1);
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.keyboard.type('5');
    await page.keyboard.press('Enter');
    expect(await field(page, '/grand_total').locator('..').locator('p').count(), 'changed').to.equal(0);
    expect((await review()).status).to.equal('leased');
    await page.context().close();
  });

  it('keeps a draft over a reload, and lets one go back to what was read', async () => {
    const { page } = await opened('reload');
    await page.keyboard.type('M. Finch');
    await page.keyboard.press('Enter');
    await page.locator('[data-field="/cost_centre"]:focus').waitFor();
    await page.reload();
    await field(page, '/approved_by').getByText('M. Finch').waitFor();
    expect(await leftIn(page)).to.equal(2);
    await page.getByRole('button', { name: 'Undo' }).click();
    await field(page, '/approved_by').getByText('—', { exact: true }).waitFor();
    expect(await leftIn(page)).to.equal(3);
    await page.reload();
    await chosenIn(page).waitFor();
    expect(await leftIn(page), 'nothing is left of it').to.equal(3);
    await page.context().close();
  });

  it('is left when one goes elsewhere: another who waits takes it over at once', async () => {
    const { page, show, review, tenantId } = await opened('left');
    const holder = async () => (await review()).lease?.held_by;
    await until(async () => (await holder()) !== undefined);
    const mine = await holder();
    await page.getByRole('link', { name: 'All reviews' }).click();
    await until(async () => (await holder()) === undefined);
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('link', { name: '1 result to be looked at by a person.' }).click();
    await page.getByRole('grid').getByRole('link', { name: '.pdf' }).click();
    await until(async () => (await holder()) === mine);
    const other = await world.admin.api.createApiKey({ body: { tenant_id: tenantId, name: 'Bea' } });
    const bea = await show(other.key);
    await bea.clock.install();
    await bea.reload();
    await bea.getByText(/web\u2069 has this document/).waitFor();
    await page.goto('about:blank');
    await until(async () => (await holder()) === undefined);
    await bea.clock.fastForward(10_000);
    await bea.getByText(/web\u2069 has this document/).waitFor({ state: 'hidden' });
    expect(await holder()).to.equal(other.key_id);
    await page.goBack();
    await page.getByText(/Bea\u2069 has this document/).waitFor();
    await page.context().close();
    await bea.context().close();
  });

  it('is held by one person: another sees who has it, cannot decide, and takes it over when that ends', async () => {
    const { page, show, review, tenantId, key } = await opened('two-people');
    const other = await world.admin.api.createApiKey({ body: { tenant_id: tenantId, name: 'Bea' } });
    const bea = await show(other.key);
    await bea.getByText(/web\u2069 has this document/).waitFor();
    const done = bea.getByRole('button', { name: 'Submit' });
    expect(await done.isDisabled()).to.equal(true);
    await bea.keyboard.press('Control+Enter');
    expect(await axeFindings(bea)).to.deep.equal([]);
    expect((await review()).lease?.held_by).not.to.equal(other.key_id);
    // the machine of the first one goes away
    await page.context().setOffline(true);
    await page.context().close();
    await bea.clock.install();
    await bea.reload();
    await bea.getByText(/web\u2069 has this document/).waitFor();
    await world.stop();
    await world.startAgain(clockAhead(REVIEW_LEASE_MS));
    await bea.clock.fastForward(REVIEW_LEASE_MS);
    await bea.getByText(/web\u2069 has this document/).waitFor({ state: 'hidden' });
    for (const value of ['A', 'B', 'C']) {
      await bea.keyboard.type(value);
      await bea.keyboard.press('Enter');
    }
    await decided(bea);
    const { decision, result } = await review();
    expect(decision?.decided_by).to.equal(other.key_id);
    expect(result).to.include({ approved_by: 'A', cost_centre: 'B', project_code: 'C' });
    // whoever comes back sees what was decided, and changes nothing
    const again = await show(key);
    await again.getByRole('status').filter({ hasText: 'Decided:' }).waitFor();
    expect(await again.getByRole('button', { name: 'Submit' }).count()).to.equal(0);
    await again.getByRole('button', { name: 'Reopen' }).click();
    await again.getByRole('button', { name: 'Submit' }).waitFor();
    await again.context().close();
  });
});
