import { tableOf, type Block } from '../../document/document.ts';
import { escapeText } from '../../document/inline.ts';
import { charactersIn } from '../../document/pages.ts';
import { oneLine } from '../../document/plainText.ts';
import { elementsOf, parseXml, type XmlElement } from '../office/xmlTree.ts';
import { openedFlow, openFlow } from '../pieces/flow.ts';
import type { Opener } from '../pieces/opened.ts';
import { textDocument } from './textDocument.ts';

/*
 * Data that a program wrote for another one: elements hold others or a value, never both. They are shown as a form is,
 * a label before each value, and elements of one name as the rows of a table. XML that is a text with marks in it, and
 * what is no sound XML, is shown as it stands.
 */

const LIMITS = { depthMax: 64, elementsMax: 500_000 };
const COLUMNS_MAX = 60;
/** Names are words; longer ones say no more. */
const NAME_MAX = 200;
const LEVELS = [1, 2, 3, 4, 5, 6] as const;

/** Opens XML; its pages are by the characters of what is shown. */
export const openXml: Opener = ({ text = '' }) => {
  const xml = parseXml(Buffer.from(text), {}, LIMITS);
  if (xml.kind !== 'xml' || !isData(xml.root)) return Promise.resolve(openedFlow(textDocument(text)));
  const blocks = blocksIn(xml.root, 1);
  const isEmpty = blocks.length === 0 && charactersIn(text) > 0;
  return Promise.resolve(
    isEmpty ? openedFlow(textDocument(text)) : openFlow({ mimeType: 'application/xml', blocks }),
  );
};

const ownText = ({ children }: XmlElement): string =>
  oneLine(children.filter((child) => typeof child === 'string').join(' '));

function isData(element: XmlElement): boolean {
  const inner = elementsOf(element);
  return inner.length === 0 || (ownText(element) === '' && inner.every(isData));
}

/** Words that say how a value is written, not what it is. */
const FORM_WORDS = new Set(['string', 'text', 'value', 'content']);

const saysForm = (name: string): boolean =>
  wordsOf(name).every((word) => FORM_WORDS.has(word.toLowerCase()) || /^(?:date|time)$/i.test(word));

/** `cbc:IssueDate` is `Issue Date`, `invoice_id` is `invoice id`. */
const wordsOf = (name: string): readonly string[] =>
  name
    .slice(0, NAME_MAX)
    .replace(/^.*:/, '')
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(/[\s_.-]+/)
    .filter((word) => word !== '');

/** The words of several names in turn, each once. */
function labelOf(names: readonly string[]): string {
  const words = names.flatMap(wordsOf);
  const own = words.filter((word, index) => words.findIndex((other) => isSame(other, word)) === index);
  const telling = own.filter((word) => !FORM_WORDS.has(word.toLowerCase()));
  return (telling.length === 0 ? own : telling).join(' ');
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

interface Leaf {
  readonly label: string;
  readonly value: string;
}

const isNamespace = (name: string): boolean => /^(?:xmlns|xsi|xml)(?::|$)/.test(name);

/** An element of one word is named with the one around it. */
const namesOf = (name: string, around: string): readonly string[] =>
  wordsOf(name).length > 1 ? [name] : [around, name];

/** A value with what its attributes say, under the names that tell it. */
function leavesOf(element: XmlElement, names: readonly string[]): readonly Leaf[] {
  const attributes = Object.entries(element.attributes).filter(([name]) => !isNamespace(name));
  const text = ownText(element);
  const [currency] = attributes.filter(([name]) => isSame(name, 'currencyID')).map(([, value]) => value);
  const value = {
    label: labelOf(names),
    value: currency === undefined ? dated(text, element) : `${text} ${currency}`,
  };
  const others = attributes
    .filter(([name]) => !isSame(name, 'currencyID') && !(isSame(name, 'format') && value.value !== text))
    .map(([name, said]) => ({ label: labelOf([...names, name]), value: oneLine(said) }));
  return [value, ...others].filter((leaf) => leaf.value !== '');
}

/** Days in eight digits, where an attribute says that they are (UN/EDIFACT 2379). */
const dated = (text: string, { attributes }: XmlElement): string =>
  attributes['format'] === '102' && /^\d{8}$/.test(text)
    ? `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`
    : text;

const isLeaf = (element: XmlElement): boolean => elementsOf(element).length === 0;

/** All values in an element, with the names around each one that it cannot be told without. */
function flatLeaves(element: XmlElement): readonly Leaf[] {
  const own = isLeaf(element) ? leavesOf(element, [element.name]) : attributesOf(element);
  const inner = elementsOf(element).flatMap((child) =>
    isLeaf(child) ? leavesOf(child, namesOf(child.name, element.name)) : flatLeaves(child),
  );
  return [...own, ...inner];
}

/** A line of lists has such a name also where it is the only one. */
const ROW_NAME = /(?:line|item|row|entry|position)$/i;

function blocksIn(element: XmlElement, level: number): readonly Block[] {
  const blocks: Block[] = level === 1 ? [headingOf(element, 1)] : [];
  let lines: Leaf[] = isLeaf(element) ? [...leavesOf(element, [element.name])] : [...attributesOf(element)];
  const flush = (): void => {
    if (lines.length > 0)
      blocks.push(paragraphOf(lines.map(({ label, value }) => `${label}: ${value}`).join('\n')));
    lines = [];
  };
  for (const group of groupsOf(elementsOf(element))) {
    const rows = tableOfGroup(group);
    const children = rows === undefined ? group : [];
    if (rows !== undefined) {
      flush();
      blocks.push(tableOf(rows, 1));
    }
    for (const child of children) {
      const single = singleLeaves(child, element);
      lines.push(...(single ?? []));
      if (single !== undefined) continue;
      flush();
      blocks.push(headingOf(child, level + 1), ...blocksIn(child, level + 1));
    }
  }
  flush();
  return blocks;
}

const attributesOf = ({ name, attributes }: XmlElement): readonly Leaf[] =>
  Object.entries(attributes)
    .filter(([own]) => !isNamespace(own))
    .map(([own, value]) => ({ label: labelOf([name, own]), value: oneLine(value) }));

/** A value, or what holds nothing but one; undefined where there is more. */
function singleLeaves(child: XmlElement, { name }: XmlElement): readonly Leaf[] | undefined {
  if (isLeaf(child)) return leavesOf(child, namesOf(child.name, name));
  const chain = [child];
  for (let inner = child; elementsOf(inner).length === 1 && attributesOf(inner).length === 0;) {
    [inner = child] = elementsOf(inner);
    chain.push(inner);
  }
  const leaf = chain.at(-1) ?? child;
  if (!isLeaf(leaf)) return undefined;
  const telling = chain.findLast((one) => !saysForm(one.name)) ?? child;
  return leavesOf(leaf, telling === leaf ? [child.name, leaf.name] : namesOf(telling.name, child.name));
}

/** Elements of one name that follow each other. */
function groupsOf(elements: readonly XmlElement[]): readonly (readonly XmlElement[])[] {
  const groups: XmlElement[][] = [];
  for (const element of elements) {
    const last = groups.at(-1);
    if (last?.[0]?.name === element.name) last.push(element);
    else groups.push([element]);
  }
  return groups;
}

/** Elements of one name as rows, under the labels of their values; undefined where they are none. */
function tableOfGroup(group: readonly XmlElement[]): readonly (readonly string[])[] | undefined {
  const [first] = group;
  if (first === undefined || group.every((element) => flatLeaves(element).length < 2)) return undefined;
  if ((group.length < 2 && !ROW_NAME.test(first.name)) || group.some(holdsRows)) return undefined;
  const columns = new Map<string, number>();
  const rows = group.map((element) => {
    const cells = new Map<number, string>();
    for (const { label, value } of flatLeaves(element)) {
      const column = columns.get(label) ?? columns.size;
      columns.set(label, column);
      const before = cells.get(column);
      cells.set(column, before === undefined ? value : `${before}; ${value}`);
    }
    return cells;
  });
  if (columns.size > COLUMNS_MAX || columns.size < 2) return undefined;
  const places = [...columns.values()];
  return [[...columns.keys()], ...rows.map((cells) => places.map((column) => cells.get(column) ?? ''))];
}

/** Rows within a row have a table of their own. */
const holdsRows = (element: XmlElement): boolean =>
  groupsOf(elementsOf(element)).some(
    (group) => (group.length > 1 && !group.every(isLeaf)) || group.some(holdsRows),
  );

function headingOf({ name }: XmlElement, level: number): Block {
  const text = labelOf([name]);
  return { kind: 'heading', level: LEVELS[level - 1] ?? 6, text, markdown: escapeText(text), box: null };
}

const paragraphOf = (text: string): Block => ({
  kind: 'paragraph',
  text,
  markdown: escapeText(text),
  box: null,
});
