import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeOf } from '../../domain/kernel/json.ts';
import { runCommand } from '../support/quireCommand.ts';
import { ADMIN_KEY, startService } from '../support/serviceProcess.ts';

/**
 * What a service is used for, in a network of its own that leads nowhere: node … airGapMain.js FOLDER SCAN. Prints what
 * came of it as JSON; airGap.slow.spec.ts starts it.
 */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const [folder = '', scan = ''] = process.argv.slice(2);

/** The code of the error that an attempt to get out ends with; `reached` if it does not. */
const attempt = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'reached',
    (error: unknown) => codeOf(error instanceof Error ? (error.cause ?? error) : error),
  );

const outside = {
  address: await attempt(fetch('http://192.0.2.1/', { signal: AbortSignal.timeout(5_000) })),
  name: await attempt(lookup('registry.npmjs.org')),
};

// What `npm start` runs.
const service = await startService(folder, {}, join(ROOT, 'tools/build/start.js'));
const made = await fetch(`${service.url}/v1/api-keys`, {
  method: 'POST',
  headers: { 'X-API-KEY': ADMIN_KEY, 'content-type': 'application/json' },
  body: JSON.stringify({ tenant_id: 'acme' }),
});
const { key } = (await made.json()) as { readonly key: string };
const post = async (path: string, file: string, fields: Readonly<Record<string, string>> = {}) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('file', new Blob([await readFile(file)]), file.split('/').at(-1));
  const answer = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'X-API-KEY': key },
    body: form,
  });
  return { status: answer.status, body: await answer.text() };
};
const fixture = (name: string): string => join(ROOT, 'test/fixtures', name);
const schema = await readFile(fixture('invoice.schema.json'), 'utf8');
const extracted = await post('/v1/extract', fixture('invoice.pdf'), { schema });
const recognised = await post('/v1/to-markdown', scan);
const page = await fetch(`${service.url}/app`).then(async (answer) => ({
  status: answer.status,
  body: await answer.text(),
}));
await service.stop('SIGTERM');
const audit = await runCommand({ DATA_DIR: folder }, 'audit');
process.stdout.write(
  JSON.stringify({ outside, extracted, recognised, page, audit, output: service.output() }),
);
