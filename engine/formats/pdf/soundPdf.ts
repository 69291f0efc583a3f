import { insideOf } from './inside/insideOf.ts';
import { isRef, pdfObjects, type PdfObjects } from './inside/objects.ts';
import { pageTree } from './inside/pageTree.ts';
import type { PdfValue } from './inside/syntax.ts';

/** A file as the parser may read it: what would keep it busy for ever is hidden from it. */
export const soundPdf = (bytes: Buffer): Buffer => withSoundForms(withSoundOutline(bytes));

const OUTLINES = '/Outlines';
/** As long, and no name of the format. */
const HIDDEN = '/0utlines';

/**
 * The parser follows bookmarks without a bound, though nobody asks it for them: those that lead back to themselves keep
 * it busy for ever, and those that lie deep in each other end its process. So they are hidden from it, unless they are
 * known to be a tree; they are read here (`outlineOf`). Names in packed objects stay.
 */
export function withSoundOutline(bytes: Buffer): Buffer {
  let at = bytes.indexOf(OUTLINES);
  if (at < 0 || insideOf(bytes)?.outline.isSound === true) return bytes;
  const hidden = Buffer.from(bytes);
  for (; at >= 0; at = hidden.indexOf(OUTLINES, at)) hidden.write(HIDDEN, at, 'latin1');
  return hidden;
}

const FORM = '/Form';
const HIDDEN_FORM = '/0orm';
/** Files of people have some thousands. */
const FORMS_MAX = 20_000;
/** Of the dictionary of a form, in which others are called by name. */
const DICT_BYTES_MAX = 64 * 1024;

/**
 * The parser draws what a form calls, and what that calls, forty deep: a form that calls itself twice is drawn
 * 2^40 times. So forms that lead back to themselves call no others of their kind. Calls in packed objects stay.
 */
function withSoundForms(bytes: Buffer): Buffer {
  const places = formPlaces(bytes);
  const objects = places.size === 0 ? undefined : readable(bytes);
  if (objects === undefined) return bytes;
  const ofPages = namesOnPages(objects);
  const called = (form: number): Set<number> =>
    new Set(calledBy(form, objects, ofPages).filter((number) => places.has(number)));
  const calls = inCircles(new Map([...places.keys()].map((form) => [form, called(form)])));
  if (calls.size === 0) return bytes;
  const sound = Buffer.from(bytes);
  for (const [form, circle] of calls) {
    const resources = resourcesOf(form, objects);
    const named = objects.dict(resources)?.entries.get('XObject');
    const holder = [named, resources].find(isRef)?.number ?? form;
    if (resources === undefined) sound.write(HIDDEN_FORM, places.get(form) ?? 0, 'latin1');
    else hideCalls(sound, { at: objects.placeOf(holder), called: circle });
  }
  return sound;
}

const resourcesOf = (form: number, objects: PdfObjects): PdfValue | undefined =>
  objects.dict({ kind: 'ref', number: form })?.entries.get('Resources');

/** What pages call by which name: a form without resources of its own calls what its page does. */
function namesOnPages(objects: PdfObjects): ReadonlyMap<string, readonly number[]> {
  const names = new Map<string, number[]>();
  for (const { resources } of pageTree(objects).pages)
    for (const [name, value] of objects.dict(resources?.entries.get('XObject'))?.entries ?? [])
      if (isRef(value)) names.set(name, [...(names.get(name) ?? []), value.number]);
  return names;
}

function calledBy(
  form: number,
  objects: PdfObjects,
  ofPages: ReadonlyMap<string, readonly number[]>,
): readonly number[] {
  const resources = resourcesOf(form, objects);
  const named = objects.dict(objects.dict(resources)?.entries.get('XObject'));
  if (resources !== undefined)
    return [...(named?.entries.values() ?? [])].filter(isRef).map(({ number }) => number);
  const content = Buffer.from(objects.stream({ kind: 'ref', number: form })?.bytes ?? []).toString('latin1');
  return [...content.matchAll(CALL)].flatMap(([, name = '']) => ofPages.get(name) ?? []);
}

const CALL = /\/([^\s/]{1,127})\s+Do\b/g;

/** Where forms say that they are, by their numbers. */
function formPlaces(bytes: Buffer): ReadonlyMap<number, number> {
  const places = new Map<number, number>();
  for (let at = bytes.indexOf(FORM); at >= 0 && places.size < FORMS_MAX; at = bytes.indexOf(FORM, at + 1)) {
    const begins = bytes.lastIndexOf(' obj', at);
    if (begins < 0 || at - begins > DICT_BYTES_MAX) continue;
    const number = /(\d{1,10})\s+\d+$/.exec(bytes.toString('latin1', Math.max(0, begins - 24), begins))?.[1];
    if (number !== undefined) places.set(Number(number), at);
  }
  return places;
}

/** undefined where the file cannot be looked into. */
const readable = (bytes: Buffer): PdfObjects | undefined => {
  try {
    return pdfObjects(bytes);
  } catch {
    return undefined;
  }
};

type Calls = Map<number, Set<number>>;

/** The calls of forms that lead back to themselves; linear in all calls. */
const inCircles = (calls: Calls): Calls => turned(withoutEnds(turned(withoutEnds(calls))));

/** Who is called by whom. */
function turned(calls: Calls): Calls {
  const callers: Calls = new Map([...calls.keys()].map((form) => [form, new Set()]));
  for (const [form, called] of calls) for (const one of called) callers.get(one)?.add(form);
  return callers;
}

/** Without forms that call none, or only such. */
function withoutEnds(calls: Calls): Calls {
  const callers = turned(calls);
  const ends = [...calls.keys()].filter((form) => calls.get(form)?.size === 0);
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
    calls.delete(end);
    for (const caller of callers.get(end) ?? []) {
      const called = calls.get(caller);
      called?.delete(end);
      if (called?.size === 0) ends.push(caller);
    }
  }
  return calls;
}

/** Numbers of objects are made those of nothing, as long as they were. */
function hideCalls(
  bytes: Buffer,
  { at, called }: { readonly at: number | undefined; readonly called: ReadonlySet<number> },
): void {
  if (at === undefined) return;
  const end = bytes.indexOf('endobj', at);
  const text = bytes.toString('latin1', at, Math.min(end < 0 ? bytes.length : end, at + DICT_BYTES_MAX));
  const stream = text.indexOf('stream');
  const dict = stream < 0 ? text : text.slice(0, stream);
  for (const { 0: whole, 1: number = '', index } of dict.matchAll(/(?<![\d.])(\d{1,10})(?=\s+\d+\s+R\b)/g))
    if (called.has(Number(number))) bytes.write('0'.repeat(whole.length), at + index, 'latin1');
}
