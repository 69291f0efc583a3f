import { randomBytes } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { createReadStream } from 'node:fs';
import type { Request, RequestHandler, Response } from 'express';
import { Marked } from 'marked';
import { absentAsUndefined } from '../../domain/kernel/json.ts';
import { PAGE_HEADERS } from './answers.ts';
import type { RawBody } from './routes.ts';

/** What of the console is on disk now: its page, and the names of its files. */
interface Built {
  readonly mtimeMs: number;
  readonly page: string;
  readonly names: ReadonlySet<string>;
}

const CONSOLE_ASSETS = '/app/assets/';
/** Names carry a hash of the content: what has one never changes. */
const FOR_GOOD = 'public, max-age=31536000, immutable';
const RETRY_S = 2;

/** Stands in the built page where each answer puts the nonce of its style tags. */
const NONCE_PLACE = '__STYLE_NONCE__';

/**
 * The origins that the page may load and call: this one, and that of uploads if it differs. Scripts are files
 * only; the editor and dialogs add style tags while they run, which carry the answer's nonce.
 */
const consolePolicy = (uploadOrigin: string | undefined, nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self'${uploadOrigin === undefined ? '' : ` ${uploadOrigin}`}`,
    "worker-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ');

/** Of a script that runs in a thread of its own: it may call this origin, and decode pictures by WebAssembly. */
const SCRIPT_POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; frame-ancestors 'none'";

const BEING_BUILT = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Quire</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="refresh" content="${String(RETRY_S)}">
  </head>
  <body>
    <p>The console is being built. This page shows it as soon as it is there.</p>
    <p><a href="/docs">The reference of the interface</a> is there already.</p>
  </body>
</html>
`;

/** Compressed when they were built, in the order of preference. */
const ENCODINGS = { br: '.br', gzip: '.gz' } as const;

const isScript = (name: string): boolean => /\.m?js$/.test(name);

/** The names are of the folder: a path is looked up among them, so none leads out of it. */
const sendAsset = ({ names }: Built, folder: string, { req, res, next }: Asked): void => {
  const name = req.path.slice(CONSOLE_ASSETS.length);
  if (!names.has(name)) {
    next();
    return;
  }
  // Asked one by one: of several that a browser takes alike, the smallest is sent, not its first.
  const encoding = (['br', 'gzip'] as const).find(
    (one) => names.has(`${name}${ENCODINGS[one]}`) && req.acceptsEncodings(one) === one,
  );
  res.set({ 'Cache-Control': FOR_GOOD, Vary: 'Accept-Encoding' });
  if (isScript(name)) res.set('Content-Security-Policy', SCRIPT_POLICY);
  if (encoding !== undefined) res.set('Content-Encoding', encoding);
  res.type(extname(name));
  const file = encoding === undefined ? name : `${name}${ENCODINGS[encoding]}`;
  res.sendFile(file, { root: folder, cacheControl: false, dotfiles: 'deny' }, (error?: Error) => {
    if (error === undefined || res.headersSent) return;
    // Rebuilt meanwhile: the name is of the former page.
    for (const header of ['Content-Encoding', 'Content-Type']) res.removeHeader(header);
    res.set('Cache-Control', 'no-store');
    next();
  });
};

const isPage = (path: string): boolean => path === '/' || path === '/app' || path.startsWith('/app/');

interface Asked {
  readonly req: Request;
  readonly res: Response;
  readonly next: () => void;
}

/** Where the build puts the console. */
export const consoleFolder = (): string =>
  join(dirname(createRequire(import.meta.url).resolve('quire/package.json')), 'console/dist');

interface ConsoleDeps {
  /** The folder of the built console. */
  readonly folder: string;
  /** Where uploads are sent, when that is another origin. */
  readonly uploadOrigin: string | undefined;
}

const sendPage = (
  req: Request,
  res: Response,
  { page, uploadOrigin }: { page: string; uploadOrigin: string | undefined },
) => {
  const nonce = randomBytes(16).toString('base64');
  for (const [name, value] of Object.entries(PAGE_HEADERS)) res.setHeader(name, value);
  res.setHeader('Content-Security-Policy', consolePolicy(uploadOrigin, nonce));
  res.setHeader('Content-Type', 'text/html; charset=utf-8');
  // a nonce is of one answer
  res.setHeader('Cache-Control', 'no-store');
  res.end(req.method === 'HEAD' ? undefined : page.replace(NONCE_PLACE, nonce));
};

/**
 * The console: one page at `/` and below `/app/`, whose script shows what the path names, and its files. Once
 * rebuilt, it is read again. While it is missing, a page that asks again.
 */
export const consolePage = ({ folder, uploadOrigin }: ConsoleDeps): RequestHandler => {
  const assets = join(folder, 'assets');
  let known: Built | undefined;

  const built = async (): Promise<Built | undefined> => {
    const index = join(folder, 'index.html');
    const facts = await absentAsUndefined(stat(index));
    if (facts === undefined) return (known = undefined);
    if (known?.mtimeMs === facts.mtimeMs) return known;
    const page = await absentAsUndefined(readFile(index, 'utf8'));
    const names = new Set(await absentAsUndefined(readdir(assets, { recursive: true })));
    known = page === undefined ? undefined : { mtimeMs: facts.mtimeMs, page, names };
    return known;
  };

  const serve = async ({ req, res, next }: Asked): Promise<void> => {
    const now = await built();
    const isAsset = req.path.startsWith(CONSOLE_ASSETS);
    if (now === undefined) {
      res.statusCode = 503;
      res.setHeader('Retry-After', String(RETRY_S));
      if (isAsset) res.end();
      else sendPage(req, res, { page: BEING_BUILT, uploadOrigin });
    } else if (isAsset) sendAsset(now, assets, { req, res, next });
    else sendPage(req, res, { page: now.page, uploadOrigin });
  };

  // Every request of the interface passes here, so it creates no promise.
  return (req, res, next) => {
    if ((req.method !== 'GET' && req.method !== 'HEAD') || !isPage(req.path)) next();
    else serve({ req, res, next }).catch(next);
  };
};

/** Everything that the reference page loads, served by us: it works without a network. */
const DOCS_ASSETS = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const;

export const ASSET_NAMES = [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'favicon-32x32.png',
  'start.js',
] as const;
type AssetName = (typeof ASSET_NAMES)[number];

/** The page may load what this origin serves, and call it: nothing else, no inline script. */
export const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const DOCS_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Quire: the interface</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="stylesheet" href="/docs/assets/swagger-ui.css">
    <link rel="icon" href="/docs/assets/favicon-32x32.png">
  </head>
  <body>
    <div id="reference"></div>
    <script src="/docs/assets/swagger-ui-bundle.js"></script>
    <script src="/docs/assets/start.js"></script>
  </body>
</html>
`;

/**
 * No validator badge: it would ask a server elsewhere. A field of a form begins with its example or its default,
 * not with made-up text: what nobody typed would be sent.
 */
const START = `const firstValues = {
  afterLoad() {
    const sample = this.fn.getSampleSchema;
    this.fn.getSampleSchema = (schema, type, ...rest) =>
      type === false
        ? (schema.get('default') ?? schema.getIn(['examples', 0]) ?? '')
        : sample(schema, type, ...rest);
  },
};
SwaggerUIBundle({
  plugins: [() => firstValues],
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  validatorUrl: null,
  queryConfigEnabled: false,
  persistAuthorization: false,
});
`;

/** Copied by the build from `swagger-ui-dist`. */
const FILES = join(dirname(createRequire(import.meta.url).resolve('quire/package.json')), 'dist/swagger-ui');

/** Opened when it is read: a script has more than a megabyte, and anybody may ask for it. */
async function* fileAt(path: string): AsyncIterable<Uint8Array> {
  yield* createReadStream(path) as AsyncIterable<Uint8Array>;
}

/** One file of the reference page. */
export const docsAsset = (name: AssetName): RawBody =>
  name === 'start.js'
    ? { contentType: 'text/javascript; charset=utf-8', body: START }
    : { contentType: DOCS_ASSETS[name], body: fileAt(join(FILES, name)) };

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
