import type { Json, JsonObject } from '../../engine/kernel/json.ts';
import { conceptFor, type Draft, type Fact, type Listed } from './draft.ts';
import {
  bare,
  capitalised,
  mannerOf,
  member,
  partWords,
  roleWords,
  wordsFor,
  written,
  type Manner,
} from './naming.ts';
import { CONCEPTS, conceptOf, type Language } from './words.ts';

/** A schema with what is true of the document, and which of it does not stand there as such. */
export interface Asked {
  readonly schema: JsonObject;
  readonly truth: JsonObject;
  /** JSON Pointers. */
  readonly derived: readonly string[];
}

/** Names so general that they would mean another value of the document too. */
const VAGUE = new Set(
  'date number name total amount reference from to price time place title status description'.split(' '),
);

interface Members {
  readonly properties: Record<string, Json>;
  readonly truth: Record<string, Json>;
}

const empty = (): Members => ({ properties: {}, truth: {} });

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

  /** Asks for a fact, under a name that is free; says whether there was one. */
  ask({ id, json, isDerived = false }: Fact): boolean {
    const { owner, words } = this.placeOf(id);
    const { properties, truth } = owner?.members ?? this.top;
    const name = written(words, this.manner);
    if (name === '' || Object.hasOwn(properties, name)) return false;
    properties[name] = member(id, { page: this.draft.language, json }, this.manner);
    truth[name] = json;
    if (isDerived) this.derived.push([...(owner === undefined ? [''] : ['', owner.name]), name].join('/'));
    return true;
  }

  /** The object that a part of somebody goes into where this schema has such, and what it is called there. */
  private placeOf(id: string) {
    const [role = '', part] = id.split('.');
    return this.manner.nests && part !== undefined
      ? { owner: this.objectOf(role), words: partWords(`.${part}`, this.manner) }
      : { owner: undefined, words: this.clear(id) };
  }

  /** Words for a concept that no other value of the document is meant by. */
  private clear(id: string): string {
    const words = wordsFor(id, this.manner);
    return VAGUE.has(words) ? conceptFor(id).id.replace('.', ' ') : words;
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
      derived: this.derived,
    };
  }
}

/** Those who may have made a document: one stands at its head, and none of the others is asked for as absent. */
const ISSUERS = new Set(
  (
    'seller provider employer bank insurer authority laboratory organizer lender carrier station manufacturer ' +
    'landlord sender lobbyist court'
  ).split(' '),
);

const RIVALS = (id: string): ReadonlySet<string> => new Set((conceptOf(id).labels.en ?? []).map(bare));

/** Whether the document shows something that could be taken for a concept. */
export function isConfusable(id: string, draft: Draft): boolean {
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

/** Facts to ask for: all of them, or a part. */
function factsOf({ facts, random }: Draft): readonly Fact[] {
  const share = random.pick([0.4, 0.6, 0.8, 1]);
  const isAsked = (id: string): boolean => random.chance(id === 'document_title' ? 0.3 : share);
  return random.shuffled([...facts.values()]).filter(({ id }, i) => i < 2 || (i < FACTS_MAX && isAsked(id)));
}
const FACTS_MAX = 24;
/** Of the members that have a value: so few, so many more have none. */
const ABSENT = [0.1, 0.45] as const;

/** A schema for a document, in a language: most of what it says, its lists, and some that it does not say. */
export function asked(draft: Draft, absent: readonly string[], language?: Language): Asked {
  const random = draft.random;
  const asking = new Asking(draft, mannerOf(random, draft.language, language));
  const facts = factsOf(draft).filter((fact) => asking.ask(fact));
  const present = facts.filter(({ json }) => json !== null).length;
  const part = ABSENT[0] + (ABSENT[1] - ABSENT[0]) * random.next();
  let wanted = Math.round((part / (1 - part)) * Math.max(2, present)) - (facts.length - present);
  const others = [...CONCEPTS.values()]
    .filter(({ is, id }) => is !== 'role' && is !== 'range' && !id.startsWith('.'))
    .map(({ id }) => id);
  for (const id of [...random.shuffled(absent), ...random.some(others, 12)]) {
    if (wanted <= 0) break;
    if (!isConfusable(id, draft) && asking.ask({ id, json: null })) wanted -= 1;
  }
  for (const list of draft.lists) if (random.chance(facts.length < 3 ? 1 : 0.75)) asking.askList(list);
  return asking.done();
}
