import type { DocumentWarning } from '../../document/document.ts';
import { canonicalJson } from '../../kernel/canonicalJson.ts';
import { ownMember, type Json, type JsonObject } from '../../kernel/json.ts';
import type { ValueCitation, Citation, Extraction, ReadBy } from '../../ports/extractionEngine.ts';

/** What the embedded engine read this surely needs no model: of such values about so many are right. */
const SURE = 0.9;

/**
 * Which fields a model is asked for: a member, a list as a whole, or what is in an object, member by member.
 * `sure`: the engine's reading stands.
 */
export type Plan = 'sure' | 'ask' | { readonly members: ReadonlyMap<string, Plan> };

/** Members of a schema of an object whose members do not depend on each other. */
const PLAIN = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  '$schema',
  '$id',
  '$defs',
  'definitions',
  'title',
  'description',
  'default',
  'examples',
  '$comment',
]);

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

/** The members of an object that may be asked for one by one; undefined: they belong together. */
function membersOf(schema: Json | undefined): JsonObject | undefined {
  if (!isObject(schema) || !Object.keys(schema).every((name) => PLAIN.has(name))) return undefined;
  const properties = ownMember(schema, 'properties');
  return isObject(properties) ? properties : undefined;
}

const pointerPart = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

interface EngineReading {
  readonly confidences: ReadonlyMap<string, number>;
  /** Pointers of values that do not fit the schema. */
  readonly invalid: ReadonlySet<string>;
}

/** What the engine's reading of a document leaves to ask. */
export function planOf(schema: JsonObject, { value, citations, validationErrors }: Extraction): Plan {
  const confidences = new Map(citations.map(({ path, confidence }) => [path, confidence]));
  const invalid = new Set(validationErrors.map(({ path }) => path));
  return planAt(schema, value, { at: '', reading: { confidences, invalid } });
}

interface PlannedAt {
  readonly at: string;
  readonly reading: EngineReading;
}

function planAt(schema: Json | undefined, value: Json | undefined, { at, reading }: PlannedAt): Plan {
  const properties = membersOf(schema);
  if (properties === undefined || !isObject(value))
    return isSure(schema, value, { at, reading }) ? 'sure' : 'ask';
  const members = new Map(
    Object.entries(properties).map(([name, member]): [string, Plan] => {
      const below = { at: `${at}/${pointerPart(name)}`, reading };
      return [name, planAt(member, ownMember(value, name), below)];
    }),
  );
  const plans = new Set(members.values());
  if (plans.size === 1 && plans.has('sure')) return 'sure';
  return plans.size === 0 || (plans.size === 1 && plans.has('ask')) ? 'ask' : { members };
}

/**
 * Whether all of a value is read surely. A list is where each of its rows has every member that the schema names,
 * for an empty one, and what a row lacks, may have been overlooked.
 */
function isSure(schema: Json | undefined, value: Json | undefined, { at, reading }: PlannedAt): boolean {
  if (value === undefined || value === null || reading.invalid.has(at)) return false;
  if (isList(value)) {
    const items = isObject(schema) ? ownMember(schema, 'items') : undefined;
    return value.length > 0 && value.every((one, i) => isSure(items, one, { at: `${at}/${i}`, reading }));
  }
  return isObject(value)
    ? areSure(membersOf(schema) ?? {}, value, { at, reading })
    : (reading.confidences.get(at) ?? 0) >= SURE;
}

function areSure(properties: JsonObject, value: JsonObject, { at, reading }: PlannedAt): boolean {
  const names = [...new Set([...Object.keys(value), ...Object.keys(properties)])];
  const isMemberSure = (name: string): boolean => {
    const below = { at: `${at}/${pointerPart(name)}`, reading };
    return isSure(ownMember(properties, name), ownMember(value, name), below);
  };
  return names.length > 0 && names.every(isMemberSure);
}

/**
 * The schema of what is asked for. It is closed, unless it says itself which other members there may be: a document
 * that tells a model to add something adds nothing.
 */
export function askedSchema(schema: JsonObject, plan: Plan): JsonObject {
  if (typeof plan === 'string') return schema;
  const left = Object.entries(membersOf(schema) ?? {}).flatMap(([name, member]): [string, Json][] => {
    const of = plan.members.get(name) ?? 'ask';
    if (of === 'sure') return [];
    return [[name, isObject(member) ? askedSchema(member, of) : member]];
  });
  const required = ownMember(schema, 'required');
  return {
    additionalProperties: false,
    ...schema,
    properties: Object.fromEntries(left),
    ...(isList(required) && {
      required: required.filter((name) => typeof name !== 'string' || plan.members.get(name) !== 'sure'),
    }),
  };
}

interface Said {
  readonly engine: Json | undefined;
  readonly model: Json | undefined;
}

/** A place that the plan decides about as a whole. */
interface Field extends Said {
  readonly path: string;
  readonly plan: 'sure' | 'ask';
}

function fieldsOf(plan: Plan, { engine, model }: Said, path = ''): readonly Field[] {
  if (typeof plan === 'string') return [{ path, plan, engine, model }];
  return [...plan.members].flatMap(([name, member]) => {
    const said = { engine: memberOf(engine, name), model: memberOf(model, name) };
    return fieldsOf(member, said, `${path}/${pointerPart(name)}`);
  });
}

const memberOf = (value: Json | undefined, name: string): Json | undefined =>
  isObject(value) ? ownMember(value, name) : undefined;

function joined(plan: Plan, engine: Json | undefined, model: Json | undefined): Json | undefined {
  if (plan === 'sure') return engine;
  if (plan === 'ask') return model;
  const members = [...plan.members].flatMap(([name, member]): [string, Json][] => {
    const value = joined(member, memberOf(engine, name), memberOf(model, name));
    return value === undefined ? [] : [[name, value]];
  });
  const others = isObject(model) ? Object.entries(model).filter(([name]) => !plan.members.has(name)) : [];
  return members.length + others.length === 0 ? undefined : Object.fromEntries([...members, ...others]);
}

/** A value that engine and model both say something of. */
interface Pair {
  readonly path: string;
  readonly engine: Json;
  /** undefined: the model leaves it out. */
  readonly model: Json | undefined;
}

/** The leaves that the engine read, each with what the model says there; rows are compared where they are as many. */
function pairsOf(engine: Json | undefined, model: Json | undefined, path: string): readonly Pair[] {
  if (engine === undefined || engine === null) return [];
  if (isList(engine))
    return isList(model) && model.length === engine.length
      ? engine.flatMap((one, i) => pairsOf(one, model[i], `${path}/${i}`))
      : [];
  if (isObject(engine))
    return Object.entries(engine).flatMap(([name, one]) =>
      pairsOf(one, memberOf(model, name), `${path}/${pointerPart(name)}`),
    );
  return [{ path, engine, model: model ?? undefined }];
}

const isSame = ({ engine, model }: Pair): boolean =>
  model !== undefined && canonicalJson(engine) === canonicalJson(model);

/** No reading is surer than this, however many agree. */
const SUREST = 0.99;

/** That both are wrong in the same way, were they wrong independently of each other. Not calibrated. */
const agreed = (one: number, other: number): number => Math.min(SUREST, 1 - (1 - one) * (1 - other));

const DIFFERENCES_MAX = 100;
const LETTERS_MAX = 100;
const quoted = (value: Json | undefined): string =>
  value === undefined ? 'nothing' : JSON.stringify(value).slice(0, LETTERS_MAX);

function differencesIn(pairs: readonly Pair[], citations: readonly Citation[]): readonly DocumentWarning[] {
  const cited = new Map(citations.map((citation) => [citation.path, citation]));
  return pairs
    .filter((pair) => !isSame(pair))
    .slice(0, DIFFERENCES_MAX)
    .map(({ path, engine, model }) => ({
      code: 'readings_differ',
      message: `The model reads ${quoted(model)}, which is the answer; the embedded engine reads ${quoted(engine)}.`,
      path,
      value: engine,
      ...(cited.has(path) && placeOf(cited.get(path))),
    }));
}

const placeOf = (citation: Citation | undefined) =>
  citation && {
    text: citation.text,
    page: citation.page,
    bbox: citation.bbox,
    confidence: citation.confidence,
  };

/** Whether a model was asked for what stands at a path: what it says of anything else is not looked at. */
function isAsked(plan: Plan, path: string): boolean {
  if (typeof plan === 'string') return plan === 'ask';
  if (path === '') return true;
  const end = path.indexOf('/', 1);
  const rest = end < 0 ? '' : path.slice(end);
  const name = path
    .slice(1, end < 0 ? undefined : end)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
  const member = plan.members.get(name);
  return member === undefined || isAsked(member, rest);
}

const isIn = (path: string, fields: readonly string[]): boolean =>
  fields.some((field) => field === '' || path === field || path.startsWith(`${field}/`));

const saysNothing = (value: Json | undefined): value is null | undefined =>
  value === undefined || value === null;

const readBy = (fields: readonly Field[]): ReadBy => {
  const of = (who: keyof ReadBy): readonly string[] =>
    fields.filter((field) => whoRead(field) === who).map(({ path }) => path);
  return { engine: of('engine'), model: of('model'), both: of('both') };
};

function whoRead({ plan, engine, model }: Field): keyof ReadBy | undefined {
  if (plan === 'sure') return 'engine';
  if (saysNothing(model)) return undefined;
  return !saysNothing(engine) && canonicalJson(engine) === canonicalJson(model) ? 'both' : 'model';
}

/** The engine's answer, which left nothing to ask. */
export const engineAlone = (engine: Extraction): Extraction => ({
  ...engine,
  readBy: readBy(membersApart({ path: '', plan: 'sure', engine: engine.value, model: undefined })),
});

/**
 * One answer from the engine's, for what it read surely, and the model's for the rest. Where both say the same of
 * what was asked, that is surer than either; where they differ the model's stands, and a warning has the engine's.
 */
export function joinedReadings(
  plan: Plan,
  { engine, model }: { readonly engine: Extraction; readonly model: Extraction },
): Extraction {
  const said = { engine: engine.value, model: model.value };
  const fields = fieldsOf(plan, said).flatMap((field) => (field.path === '' ? membersApart(field) : [field]));
  const sure = fields.filter((field) => field.plan === 'sure').map(({ path }) => path);
  const pairs = fields
    .filter((field) => field.plan === 'ask')
    .flatMap((field) => pairsOf(field.engine, field.model, field.path));
  const byEngine = new Map(engine.citations.map(({ path, confidence }) => [path, confidence]));
  const same = new Set(pairs.filter(isSame).map(({ path }) => path));
  const value = joined(plan, engine.value, model.value);
  const ofAsked = <Placed extends object>(all: readonly Placed[]): readonly Placed[] =>
    all.filter((one) => !('path' in one) || typeof one.path !== 'string' || isAsked(plan, one.path));
  return {
    ...model,
    value: isObject(value) ? value : {},
    validationErrors: ofAsked(model.validationErrors),
    citations: [
      ...engine.citations.filter(({ path }) => isIn(path, sure)),
      ...ofAsked(model.citations).map((citation) =>
        same.has(citation.path)
          ? { ...citation, confidence: agreed(citation.confidence, byEngine.get(citation.path) ?? 0) }
          : citation,
      ),
    ],
    warnings: [...ofAsked(model.warnings), ...differencesIn(pairs, engine.citations.filter(isPlaced))],
    readBy: readBy(fields),
  };
}

const isPlaced = (one: ValueCitation): one is Extract<ValueCitation, { page: number }> => one.page !== null;

/** The members of a whole answer, each by itself. */
const membersApart = ({ plan, engine, model }: Field): readonly Field[] => {
  const names = new Set([engine, model].flatMap((value) => (isObject(value) ? Object.keys(value) : [])));
  return [...names].map((name) => ({
    path: `/${pointerPart(name)}`,
    plan,
    engine: memberOf(engine, name),
    model: memberOf(model, name),
  }));
};
