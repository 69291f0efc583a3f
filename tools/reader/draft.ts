import type { Json } from '../../engine/kernel/json.ts';
import { CLOSE, OPEN, Paper, styleOf } from './paper.ts';
import type { Random } from './random.ts';
import { habitsOf, rangeOf, textOf, valueOf, type Habits, type Value } from './values.ts';
import { conceptOf, labelsOf, listOf, WORDS, type Concept, type Language, type Words } from './words.ts';

/** Something that the document says once. `isDerived`: its value does not stand there as such. */
export interface Fact {
  readonly id: string;
  readonly json: Json;
  readonly isDerived?: boolean;
}

/** A list of records that the document shows; `columns` are concepts. */
export interface Listed {
  readonly names: readonly string[];
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, Json>>[];
  /** A list of plain values: of the only column. */
  readonly isPlain?: boolean;
}

/** A label with what belongs to it; no lines where it was left blank. */
export interface Item {
  readonly id: string;
  readonly label: string;
  readonly lines: readonly string[];
}

const LABEL_STYLES = ['plain', 'plain', 'plain', 'upper', 'first'] as const;
const MARKS = [
  ['☒', '☐'],
  ['☑', '☐'],
  ['[X]', '[ ]'],
  ['[x]', '[ ]'],
  ['☒', '☐'],
  ['✓', '☐'],
  ['(X)', '( )'],
] as const;

/** Letters of choices that are too many for a line of a form. */
const CHOICES_WIDE = 48;

/** A document while it is written: its habits, its paper, and what has been said so far. */
export class Draft {
  readonly random: Random;
  readonly language: Language;
  readonly words: Words;
  readonly habits: Habits;
  readonly paper: Paper;
  readonly facts = new Map<string, Fact>();
  readonly lists: Listed[] = [];
  /** Share of the fields that nobody filled in. */
  readonly blanks: number;
  /** Who `A` and `B` of an agreement are. */
  sides: readonly string[] | undefined;
  private readonly values = new Map<string, Value>();
  private readonly labelStyle: (typeof LABEL_STYLES)[number];
  private readonly marks: (typeof MARKS)[number];
  private readonly labels = new Map<string, string>();

  constructor(random: Random, language: Language) {
    this.random = random;
    this.language = language;
    this.words = WORDS[language];
    this.habits = habitsOf(random, this.words);
    this.paper = new Paper(styleOf(random), random);
    this.blanks = random.chance(0.35) ? 0.45 * random.next() : 0;
    this.labelStyle = random.pick(LABEL_STYLES);
    this.marks = random.pick(MARKS);
  }

  /** One of a list of words of the document's language. */
  word(list: string): string {
    return this.random.pick(listOf(this.words, list));
  }

  has(id: string): boolean {
    const [role = ''] = id.split('.');
    return [role, id].every((one) => labelsOf(one, this.language).length > 0);
  }

  /** What is said of a concept, the same wherever it is said again. */
  value(id: string): Value {
    const known = this.values.get(id);
    const value = known ?? valueOf(conceptOf(id), this.habits);
    this.values.set(id, value);
    return value;
  }

  /** What was said of a concept, undefined where nothing was. */
  shown(id: string): string | undefined {
    const value = this.facts.has(id) ? this.values.get(id) : undefined;
    return value === undefined ? undefined : textOf(value);
  }

  /** Gives a concept a value of its own, such as a sum. */
  set(id: string, value: Value): void {
    this.values.set(id, value);
  }

  /** Says it, and returns its lines. */
  say(id: string): readonly string[] {
    const { lines, json } = this.value(id);
    this.facts.set(id, { id, json });
    return lines;
  }

  /** A value said within prose, marked so that no scan misreads it. */
  slot(id: string): string {
    return OPEN + this.say(id).join(' ') + CLOSE;
  }

  /** The label of a concept on this document. */
  label(id: string): string {
    const known = this.labels.get(id);
    if (known !== undefined) return known;
    const label = this.styled(this.random.pick(labelsOf(id, this.language)));
    this.labels.set(id, label);
    return label;
  }

  styled(label: string): string {
    if (this.labelStyle === 'upper') return label.toUpperCase();
    if (this.labelStyle === 'first') return label.charAt(0).toUpperCase() + label.slice(1).toLowerCase();
    return label;
  }

  /** Labels and values of concepts, said or left blank, as they follow each other. */
  items(ids: readonly string[]): readonly Item[] {
    const shown = ids.filter((id) => this.has(id));
    return shown.flatMap((id, index) => this.itemsOf(id, shown[index - 1]));
  }

  private itemsOf(id: string, before: string | undefined): readonly Item[] {
    const { is } = conceptOf(id);
    if (is === 'flag') return [this.flag(id)];
    if (is === 'choice') return [this.choice(id)];
    if (is === 'range') return this.range(id);
    const label = id.includes('.') ? this.partLabel(id, before) : this.label(id);
    if (!this.facts.has(id) && this.random.chance(this.blanks)) {
      this.facts.set(id, { id, json: null });
      return [{ id, label, lines: [] }];
    }
    return [{ id, label, lines: this.say(id) }];
  }

  /** The label of a part of somebody among other fields: it says whose it is, unless that stands just before. */
  private partLabel(id: string, before: string | undefined): string {
    const [role = '', part = ''] = id.split('.');
    const own = this.label(id);
    if (part === 'name' && this.random.chance(0.7)) return this.label(role);
    if (part !== 'name' && before?.startsWith(`${role}.`) === true && this.random.chance(0.6)) return own;
    const who = this.label(role).replace(/[:,].*$/, '');
    return this.random.pick([`${who} ${own}`, `${who} ${own}`, `${who} - ${own}`, `${own} (${who})`]);
  }

  private flag(id: string): Item {
    const { random } = this;
    const [yes, no] = [this.words['yes']?.[0] ?? '', this.words['yes']?.[1] ?? ''];
    const [on, off] = this.marks;
    const isSet = random.chance(0.5);
    const label = this.label(id);
    this.facts.set(id, { id, json: isSet, isDerived: true });
    return random.pick([
      (): Item => ({ id, label: '', lines: [`${isSet ? on : off} ${label}`] }),
      (): Item => ({ id, label, lines: [`${isSet ? on : off} ${yes} ${isSet ? off : on} ${no}`] }),
      (): Item => ({ id, label, lines: [isSet ? yes : no] }),
      (): Item => ({ id, label, lines: [isSet ? on : off] }),
    ])();
  }

  private choice(id: string): Item {
    const { random } = this;
    const { choices } = conceptOf(id);
    const among = choices[this.language] ?? [];
    const label = this.label(id);
    const [on, off] = this.marks;
    const taken = random.chance(this.blanks) ? undefined : random.pick(among);
    this.facts.set(id, { id, json: taken ?? null });
    if (random.chance(0.35)) return { id, label, lines: taken === undefined ? [] : [taken] };
    const behind = random.chance(0.15);
    const boxed = among.map((one) => {
      const mark = one === taken ? on : off;
      return behind ? `${one} ${mark}` : `${mark} ${one}`;
    });
    const inOne = boxed.join('  ');
    const isWide = inOne.length > CHOICES_WIDE;
    return { id, label, lines: random.chance(0.25) || isWide ? boxed : [inOne] };
  }

  /** First and last day under one label, or each under its own. */
  private range(id: string): readonly Item[] {
    const label = this.label(id);
    const isBlank = this.random.chance(this.blanks);
    const [start, end] = isBlank ? [NOTHING, NOTHING] : rangeOf(this.habits);
    this.facts.set(`${id}:start`, { id: `${id}:start`, json: start.json });
    this.facts.set(`${id}:end`, { id: `${id}:end`, json: end.json });
    const [first, last] = [this.word('start'), this.word('end')];
    if (this.random.chance(0.17))
      return [
        { id, label: `${label} ${first}`, lines: start.lines },
        { id, label: this.random.chance(0.5) ? last : `${label} ${last}`, lines: end.lines },
      ];
    const [a, b] = [textOf(start), textOf(end)];
    const joined = [`${a} ${this.word('to')} ${b}`];
    const ways = [[`${first}: ${a}`, `${last}: ${b}`], [`${first} ${a} ${last} ${b}`], joined, joined];
    return [{ id, label, lines: isBlank ? [] : this.random.pick(ways) }];
  }
}

/** What a blank has. */
const NOTHING: Value = { lines: [], json: null };

/** A part of a concept that has a first and a last: `period:start`. */
export const conceptFor = (id: string): Concept => conceptOf(id.replace(/:(start|end)$/, ''));
