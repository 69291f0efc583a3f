import { z } from 'zod';

/** Most tags of one piece of work. */
export const TAGS_MAX = 16;

/** 1 to 40 of lower-case letters, digits and `_ . -`, the first one a letter. */
export const TAG_NAME = /^[a-z][a-z0-9_.-]{0,39}$/;

/** Most characters of a value. */
export const TAG_VALUE_MAX = 200;

/** Names and values by which a customer sorts costs: `{"team": "claims"}`. Values are IDs, not people's names. */
export type Tags = Record<string, string>;

/** Tags in events: the limits of a request are those of its time, and events are read for ever. */
export const eventTags = z.record(z.string(), z.string());

/** In events of work. Left out where there are none, and by older releases. */
export const tagged = { tags: eventTags.optional() };

/** Where an event may say tags; null and undefined: none. */
type SomeTags = Readonly<Tags> | null | undefined;

/**
 * The same tags in the order of their names, so that equal tags are equal bytes; undefined for none, which events
 * leave out.
 */
export const sortedTags = (tags: SomeTags): Tags | undefined => {
  const given = Object.entries(tags ?? {});
  if (given.length === 0) return undefined;
  return Object.fromEntries(given.sort(([one], [other]) => (one < other ? -1 : 1)));
};

/** The tags of all layers, sorted: of each name the value of the first layer that has it. */
export const mergedTags = (...layers: readonly SomeTags[]): Tags | undefined =>
  sortedTags(Object.assign({}, ...[...layers].reverse()) as Tags);

/** A member for an event or a command: none where there are no tags. */
export const withTags = (tags: SomeTags): { readonly tags?: Tags } => {
  const sorted = sortedTags(tags);
  return sorted === undefined ? {} : { tags: sorted };
};
