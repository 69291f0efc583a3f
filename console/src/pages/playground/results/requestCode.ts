export type Language = 'curl' | 'typescript' | 'python';

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const indented = (text: string, by: string): string => text.replaceAll('\n', `\n${by}`);

/** The same request for a program. The key is read from the environment: a session has none to show. */
export const requestCode = (
  language: Language,
  { url, name, schema }: { readonly url: string; readonly name: string; readonly schema: string },
): string => {
  switch (language) {
    case 'curl':
      return [
        `curl -sf ${url}/v1/extract \\`,
        '  -H "X-API-KEY: $QUIRE_API_KEY" \\',
        `  -F ${quoted(`file=@"${name.replaceAll('"', '')}"`)} \\`,
        `  -F ${quoted(`schema=${schema}`)}`,
      ].join('\n');
    case 'typescript':
      return [
        "import { openAsBlob } from 'node:fs';",
        "import { Quire } from '@quire/client';",
        '',
        `const quire = new Quire({ url: ${JSON.stringify(url)}, key: process.env.QUIRE_API_KEY });`,
        'const { result } = await quire.extract({',
        `  file: await openAsBlob(${JSON.stringify(name)}),`,
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
        '        data={"schema": json.dumps(schema)},',
        '    )',
        'answer.raise_for_status()',
        'print(answer.json()["result"])',
      ].join('\n');
  }
};
