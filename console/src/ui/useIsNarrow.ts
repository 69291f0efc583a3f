import { useSyncExternalStore } from 'react';

/** Below it two columns of text have no room. */
const narrow = window.matchMedia('(max-width: 720px)');

const subscribe = (listener: () => void): (() => void) => {
  narrow.addEventListener('change', listener);
  return () => narrow.removeEventListener('change', listener);
};

/** Whether the window is as narrow as a phone's. */
export const useIsNarrow = (): boolean => useSyncExternalStore(subscribe, () => narrow.matches);
