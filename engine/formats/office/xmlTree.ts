import { Parser } from 'htmlparser2';

/** An element with its names under our own prefixes, whatever prefixes the file chose. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlNode[];
}

export type XmlNode = XmlElement | string;

export interface XmlLimits {
  readonly depthMax: number;
  readonly elementsMax: number;
  /** A document type that declares something of its own is refused in any case. */
  readonly doctype: 'refused' | 'ignored';
}

export const XML_LIMITS: XmlLimits = { depthMax: 256, elementsMax: 1_000_000, doctype: 'refused' };

export type Xml =
  | { readonly kind: 'xml'; readonly root: XmlElement }
  | { readonly kind: 'unreadable'; readonly detail: string };

/** Our prefix of each namespace; of the two forms of Office Open XML, both. */
export type Prefixes = Readonly<Record<string, string>>;

class Refused extends Error {}

interface Open {
  readonly name: string;
  readonly children: XmlNode[];
  readonly prefixes: ReadonlyMap<string, string>;
}

/**
 * A part of an office file as a tree. A document type is refused, for it can declare entities; so are
 * too deep nesting, too many elements and a part that ends before its elements do.
 */
export function parseXml(bytes: Uint8Array, prefixes: Prefixes, limits: Partial<XmlLimits> = {}): Xml {
  const builder = treeBuilder(prefixes, { ...XML_LIMITS, ...limits });
  try {
    const parser = new Parser(builder.handler, { xmlMode: true });
    parser.write(decodeXml(bytes));
    if (builder.isOpen()) throw new Refused('A part of the document ends too early.');
    parser.end();
    const root = builder.root();
    return root === undefined ? damaged : { kind: 'xml', root };
  } catch (error) {
    return error instanceof Refused ? { kind: 'unreadable', detail: error.message } : damaged;
  }
}

const damaged: Xml = { kind: 'unreadable', detail: 'A part of the document is damaged.' };

function decodeXml(bytes: Uint8Array): string {
  const [a, b] = bytes;
  if (a === 0xff && b === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (a === 0xfe && b === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  return new TextDecoder('utf-8').decode(bytes);
}

function treeBuilder(prefixes: Prefixes, limits: XmlLimits) {
  let root: XmlElement | undefined;
  let elements = 0;
  const stack: Open[] = [];
  const top = (): Open | undefined => stack[stack.length - 1];
  const open = (name: string, raw: Readonly<Record<string, string>>): void => {
    elements += 1;
    if (elements > limits.elementsMax) throw new Refused('The document has too many elements.');
    if (stack.length >= limits.depthMax) throw new Refused('The document is nested too deeply.');
    const scope = scopeOf(raw, top()?.prefixes ?? NO_PREFIXES, prefixes);
    const element = {
      name: renamed(name, scope, true),
      attributes: attributesOf(raw, scope),
      children: [] as XmlNode[],
    };
    const parent = top();
    if (parent !== undefined) parent.children.push(element);
    else root ??= element;
    stack.push({ name: element.name, children: element.children, prefixes: scope });
  };
  const handler = {
    onopentag: open,
    onclosetag: (): void => {
      stack.pop();
    },
    ontext: (text: string): void => {
      top()?.children.push(text);
    },
    onprocessinginstruction: (name: string, data: string): void => {
      if (name.toLowerCase() === '!doctype' && (limits.doctype === 'refused' || data.includes('[')))
        throw new Refused('The document declares a document type, which is refused.');
    },
  };
  return { handler, root: (): XmlElement | undefined => root, isOpen: (): boolean => stack.length > 0 };
}

const NO_PREFIXES: ReadonlyMap<string, string> = new Map();

function scopeOf(
  attributes: Readonly<Record<string, string>>,
  outer: ReadonlyMap<string, string>,
  ours: Prefixes,
): ReadonlyMap<string, string> {
  let scope: Map<string, string> | undefined;
  for (const [name, uri] of Object.entries(attributes)) {
    if (name !== 'xmlns' && !name.startsWith('xmlns:')) continue;
    scope ??= new Map(outer);
    const prefix = name.slice(6);
    scope.set(prefix, Object.hasOwn(ours, uri) ? (ours[uri] ?? prefix) : prefix);
  }
  return scope ?? outer;
}

/** The default namespace holds for elements, not for attributes. */
function renamed(name: string, scope: ReadonlyMap<string, string>, isElement: boolean): string {
  const colon = name.indexOf(':');
  if (colon < 0 && !isElement) return name;
  const prefix = colon < 0 ? '' : name.slice(0, colon);
  const ours = scope.get(prefix) ?? prefix;
  const local = colon < 0 ? name : name.slice(colon + 1);
  return ours === '' ? local : `${ours}:${local}`;
}

const NO_ATTRIBUTES: Readonly<Record<string, string>> = {};

function attributesOf(
  raw: Readonly<Record<string, string>>,
  scope: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> {
  const names = Object.keys(raw);
  if (names.length === 0) return NO_ATTRIBUTES;
  return Object.fromEntries(names.map((name) => [renamed(name, scope, false), raw[name] ?? '']));
}

/** The element children, of one name where it is given. */
export const elementsOf = (element: XmlElement | undefined, name?: string): readonly XmlElement[] =>
  (element?.children ?? []).filter(
    (child): child is XmlElement => typeof child !== 'string' && (name === undefined || child.name === name),
  );

/** The first child of that name, or of the names one below the other. */
export function childAt(element: XmlElement | undefined, ...path: readonly string[]): XmlElement | undefined {
  let at = element;
  for (const name of path)
    at = at?.children.find((child): child is XmlElement => typeof child !== 'string' && child.name === name);
  return at;
}

/** Every element of that name below, in document order; what is inside a found one is not searched. */
export function findAll(element: XmlElement | undefined, name: string): readonly XmlElement[] {
  return elementsOf(element).flatMap((child) => (child.name === name ? [child] : findAll(child, name)));
}

/** All text below. */
export const textIn = (element: XmlElement | undefined): string =>
  (element?.children ?? []).map((child) => (typeof child === 'string' ? child : textIn(child))).join('');
