import { playground } from '../texts/playground.ts';
import { shellWord } from '../ui/csv.ts';
import { Tabs } from '../ui/tabs.tsx';
import { Copy } from '../ui/values.tsx';
import type { RunOptions } from './runOptions.tsx';

/** How a request reads, and whether it takes data that fit the schema only in part. */
export type AskedOptions = Partial<RunOptions> & { readonly isPartialAllowed?: boolean };

interface Requested {
  readonly url: string;
  readonly name: string;
  readonly schema: string;
  readonly options?: AskedOptions;
}

/** What a request says beside its file and schema: nothing that is so anyway. */
const fieldsOf = ({ mode, model, pages, config, isPartialAllowed }: AskedOptions) =>
  Object.fromEntries(
    Object.entries({
      mode: mode === 'standard' && config === '' ? undefined : mode,
      llm_provider_model: model,
      pages,
      config_id: config,
      allow_partial: isPartialAllowed,
    }).filter(([, value]) => value !== undefined && value !== '' && value !== false),
  );

const pythonField = ([field, value]: readonly [string, unknown]): string =>
  `${JSON.stringify(field)}: ${JSON.stringify(String(value))}`;

type Language = 'curl' | 'typescript' | 'python';

const indented = (text: string, by: string): string => text.replaceAll('\n', `\n${by}`);

/** The same request for a program. The key is read from the environment: a session has none to show. */
export const requestCode = (language: Language, { url, name, schema, options = {} }: Requested): string => {
  const more = Object.entries(fieldsOf(options));
  switch (language) {
    case 'curl':
      return [
        `curl -sf ${url}/v1/extract \\`,
        '  -H "X-API-KEY: $QUIRE_API_KEY" \\',
        `  -F ${shellWord(`file=@"${name.replaceAll('"', '')}"`)} \\`,
        ...more.map(([field, value]) => `  -F ${shellWord(`${field}=${String(value)}`)} \\`),
        `  -F ${shellWord(`schema=${schema}`)}`,
      ].join('\n');
    case 'typescript':
      return [
        "import { openAsBlob } from 'node:fs';",
        "import { Quire } from '@quire/client';",
        '',
        `const quire = new Quire({ url: ${JSON.stringify(url)}, key: process.env.QUIRE_API_KEY });`,
        'const { result } = await quire.extract({',
        `  file: await openAsBlob(${JSON.stringify(name)}),`,
        ...more.map(([field, value]) => `  ${field}: ${JSON.stringify(value)},`),
        `  schema: ${indented(schema, '  ')},`,
        '});',
        'console.log(result);',
      ].join('\n');
    case 'python':
      return [
        'import json, os',
        'import requests',
        '',
        `schema = json.loads(${JSON.stringify(schema)})`,
        `with open(${JSON.stringify(name)}, "rb") as file:`,
        '    answer = requests.post(',
        `        ${JSON.stringify(`${url}/v1/extract`)},`,
        '        headers={"X-API-KEY": os.environ["QUIRE_API_KEY"]},',
        '        files={"file": file},',
        `        data={${['"schema": json.dumps(schema)', ...more.map(pythonField)].join(', ')}},`,
        '    )',
        'answer.raise_for_status()',
        'print(answer.json()["result"])',
      ].join('\n');
  }
};

const { results: texts } = playground;

const LANGUAGES: readonly (readonly [Language, string])[] = [
  ['curl', 'curl'],
  ['typescript', 'TypeScript'],
  ['python', 'Python'],
];

/** The same request as a program sends it. */
export function CodeTab(asked: Omit<Requested, 'url'>) {
  const given = { ...asked, url: window.location.origin };
  return (
    <Tabs
      label={texts.languages}
      tabs={LANGUAGES.map(([id, title]) => ({
        id,
        name: title,
        content: (
          <div className="relative">
            <div className="absolute top-2 right-2">
              <Copy name={texts.copyCode} text={requestCode(id, given)} />
            </div>
            <pre
              tabIndex={0}
              role="region"
              aria-label={title}
              className="max-h-[60vh] overflow-auto rounded bg-sunken p-3 font-mono text-[13px]"
            >
              {requestCode(id, given)}
            </pre>
          </div>
        ),
      }))}
    />
  );
}
