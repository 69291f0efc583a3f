import { z } from 'zod';
import { EVENT_CATALOGUE } from '../../domain/catalogue.ts';
import { webhookMessages } from '../api/schemas/webhookMessages.ts';
import { openApiDocument, type Examples } from '../server/openapi.ts';
import { apiRoutes } from '../api/routes.ts';
import { configurationReference } from './configurationReference.ts';
import { metricsReference } from './metricsReference.ts';
import { personalDataReference } from './personalData.ts';
import { problemsOf, type NamedRoute } from '../server/routes.ts';
import { PROBLEM_CODES, statusOf, titleOf, wireCodeOf } from '../problemTable.ts';
import type { Command } from 'commander';
import { EXIT_MEANINGS } from '../cli/terminal.ts';
import { quireProgram } from '../cli/program.ts';

const HELP_COLUMNS = 100;

const sectionsOf = (command: Command, path: string): readonly string[] => {
  command.configureHelp({ helpWidth: HELP_COLUMNS });
  const own = [`## \`${path}\``, '', '```text', command.helpInformation().trimEnd(), '```', ''];
  const parts = command.commands.filter((one) => one.name() !== 'help');
  return [...own, ...parts.flatMap((one) => sectionsOf(one, `${path} ${one.name()}`))];
};

/** Every command and option, as `--help` prints them. */
const commandReference = (): string =>
  [
    '# The `quire` command',
    '',
    'Generated from the commands by `npm run generate`. In the checkout, run it as `npx --no-install ' +
      'quire`; `npm link` there makes it `quire` everywhere. Elsewhere plain `npx` would fetch a stranger’s ' +
      'package of that name. It takes its configuration from the environment, as the service does. Data goes ' +
      'to stdout, progress and messages to stderr. `quire completion bash`, `zsh` or `fish` prints a script that ' +
      'completes commands and options. On a terminal, headings and verdicts have colours, unless `NO_COLOR` is set ' +
      'or `--no-color` given.',
    '',
    '| exit code | meaning |',
    '|---|---|',
    ...EXIT_MEANINGS.map(([code, meaning]) => `| ${String(code)} | ${meaning} |`),
    '',
    ...sectionsOf(quireProgram(), 'quire'),
  ].join('\n');

const ACCESS: Readonly<Record<NamedRoute['access'], string>> = {
  public: 'no key needed',
  any: 'any key but a seller’s',
  any_or_seller: 'any key',
  admin: 'admin',
  admin_or_service: 'admin, service',
  admin_or_seller: 'admin, seller',
};

const line = ({ method, path, operationId, summary, access }: NamedRoute): string =>
  `| \`${method.toUpperCase()} ${path}\` | ${summary} | ${ACCESS[access]} | \`${operationId}\` |`;

/** Every route in a line, by its part of the interface. The full schemas are in openapi.json. */
const routesReference = (routes: readonly NamedRoute[]): string => {
  const tags = [...new Set(routes.map(({ tag }) => tag))].sort();
  const sections = tags.flatMap((tag) => [
    `## ${tag}`,
    '',
    '| route | what it does | key | operation |',
    '|---|---|---|---|',
    ...routes.filter((route) => route.tag === tag).map(line),
    '',
  ]);
  return [
    '# Routes',
    '',
    'Generated from the routes by `npm run generate`. For requests and answers see ' +
      '[openapi.json](openapi.json), or `/docs` of a running service.',
    '',
    ...sections,
  ].join('\n');
};

/** Every problem with its status, and the operations that answer with it. */
const problemsReference = (routes: readonly NamedRoute[]): string => {
  const rows = PROBLEM_CODES.map((code) => {
    const users = routes
      .filter((route) => problemsOf(route).includes(code))
      .map(({ operationId }) => operationId);
    const where = users.length > 12 ? `${String(users.length)} operations` : users.join(', ');
    const shown = wireCodeOf(code);
    return `| [\`${shown}\`](../problems/${shown}.md) | ${String(statusOf(code))} | ${titleOf(code)} | ${where} |`;
  });
  return [
    '# Problems',
    '',
    'Generated from the code by `npm run generate`. Each code has a page that says what to do.',
    '',
    '| code | status | title | answered by |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
};

interface Member {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Member[];
  readonly format?: string;
  readonly items?: Member;
}

/** A member's type in a few words. */
const typeOf = (member: Member): string => {
  if (member.const !== undefined) return `\`${JSON.stringify(member.const)}\``;
  if (member.enum !== undefined) return member.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (member.anyOf !== undefined) return member.anyOf.map(typeOf).join(' or ');
  if (member.type === 'array') return `list of ${typeOf(member.items ?? {})}`;
  return member.format ?? member.type ?? 'any';
};

interface EventSchema {
  readonly properties: {
    readonly type: { readonly const: string };
    readonly data: { readonly properties?: Readonly<Record<string, Member>> };
  };
}

const eventSection = ({ properties: { type, data } }: EventSchema): string => {
  const rows = Object.entries(data.properties ?? {}).map(
    ([name, member]) => `| \`${name}\` | ${typeOf(member)} |`,
  );
  return [`### ${type.const}`, '', '| member | type |', '|---|---|', ...rows, ''].join('\n');
};

const schemasOf = (union: z.ZodType): readonly EventSchema[] => {
  const schema = z.toJSONSchema(union, { io: 'input', unrepresentable: 'any' }) as unknown as {
    readonly oneOf?: readonly EventSchema[];
    readonly anyOf?: readonly EventSchema[];
  };
  return schema.oneOf ?? schema.anyOf ?? [];
};

/** Every event that the log may hold, from the schemas that decode them. */
const eventsReference = (): string => {
  const sections = Object.entries(EVENT_CATALOGUE).map(([category, union]) =>
    [`## \`${category}\``, '', ...schemasOf(union).map(eventSection)].join('\n'),
  );
  return [
    '# Events',
    '',
    'Generated from the schemas in `domain/` by `npm run generate`. The name of a ' +
      'stream is its category; if there are many of a kind, a hyphen and an ID follow. All ' +
      'events are version 1. Their metadata: `schema_version`, `correlation_id`, ' +
      '`causation_id`, `actor`, `tenant_id`, `recorded_at`, `prev_hash`, `hash_version` (2; ' +
      'absent in version 1), `traceparent` (W3C trace context of the append; absent if no ' +
      'trace was recorded), `hash` (SHA-256 over the canonical JSON, RFC 8785, of `stream`, ' +
      '`revision` as text, `type`, `data` and `metadata` without `hash`; version 1 does not ' +
      'cover `stream` and `revision`). The event ID is the first 16 bytes of the hash as a ' +
      'UUID of version 8. [How to verify a hash by ' +
      'hand](audit.md#the-hash-of-an-event).',
    '',
    ...sections,
  ].join('\n');
};

const INTERFACE = { routes: apiRoutes, webhooks: webhookMessages };

const openApiText = (examples: Examples | undefined): string => {
  const described = examples === undefined ? INTERFACE : { ...INTERFACE, examples };
  return `${JSON.stringify(openApiDocument(described, 'http://127.0.0.1:8080'), null, 2)}\n`;
};

/** Reference documents by their path below the repository's root; without examples, with those of this release. */
export const referenceDocuments = (examples?: Examples): Readonly<Record<string, string>> => ({
  'docs/reference/openapi.json': openApiText(examples),
  'docs/reference/events.md': `${eventsReference().trimEnd()}\n`,
  'docs/reference/routes.md': `${routesReference(apiRoutes).trimEnd()}\n`,
  'docs/reference/problems.md': `${problemsReference(apiRoutes)}\n`,
  'docs/reference/metrics.md': `${metricsReference()}\n`,
  'docs/reference/personal-data.md': `${personalDataReference()}\n`,
  'docs/reference/configuration.md': `${configurationReference()}\n`,
  'docs/reference/cli.md': `${commandReference().trimEnd()}\n`,
});
