import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { plainPdf } from '../../../engine/test/support/pdfs.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

const NUMBER = 'AB-12<img src=x onerror="window.harmed=1">';

const MARKDOWN = [
  '# Title <script>window.harmed = 2</script>',
  '',
  '<svg onload="window.harmed = 3"></svg>',
  '',
  '[press](javascript:window.harmed=4) [data](data:text/html,<script>parent.harmed=5</script>)',
  '',
  '![seen](https://example.com/pixel.png) <a href="javascript:window.harmed=6">here</a>',
  '',
  `Invoice number: ${NUMBER}`,
].join('\n');

const HTML = `<!doctype html><html><head><script>window.harmed = 7</script></head>
<body onload="window.harmed = 8"><h1>Title &lt;script&gt;window.harmed = 9&lt;/script&gt;</h1>
<p>[press](javascript:window.harmed=4) <a href="javascript:window.harmed = 10">here</a></p>
<p>Invoice number: ${NUMBER.replaceAll('<', '&lt;')}</p></body></html>`;

const FILES = {
  'bad<b>.md': ['text/markdown', Buffer.from(MARKDOWN)],
  "bad';alert(1)'.html": ['text/html', Buffer.from(HTML)],
  'bad.pdf': ['application/pdf', plainPdf([`Invoice number: ${NUMBER} [press]\\(javascript:harmed=1\\)`])],
} as const;

/** What would do something, had the document's words become a part of the page. */
const LIVE =
  'script, img, iframe, svg[onload], [onerror], [onload], a[href^="javascript:"], a[href^="data:"], b';

describe('a document full of scripts, handlers and links', () => {
  let world: World;
  let page: Page;
  let asked: string[];
  before(async () => {
    world = await startWorld();
    const { key } = await world.tenant('careful');
    page = await world.open('/playground', { key });
    asked = [];
    page.on('request', (request) => asked.push(request.url()));
  });
  after(() => world.close());

  const give = async (name: string, mimeType: string, buffer: Buffer): Promise<void> => {
    const other = page.getByRole('button', { name: 'Replace document' });
    if ((await other.count()) > 0) await other.click();
    await page.locator('input[type=file]').setInputFiles({ name, mimeType, buffer });
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('[data-cost]').waitFor();
  };
  const nothingLives = async (where: string): Promise<void> => {
    const live = await page
      .locator('main')
      .locator(LIVE)
      .evaluateAll((all) => all.map((one) => one.outerHTML));
    expect(live, where).to.deep.equal([]);
  };
  const show = async (tab: string, region: string): Promise<string> => {
    await page.getByRole('tab', { name: tab, exact: true }).click();
    const shown = page
      .getByRole('region', { name: region, exact: true })
      .or(page.getByRole('list', { name: region }));
    await shown.getByText('AB-12').or(shown.getByText('bad')).first().waitFor();
    return shown.first().innerText();
  };

  for (const [name, [mimeType, buffer]] of Object.entries(FILES))
    it(`is shown as its words alone, on every tab: ${mimeType}`, async () => {
      await give(name, mimeType, buffer);
      expect(await page.locator('button[data-value="/invoice_number"]').innerText()).to.include('AB-12');
      await nothingLives('data');
      await page.getByRole('tab', { name: 'Markdown' }).click();
      await page.getByRole('button', { name: 'Convert to markdown' }).click();
      for (const [tab, region] of [
        ['Markdown', 'Markdown'],
        ['Source', 'Source'],
        ['Text', 'Text'],
        ['Blocks', 'Blocks'],
      ] as const) {
        expect(await show(tab, region), tab)
          .to.include('AB-12')
          .and.to.include('press');
        await nothingLives(tab);
      }
      await page.getByRole('tab', { name: 'Code' }).click();
      for (const language of ['curl', 'TypeScript', 'Python']) {
        expect(await show(language, language)).to.include('bad');
        await nothingLives(language);
      }
      expect(await page.evaluate(() => 'harmed' in window)).to.equal(false);
      expect(asked.filter((url) => !url.startsWith(world.url) && !url.startsWith('blob:'))).to.deep.equal([]);
      expect(faults(page)).to.deep.equal([]);
    });
});
