import { z } from 'zod';
import { EVENT_CATALOGUE } from '../../domain/catalogue.ts';
import { webhookMessages } from '../api/schemas/webhookMessages.ts';
import { openApiDocument, type Examples } from '../server/openapi.ts';
import { apiRoutes } from '../api/routes.ts';
import { problemsReference, routesReference } from './apiReference.ts';
import { commandReference } from './commandReference.ts';
import { configurationReference } from './configurationReference.ts';
import { metricsReference } from './metricsReference.ts';
import { personalDataReference } from './personalData.ts';

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
