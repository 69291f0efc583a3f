import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { RawBody } from '../defineRoute.ts';

/** Everything that the reference page loads, served by us: it works without a network. */
const ASSETS = {
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
    : { contentType: ASSETS[name], body: fileAt(join(FILES, name)) };
