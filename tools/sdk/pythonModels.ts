import { problemNames, refName, type Described, type Schema } from './description.ts';
import { docstring, fitted, INDENT, pascal } from './pythonText.ts';

const KEYWORDS: readonly string[] = [
  'False',
  'None',
  'True',
  'and',
  'as',
  'assert',
  'async',
  'await',
  'break',
  'class',
  'continue',
  'def',
  'del',
  'elif',
  'else',
  'except',
  'finally',
  'for',
  'from',
  'global',
  'if',
  'import',
  'in',
  'is',
  'lambda',
  'nonlocal',
  'not',
  'or',
  'pass',
  'raise',
  'return',
  'try',
  'while',
  'with',
  'yield',
];

/** A parameter's name as Python writes it: one that is a keyword there ends in `_`. */
export const argumentName = (name: string): string => {
  const plain = name.toLowerCase().replaceAll('-', '_');
  return KEYWORDS.includes(plain) ? `${plain}_` : plain;
};

/** The name as it is; throws where Python has no such name. */
export const checkedName = (name: string): string => {
  if (!/^[A-Za-z_]\w*$/.test(name) || KEYWORDS.includes(name))
    throw new Error(`${name} is no name in Python`);
  return name;
};

/** What a form takes as JSON may be given as what it says. */
const GIVEN: Readonly<Record<string, string>> = { 'ExtractForm.schema': 'str | Mapping[str, Any]' };

const literal = (values: readonly unknown[]): string => {
  const texts = values.map((value) =>
    typeof value === 'boolean' ? pascal(String(value)) : JSON.stringify(value),
  );
  return `Literal[${texts.join(', ')}]`;
};

/** Members without repeats; what may be anything is anything. */
const union = (types: readonly string[]): string => {
  const members = [...new Set(types.flatMap((type) => type.split(' | ')))];
  if (members.includes('Any')) return 'Any';
  // null last, as people write it
  return [...members.filter((type) => type !== 'None'), ...members.filter((type) => type === 'None')].join(
    ' | ',
  );
};

const isObject = ({ type, properties }: Schema): boolean => type === 'object' && properties !== undefined;

const PLAIN: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
};

/** The schemas as types of Python: a `TypedDict` of each object, also of those that have no name in the description. */
export class PythonTypes {
  readonly #classes = new Map<string, string>();
  readonly #aliases: string[] = [];

  constructor(described: Described) {
    const named = Object.entries(described.components.schemas);
    for (const [name, schema] of named) this.#define(name, schema, new Set(named.map(([key]) => key)));
    this.#alias('Problem', 'Every problem that the service answers with (RFC 9457), told apart by `code`.', [
      ...problemNames(described),
    ]);
    const messages = Object.values(described.webhooks).map(
      ({ post }) => post?.requestBody?.content['application/json']?.schema?.$ref ?? '',
    );
    this.#alias('WebhookMessage', 'What a webhook may be told, told apart by `type`.', [
      ...new Set(messages.map(refName)),
    ]);
  }

  /** A schema as a type; objects without a name of their own get `name`. */
  typeOf(schema: Schema, name: string): string {
    if (schema.$ref !== undefined) return refName(schema.$ref);
    if (schema.const !== undefined) return literal([schema.const]);
    if (schema.enum !== undefined) return literal(schema.enum);
    if (isObject(schema)) return this.#object(name, schema);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) return union(this.#choices(choices, name));
    const { type = '' } = schema;
    const types = typeof type === 'string' ? [type] : type;
    return union(types.map((one) => this.#plain(one, schema, name)));
  }

  #plain(type: string, { items = {}, additionalProperties, format }: Schema, name: string): string {
    if (type === 'array') return `list[${this.typeOf(items, name)}]`;
    const values = typeof additionalProperties === 'object' ? additionalProperties : {};
    if (type === 'object') return `dict[str, ${this.typeOf(values, name)}]`;
    return format === 'binary' ? 'File' : (PLAIN[type] ?? 'Any');
  }

  /** All definitions: classes, then what stands for several of them. */
  text(): string {
    return [...this.#classes.values(), this.#aliases.join('')].join('\n\n');
  }

  #choices(choices: readonly Schema[], name: string): readonly string[] {
    const objects = choices.filter(isObject);
    return choices.map((choice) =>
      this.typeOf(choice, objects.length > 1 ? `${name}${String(objects.indexOf(choice) + 1)}` : name),
    );
  }

  #define(name: string, schema: Schema, taken: ReadonlySet<string>): void {
    if (isObject(schema)) {
      this.#object(name, schema, taken);
      return;
    }
    const choices = schema.anyOf ?? schema.oneOf ?? [];
    // A name of its own for the object that may be null.
    const [only, ...others] = choices.filter(isObject);
    if (only !== undefined && others.length === 0) {
      const own = this.#object(`${name}Value`, only, taken);
      this.#alias(name, schema.description ?? '', [
        own,
        ...this.#choices(
          choices.filter((one) => one !== only),
          name,
        ),
      ]);
      return;
    }
    const members =
      choices.length === 0 ? [this.typeOf(schema, `${name}Item`)] : this.#choices(choices, name);
    this.#alias(name, schema.description ?? '', members);
  }

  #alias(name: string, doc: string, members: readonly string[]): void {
    const said = doc === '' ? '' : docstring([doc], '');
    this.#aliases.push(
      `${name} = Union[\n${members.map((member) => `${INDENT}${member},\n`).join('')}]\n${said}`,
    );
  }

  #object(name: string, schema: Schema, taken: ReadonlySet<string> = new Set()): string {
    if (this.#classes.has(name)) throw new Error(`two schemas would be ${name}`);
    // Its place, before those of its members.
    this.#classes.set(name, '');
    if (Object.keys(schema.properties ?? {}).some((member) => KEYWORDS.includes(member)))
      return this.#byCall(name, schema, taken);
    const members = this.#members(name, schema, taken).map(({ member, given, inner }) => {
      const said = inner.description === undefined ? '' : docstring([inner.description], INDENT);
      return fitted(`${INDENT}${checkedName(member)}: ${given}`) + said;
    });
    const doc = schema.description === undefined ? '' : `${docstring([schema.description], INDENT)}\n`;
    const body = `${doc}${members.join('')}`;
    this.#classes.set(name, `class ${name}(TypedDict):\n${body === '' ? `${INDENT}pass\n` : body}`);
    return name;
  }

  #members(name: string, schema: Schema, taken: ReadonlySet<string>) {
    return Object.entries(schema.properties ?? {}).map(([member, inner]) => {
      const own = `${name}${pascal(member)}`;
      const type = GIVEN[`${name}.${member}`] ?? this.typeOf(inner, taken.has(own) ? `${own}Value` : own);
      const given = schema.required?.includes(member) === true ? type : `NotRequired[${type}]`;
      return { member, given, inner };
    });
  }

  /** A class cannot have a member that is named as a word of the language; a call can. */
  #byCall(name: string, schema: Schema, taken: ReadonlySet<string>): string {
    const members = this.#members(name, schema, taken).map(
      ({ member, given }) => `${INDENT}${INDENT}"${member}": ${JSON.stringify(given)},\n`,
    );
    const said = schema.description === undefined ? '' : docstring([schema.description], '');
    const call = `TypedDict(\n${INDENT}"${name}",\n${INDENT}{\n${members.join('')}${INDENT}},\n)\n`;
    this.#classes.set(name, `${name} = ${call}${said}`);
    return name;
  }
}
