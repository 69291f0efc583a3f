import { z } from 'zod';

/** Most tags of one piece of work. */
export const TAGS_MAX = 16;

/** A name of a tag: 1 to 40 of lower-case letters, digits and `_ . -`, the first one a letter. */
export const tagName = z.string().regex(/^[a-z][a-z0-9_.-]{0,39}$/);

/** Names and values by which a customer sorts costs: `{"team": "claims"}`. Values are IDs, not people's names. */
export type Tags = Record<string, string>;

/** Tags in events: the limits of a request are those of its time, and events are read for ever. */
export const eventTags = z.record(z.string(), z.string());

/**
 * The same tags in the order of their names, so that equal tags are equal bytes; undefined for none, which events
 * leave out.
 */
export const sortedTags = (tags: Readonly<Tags> | undefined): Tags | undefined => {
  const names = Object.keys(tags ?? {}).sort();
  if (tags === undefined || names.length === 0) return undefined;
  return Object.fromEntries(names.map((name) => [name, tags[name] ?? '']));
};
