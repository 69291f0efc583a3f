import { useSyncExternalStore } from 'react';

const KEY = 'quire.zone';
/** Its IANA name. */
export const UTC = 'UTC';
const listeners = new Set<() => void>();

/** The zone of this machine, by its IANA name. */
const LOCAL = new Intl.DateTimeFormat().resolvedOptions().timeZone;

const chosen = (): string => (localStorage.getItem(KEY) === UTC ? UTC : LOCAL);

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** The zone in which times are shown, by its IANA name. */
export const useZone = (): string => useSyncExternalStore(subscribe, chosen);

/** The zone that is not shown now; undefined: this machine is in UTC, and there is nothing to choose. */
export const otherZone = (zone: string): string | undefined => {
  if (LOCAL === UTC) return undefined;
  return zone === UTC ? LOCAL : UTC;
};

/** Keeps a choice in this browser. */
export const chooseZone = (zone: string): void => {
  localStorage.setItem(KEY, zone);
  for (const tell of listeners) tell();
};

const formatters = new Map<string, Intl.DateTimeFormat>();

const formatter = (timeZone: string, isDay: boolean): Intl.DateTimeFormat => {
  const key = `${timeZone} ${String(isDay)}`;
  const known = formatters.get(key);
  if (known !== undefined) return known;
  const timeStyle = isDay ? {} : ({ timeStyle: 'short' } as const);
  const made = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone, ...timeStyle });
  formatters.set(key, made);
  return made;
};

/** A time, in epoch milliseconds, as it is shown in a zone. */
export const timeIn = (time: number, zone: string, isDay = false): string =>
  formatter(zone, isDay).format(time);
