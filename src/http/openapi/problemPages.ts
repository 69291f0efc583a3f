import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Marked } from 'marked';

const PAGES = join(dirname(createRequire(import.meta.url).resolve('quire/package.json')), 'docs/problems');

/** The page of a problem, as markdown; undefined when the checkout has none. */
export const problemPage = async (code: string): Promise<string | undefined> => {
  try {
    return await readFile(join(PAGES, `${code}.md`), 'utf8');
  } catch {
    return undefined;
  }
};

/** Links lead to other pages of the documentation, which this service does not serve: their words remain. */
const marked = new Marked({
  renderer: {
    link({ href, tokens }) {
      const words = this.parser.parseInline(tokens);
      return href.startsWith('https://') ? `<a href="${href}" rel="noreferrer">${words}</a>` : words;
    },
  },
});

/** A problem's page loads nothing but the style within it. */
export const PROBLEM_PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const STYLE = `
  :root { color-scheme: light dark; }
  body { font: 1rem/1.6 system-ui, sans-serif; max-width: 42rem; margin: 4rem auto; padding: 0 1.5rem; }
  h1 { font-size: 1.5rem; line-height: 1.25; }
  code { font: 0.9em ui-monospace, monospace; background: color-mix(in srgb, currentColor 10%, transparent);
    padding: 0.1em 0.35em; border-radius: 0.25em; }
  footer { margin-top: 3rem; opacity: 0.7; font-size: 0.9rem; }
`;

/** The same page for people: their browser asks for HTML. */
export const problemPageAsHtml = async (code: string): Promise<string | undefined> => {
  const text = await problemPage(code);
  if (text === undefined) return undefined;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${code}: Quire</title>
    <style>${STYLE}</style>
  </head>
  <body>
    <main>${marked.parse(text, { async: false })}</main>
    <footer><a href="/docs">The interface of this service</a></footer>
  </body>
</html>
`;
};
