import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

/*
 * npm run docs:site: the markdown of the repository as pages, in dist/site. A page's title is its first heading;
 * the sidebar is made of the folders, so that a new page needs no word here.
 */

const README = /(^|\/)README\.md(?=$|#)/;
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** The first heading of a document. */
const titleOf = (file) => /^# (.+)$/m.exec(readFileSync(join(ROOT, file), 'utf8'))?.[1] ?? file;

const pagesOf = (folder) =>
  readdirSync(join(ROOT, 'docs', folder))
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .map((name) => ({
      text: titleOf(join('docs', folder, name)).replace(/^How to (.)/, (_, first) => first.toUpperCase()),
      link: `/docs/${folder}/${name.replace(/\.md$/, '')}`,
    }));

const section = (text, folder, collapsed = false) => ({ text, collapsed, items: pagesOf(folder) });

export default defineConfig({
  title: 'Quire',
  description: 'Document extraction with event-sourced credit billing',
  srcDir: ROOT,
  srcExclude: ['**/node_modules/**', 'dist/**', 'data/**', '**/test/**'],
  outDir: join(ROOT, 'dist/site'),
  cacheDir: join(ROOT, 'dist/site-cache'),
  rewrites: (path) => path.replace(README, '$1index.md'),
  markdown: {
    config: ({ core }) =>
      core.ruler.after('inline', 'readme-is-index', ({ tokens }) => {
        for (const { children } of tokens)
          for (const token of children ?? []) {
            const href = token.attrGet('href');
            if (href !== null) token.attrSet('href', href.replace(README, '$1index.md'));
          }
      }),
  },
  cleanUrls: true,
  // Files that are no pages: the licence, settings to copy.
  ignoreDeadLinks: [/\.(yml|json|conf|sql)$/, /LICENSE$/, /NOTICE$/],
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Contents', link: '/docs/' },
      { text: 'Routes', link: '/docs/reference/routes' },
      { text: 'Changes', link: '/CHANGELOG' },
    ],
    sidebar: [
      section('Begin', 'tutorials'),
      section('How to', 'how-to'),
      section('Understand', 'explanation'),
      section('Look up', 'reference'),
      section('Problems', 'problems', true),
      section('Decisions', 'adr', true),
    ],
  },
});
