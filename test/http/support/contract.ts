import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { expect } from 'chai';

type Json = Readonly<Record<string, unknown>>;

// The package is CommonJS with a default export of its own.
const addFormats = addFormatsModule as unknown as (ajv: Ajv2020) => void;

const pointer = (...tokens: readonly string[]): string =>
  tokens.map((token) => token.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');

/** An answer as the contract sees it. */
export interface Answered {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly contentType: string;
  readonly body: unknown;
}

/** Holds every answer against the OpenAPI document that the service itself serves. */
export const contractOf = (document: Json) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { 'date-time': true, date: true } });
  addFormats(ajv);
  ajv.addSchema({ ...document, $id: 'openapi' });
  const compiled = new Map<string, ValidateFunction>();
  const paths = document['paths'] as Readonly<Record<string, Json>>;
  const patterns = Object.keys(paths)
    .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }))
    // A literal path wins over one with a parameter.
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length);

  const validator = (ref: string): ValidateFunction => {
    const known = compiled.get(ref);
    if (known !== undefined) return known;
    const made = ajv.compile({ $ref: `openapi#/${ref}` });
    compiled.set(ref, made);
    return made;
  };

  const templateOf = ({ path, method }: Answered): string | undefined =>
    patterns.find(({ path: template, pattern }) => pattern.test(path) && method in (paths[template] ?? {}))
      ?.path;

  return (answered: Answered): void => {
    const template = templateOf(answered);
    if (template === undefined) return;
    const { method, status, contentType, body } = answered;
    const operation = paths[template]?.[method] as { readonly responses: Readonly<Record<string, Json>> };
    const response = operation.responses[String(status)];
    const where = `${method} ${template} ${String(status)} ${JSON.stringify(body ?? null).slice(0, 400)}`;
    expect(response, `${where}: the status is not declared`).to.not.equal(undefined);
    const content = response?.['content'] as Readonly<Record<string, Json>> | undefined;
    if (content === undefined) return;
    const type = contentType.split(';', 1)[0] ?? '';
    if (!/[/+]json$/.test(type)) return;
    expect(Object.keys(content), where).to.include(type);
    const tokens = ['paths', template, method, 'responses', String(status), 'content', type, 'schema'];
    const validate = validator(pointer(...tokens));
    expect(validate(body), `${where}\n${JSON.stringify(validate.errors)}`).to.equal(true);
  };
};
