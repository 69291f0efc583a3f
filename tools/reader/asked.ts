import type { Json, JsonObject } from '../../engine/kernel/json.ts';
import { conceptFor, type Draft, type Fact, type Listed } from './draft.ts';
import type { Random } from './random.ts';
import { CONCEPTS, conceptOf, labelsOf, type Concept, type Language } from './words.ts';

/** A schema with what is true of the document, and which of it does not stand there as such. */
export interface Asked {
  readonly schema: JsonObject;
  readonly truth: JsonObject;
  /** JSON Pointers. */
  readonly derived: readonly string[];
}

type Style = 'snake' | 'camel' | 'pascal' | 'kebab' | 'words';

/** How one schema is written: its language, its names, how much it tells. */
interface Manner {
  readonly random: Random;
  readonly language: Language;
  readonly style: Style;
  readonly shortens: boolean;
  /** Shares of members. */
  readonly describes: number;
  readonly titles: number;
  readonly examples: number;
  readonly nullable: 'no' | 'list' | 'anyOf';
  readonly hasFormat: boolean;
  readonly nests: boolean;
  readonly hasDefs: boolean;
}

function mannerOf(random: Random, page: Language): Manner {
  const language = random.chance(0.62)
    ? page
    : random.chance(0.8)
      ? 'en'
      : random.pick(['en', 'de', 'fr', 'es'] as const);
  return {
    random,
    language,
    style: random.pick([
      'snake',
      'snake',
      'snake',
      'snake',
      'camel',
      'camel',
      'camel',
      'pascal',
      'kebab',
      'words',
    ]),
    shortens: random.chance(0.12),
    describes: random.pick([0, 0, 0.4, 0.8, 1]),
    titles: random.pick([0, 0, 0, 0.5, 1]),
    examples: random.pick([0, 0, 0, 0.3]),
    nullable: random.pick(['no', 'no', 'list', 'anyOf']),
    hasFormat: random.chance(0.85),
    nests: random.chance(0.4),
    hasDefs: random.chance(0.3),
  };
}

const SHORT: Readonly<Record<string, string>> = {
  number: 'no',
  amount: 'amt',
  quantity: 'qty',
  date: 'dt',
  address: 'addr',
  description: 'desc',
  account: 'acct',
  reference: 'ref',
  customer: 'cust',
  invoice: 'inv',
  department: 'dept',
  telephone: 'tel',
  certificate: 'cert',
  total: 'tot',
};

const bare = (label: string): string =>
  label
    .replace(/\([^)]*\)/g, ' ')
    .replace(/#/g, ' number ')
    .replace(/\b(?:No|Nr|N)\.(?=\s|$)/g, 'number')
    .replace(/%/g, ' percent ')
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/ß/g, 'ss')
    .replace(/ł/g, 'l')
    .replace(/[^a-zA-Z0-9]+/g, ' ')
    .trim()
    .toLowerCase();

/** A name of several words, as this schema writes names. */
function written(words: string, { style, shortens }: Manner): string {
  const parts = words.split(/[\s_]+/).map((word) => (shortens ? (SHORT[word] ?? word) : word));
  const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
  if (style === 'camel') return parts.map((word, i) => (i === 0 ? word : capital(word))).join('');
  if (style === 'pascal') return parts.map(capital).join('');
  if (style === 'kebab') return parts.join('-');
  if (style === 'words') return capital(parts.join(' '));
  return parts.join('_');
}

/** What a role is called, alone or before a part of it. */
function roleWords(role: string, { random, language }: Manner): string {
  const labels = labelsOf(role, language)
    .map(bare)
    .filter((label) => label.length > 2 && label.split(' ').length < 3);
  return language === 'en' && (random.chance(0.6) || labels.length === 0)
    ? role
    : labels.length > 0
      ? random.pick(labels)
      : role;
}

/** Words for a concept, none that another has on this document. */
function wordsFor(id: string, manner: Manner): string {
  const { random, language } = manner;
  const [base = '', end] = id.split(':');
  const [role = '', part] = base.split('.');
  const tail =
    end === undefined
      ? ''
      : ` ${random.pick(end === 'start' ? ['start', 'from', 'begin', 'start date'] : ['end', 'to', 'until', 'end date'])}`;
  if (part !== undefined) {
    const who = roleWords(role, manner);
    if (part === 'name')
      return random.chance(0.5) ? who : random.pick([`${who} name`, `name of ${who}`, `${who} name`]);
    return `${who} ${partWords(`.${part}`, manner)}`;
  }
  const labels = labelsOf(base, language)
    .map(bare)
    .filter((label) => label.length > 2);
  if (language === 'en' && (random.chance(0.45) || labels.length === 0)) return base + tail;
  return (labels.length === 0 ? base : random.pick(labels)) + tail;
}

function partWords(part: string, { random, language }: Manner): string {
  const labels = labelsOf(part, language)
    .map(bare)
    .filter((label) => label.length > 2);
  const plain = part.slice(1);
  return language === 'en' && random.chance(0.65) ? plain : labels.length > 0 ? random.pick(labels) : plain;
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function description(id: string, concept: Concept, { random, language }: Manner): string {
  const label = labelsOf(conceptFor(id).id, language)[0] ?? concept.id;
  const own = language === 'en' ? concept.says.filter((text) => text !== '') : [];
  const end = id.endsWith(':start') ? 'First day: ' : id.endsWith(':end') ? 'Last day: ' : '';
  const text = end + (own.length > 0 ? random.pick(own) : label);
  const tail = random.pick([
    '',
    '',
    '',
    '.',
    ', as printed',
    concept.is === 'date' ? ' (YYYY-MM-DD)' : '',
    ', or null',
    '; null if it is not there',
  ]);
  return (random.chance(0.6) ? capitalised(text) : text) + tail;
}

const TYPES: Readonly<Record<string, string>> = {
  money: 'number',
  amount: 'number',
  number: 'number',
  percent: 'number',
  integer: 'integer',
  year: 'integer',
  flag: 'boolean',
};
const FORMATS: Readonly<Record<string, string>> = { date: 'date', range: 'date', email: 'email', url: 'uri' };

/** The schema of one member. */
function member(id: string, { page, json }: { page: Language; json: Json }, manner: Manner): JsonObject {
  const { random, nullable, hasFormat } = manner;
  const concept = conceptFor(id);
  const isWhole = typeof json !== 'number' || Number.isInteger(json);
  const type =
    TYPES[concept.is] === 'integer' && isWhole && random.chance(0.85)
      ? 'integer'
      : (TYPES[concept.is] ?? 'string').replace('integer', 'number');
  const format = FORMATS[concept.is];
  const isDate = format === 'date';
  const choices = concept.is === 'choice' ? (concept.choices[page] ?? []) : [];
  const said = random.chance(manner.describes) || (isDate && !hasFormat);
  const text = description(id, concept, manner);
  const told: Record<string, Json> = {
    ...(random.chance(manner.titles)
      ? { title: capitalised(bare(labelsOf(concept.id, manner.language)[0] ?? concept.id)) }
      : {}),
    ...(said
      ? { description: isDate && !hasFormat && !text.includes('YYYY') ? `${text} (YYYY-MM-DD)` : text }
      : {}),
    ...(random.chance(manner.examples) && concept.is === 'code'
      ? { examples: [random.filled(random.pick(concept.options))] }
      : {}),
  };
  const isListed = choices.length > 0 && random.chance(0.75);
  const form: Record<string, Json> = {
    ...(format !== undefined && hasFormat && (isDate || random.chance(0.4)) ? { format } : {}),
    ...(isListed ? { enum: nullable === 'list' ? [...choices, null] : choices } : {}),
  };
  if (nullable === 'anyOf') return { ...told, anyOf: [{ type, ...form }, { type: 'null' }] };
  return { ...told, type: nullable === 'list' ? [type, 'null'] : type, ...form };
}

/** Names so general that they would mean another value of the document too. */
const VAGUE = new Set([
  'date',
  'number',
  'name',
  'total',
  'amount',
  'reference',
  'from',
  'to',
  'price',
  'time',
  'place',
  'title',
  'status',
  'description',
]);

interface Members {
  readonly properties: Record<string, Json>;
  readonly truth: Record<string, Json>;
  readonly required: string[];
}

const empty = (): Members => ({ properties: {}, truth: {}, required: [] });

class Asking {
  readonly derived: string[] = [];
  private readonly definitions: Record<string, Json> = {};
  private readonly top = empty();
  private readonly objects = new Map<string, { name: string; members: Members }>();

  private readonly draft: Draft;
  private readonly manner: Manner;

  constructor(draft: Draft, manner: Manner) {
    this.draft = draft;
    this.manner = manner;
  }

  /** Asks for a fact, under a name that is free. */
  ask(fact: Fact): boolean {
    const { id } = fact;
    const [role = '', part] = id.split('.');
    const nested = this.manner.nests && part !== undefined;
    const into = nested ? this.objectOf(role).members : this.top;
    const words = nested ? partWords(`.${part}`, this.manner) : wordsFor(id, this.manner);
    const vague = !nested && VAGUE.has(words) ? conceptFor(id).id.replace('.', ' ') : words;
    const name = written(vague, this.manner);
    if (name === '' || Object.hasOwn(into.properties, name)) return false;
    into.properties[name] = member(id, { page: this.draft.language, json: fact.json }, this.manner);
    into.truth[name] = fact.json;
    into.required.push(name);
    if (fact.isDerived === true)
      this.derived.push(nested ? `/${this.objectOf(role).name}/${name}` : `/${name}`);
    return true;
  }

  private objectOf(role: string) {
    const known = this.objects.get(role) ?? {
      name: written(roleWords(role, this.manner), this.manner),
      members: empty(),
    };
    this.objects.set(role, known);
    return known;
  }

  askList(list: Listed): void {
    const { random } = this.manner;
    const name = written(random.pick(list.names), this.manner);
    if (Object.hasOwn(this.top.properties, name)) return;
    const page = this.draft.language;
    const described = random.chance(this.manner.describes)
      ? {
          description: random.pick([
            'One entry for each row',
            'All rows, in order',
            'The rows of the table',
            'List of entries',
          ]),
        }
      : {};
    if (list.isPlain === true) {
      const [id = ''] = list.columns;
      this.top.properties[name] = { type: 'array', ...described, items: { type: 'string' } };
      this.top.truth[name] = list.rows.map((row) => row[id] ?? null);
      return;
    }
    const columns = list.columns.filter((_, i) => i < 2 || random.chance(0.8));
    const inside = empty();
    const names = new Map<string, string>();
    for (const id of columns) {
      const own = written(wordsFor(id, this.manner), this.manner);
      if (own === '' || Object.hasOwn(inside.properties, own)) continue;
      names.set(id, own);
      inside.properties[own] = member(
        id,
        {
          page,
          json:
            list.rows.find((row) => typeof row[id] === 'number' && !Number.isInteger(row[id]))?.[id] ?? null,
        },
        this.manner,
      );
    }
    const items: JsonObject = { type: 'object', properties: inside.properties };
    this.top.properties[name] = { type: 'array', ...described, items: this.defined(name, items) };
    this.top.truth[name] = list.rows.map((row) =>
      Object.fromEntries([...names].map(([id, own]) => [own, row[id] ?? null])),
    );
  }

  private defined(name: string, schema: JsonObject): JsonObject {
    if (!this.manner.hasDefs) return schema;
    const key = `${capitalised(name.replace(/[^a-zA-Z]/g, ''))}Entry`;
    this.definitions[key] = schema;
    return { $ref: `#/$defs/${key}` };
  }

  done(): Asked {
    const { random } = this.manner;
    for (const { name, members } of this.objects.values()) {
      if (Object.hasOwn(this.top.properties, name)) continue;
      this.top.properties[name] = this.defined(name, { type: 'object', properties: members.properties });
      this.top.truth[name] = members.truth;
    }
    const order = random.shuffled(Object.keys(this.top.properties));
    const picked = (from: Record<string, Json>): JsonObject =>
      Object.fromEntries(order.map((name) => [name, from[name] ?? null]));
    const schema: JsonObject = {
      ...(random.chance(0.3) ? { $schema: 'https://json-schema.org/draft/2020-12/schema' } : {}),
      type: 'object',
      ...(random.chance(0.25) ? { additionalProperties: false } : {}),
      properties: picked(this.top.properties),
      ...(random.chance(0.3) ? { required: order } : {}),
      ...(Object.keys(this.definitions).length > 0 ? { $defs: this.definitions } : {}),
    };
    return {
      schema,
      truth: picked(this.top.truth),
      derived: this.derived.filter((pointer) => pointer.split('/').length > 0),
    };
  }
}

/** Those who may have made a document: one stands at its head, and none of the others is asked for as absent. */
const ISSUERS = new Set([
  'seller',
  'provider',
  'employer',
  'bank',
  'insurer',
  'authority',
  'laboratory',
  'organizer',
  'lender',
  'carrier',
  'station',
  'manufacturer',
  'landlord',
  'sender',
  'lobbyist',
  'court',
]);

const RIVALS = (id: string): ReadonlySet<string> => new Set((conceptOf(id).labels.en ?? []).map(bare));

/** Whether the document shows something that could be taken for a concept. */
function isConfusable(id: string, draft: Draft): boolean {
  const concept = conceptOf(id);
  const [role = '', part] = id.split('.');
  const own = RIVALS(part === undefined ? id : role);
  return [...draft.facts.keys()].some((shown) => {
    const [other = '', otherPart] = conceptFor(shown).id.split('.');
    if (conceptFor(shown).id === id) return true;
    if (part !== undefined && otherPart !== undefined)
      return role === other ? false : ISSUERS.has(role) && ISSUERS.has(other) && part === otherPart;
    if (conceptFor(shown).is !== concept.is) return false;
    return [...RIVALS(otherPart === undefined ? other : other)].some((label) => own.has(label));
  });
}

/** A schema for a document: most of what it says, its lists, and some that it does not say. */
export function asked(draft: Draft, absent: readonly string[]): Asked {
  const random = draft.random;
  const manner = mannerOf(random, draft.language);
  const asking = new Asking(draft, manner);
  const share = random.pick([0.4, 0.6, 0.8, 1]);
  const facts = random
    .shuffled([...draft.facts.values()])
    .filter(({ id }, i) => i < 2 || (i < 24 && random.chance(id === 'document_title' ? 0.3 : share)));
  let present = 0;
  let missing = 0;
  let added = 0;
  for (const fact of facts) if (asking.ask(fact)) fact.json === null ? (missing += 1) : (present += 1);
  const part = 0.1 + 0.35 * random.next();
  const wanted = Math.round((part / (1 - part)) * Math.max(2, present)) - missing;
  const others = [...CONCEPTS.values()]
    .filter(({ is, id }) => is !== 'role' && is !== 'flag' && is !== 'range' && !id.startsWith('.'))
    .map(({ id }) => id);
  const pool = [...random.shuffled(absent), ...random.some(others, 12)];
  for (const id of pool) {
    if (wanted <= 0) break;
    if (isConfusable(id, draft)) continue;
    if (asking.ask({ id, json: null })) added += 1;
    if (added >= wanted) break;
  }
  for (const list of draft.lists) if (random.chance(facts.length < 3 ? 1 : 0.75)) asking.askList(list);
  return asking.done();
}
