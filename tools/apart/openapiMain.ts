import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { createConfig, lintFromString, type NormalizedProblem } from '@redocly/openapi-core';
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';

/*
 * npm run lint:openapi: what two linters, which people run over the interfaces that they build on, say of ours.
 * Warnings count too: what is said for a reason is named below with its reason.
 */

const DOCUMENT = 'docs/reference/openapi.json';

/** By linter: a rule, where it may speak, and why it is not followed there. */
interface Exception {
  readonly rule: string;
  readonly where: RegExp;
  readonly why: string;
}

const KEY_PATHS = /api-keys~1\{|\/v1\/api-keys\/\{/;
const EXCEPTIONS: readonly Exception[] = [
  { rule: 'no-identical-paths', where: KEY_PATHS, why: 'the interface names the parameter by its method' },
  { rule: 'no-ambiguous-paths', where: KEY_PATHS, why: 'the same' },
  { rule: 'path-params', where: KEY_PATHS, why: 'the same' },
  {
    rule: 'operation-4xx-response',
    where: /paths\/~1(?:docs|health|livez|readyz|metrics|openapi\.json|v1~1session\/get)/,
    why: 'public and without input: there is nothing to refuse',
  },
  {
    rule: 'operation-4xx-response',
    where: /paths\/~1v1~1session~1oidc~1callback\//,
    why: 'a browser is led to the sign-in page with what went wrong',
  },
  {
    rule: 'operation-2xx-response',
    where: /paths\/~1v1~1session~1(?:link|oidc~1start|oidc~1callback)\//,
    why: 'the answer leads a browser elsewhere: 302 or 303',
  },
  {
    rule: 'oas3-valid-media-example',
    where: /(?:properties|example)\/examples/,
    why: 'a member of that name, which the rule takes for examples of the schema',
  },
];

interface Finding {
  readonly rule: string;
  readonly where: string;
  readonly message: string;
}

const fromRedocly = ({ ruleId, message, location }: NormalizedProblem): Finding => ({
  rule: ruleId,
  where: location[0]?.pointer ?? '',
  message,
});

const redoclySays = async (source: string): Promise<readonly Finding[]> => {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source, absoluteRef: DOCUMENT, config });
  return problems.map(fromRedocly);
};

const spectralSays = async (source: string): Promise<readonly Finding[]> => {
  const { Spectral } = spectralCore;
  const spectral = new Spectral();
  spectral.setRuleset({ extends: [[spectralRulesets.oas as unknown as RulesetDefinition, 'recommended']] });
  const results = await spectral.run(JSON.parse(source) as Record<string, unknown>);
  return results.map(({ code, message, path }) => ({ rule: String(code), where: path.join('/'), message }));
};

const isException = ({ rule, where, message }: Finding): boolean =>
  EXCEPTIONS.some((one) => one.rule === rule && (one.where.test(where) || one.where.test(message)));

const source = await readFile(DOCUMENT, 'utf8');
const findings = [...(await redoclySays(source)), ...(await spectralSays(source))];
const wrong = findings.filter((finding) => !isException(finding));
for (const { rule, where, message } of wrong) process.stderr.write(`${rule} at ${where}: ${message}\n`);
const excepted = findings.length - wrong.length;
process.stdout.write(
  `${DOCUMENT}: ${String(wrong.length)} findings, ${String(excepted)} of named exceptions (tools/apart).\n`,
);
process.exitCode = wrong.length === 0 ? 0 : 1;
