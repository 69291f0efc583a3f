import { type ASTNode, Environment, type ParseResult } from '@marcbachmann/cel-js';
import { electronicFormatIBAN, isValidBIC, isValidIBAN } from 'ibantools';
import * as vatIds from 'jsvat-next';
import type { Check, CheckOutcome } from '../../domain/rules/checks.ts';
import { messageOf, type Json, type JsonObject } from '../../domain/kernel/json.ts';

/** Bundled it has its names, and loaded by Node they are in its default. */
const byDefault = Reflect.get(vatIds, 'default') as Partial<typeof vatIds> | undefined;
const { checkVAT, countries } = { ...vatIds, ...byDefault };

/** The whole result, beside its members. */
const WHOLE = 'result';
const LIMITS = {
  maxAstNodes: 500,
  maxDepth: 50,
  maxListElements: 200,
  maxMapEntries: 200,
  maxCallArguments: 8,
};

/** A function of an expression was given null: a value is missing. */
class ValueMissing extends Error {
  override readonly name = 'ValueMissing';
}

const numberOf = (value: unknown): number => {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
  if (value === null || value === undefined) throw new ValueMissing('a value is missing');
  throw new Error('not a number');
};

const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) throw new ValueMissing('a value is missing');
  throw new Error('not a text');
};

/** Dates are texts in ISO 8601, with or without a time. */
const DATE = /^\d{4}-\d{2}-\d{2}(?:$|[T ])/;
const DAY_MS = 86_400_000;

const dateOf = (value: unknown): string => {
  const text = textOf(value);
  if (!DATE.test(text)) throw new Error('not a date as YYYY-MM-DD');
  return text;
};

/** A number or a date, as its place in an order. */
const placeOf = (value: unknown): number => {
  const place = typeof value === 'string' ? Date.parse(dateOf(value)) : numberOf(value);
  if (Number.isNaN(place)) throw new Error('neither a number nor a date');
  return place;
};

/** Sums of amounts in decimals: what binary fractions add to them is far below. */
const DECIMALS = 9;
const rounded = (value: number): number => Number(value.toFixed(DECIMALS));

/** Half a cent. */
const NEAR = 0.005;

const isNear = (a: unknown, b: unknown, within: unknown): boolean =>
  rounded(Math.abs(numberOf(a) - numberOf(b))) <= numberOf(within);

const valuesIn = (list: unknown): readonly unknown[] => {
  if (Array.isArray(list)) return list as readonly unknown[];
  if (list === null || list === undefined) throw new ValueMissing('a list is missing');
  throw new Error('not a list');
};

const isInOrder = (list: unknown): boolean => {
  const places = valuesIn(list).map(placeOf);
  return places.every((place, index) => index === 0 || (places[index - 1] ?? place) <= place);
};

const daysBetween = (from: unknown, until: unknown): number =>
  Math.round((Date.parse(dateOf(until).slice(0, 10)) - Date.parse(dateOf(from).slice(0, 10))) / DAY_MS);

type Own = readonly [signature: string, does: (...values: unknown[]) => unknown];

/** What expressions have beyond the language. */
const FUNCTIONS: readonly Own[] = [
  [
    'sum(dyn): double',
    (list) => rounded(valuesIn(list).reduce<number>((sum, one) => sum + numberOf(one), 0)),
  ],
  ['near(dyn, dyn): bool', (a, b) => isNear(a, b, NEAR)],
  ['near(dyn, dyn, dyn): bool', (a, b, within) => isNear(a, b, within)],
  [
    'between(dyn, dyn, dyn): bool',
    (value, low, high) => placeOf(low) <= placeOf(value) && placeOf(value) <= placeOf(high),
  ],
  ['in_order(dyn): bool', isInOrder],
  ['days(dyn, dyn): double', daysBetween],
  ['is_iban(dyn): bool', (text) => isValidIBAN(electronicFormatIBAN(textOf(text)) ?? '')],
  ['is_bic(dyn): bool', (text) => isValidBIC(textOf(text).replaceAll(' ', '').toUpperCase())],
  ['is_vat_id(dyn): bool', (text) => checkVAT(textOf(text), countries).isValid],
];

const ARITHMETIC: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
};

/** Numbers of JSON are doubles, and literals without a fraction are not: the language does not mix them by itself. */
const withNumbers = (environment: Environment): Environment => {
  for (const [sign, does] of Object.entries(ARITHMETIC))
    for (const [left, right] of [
      ['double', 'int'],
      ['int', 'double'],
    ] as const)
      environment.registerOperator(`${left} ${sign} ${right}: double`, (a: unknown, b: unknown) =>
        rounded(does(numberOf(a), numberOf(b))),
      );
  environment.registerOperator('double % double: double', (a: number, b: number) => a % b);
  return environment;
};

/** `fields`: the names that expressions may use; left out: any. */
const environmentFor = (fields: readonly string[] | undefined): Environment => {
  const environment = withNumbers(
    new Environment({
      unlistedVariablesAreDyn: fields === undefined,
      homogeneousAggregateLiterals: false,
      enableOptionalTypes: true,
      limits: LIMITS,
    }),
  );
  for (const [signature, does] of FUNCTIONS) environment.registerFunction(signature, does);
  for (const name of new Set([...(fields ?? []), WHOLE])) declare(environment, name);
  return environment;
};

const NAME = /^[A-Za-z_]\w*$/;

/** Members with names that the language does not have are reached through the whole result: `result["net amount"]`. */
const declare = (environment: Environment, name: string): void => {
  if (!NAME.test(name) || environment.hasVariable(name)) return;
  try {
    environment.registerVariable(name, 'dyn');
  } catch {
    // It is a word of the language.
  }
};

const isNode = (value: unknown): value is ASTNode =>
  typeof value === 'object' && value !== null && 'op' in value && 'args' in value;

/** The names that an expression begins from. */
const namesIn = (value: unknown, found: Set<string>): Set<string> => {
  if (isNode(value)) {
    const { op, args } = value;
    if (op === 'id') found.add(args);
    else if (op !== 'value') namesIn(args, found);
  } else if (Array.isArray(value)) for (const one of value) namesIn(one, found);
  return found;
};

/** Without the picture of the place that the library adds. */
const sentenceOf = (error: unknown): string => messageOf(error).split('\n', 1)[0] ?? '';

/**
 * Tells of each expression why it cannot be a check; undefined: it can. Nothing of it is evaluated. `fields`: as of
 * `environmentFor`.
 */
export const expressionChecker = (
  fields: readonly string[] | undefined,
): ((expression: string) => string | undefined) => {
  const environment = environmentFor(fields);
  return (expression) => {
    const checked = environment.check(expression);
    if (!checked.valid) return checked.error === undefined ? 'It cannot be read.' : sentenceOf(checked.error);
    if (checked.type === 'bool' || checked.type === 'dyn') return undefined;
    return `Its value is of the type ${String(checked.type)}: a check has to be true or false.`;
  };
};

const pointerTo = (name: string): string => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

const told = (value: unknown): Pick<CheckOutcome, 'passed' | 'message'> =>
  typeof value === 'boolean'
    ? { passed: value }
    : { passed: false, message: 'The value of the expression is neither true nor false.' };

const NO_SUCH = /^No such key/;

/** A value that is missing is no mistake of the document's: whether it may be missing is said by the schema. */
const failedBy = (error: unknown, isMissing: boolean): Pick<CheckOutcome, 'passed' | 'message'> => {
  const sentence = sentenceOf(error);
  return isMissing || error instanceof ValueMissing || NO_SUCH.test(sentence)
    ? { passed: null, message: 'A value that the check names is missing.' }
    : { passed: false, message: `The check cannot be evaluated: ${sentence}` };
};

/** A result, and the members that its schema names. */
export interface Judged {
  readonly result: JsonObject;
  readonly fields: readonly string[];
}

const judge = (parsed: ParseResult, used: readonly string[], result: JsonObject) => {
  const absent = used.filter((name) => (result[name] ?? null) === null);
  const nothing = Object.fromEntries(absent.map((name) => [name, null]));
  try {
    return told(parsed({ ...result, ...nothing, [WHOLE]: result }));
  } catch (error) {
    return failedBy(error, absent.length > 0);
  }
};

/** What comes of each check, in their order. It takes as long as it takes: nobody else may wait for it. */
export const evaluate = (checks: readonly Check[], { result, fields }: Judged): readonly CheckOutcome[] => {
  const environment = environmentFor(undefined);
  const known = new Set([...fields, ...Object.keys(result)]);
  return checks.map(({ name, expression, message }) => {
    try {
      const parsed = environment.parse(expression);
      const used = [...namesIn(parsed.ast, new Set())].filter((one) => known.has(one) && one !== WHOLE);
      const outcome = judge(parsed, used, result);
      const said = outcome.message ?? (outcome.passed === false ? message : undefined);
      const paths = used.map(pointerTo);
      return { name, passed: outcome.passed, ...(said === undefined ? {} : { message: said }), paths };
    } catch (error) {
      return { name, ...failedBy(error, false), paths: [] };
    }
  });
};

/** The members of a schema at its top; undefined: it does not name all of them. */
export const fieldsOf = (schema: JsonObject | null): readonly string[] | undefined => {
  const properties: Json | undefined = schema?.['properties'];
  return typeof properties === 'object' && properties !== null && !Array.isArray(properties)
    ? Object.keys(properties)
    : undefined;
};
