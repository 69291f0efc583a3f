import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'quire.theme';
const listeners = new Set<() => void>();
const dark = window.matchMedia('(prefers-color-scheme: dark)');

const isTheme = (value: unknown): value is Theme =>
  value === 'light' || value === 'dark' || value === 'system';

const chosen = (): Theme => {
  const kept = localStorage.getItem(KEY);
  return isTheme(kept) ? kept : 'system';
};

const resolved = (): 'light' | 'dark' => {
  const theme = chosen();
  if (theme !== 'system') return theme;
  return dark.matches ? 'dark' : 'light';
};

/** Puts the theme on the page; before the first drawing, and with every change. */
export const applyTheme = (): void => {
  document.documentElement.dataset['theme'] = resolved();
  for (const tell of listeners) tell();
};

/** Keeps a choice in this browser. */
export const chooseTheme = (theme: Theme): void => {
  localStorage.setItem(KEY, theme);
  applyTheme();
};

dark.addEventListener('change', applyTheme);

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** The theme that was chosen. */
export const useTheme = (): Theme => useSyncExternalStore(subscribe, chosen);

/** The theme that is shown. */
export const useShownTheme = (): 'light' | 'dark' => useSyncExternalStore(subscribe, resolved);
