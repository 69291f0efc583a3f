import { z } from 'zod';
import { EVENT_CATALOGUE } from '../../domain/catalogue.ts';
import { eventMetadata } from '../../domain/kernel/decider.ts';
import { parsed } from '../../projections/engine/table.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import inventory from './personalData.json' with { type: 'json' };

/** What a member, a column or a store holds, in view of the people that it may tell of. */
export type DataKind = keyof typeof inventory.kinds;

/** A place that can hold text: of an event its type and the path of a member, of a table a column. */
export interface TextPlace {
  /** `CreditsAdjusted` or `documents`. */
  readonly owner: string;
  /** `intent.data.note`, without marks of lists and maps. */
  readonly path: string;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
}

/** Formats that say all there is to say of a text. */
const FORMATS: ReadonlySet<string> = new Set(['date-time', 'date', 'uuid']);

const isFreeText = ({ type, format, const: one, enum: some }: Schema): boolean =>
  [type].flat().includes('string') && one === undefined && some === undefined && !FORMATS.has(format ?? '');

const isAnything = (schema: Schema): boolean => Object.keys(schema).length === 0;

/** Paths of the members that may hold any text. A schema that names itself holds anything. */
const textPathsIn = (schema: Schema, path = ''): readonly string[] => {
  if (schema.$ref !== undefined || isAnything(schema)) return [path];
  const { additionalProperties: others, properties = {} } = schema;
  return [
    ...(isFreeText(schema) ? [path] : []),
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((one) => textPathsIn(one, path)),
    ...(schema.items === undefined ? [] : textPathsIn(schema.items, path)),
    ...(typeof others === 'object' ? textPathsIn(others, path) : []),
    ...Object.entries(properties).flatMap(([name, member]) =>
      textPathsIn(member, path === '' ? name : `${path}.${name}`),
    ),
  ];
};

const schemaOf = (type: z.ZodType): Schema =>
  z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }) as unknown as Schema;

const placesOf = (owner: string, schema: Schema = {}): readonly TextPlace[] =>
  [...new Set(textPathsIn(schema))].map((path) => ({ owner, path }));

/** What stands beside every event. */
const METADATA = 'metadata';

/** Every member of every event, and of what stands beside it, that may hold any text. */
export const textInEvents = (): readonly TextPlace[] => [
  ...Object.values(EVENT_CATALOGUE).flatMap((union) =>
    union.options.flatMap(({ shape }) => placesOf(shape.type.value, schemaOf(shape.data))),
  ),
  ...placesOf(METADATA, schemaOf(eventMetadata)),
];

const TEXT_COLUMNS: ReadonlySet<string> = new Set(['text', 'sorted', 'jsonb']);

/** Every column of a read model that may hold any text. */
export const textInTables = (): readonly TextPlace[] =>
  READ_MODELS.flatMap(({ tables }) =>
    tables.flatMap(({ name, columns }) =>
      Object.entries(columns)
        .filter(([, column]) => TEXT_COLUMNS.has(parsed(column).kind))
        .map(([path]) => ({ owner: name, path })),
    ),
  );

const KINDS = Object.keys(inventory.kinds) as readonly DataKind[];

const BY_MEMBER: ReadonlyMap<string, DataKind> = new Map(
  KINDS.flatMap((kind) => inventory.members[kind].map((member) => [member, kind] as const)),
);

const EXCEPTIONS = new Map(Object.entries(inventory.exceptions as Readonly<Record<string, DataKind>>));

/** The rule of the inventory that a place comes under; undefined: nobody has said what it holds. */
export const ruleOf = ({
  owner,
  path,
}: TextPlace): { readonly rule: string; readonly kind: DataKind } | undefined => {
  const exception = EXCEPTIONS.get(`${owner}.${path}`);
  if (exception !== undefined) return { rule: `${owner}.${path}`, kind: exception };
  const rule = path.slice(path.lastIndexOf('.') + 1);
  const kind = BY_MEMBER.get(rule);
  return kind && { rule, kind };
};

/** Every rule for members and columns. */
export const inventoryRules = (): readonly string[] => [...BY_MEMBER.keys(), ...EXCEPTIONS.keys()];

/** Keys of objects and names of tables are code. */
const shown = (name: string): string => (/^\w+[./]\w*$/.test(name) ? `\`${name}\`` : name);

/** Rows about stores: what they hold, in a sentence, and for how long. */
const storeRows = (rows: Readonly<Record<string, readonly string[]>>): readonly string[] =>
  Object.entries(rows).map(([name, cells]) => `| ${shown(name)} | ${cells.join(' | ')} |`);

const STORES_HEAD = ['| where | kind | what | kept |', '|---|---|---|---|'];

/** One row an owner: its places by kind. What is ours is left out, and whose it is, which nearly all say. */
const placeRows = (places: readonly TextPlace[]): readonly string[] => {
  const owners = [...new Set(places.map(({ owner }) => owner))];
  return owners.flatMap((owner) => {
    const cells = KINDS.filter((kind) => kind !== 'ours').map((kind) =>
      places
        .filter(
          (place) => place.owner === owner && place.path !== 'tenant_id' && ruleOf(place)?.kind === kind,
        )
        .map(({ path }) => `\`${path}\``)
        .join(', '),
    );
    return cells.every((cell) => cell === '') ? [] : [`| \`${owner}\` | ${cells.join(' | ')} |`];
  });
};

const placesHead = (what: string): readonly string[] => {
  const kinds = KINDS.filter((kind) => kind !== 'ours');
  return [`| ${what} | ${kinds.join(' | ')} |`, `|---|${kinds.map(() => '---|').join('')}`];
};

/** Where the service keeps what may tell of people. */
export const personalDataReference = (): string =>
  [
    '# Personal data',
    '',
    'Generated by `npm run generate` from the schemas of the events, the columns of the tables and ' +
      '`src/reference/personalData.json`, which says what each holds. A spec fails if a member of an event, ' +
      'a column, a folder of objects or a label of a metric is missing there.',
    '',
    '| kind | means |',
    '|---|---|',
    ...KINDS.map((kind) => `| ${kind} | ${inventory.kinds[kind]} |`),
    '',
    '## Events',
    '',
    'The members of each event that are not `ours`; `tenant_id`, which is chosen, is left out. Events are never ' +
      'changed and never removed. `domain/eventLog/writtenText.ts` names the words whose text is in `vault/`: events ' +
      'of this release have a token in their place, and so have tables.',
    '',
    ...placesHead('event'),
    ...placeRows(textInEvents()),
    '',
    '## Tables of read models',
    '',
    'The columns of each table, in the same way. Tables are made from the events, and `quire projections rebuild` ' +
      'makes them again.',
    '',
    ...placesHead('table'),
    ...placeRows(textInTables()),
    '',
    '## Other tables',
    '',
    ...STORES_HEAD,
    ...storeRows(inventory.tables),
    '',
    '## Objects',
    '',
    ...STORES_HEAD,
    ...storeRows(inventory.objects),
    '',
    '## Everything else',
    '',
    ...STORES_HEAD,
    ...storeRows(inventory.files),
  ].join('\n');
