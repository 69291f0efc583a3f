import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { plainPdf } from '../../../engine/test/support/pdfs.ts';
import { until } from '../../../engine/test/support/until.ts';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { japanesePdf, jbig2Pdf, jpeg2000Pdf } from './support/pdfs.ts';
import { startWorld, type World } from './support/world.ts';

const PAGES = 60;

const longPdf = {
  name: 'long.pdf',
  mimeType: 'application/pdf',
  buffer: plainPdf(Array.from({ length: PAGES }, (_, at) => `Page ${String(at + 1)}`)),
};

/** Of the pages, or of them in small, how many hold something drawn. */
const drawn = (page: Page, where: string): Promise<number> =>
  page
    .locator(`${where} canvas`)
    .evaluateAll((all) => all.filter((one) => (one as HTMLCanvasElement).width > 0).length);

const isAtTop = (page: Page, number: number): Promise<unknown> =>
  page.waitForFunction((wanted) => {
    const shown = document.querySelector(`[data-page="${String(wanted)}"]`);
    const region = shown?.closest('[role=region]');
    if (shown == null || region == null) return false;
    const [top, least] = [shown.getBoundingClientRect().top, region.getBoundingClientRect().top];
    const isEnd = region.scrollTop + region.clientHeight >= region.scrollHeight - 1;
    return Math.abs(top - least) < 2 || isEnd;
  }, number);

describe('a document of the playground', () => {
  let world: World;
  let key: string;
  before(async () => {
    world = await startWorld();
    ({ key } = await world.tenant('looker'));
  });
  after(() => world.close());

  const drop = async (page: Page, file: typeof longPdf): Promise<void> =>
    page.locator('input[type=file]').setInputFiles(file);
  const small = (page: Page, number: number) =>
    page.getByRole('button', { name: `Page ${String(number)}`, exact: true });

  it('shows its pages in small; a click or a key goes to one, and the page looked at is marked', async () => {
    const page = await world.open('/playground', { key });
    await drop(page, longPdf);
    await small(page, 3).click();
    await isAtTop(page, 3);
    await page.locator('[data-small="3"][aria-current=page]').waitFor();
    await page.keyboard.press('ArrowDown');
    await isAtTop(page, 4);
    await page.keyboard.press('End');
    await page.locator(`[data-small="${String(PAGES)}"][aria-current=page]`).waitFor();
    expect(await page.evaluate(() => document.activeElement?.getAttribute('data-small'))).to.equal(
      String(PAGES),
    );
    await page.keyboard.press('Home');
    await isAtTop(page, 1);
    await page.locator('[data-small="1"][aria-current=page]').waitFor();
    expect(faults(page)).to.deep.equal([]);
    expect(await axeFindings(page)).to.deep.equal([]);
  });

  it('holds only what is near to what is seen, however far one went', async () => {
    const page = await world.open('/playground', { key });
    await drop(page, longPdf);
    await small(page, 1).focus();
    for (const number of [20, 40, PAGES]) {
      await page.locator(`[data-small="${String(number)}"]`).evaluate((one: HTMLElement) => one.click());
      await isAtTop(page, number);
      await page.waitForFunction((wanted) => {
        const canvas = document.querySelector<HTMLCanvasElement>(`[data-small="${String(wanted)}"] canvas`);
        return canvas !== null && canvas.width > 0;
      }, number);
    }
    const first = page.locator('[data-page="1"] canvas');
    await until(async () => (await first.evaluate((one: HTMLCanvasElement) => one.width)) === 0, 50);
    for (const part of ['[data-page]', '[data-small]'])
      await until(async () => {
        const count = await drawn(page, part);
        return count >= 1 && count <= 20;
      }, 50);
  });

  it('goes to a page that is not read yet, and stays there while others are', async () => {
    const page = await world.open('/playground', { key });
    const went = page.evaluate(
      () =>
        new Promise((resolve) => {
          const watch = new MutationObserver(() => {
            const small = document.querySelector<HTMLElement>('[data-small="40"]');
            if (small === null) return;
            watch.disconnect();
            small.click();
            resolve(document.querySelectorAll('[data-page] canvas').length);
          });
          watch.observe(document.body, { childList: true, subtree: true });
        }),
    );
    await drop(page, longPdf);
    expect(await went, 'pages that were read').to.be.below(40);
    await page.waitForFunction(
      (all) => document.querySelectorAll('[data-page] canvas').length === all,
      PAGES,
    );
    await isAtTop(page, 40);
    await small(page, 40).and(page.locator('[aria-current=page]')).waitFor();
  });

  it('has the strip folded in a narrow window, and shows it when asked', async () => {
    const page = await world.open('/playground', { key, width: 390, height: 844 });
    await drop(page, longPdf);
    await page.locator('[data-page="1"] canvas').waitFor();
    const strip = page.getByRole('navigation', { name: 'Pages in small' });
    expect(await strip.count()).to.equal(0);
    await page.getByRole('button', { name: 'Pages in small' }).click();
    await strip.waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.be.at.most(390);
  });

  it('shows a picture in small too', async () => {
    const page = await world.open('/playground', { key });
    const picture = await page.screenshot();
    await drop(page, { name: 'picture.png', mimeType: 'image/png', buffer: picture });
    await page.getByRole('button', { name: 'Pages in small' }).click();
    await page.waitForFunction(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('[data-small="1"] canvas');
      return canvas !== null && canvas.width > 0;
    });
    expect(faults(page)).to.deep.equal([]);
  });

  for (const [what, buffer, part] of [
    ['letters whose codes and font are not in the file', japanesePdf(), 'cmaps/UniJIS-UCS2-H.bcmap'],
    ['a picture of JBIG2, which browsers cannot decode', jbig2Pdf(), 'wasm/jbig2.wasm'],
    ['a picture of JPEG 2000, which they cannot either', jpeg2000Pdf(), 'wasm/openjpeg.wasm'],
  ] as const)
    it(`draws ${what}, with parts of the console’s own`, async () => {
      const page = await world.open('/playground', { key });
      const loaded: string[] = [];
      page.on('requestfinished', (request) => loaded.push(request.url()));
      await drop(page, { name: 'special.pdf', mimeType: 'application/pdf', buffer });
      await page.waitForFunction(() => {
        const canvas = document.querySelector<HTMLCanvasElement>('[data-page="1"] canvas');
        if (canvas === null || canvas.width === 0) return false;
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
        for (let at = 0; at < data.length; at += 4) if (data[at]! < 160 && data[at + 3]! > 200) return true;
        return false;
      });
      expect(loaded.map((url) => new URL(url).pathname).join()).to.match(
        new RegExp(`/app/assets/pdfjs-[\\d.]+/${part}`),
      );
      expect(faults(page)).to.deep.equal([]);
    });
});
